"""Jobs for test_ingest_jobs.py: a worker imports them from here."""

import os
import signal
import time
from pathlib import Path

from molo.ingest import Fault


def items(items):
    """Say in which process this was worked on, and give all items, without what is long."""
    return os.getpid(), [short(item) for item in items]


def short(item):
    what = item.reason if isinstance(item, Fault) else item.single
    return item.line, item.offset, what


def refuse(items):
    """Fail at the first Fault."""
    for item in items:
        if isinstance(item, Fault):
            raise ValueError(f"line {item.line}")
    return "fine"


def exit_at_once(items):
    os._exit(3)


def kill_itself(items):
    os.kill(os.getpid(), signal.SIGKILL)


def refuse_oddly(items):
    raise OddError("odd", 5)


class OddError(Exception):
    """One that cannot be unpickled."""

    def __init__(self, text, number):
        super().__init__(text)


def never_end(directory, items):
    """Say that it has begun, and by which process, then sleep."""
    Path(directory, str(os.getpid())).touch()
    time.sleep(600)


def part_file(directory, items):
    """Write the messages of a part to a file of its own, and give its name."""
    path = Path(directory, f"{os.getpid()}-{time.monotonic_ns()}")
    path.write_text("".join(f"{item.line}\n" for item in items))
    return str(path)
