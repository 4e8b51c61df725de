"""The `molo` command, run as a real process on real files."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import molo
from molo.cli import FORMATS
from molo.dialects import rust_molo

ROOT = Path(__file__).parent.parent
SESSION = ROOT / "examples" / "session.rust.json"
HISTORY = [molo.system("Be brief."), molo.user("Hi"), molo.assistant("Hello")]
PRIVATE = "my secret diary"


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "molo", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)


def test_the_example_session_comes_back_byte_for_byte_through_every_format(tmp_path: Path) -> None:
    steps = [
        (SESSION, tmp_path / "a.json"),
        (tmp_path / "a.json", tmp_path / "b.msgpack"),
        (tmp_path / "b.msgpack", tmp_path / "c.msgpack", "--to", "rust-molo-msgpack"),
        (tmp_path / "c.msgpack", tmp_path / "d.json", "--to", "rust-molo"),
    ]
    for step in steps:
        assert run("convert", *step).returncode == 0
    assert (tmp_path / "d.json").read_bytes() == SESSION.read_bytes()
    assert molo.json.decode((tmp_path / "a.json").read_bytes()) == molo.msgpack.decode(
        (tmp_path / "b.msgpack").read_bytes()
    )


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_any_format_turns_into_any_other_through_pipes(source: str, target: str) -> None:
    data = FORMATS[source].encode(HISTORY)
    done = run("convert", "-", "-", "--from", source, "--to", target, stdin=data)
    assert (done.returncode, done.stdout) == (0, FORMATS[target].encode(HISTORY))


@pytest.mark.parametrize("source", FORMATS)
def test_the_format_of_standard_input_is_guessed_from_its_content(source: str) -> None:
    done = run("convert", "-", "-", "--to", "molo", stdin=FORMATS[source].encode(HISTORY))
    assert (done.returncode, done.stdout) == (0, molo.json.encode(HISTORY))


def test_the_summary_on_standard_error_says_what_was_done(tmp_path: Path) -> None:
    done = run("convert", SESSION, tmp_path / "out.json")
    sizes = [SESSION.stat().st_size, (tmp_path / "out.json").stat().st_size]
    expected = f"23 messages: rust-molo ({sizes[0]:,} bytes) -> molo ({sizes[1]:,} bytes)\n"
    assert done.stderr.decode() == expected


FAILURES = {
    "no such file": (["convert", "absent.json", "out.json"], 2, "No such file"),
    "no command": ([], 2, "COMMAND"),
    "unknown format": (["convert", "a", "b", "--from", "yaml"], 2, "--from"),
    "no format by suffix": (["convert", "bad.json", "out.txt"], 2, "--to"),
    "an empty history fits two formats": (["convert", "empty.json", "out.json"], 2, "--from"),
    "no directory to write in": (["convert", "good.json", "absent/out.json"], 2, "No such file"),
    "a directory to write to": (["convert", "good.json", "directory.json"], 2, "Is a directory"),
    "a link to itself": (["convert", "good.json", "loop.json"], 2, "symbolic links"),
    "a full disk": (["convert", "good.json", "/dev/full", "--to", "molo"], 2, "No space left"),
    "bad data, format named": (
        ["convert", "bad.json", "out.json", "--from", "molo"],
        1,
        "Expected `str`, got `int` - at `$[0].content`",
    ),
    "bad data, no format fits": (["convert", "bad.json", "out.json"], 1, "As rust-molo: "),
    "more than the crate holds": (
        ["convert", "image.json", "out.json", "--to", "rust-molo"],
        1,
        "`$[0]",
    ),
}


@pytest.mark.parametrize(("arguments", "code", "text"), FAILURES.values(), ids=FAILURES)
def test_a_failure_has_its_exit_code_and_one_line_and_leaves_the_old_output(
    arguments: list[str], code: int, text: str, tmp_path: Path
) -> None:
    (tmp_path / "good.json").write_bytes(molo.json.encode(HISTORY))
    (tmp_path / "empty.json").write_bytes(b"[]")
    bad = f'[{{"role":"system","content":5}},{{"role":"{PRIVATE}"}}]'
    (tmp_path / "bad.json").write_text(bad)
    image = molo.user_blocks([molo.Image(url="https://example.org/a.png")])
    (tmp_path / "image.json").write_bytes(molo.json.encode([image]))
    (tmp_path / "out.json").write_bytes(b"old")
    (tmp_path / "directory.json").mkdir()
    (tmp_path / "loop.json").symlink_to("loop.json")
    before = sorted(path.name for path in tmp_path.iterdir())
    command = [sys.executable, "-m", "molo", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    stderr = done.stderr.decode()
    assert (done.returncode, text in stderr) == (code, True)
    assert "Traceback" not in stderr
    assert PRIVATE not in stderr
    assert (tmp_path / "out.json").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert run("convert", SESSION, link).returncode == 0
    assert link.is_symlink()
    assert molo.json.decode(real.read_bytes())
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    assert run("convert", SESSION, tmp_path / "new.json").returncode == 0
    plain = tmp_path / "plain"
    plain.touch()
    assert (tmp_path / "new.json").stat().st_mode == plain.stat().st_mode


def test_a_device_is_written_to_and_not_replaced() -> None:
    assert run("convert", SESSION, "/dev/null", "--to", "molo").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_a_name_as_long_as_names_may_be_is_written_to(tmp_path: Path) -> None:
    longest = tmp_path / ("n" * (os.pathconf(tmp_path, "PC_NAME_MAX") - len(".json")) + ".json")
    assert run("convert", SESSION, longest).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == [longest.name]


def through_shell(line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which `molo` is the command, `$SESSION` a file of 23 messages."""
    environment = {**os.environ, "SESSION": str(SESSION), "PYTHON": sys.executable}
    script = f'molo() {{ "$PYTHON" -m molo "$@"; }}; {line}'
    command = ["bash", "-c", script]
    return subprocess.run(
        command, capture_output=True, env=environment, cwd=ROOT, check=False, timeout=60
    )


