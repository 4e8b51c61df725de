"""Records cut out of lines that are none: several on a line, or one behind a torn one."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from molo.dialects.wire import parse
from molo.errors import DecodeError
from molo.ingest.chunks import Place
from molo.ingest.formats import format_named
from molo.ingest.lines import Stretch
from molo.ingest.linewise import TRAILING
from molo.ingest.objects import Content
from molo.ingest.records import Fault, Record

__all__ = ["salvage"]

# Where a record may begin. Behind a bracket, comma or colon it would be a part of another.
_STARTS = re.compile(rb'(?<![\[,:\s])(?=\s*[\[{]+\s*")')
_TRIES = 100  # starts; each may take a look at the whole line


def salvage(fault: Fault, format: str) -> tuple[Record, ...]:
    """Cut the records out of a bad line: those that follow each other up to its end.

    What stands in front of them, the rest of a torn record, stays lost. `read` never does this by
    itself: that a line holds two records is for a person to judge.

    Raises:
        ValueError: no such format.

    >>> from molo.ingest import read
    >>> [torn] = read([b'{"role":"system","con{"role":"system","content":"Be brief."}\\n'], "molo")
    >>> [record.messages for record in salvage(torn, "molo")]
    [[System(content='Be brief.')]]
    """
    read = format_named(format).read
    for start in islice(_STARTS.finditer(fault.raw), _TRIES):
        try:
            return tuple(_records(fault, start.start(), read))
        except DecodeError:
            continue
    return ()


def _records(fault: Fault, at: int, read: Callable[[bytes], Content]) -> Iterator[Record]:
    place = Place(fault.source)
    for value in _values(fault.raw[at:]):
        yield place.record(read(value), Stretch(value, fault.line, fault.offset + at))
        at += len(value)


def _values(data: bytes) -> Iterator[bytes]:
    """Take JSON values off the front until nothing is left; DecodeError if something is."""
    while data and not data.isspace():
        size = _size(data)
        yield data[:size]
        data = data[size:]


def _size(data: bytes) -> int:
    """Give the length of the first value."""
    try:
        parse(data)
    except DecodeError as error:
        if error.offset is None or not error.text.endswith(TRAILING):
            raise
        return error.offset
    return len(data)
