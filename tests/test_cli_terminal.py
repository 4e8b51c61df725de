"""The `molo` command on terminals, with several workers, and when it is interrupted."""

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command import LOG, MOLO, Call, called, terminal, through_shell

import molo
from molo.cli import main

COPIES = 2000  # of the example: ten megabytes, a second's work
PROBLEMS = 5  # of the example
STYLES = re.compile(rb"\x1b\[[0-9;]*m")
BAR = "━".encode()


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes]) -> Call:
    return partial(called, capfdbinary)


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "log.jsonl"
    path.write_bytes(LOG.read_bytes() * COPIES)
    return path


# --- Terminals ------------------------------------------------------------------------------------

Show = Callable[..., bytes]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Show:
    """Run the command with terminals for some of its streams, and give what they are shown."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def run_on_terminal(arguments: list[object], *streams: str) -> bytes:
        with (
            terminal() as (descriptor, shown),
            open(descriptor, "w", closefd=False) as screen,
            open(os.devnull, "w") as nowhere,
            monkeypatch.context() as patched,
        ):
            for stream in ("stdout", "stderr"):
                patched.setattr(sys, stream, screen if stream in streams else nowhere)
            main(list(map(str, arguments)))
        return b"".join(shown)

    return run_on_terminal


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show bars sooner than a quick machine has read the log."""
    monkeypatch.setattr("molo.cli.fancy._PATIENCE", 0.1)


@pytest.mark.usefixtures("impatient")
def test_long_work_shows_share_rate_and_time_left(show: Show, long_log: Path) -> None:
    text = show(["stats", long_log], "stderr")
    assert re.search(rb"\d+ %", text)
    assert BAR in text
    assert re.search(rb"[kM]B/s", text)
    assert re.search(rb"\d:\d\d:\d\d", text)


def test_of_a_pipe_only_the_rate_is_known(long_log: Path) -> None:
    with (
        terminal() as (descriptor, shown),
        subprocess.Popen(["cat", *[long_log] * 3], stdout=subprocess.PIPE) as cat,
    ):
        command = [*MOLO, "stats", "-"]
        environment = {**os.environ, "TERM": "xterm"}
        subprocess.run(
            command,
            stdin=cat.stdout,
            stdout=subprocess.DEVNULL,
            stderr=descriptor,
            env=environment,
            check=False,
        )
    assert re.search(rb"[kM]B/s", b"".join(shown))
    assert not re.search(rb"\d+ %", b"".join(shown))


def test_quick_work_shows_no_bar(show: Show) -> None:
    assert show(["stats", LOG], "stderr") == b""


@pytest.mark.usefixtures("impatient")
def test_what_is_told_above_the_bar_is_whole(show: Show, long_log: Path) -> None:
    text = show(["check", long_log], "stdout", "stderr")
    bare = STYLES.sub(b"", text)
    assert BAR in text
    assert bare.count(b"has no result. [dangling_call]\r\n") == COPIES
    assert bare.endswith(b").\r\n")


def test_bad_lines_are_told_above_the_bar(show: Show, long_log: Path) -> None:
    text = show(["convert", long_log, "/dev/null", "--to", "molo"], "stderr")
    bare = STYLES.sub(b"", text)
    assert bare.count(b"Expected more JSON") == 10
    assert bare.endswith(f"bad lines ({COPIES:,} json)\r\n".encode())


COMMANDS = [["check", LOG], ["stats", LOG], ["show", LOG, 2]]
PLAIN = [{"NO_COLOR": "1"}, {"TERM": "dumb"}]


@pytest.mark.parametrize("arguments", COMMANDS, ids=str)
def test_a_terminal_gets_colours(arguments: list[object], show: Show) -> None:
    assert STYLES.search(show(arguments, "stdout"))


