"""Reading and converting logs, in units of the loop that a user would write over molo's decoder.

The loop is `for line in file: decode(line)`, with bare msgspec's typed decoder; it has no places,
no faults, and stops at the first bad line. Other loops stand beside it.
"""

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import msgspec

from benchmarks.data import DATA, load
from benchmarks.measure import Ratio, interleaved, per_second, ratio
from benchmarks.report import Row, Section
from molo import Message
from molo.history import check
from molo.ingest import Fault, Record, encode, open_log, run, write

READ_LIMIT = 1 / 0.85  # of the loop's time, as what follows
CONVERT_LIMIT = 1 / 0.35
SHARED_LIMIT = 1 / 1.6  # of one worker's time, for two
SPARE = 30 * 2**20  # bytes that a large log may take beyond a small one

_MIB = 2**20
_STARTED = 5  # MiB; of which each of two workers gets some parts
_SHARED = 256  # MiB; beyond that

_decode_history = msgspec.json.Decoder(list[Message]).decode
_decode_message = msgspec.json.Decoder(Message).decode


def cost(share: float, rounds: int) -> Section:
    """Measure reading and converting against the loop over the same native log."""
    with TemporaryDirectory() as directory:
        rows = [row for data in DATA for row in _costs(Path(directory), data, share, rounds)]
    return Section(
        "Logs", "`for line in file: decode(line)` over the same log in molo's form", rows
    )


def _costs(directory: Path, data: str, share: float, rounds: int) -> Iterator[Row]:
    histories = load(data, share)
    singles = [[message] for history in histories for message in history]
    native = _log(directory, [Record(history) for history in histories], "molo")
    objects = _log(directory, [Record(history, rest='{"id":7}') for history in histories], "molo")
    messages = _log(directory, [Record(single, single=True) for single in singles], "molo")
    chat = _log(directory, [Record(history) for history in histories], "openai-chat")
    subjects: dict[str, Callable[[], None]] = {
        "loop": partial(_loop, native, _decode_history),
        "read": partial(_read, native, "molo"),
        "read objects": partial(_read, objects, "molo"),
        "loop of messages": partial(_loop, messages, _decode_message),
        "read messages": partial(_read, messages, "molo"),
        "read openai-chat": partial(_read, chat, "openai-chat"),
        "convert openai-chat to molo": partial(_convert, chat),
        "loop of json.loads": partial(_loop, native, json.loads),
        **_loop_of_pydantic(native),
    }
    times = interleaved({name: partial(_seconds, do) for name, do in subjects.items()}, rounds)
    limits = {"read": READ_LIMIT, "convert openai-chat to molo": CONVERT_LIMIT}
    for name in subjects:
        unit = "loop of messages" if name == "read messages" else "loop"
        yield Row(
            data,
            name,
            "others" if "loop of" in name else "molo",
            ratio(times[name], times[unit]),
            messages_per_second=per_second(len(singles), times[name]),
            megabytes_per_second=per_second(native.stat().st_size / 1e6, times[name]),
            limit=limits.get(name) if data == "realistic" else None,
        )


def _log(directory: Path, records: list[Record], format: str) -> Path:
    path = directory / f"{len(list(directory.iterdir()))}.jsonl"
    write(records, path, format)
    return path


def _seconds(do: Callable[[], None]) -> float:
    start = perf_counter()
    do()
    return perf_counter() - start


def _loop(path: Path, decode: Callable[[bytes], object]) -> None:
    with path.open("rb") as file:
        for line in file:
            decode(line)


def _read(path: Path, format: str) -> None:
    with open_log(path) as log:
        for item in log.read(format):
            _require_record(item)


def _convert(path: Path) -> None:
    with open_log(path) as log, open(os.devnull, "wb") as sink:
        for item in log.read("openai-chat"):
            sink.write(encode(_require_record(item), "molo"))


def _require_record(item: Record | Fault) -> Record:
    if isinstance(item, Fault):
        raise ValueError(item.reason)
    return item


