"""The `molo` command, run as a real process on real files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import molo
from molo.cli import FORMATS

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