@pytest.mark.parametrize("arguments", COMMANDS, ids=str)
@pytest.mark.parametrize("environment", PLAIN, ids=str)
def test_no_colours_where_they_are_not_wanted(
    arguments: list[object],
    environment: dict[str, str],
    show: Show,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coloured = show(arguments, "stdout")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    text = show(arguments, "stdout")
    assert b"\x1b" not in text
    assert set(STYLES.sub(b"", coloured).split()) >= set(text.split()) - {b"-"}


def test_a_terminal_is_shown_no_control_characters_of_a_log(show: Show, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    evil = "\\u001b]0;x\\u0007\\u202e"
    log.write_text(
        f'{{"id":"{evil}","messages":[{{"role":"user","content":"{evil}"}},{{"role":"assistant",'
        f'"content":"","tool_calls":[{{"id":"{evil}","type":"function",'
        f'"function":{{"name":"{evil}","arguments":"{evil}"}}}}]}}]}}'
    )
    for command in ("check", "stats", "show"):
        text = STYLES.sub(b"", show([command, log], "stdout"))
        assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)
        assert "\u202e".encode() not in text


def test_long_text_is_wrapped_to_the_width_of_the_terminal(show: Show, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(molo.json.encode([molo.user("word " * 100)]))
    lines = STYLES.sub(b"", show(["show", log], "stdout")).splitlines()
    assert max(map(len, lines)) <= 80
    assert b" ".join(lines).split().count(b"word") == 100


def test_without_rich_a_terminal_gets_plain_text(
    show: Show, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    text = show(["stats", LOG], "stdout", "stderr")
    assert text.replace(b"\r\n", b"\n") == call("stats", LOG).stdout


# --- Workers --------------------------------------------------------------------------------------

JOBS = {
    "check": ["check", "LOG", "--json", "--rules", "deepseek"],
    "stats": ["stats", "LOG", "--json"],
    "convert": [
        "convert",
        "LOG",
        "out.jsonl.gz",
        "--to",
        "anthropic",
        "--rejects",
        "bad.gz",
        "--json",
    ],
    "repair": ["repair", "LOG", "out", "--rejects", "bad"],
    "convert what is held": [
        "convert",
        "LOG",
        "out",
        "--to",
        "rust-molo",
        "--rejects",
        "bad",
        "--json",
    ],
}


def unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_two_workers_give_what_one_gives(
    job: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: Call,
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(LOG.read_bytes() * 100)
    given: list[tuple[int, bytes, bytes, dict[str, bytes]]] = []
    for workers in ("1", "2"):
        place = tmp_path / workers
        place.mkdir()
        arguments = [str(log) if part == "LOG" else part for part in job]
        monkeypatch.chdir(place)
        done = call(*arguments, "--workers", workers)
        files = {path.name: unpacked(path) for path in place.iterdir()}
        given.append((done.returncode, done.stdout, done.stderr, files))
    assert given[0] == given[1]


def test_each_part_of_shared_work_is_compressed_by_its_worker(tmp_path: Path, call: Call) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl.gz"
    log.write_bytes((molo.json.encode([molo.user("x" * 2**17)]) + b"\n") * 2)
    assert call("convert", log, out, "--workers", "2").returncode == 0
    assert out.read_bytes().count(b"\x1f\x8b\x08") == 2  # RFC 1952: how a member begins
    assert gzip.decompress(out.read_bytes()) == log.read_bytes()


def test_two_workers_make_no_document_of_two_histories(tmp_path: Path, call: Call) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "out.json"
    line = molo.json.encode([molo.user("x" * 2**17)]) + b"\n"  # each a part of its own
    log.write_bytes(line * 2)
    done = call("convert", log, out, "--workers", "2")
    assert (done.returncode, out.exists()) == (1, False)


# --- Memory ---------------------------------------------------------------------------------------


def peak(*arguments: object) -> int:
    """Measure the memory that a command takes, in KiB."""
    process = subprocess.Popen([*MOLO, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    return usage.ru_maxrss


def test_memory_does_not_grow_with_the_log(long_log: Path) -> None:
    assert long_log.stat().st_size > 5 * 2**20
    assert peak("check", long_log) - peak("check", LOG) < 2 * 2**10  # KiB


# --- Ends before the end --------------------------------------------------------------------------


def wait_for_children(directory: Path) -> None:
    for _ in range(600):
        if any(path.name.startswith(".molo-") for path in directory.iterdir()):
            return
        time.sleep(0.05)
    raise TimeoutError


SIGNALS = {  # an interrupt as a terminal sends it: the workers get it too
    signal.SIGINT: os.killpg,
    signal.SIGTERM: os.kill,
    signal.SIGHUP: os.kill,
}


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_in_the_middle_leaves_no_half_file(
    number: signal.Signals, workers: str, long_log: Path, tmp_path: Path
) -> None:
    (tmp_path / "out.jsonl").write_bytes(b"old")
    command = [*MOLO, "convert", str(long_log), "out.jsonl", "--rejects", "rejects"]
    command += ["--redact", "[0-9]"]  # takes long
    process = subprocess.Popen(
        [*command, "--workers", workers],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for_children(tmp_path)
    time.sleep(0.3)
    SIGNALS[number](process.pid, number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert b"Traceback" not in stderr
    assert os.listdir(tmp_path) == ["out.jsonl"]
    assert (tmp_path / "out.jsonl").read_bytes() == b"old"


def test_little_is_loaded_before_an_interrupt_is_no_traceback() -> None:
    script = "import sys, molo.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert b"molo.ingest" not in done.stdout
    assert b"argparse" not in done.stdout


@pytest.mark.parametrize("command", ["check {log} --workers 2", "convert {log} -"])
def test_a_closed_pipe_ends_the_work_and_is_no_traceback(command: str, long_log: Path) -> None:
    line = f"molo {command.format(log=long_log)} 2>/dev/null | head --lines=1"
    done = through_shell(f"{line}; exit ${{PIPESTATUS[0]}}")
    assert done.returncode == 2
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_a_full_disk_under_a_report_is_told() -> None:
    done = through_shell('molo check "$LOG" >/dev/full')
    assert (done.returncode, done.stderr) == (2, b"molo: No space left on device\n")