def _loop_of_pydantic(path: Path) -> dict[str, Callable[[], None]]:
    try:
        contender = import_module("benchmarks.contenders.pydantic")
    except ModuleNotFoundError:
        return {}
    return {"loop of pydantic": partial(_loop, path, contender.decode_json)}


# --- Workers --------------------------------------------------------------------------------------


def workers(share: float, rounds: int) -> Section:
    """Measure two workers on two CPUs against one, with a job that counts and one that checks.

    Workers take some tenths of a second to start, whatever there is to do. What a small log takes
    is therefore subtracted from what a large one takes.
    """
    with TemporaryDirectory() as directory, _unpinned():
        small = _large_log(Path(directory, "small.jsonl"), _STARTED)
        large = _large_log(Path(directory, "large.jsonl"), _STARTED + _SHARED * share)
        rows = [_shared(small, large, job, min(rounds, 5)) for job in (count, check_all)]
    return Section("Workers", "one worker's time for the same job", rows)


def _shared(
    small: Path, large: Path, job: Callable[[Iterator[Record | Fault]], int], rounds: int
) -> Row:
    subjects = {
        f"{number} {path.name}": partial(_seconds, partial(_run, path, job, number))
        for number in (1, 2)
        for path in (small, large)
    }
    times = interleaved(subjects, rounds)
    one, two = (
        [
            more - less
            for more, less in zip(
                times[f"{n} {large.name}"], times[f"{n} {small.name}"], strict=True
            )
        ]
        for n in (1, 2)
    )
    size = (large.stat().st_size - small.stat().st_size) / 1e6
    name = job.__name__.replace("_", " ")
    rate = per_second(size, two)
    over = ratio(two, one)
    return Row("realistic", name, "2 workers", over, megabytes_per_second=rate, limit=SHARED_LIMIT)


def _run(path: Path, job: Callable[[Iterator[Record | Fault]], int], number: int) -> None:
    if not sum(run(path, job, number, format="molo")):
        raise ValueError("a job found nothing")


def count(items: Iterator[Record | Fault]) -> int:
    """Count messages."""
    return sum(len(_require_record(item).messages) for item in items)


def check_all(items: Iterator[Record | Fault]) -> int:
    """Count records without problems."""
    return sum(not check(_require_record(item).messages) for item in items)


@contextmanager
def _unpinned() -> Iterator[None]:
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


# --- Memory ---------------------------------------------------------------------------------------


def memory(share: float, rounds: int, large: int = 128) -> Section:
    """Measure how much more memory a log of `large` MiB takes than one of 16."""
    small = 16 * min(share, 1)
    with TemporaryDirectory() as directory:
        over = _peak(Path(directory), large * min(share, 1)) - _peak(Path(directory), small)
    more = over / SPARE
    row = Row(
        "realistic",
        f"read {round(large * min(share, 1))} MiB",
        "molo",
        Ratio(more, more, more),
        limit=1.0,
    )
    return Section("Memory", f"{SPARE // _MIB} MiB more than a log of 16 MiB takes", [row])


def memory_long(share: float, rounds: int) -> Section:
    """Measure the same with 1 GiB, which takes half a minute."""
    return memory(share, rounds, 1024)


def _peak(directory: Path, size: float) -> int:
    """Read a log in a process of its own; give the most memory that it had, in bytes."""
    path = _large_log(directory / "large.jsonl", size)
    command = [sys.executable, "-m", "benchmarks.ingest", str(path)]
    return int(subprocess.check_output(command, text=True))


def _most() -> int:
    """Give the most memory that this process has had, in bytes.

    Linux counts in `ru_maxrss` what the parent had before, too.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(re.findall(r"VmHWM:\s*(\d+) kB", status.read_text())[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _large_log(path: Path, size: float) -> Path:
    """Write a log of about so many MiB, the same conversations over and over."""
    lines = b"".join(encode(Record(history), "molo") for history in load("realistic"))
    with path.open("wb") as file:
        while file.tell() < size * _MIB:
            file.write(lines)
    return path


if __name__ == "__main__":
    _read(Path(sys.argv[1]), "molo")
    print(_most())
