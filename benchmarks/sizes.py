"""What a log takes to be read, by its size: time, which should grow with it, and memory.

Both are told in units of a log of 16 MiB: the time by the MiB, and the most memory that the process
has had. A curve that stays flat at 1 is what is hoped for.
"""

import re
import resource
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import msgspec

from benchmarks.data import load
from benchmarks.ingest import read_all
from benchmarks.measure import interleaved, per_second, ratio
from benchmarks.report import Row, Section
from molo.ingest import Record, encode

SPARE = 30 * 2**20  # bytes that a large log may take beyond a small one

_MIB = 2**20
_SHORT = (16, 128)  # MiB
_LONG = (16, 64, 256, 1024)


class _Reading(NamedTuple):
    """What a process took to read a log."""

    seconds: float
    peak: int  # bytes


def sizes(share: float, rounds: int, mebibytes: tuple[int, ...] = _SHORT) -> Section:
    """Measure reading logs of these sizes, the first of which is the unit."""
    with TemporaryDirectory() as directory:
        logs = [
            write_log(Path(directory, f"{size}.jsonl"), size * min(share, 1)) for size in mebibytes
        ]
        peaks: dict[str, list[float]] = {log.name: [] for log in logs}
        subjects = {log.name: partial(_seconds, log, peaks[log.name]) for log in logs}
        times = interleaved(subjects, min(rounds, 5))
        rows = [
            row
            for log in logs
            for row in (_time(log, logs[0], times), _memory(log, logs[0], peaks))
        ]
        notes = [_note(log, times, peaks) for log in logs]
    return Section(
        "Size of a log", "what the smallest log takes, of time by the MiB", rows, notes=notes
    )


def sizes_long(share: float, rounds: int) -> Section:
    """Measure up to 1 GiB, which takes minutes."""
    return sizes(share, rounds, _LONG)


def _seconds(log: Path, peaks: list[float]) -> float:
    """Read a log in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.sizes", str(log)]
    reading = msgspec.json.decode(subprocess.check_output(command), type=_Reading)
    peaks.append(reading.peak)
    return reading.seconds


def _time(log: Path, unit: Path, times: Mapping[str, list[float]]) -> Row:
    by_size = {one.name: [each / _size(one) for each in times[one.name]] for one in (log, unit)}
    return Row(
        _label(log),
        "time",
        "molo",
        ratio(by_size[log.name], by_size[unit.name]),
        megabytes_per_second=per_second(_size(log) * _MIB / 1e6, times[log.name]),
    )


def _memory(log: Path, unit: Path, peaks: Mapping[str, list[float]]) -> Row:
    limit = None if log == unit else round(1 + SPARE / median(peaks[unit.name]), 3)
    over = ratio(peaks[log.name], peaks[unit.name])
    return Row(_label(log), "memory", "molo", over, limit=limit)


def _note(log: Path, times: Mapping[str, list[float]], peaks: Mapping[str, list[float]]) -> str:
    milliseconds = median(times[log.name]) / _size(log) * 1e3
    peak = median(peaks[log.name]) / _MIB
    return f"{_label(log)}: {milliseconds:.2f} ms a MiB, {peak:.1f} MiB of memory at most"


def _size(log: Path) -> float:
    return log.stat().st_size / _MIB


def _label(log: Path) -> str:
    return f"{_size(log):.0f} MiB"


def write_log(path: Path, size: float, format: str = "molo") -> Path:
    """Write a log of so many MiB and a part of a line, the same conversations over and over."""
    lines = cycle([encode(Record(history), format) for history in load("realistic")])
    with path.open("wb") as file:
        while file.tell() < size * _MIB:
            file.write(next(lines))
    return path


# --- The process that reads -----------------------------------------------------------------------


def _peak() -> int:
    """Give the most memory that this process has had, in bytes.

    Linux counts in `ru_maxrss` what the parent had before, too.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(re.findall(r"VmHWM:\s*(\d+) kB", status.read_text())[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(log: Path) -> None:
    """Read a log, and say what it took."""
    start = perf_counter()
    read_all("molo", log)
    print(msgspec.json.encode(_Reading(perf_counter() - start, _peak())).decode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