PIPES = {
    "by the name of standard output": 'molo convert "$SESSION" /dev/stdout --to molo | cat',
    "by the number of a descriptor": 'molo convert "$SESSION" /dev/fd/1 --to molo | cat',
    "through another descriptor": 'molo convert "$SESSION" /dev/fd/3 --to molo 3>&1 >&2 | cat',
    "from a process": 'molo convert <(cat "$SESSION") - --to molo',
    "from the name of standard input": 'cat "$SESSION" | molo convert /dev/stdin - --to molo',
    "with standard error closed": 'molo convert "$SESSION" - --to molo 2>&-',
}


@pytest.mark.parametrize("line", PIPES.values(), ids=PIPES)
def test_a_pipe_is_a_file_like_any_other_and_holds_the_history_alone(line: str) -> None:
    history = rust_molo.decode_json(SESSION.read_bytes())
    assert through_shell(line).stdout == molo.json.encode(history)


@pytest.mark.parametrize("buffering", ["", "1"])
def test_output_that_nobody_reads_to_its_end_is_a_failure(buffering: str, tmp_path: Path) -> None:
    long = tmp_path / "long.json"
    long.write_bytes(molo.json.encode([molo.user("x" * 2**20)]))
    line = f"PYTHONUNBUFFERED={buffering} molo convert {long} - --to molo | head --bytes=1"
    done = through_shell(f"{line}; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"[", b"")


CLOSED = {
    "standard input": "molo convert - /dev/null --to molo <&-",
    "standard output": 'molo convert "$SESSION" - --to molo >&-',
}


@pytest.mark.parametrize("line", CLOSED.values(), ids=CLOSED)
def test_a_standard_stream_that_is_closed_is_wrong_use(line: str) -> None:
    done = through_shell(line)
    assert (done.returncode, done.stderr) == (2, b"molo: standard input or output is closed\n")


def test_an_interrupt_leaves_the_old_output_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_bytes(b"old")
    os.mkfifo(tmp_path / "in.json")
    command = [sys.executable, "-m", "molo", "convert", "in.json", "out.json"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    with (tmp_path / "in.json").open("wb"):  # opens when the command does, which waits for data
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=60)[1]
    assert (process.returncode, stderr) == (130, b"")
    assert (tmp_path / "out.json").read_bytes() == b"old"


def test_a_closed_pipe_is_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "molo", "convert", str(SESSION), "-", "--to", "molo"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writing)
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_version_is_that_of_the_project_file() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    name, number = run("--version").stdout.decode().split()
    assert name == "molo"
    assert f'version = "{number}"' in project
