"""Two workers on two CPUs against one: jobs of the library, and the `molo` command.

Workers take some tenths of a second to start, whatever there is to do. What a small log takes is
therefore subtracted from what a large one takes.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from benchmarks.ingest import require_record
from benchmarks.measure import interleaved, per_second, ratio
from benchmarks.report import Row, Section
from benchmarks.sizes import write_log
from molo.history import check
from molo.ingest import Fault, Record, run

_STARTED = 5  # MiB; of which each of two workers gets some parts
_SHARED = 256  # MiB; beyond that

_Items = Iterator[Record | Fault]


class _Task(NamedTuple):
    """What so many workers do with a log, and the limit, in units of one worker's time, if any."""

    name: str
    do: Callable[[Path, int], None]
    limit: float | None
    format: str = "molo"


def workers(share: float, rounds: int) -> Section:
    """Measure all tasks; this needs two idle CPUs."""
    with TemporaryDirectory() as directory, _unpinned():
        rows = [_shared(task, Path(directory), share, min(rounds, 5)) for task in _TASKS]
    return Section("Workers", "one worker's time for the same job", rows)


def _shared(task: _Task, directory: Path, share: float, rounds: int) -> Row:
    small, large = (
        write_log(directory / name, size, task.format)
        for name, size in (("small.jsonl", _STARTED), ("large.jsonl", _STARTED + _SHARED * share))
    )
    subjects = {
        f"{number} {log.name}": partial(_seconds, task.do, log, number)
        for number in (1, 2)
        for log in (small, large)
    }
    times = interleaved(subjects, rounds)
    one, two = (
        [
            more - less
            for more, less in zip(
                times[f"{number} {large.name}"], times[f"{number} {small.name}"], strict=True
            )
        ]
        for number in (1, 2)
    )
    rate = per_second((large.stat().st_size - small.stat().st_size) / 1e6, two)
    over = ratio(two, one)
    return Row(
        "realistic", task.name, "2 workers", over, megabytes_per_second=rate, limit=task.limit
    )


def _seconds(do: Callable[[Path, int], None], log: Path, number: int) -> float:
    start = perf_counter()
    do(log, number)
    return perf_counter() - start


@contextmanager
def _unpinned() -> Generator[None, None, None]:
    """Let this process and its children use every CPU for a while."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, pinned)


# --- The tasks ------------------------------------------------------------------------------------


def count(items: _Items) -> int:
    """Count messages."""
    return sum(len(require_record(item).messages) for item in items)


def check_all(items: _Items) -> int:
    """Count records without problems."""
    return sum(not check(require_record(item).messages) for item in items)


def _run(job: Callable[[_Items], int], log: Path, number: int) -> None:
    if not sum(run(log, job, number, format="molo")):
        raise ValueError("a job found nothing")


def _molo(name: str, log: Path, number: int, *more: str) -> None:
    """Run a command; a log that is fine gives the exit code 0."""
    command = [sys.executable, "-m", "molo", name, str(log), *more, "--workers", str(number)]
    subprocess.run(command, check=True, capture_output=True)


def _convert(log: Path, number: int) -> None:
    _molo("convert", log, number, f"{log}.out", "--to", "molo")


_TASKS = (
    _Task("count", partial(_run, count), None),
    _Task("check all", partial(_run, check_all), 1 / 1.6),
    _Task("molo check", partial(_molo, "check"), 1 / 1.6),
    _Task("molo stats", partial(_molo, "stats"), 1 / 1.6),
    _Task("molo convert", _convert, 1 / 1.4, "openai-chat"),
)
