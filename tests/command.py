"""The `molo` command as a process: on files, in a shell, on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable
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


class Terminal:
    """A process whose standard output or error is a terminal of 80 columns."""

    def __init__(self, command: list[str], streams: Iterable[str], **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen(
            command,
            env={**plain, "TERM": "xterm", **environment},
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            **{
                name: theirs if name in streams else subprocess.DEVNULL
                for name in ("stdout", "stderr")
            },
        )
        os.close(theirs)

    def read(self, until: bytes = b"") -> bytes:
        """Read what the process shows, up to some text, or all until it ends."""
        shown = b""
        while not (until and until in shown):
            try:
                shown += os.read(self._ours, 2**16)
            except OSError:  # nobody holds the other end any more
                break
        return shown

    def close(self) -> int:
        code = self.process.wait(timeout=60)
        os.close(self._ours)
        return code


def history_of(text: str) -> list[molo.Message]:
    return [molo.system("Be brief."), molo.user(text), molo.assistant("Hello")]
