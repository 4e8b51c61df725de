"""The chunks of a log: looked at before they are read, and ending when they break off."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from molo.errors import DecodeError
from molo.ingest.guessing import is_msgpack
from molo.ingest.lines import MAX_LINE, Stretch
from molo.ingest.objects import Content
from molo.ingest.records import Code, Fault, Layout, Record

__all__ = ["BrokenLogError", "Chunks", "Place"]


class BrokenLogError(DecodeError):
    """The bytes of a log end before their time; raised by what gives its chunks.

    `read` takes it for the end of the log, and tells it in a Fault.
    """


class Place(NamedTuple):
    """Of which log, and from where on."""

    source: str  # its name
    limit: int = MAX_LINE  # bytes of a line, frame or document
    line: int = 1
    offset: int = 0
    keep_raw: bool = False

    def record(self, content: Content, stretch: Stretch) -> Record:
        """Make a Record of what was read of a stretch of this log."""
        return Record(
            content.messages,
            stretch.line,
            stretch.offset,
            content.rest,
            content.single,
            content.origin,
            content.losses,
            stretch.data if self.keep_raw else b"",
        )

    def fault(self, stretch: Stretch, code: Code, reason: str) -> Fault:
        """Make a Fault of a stretch of this log."""
        data, line, offset, _ = stretch
        return Fault(self.source, line, offset, len(data), reason, data, code)


class Chunks:
    """The chunks of a log, until they end or break off."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._peeked: list[bytes] = []
        self.broken = ""  # why they broke off, if they did

    def __iter__(self) -> Iterator[bytes]:
        peeked, self._peeked = self._peeked, []
        yield from peeked
        try:
            for chunk in self._chunks:  # `yield from` would close them along with this generator
                if chunk:
                    yield chunk
        except BrokenLogError as error:
            self.broken = str(error)

    def peek(self, layout: Layout | None, limit: int) -> bytes:
        """Give the first bytes, enough for `guess`: a line, or a document, of at most `limit`."""
        kept: list[bytes] = []
        size, blank = 0, True
        for chunk in self:
            kept.append(chunk)
            size += len(chunk)
            blank = blank and chunk.isspace()
            ended = b"\n" in chunk and layout != "document" and not blank
            if ended or size > limit or layout == "frames" or is_msgpack(kept[0]):
                break
        self._peeked = kept
        return b"".join(kept)
