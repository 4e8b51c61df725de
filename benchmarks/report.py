"""What was measured, as tables for people and as JSON for programs.

What the project asks for is a row's `limit`, the most that its median may be, or its `least`.
"""

import platform
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from msgspec import Struct

from benchmarks.measure import Ratio


class Row(Struct, frozen=True, omit_defaults=True):
    """One figure: what was done with which data, by whom, and at what cost."""

    data: str
    task: str
    subject: str
    ratio: Ratio  # in the section's unit
    messages_per_second: float | None = None
    megabytes_per_second: float | None = None  # of encoded data; 10**6 bytes
    limit: float | None = None  # the most that the project allows the median to be
    least: float | None = None  # the least that it has to be; what a peer takes, usually


class Section(Struct, frozen=True, omit_defaults=True):
    """Figures that have a unit in common."""

    title: str
    unit: str
    rows: Sequence[Row]
    measured: str = "time"  # what the ratios are of
    versions: dict[str, str] = {}  # package -> version
    skipped: dict[str, str] = {}  # contender -> the module that is not installed
    notes: Sequence[str] = ()  # what else was found out


class Report(Struct, frozen=True):
    """A run: where and when, and all its sections."""

    environment: dict[str, str]
    sections: list[Section]


def environment(cpu: int | None) -> dict[str, str]:
    """Say what a figure depends on, besides the code."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "pinned to CPU": "none" if cpu is None else str(cpu),
    }


def lines(section: Section) -> Iterator[str]:
    """Write a section as a table in Markdown."""
    yield f"## {section.title}\n"
    what = section.measured
    yield f"{what.capitalize()}, 1 = {section.unit}; median of the rounds and the quartiles.\n"
    yield f"| data | task | subject | {what} | quartiles | messages/s | MB/s | limit |"
    yield "|---|---|---|--:|--:|--:|--:|--:|"
    for row in section.rows:
        yield f"| {' | '.join(_cells(row))} |"
    for name, missing in section.skipped.items():
        yield f"\n{name}: skipped, {missing} is not installed"
    for note in section.notes:
        yield f"\n{note}"
    if section.versions:
        yield f"\nVersions: {', '.join(' '.join(item) for item in section.versions.items())}"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.data,
        row.task,
        row.subject,
        f"{row.ratio.median:.3f}",
        f"{row.ratio.low:.3f} to {row.ratio.high:.3f}",
        f"{row.messages_per_second:,.0f}" if row.messages_per_second else "",
        f"{row.megabytes_per_second:,.0f}" if row.megabytes_per_second else "",
        _asked(row),
    )


def _asked(row: Row) -> str:
    bounds = (("≥", row.least), ("≤", row.limit))
    return ", ".join(f"{sign} {bound:.4g}" for sign, bound in bounds if bound is not None)


def verdict(section: Section) -> Iterator[str]:
    """Say how many limits were met, and which were not, if the section has any."""
    limited = [row for row in section.rows if _asked(row)]
    missed = [row for row in limited if not _is_met(row)]
    if limited:
        yield f"\nLimits met: {len(limited) - len(missed)} of {len(limited)}"
    for row in missed:
        name = f"{row.data} {row.task}, {row.subject}"
        yield f"\nLimit missed: {name}: {row.ratio.median:.3f}, limit {_asked(row)}"


def _is_met(row: Row) -> bool:
    least = -inf if row.least is None else row.least
    limit = inf if row.limit is None else row.limit
    return least <= row.ratio.median <= limit


def _commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        commit = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], text=True)
        changed = subprocess.check_output([*git, "status", "--porcelain", "molo"], text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit.strip() + (" and changes" if changed else "")


def _processor() -> str:
    """Name the CPU, which platform.processor() does not on Linux."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
