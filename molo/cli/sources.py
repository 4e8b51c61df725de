"""Logs opened for a command, with what has to be known before they are read.

In a log whose first record is one message, the records that are one message are a transcript: the
lines of one history. Everywhere else each record is a history of its own.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from molo.cli.options import PARQUET
from molo.dialects.loss import Loss
from molo.ingest import AUTO, FORMATS, Fault, Record, open_log
from molo.message import Message

__all__ = [
    "Item",
    "Source",
    "Transcript",
    "joined",
    "line_of",
    "open_source",
    "split",
]

Item: TypeAlias = Record | Fault

_LOOKED_AT = 32  # items, in search of the first record


class Source(NamedTuple):
    """An open log.

    `items` can be read once. `size` and `position` are bytes on disk, if they are known.
    `is_divisible` tells whether workers can share it, `keep_raw` whether Records have the bytes
    that they were read from.
    """

    path: str
    format: str
    why: str  # it was taken for this format; empty if that was said
    items: Iterator[Item]
    is_transcript: bool
    is_divisible: bool
    keep_raw: bool
    size: int | None
    position: Callable[[], int]

    def joined(self) -> "Source":
        """Make the histories whole: of a transcript, one of all its lines."""
        if not self.is_transcript:
            return self
        return self._replace(items=joined(self.items), is_divisible=False)


class Transcript(Record, frozen=True):
    """The messages of many records; `lines` are theirs."""

    lines: tuple[int, ...] = ()


@contextmanager
def open_source(path: str, format: str, keep_raw: bool = False) -> Generator[Source, None, None]:
    """Open a log.

    Raises:
        OSError: it cannot be opened or read.
        ModuleNotFoundError: it takes a package to read it; the text says which.
    """
    if format == PARQUET or (format == AUTO and path.endswith(".parquet")):
        from molo.arrow import read_parquet  # takes a second, and an extra

        is_transcript, items = _looked_at(read_parquet(path))
        yield Source(path, PARQUET, "", items, is_transcript, False, False, None, lambda: 0)
        return
    with open_log(path) as log:
        found = log.guess()
        name, why = (found.format, found.why) if format == AUTO else (format, "")
        is_transcript, items = _looked_at(log.read(name, keep_raw=keep_raw))
        has_lines = FORMATS[name].layout == "lines" == found.layout
        is_divisible = has_lines and log.size is not None and log.compression is None
        yield Source(
            path,
            name,
            why,
            items,
            is_transcript,
            is_divisible,
            keep_raw,
            log.size,
            lambda: log.position,
        )


def _looked_at(items: Iterator[Item]) -> tuple[bool, Iterator[Item]]:
    """Tell whether a log is a transcript, by its first record; and give all of it."""
    first: list[Item] = []
    for item in islice(items, _LOOKED_AT):
        first.append(item)
        if isinstance(item, Record):
            return is_single(item), chain(first, items)
    return False, chain(first, items)


def is_single(record: Record) -> bool:
    """Tell whether a record is a line of a transcript."""
    return record.single or (record.origin is not None and record.origin.single)


def line_of(record: Record, at: int | None) -> int:
    """Give the line of the message at an index, or that of the record."""
    if isinstance(record, Transcript) and at is not None:
        return record.lines[at]
    return record.line


def joined(items: Iterable[Item]) -> Iterator[Item]:
    """Put the lines of a transcript together; all else passes."""
    lines: list[Record] = []
    for item in items:
        if isinstance(item, Record) and is_single(item):
            lines.append(item)
            continue
        if isinstance(item, Record) and lines:
            yield _transcript(lines)
            lines = []
        yield item
    if lines:
        yield _transcript(lines)


def _transcript(lines: list[Record]) -> Record:
    if len(lines) == 1:
        return lines[0]
    first = lines[0]
    messages: list[Message] = []
    losses: list[Loss] = []
    for line in lines:
        losses += [_moved(loss, len(messages)) for loss in line.losses]
        messages += line.messages
    return Transcript(
        messages,
        first.line,
        first.offset,
        single=True,
        losses=tuple(losses),
        raw=b"".join([line.raw for line in lines]),
        lines=tuple([line.line for line in lines for _ in line.messages]),
    )


def _moved(loss: Loss, by: int) -> Loss:
    return loss if loss.at is None else replace(loss, at=loss.at + by)


def split(record: Record) -> Sequence[Record]:
    """Take a transcript apart again, into records of one message; any other record is as it is."""
    if not isinstance(record, Transcript):
        return (record,)
    place = record.line, record.offset
    return [Record([message], *place, single=True) for message in record.messages]
