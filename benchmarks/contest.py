"""Contenders that take turns: one works, the others wait.

Each sits in a process of its own (`benchmarks.worker`), so that none profits from or suffers by
what another loaded.
"""

import subprocess
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

import msgspec

from benchmarks.measure import interleaved, per_second, ratio
from benchmarks.report import Row
from benchmarks.worker import Greeting, Task


class Worker(NamedTuple):
    """A contender's process."""

    process: "subprocess.Popen[bytes]"
    versions: dict[str, str]  # package -> version
    missing: str  # the module that is not installed; then there are no tasks
    tasks: dict[tuple[str, str], Task]  # by data set and name


@contextmanager
def workers(kind: str, names: Iterable[str], share: float) -> Generator[dict[str, Worker]]:
    """Start a process for each contender, and end them afterwards."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(_worker(kind, name, share)) for name in names}


@contextmanager
def _worker(kind: str, name: str, share: float) -> Generator[Worker]:
    command = [sys.executable, "-m", "benchmarks.worker", kind, name, str(share)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        greeting = msgspec.json.decode(_line(process), type=Greeting)
        tasks = {(task.data, task.name): task for task in greeting.tasks}
        yield Worker(process, greeting.versions, greeting.missing, tasks)
        # Leaving closes its input, upon which it ends.


def versions(workers: Mapping[str, Worker]) -> dict[str, str]:
    """Collect the versions of all packages."""
    return {
        package: number
        for worker in workers.values()
        for package, number in worker.versions.items()
    }


def skipped(workers: Mapping[str, Worker]) -> dict[str, str]:
    """Say who is missing, and the module that is not installed."""
    return {name: worker.missing for name, worker in workers.items() if worker.missing}


def ask(worker: Worker, data: str, task: str) -> float:
    """Have a pass done and return what was measured."""
    assert worker.process.stdin
    worker.process.stdin.write(msgspec.json.encode((data, task)) + b"\n")
    worker.process.stdin.flush()
    return msgspec.json.decode(_line(worker.process), type=float)


def _line(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("a contender's process ended early; its error stands above")
    return line


class Entry(NamedTuple):
    """A contender's part in a comparison."""

    worker: Worker
    task: str
    least: float | None = None  # of its time, in units of molo's


def compare(data: str, task: str, entries: Mapping[str, Entry], rounds: int) -> Iterator[Row]:
    """Time the entries, by the names they have in the table; the unit is that of `molo`."""
    times = interleaved(
        {name: partial(ask, entry.worker, data, entry.task) for name, entry in entries.items()},
        rounds,
    )
    for name, entry in entries.items():
        done = entry.worker.tasks[data, entry.task]
        yield Row(
            data,
            task,
            name,
            ratio(times[name], times["molo"]),
            messages_per_second=per_second(done.messages, times[name]),
            megabytes_per_second=per_second(done.bytes / 1e6, times[name]) if done.bytes else None,
            least=entry.least,
        )
