"""molo's codecs against the other ways to read and write the same conversations.

Every contender sits in a process of its own (`benchmarks.worker`), so that none profits from or
suffers by what another loaded. They take turns: one works, the others wait.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

import msgspec

from benchmarks.data import DATA
from benchmarks.measure import interleaved, per_second, ratio
from benchmarks.report import Row, Section
from benchmarks.worker import FORMATS, TASKS, Greeting


class _Worker(NamedTuple):
    process: "subprocess.Popen[bytes]"
    greeting: Greeting


def run(contenders: Sequence[str], share: float, rounds: int) -> Section:
    """Measure every task for all contenders, molo always among them."""
    names = ["molo", *(name for name in contenders if name != "molo")]
    with ExitStack() as stack:
        workers = {name: stack.enter_context(_worker(name, share)) for name in names}
        skipped = {name: worker.greeting.missing for name, worker in workers.items()}
        rows = [
            row
            for data in DATA
            for form in FORMATS
            for task in TASKS
            for row in _compare(workers, data, form, task, rounds)
        ]
        versions = [worker.greeting.versions for worker in workers.values()]
    return Section(
        "Codecs",
        "molo's time",
        rows,
        versions={package: number for some in versions for package, number in some.items()},
        skipped={name: missing for name, missing in skipped.items() if missing},
    )


@contextmanager
def _worker(name: str, share: float) -> Iterator[_Worker]:
    command = [sys.executable, "-m", "benchmarks.worker", name, str(share)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield _Worker(process, msgspec.json.decode(_line(process), type=Greeting))
        # Leaving closes its input, upon which it ends.


def _line(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("a contender's process ended early; its error stands above")
    return line


def _compare(
    workers: dict[str, _Worker], data: str, form: str, task: str, rounds: int
) -> Iterator[Row]:
    sizes = {
        name: size
        for name, worker in workers.items()
        for its_data, its_form, size in worker.greeting.bytes
        if (its_data, its_form) == (data, form)
    }
    times = interleaved(
        {name: partial(_ask, workers[name], data, form, task) for name in sizes}, rounds
    )
    for name, size in sizes.items():
        yield Row(
            data,
            f"{form} {task}",
            name,
            ratio(times[name], times["molo"]),
            messages_per_second=per_second(workers[name].greeting.messages[data], times[name]),
            megabytes_per_second=per_second(size / 1e6, times[name]),
        )


def _ask(worker: _Worker, data: str, form: str, task: str) -> float:
    """Have a pass done and return its seconds."""
    assert worker.process.stdin
    worker.process.stdin.write(msgspec.json.encode((data, form, task)) + b"\n")
    worker.process.stdin.flush()
    return msgspec.json.decode(_line(worker.process), type=float)
