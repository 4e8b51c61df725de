"""Counts of what a log holds and of what was found in it, by code."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from molo.cli.findings import Finding, Kind, counted
from molo.cli.sources import Source

__all__ = ["Count", "Tally", "new_tally", "number", "read_as", "sentence", "summary", "total"]

Count: TypeAlias = Counter[str]


class Tally(NamedTuple):
    """Counts by code."""

    read: Count  # histories, messages, and the histories with problems or changes
    problems: Count
    changes: Count
    losses: Count
    faults: Count

    def add(self, finding: Finding) -> None:
        """Count a finding."""
        counts = (self.problems, self.changes, self.losses, self.faults)
        counts[_KINDS.index(finding.kind)][finding.code] += 1


_KINDS: tuple[Kind, ...] = ("problem", "change", "loss", "fault")


def new_tally(*read: str) -> Tally:
    """Start counting; what is counted as `read` is told even if there is none of it."""
    return Tally(Count(dict.fromkeys(read, 0)), Count(), Count(), Count(), Count())


def total(parts: Iterable[Tally]) -> Tally:
    """Add up the counts of the parts of a log."""
    whole = new_tally()
    for part in parts:
        for counts, more in zip(whole, part, strict=True):
            counts.update(more)
    return whole


_PLURALS = {"history": "histories", "loss": "losses"}


def number(count: int, noun: str) -> str:
    """Write a number with its noun.

    >>> number(1, "history"), number(1200, "bad line")
    ('1 history', '1,200 bad lines')
    """
    return f"{count:,} {noun if count == 1 else _PLURALS.get(noun, f'{noun}s')}"


def sentence(counts: Mapping[str, int], noun: str) -> str:
    """Write how many there are in all, and of each code; nothing if there are none.

    >>> sentence({"torn": 1}, "bad line")
    '1 bad line (1 torn)'
    """
    count = sum(counts.values())
    return f"{number(count, noun)} ({counted(counts)})" if count else ""


def read_as(source: Source) -> str:
    """Say in which format a log was read, and why."""
    return f"Read as {source.format}{f' ({source.why})' if source.why else ''}"


def summary(source: Source, found: Tally) -> bytes:
    """Write all counts as a line of JSON."""
    head = {"kind": "summary", "format": source.format, "why": source.why}
    read, found_by_kind = found.read, dict(zip(Tally._fields[1:], found[1:], strict=True))
    return msgspec.json.encode({**head, **read, **found_by_kind}) + b"\n"
