"""The `molo` command as a process: on files, in a shell, on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import molo
from molo.cli import main

ROOT = Path(__file__).parent.parent
SESSION = ROOT / "examples" / "session.rust.json"
LOG = ROOT / "examples" / "log.jsonl"
MOLO = [sys.executable, "-m", "molo"]

Done = subprocess.CompletedProcess[bytes]
Call = Callable[..., Done]


def run(*arguments: object, stdin: bytes = b"", cwd: Path | None = None) -> Done:
    command = [*MOLO, *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, cwd=cwd, check=False, timeout=60
    )


def called(capture: pytest.CaptureFixture[bytes], *arguments: object) -> Done:
    """Run the command in this process, which is quicker."""
    command = list(map(str, arguments))
    code = main(command)
    return subprocess.CompletedProcess(command, code, *capture.readouterr())


def through_shell(line: str) -> Done:
    """Run a line of bash in which `molo` is the command, `$SESSION` a file of 23 messages."""
    names = {"SESSION": str(SESSION), "LOG": str(LOG), "PYTHON": sys.executable}
    script = f'molo() {{ "$PYTHON" -m molo "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        env={**os.environ, **names},
        cwd=ROOT,
        check=False,
        timeout=60,
    )


@contextmanager
def terminal() -> Generator[tuple[int, list[bytes]], None, None]:
    """Open a terminal of 80 columns: its descriptor, and what it has been shown by the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(ours, shown))
    reader.start()
    try:
        yield theirs, shown
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


def _read_all(descriptor: int, shown: list[bytes]) -> None:
    with suppress(OSError):  # nobody holds the other end any more
        while data := os.read(descriptor, 2**16):
            shown.append(data)


def history_of(text: str) -> list[molo.Message]:
    return [molo.system("Be brief."), molo.user(text), molo.assistant("Hello")]
