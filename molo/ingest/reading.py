"""Reading a log: chunks of bytes in, Records and Faults out."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from molo.errors.translation import alternatives, identified
from molo.ingest.chunks import Chunks, Place
from molo.ingest.formats import AUTO, FORMATS, Format
from molo.ingest.guessing import guess
from molo.ingest.lines import MAX_LINE
from molo.ingest.linewise import read_lines
from molo.ingest.records import Fault, Layout, Record
from molo.ingest.whole import read_document, read_frames

__all__ = ["read"]


def read(
    chunks: Iterable[bytes],
    format: str = AUTO,
    *,
    layout: Layout | None = None,
    source: str = "-",
    limit: int = MAX_LINE,
    line: int = 1,
    offset: int = 0,
    keep_raw: bool = False,
) -> Iterator[Record | Fault]:
    """Read a log: one Record or Fault for each line, frame or document, in their order.

    `chunks` are the bytes of the log, cut anywhere. `format` is a name of `FORMATS`; `auto` takes
    what `guess` makes of the first records. `layout` is "lines" or "document" for JSON, if not
    what the format has. `source` names the log in Faults. No line, frame or document may have more
    than `limit` bytes. `line` and `offset` are those of the first byte, for a part of a log. With
    `keep_raw` Records have the bytes that they were read from, as Faults always have.

    Memory is that of a chunk, or of the longest line if that is more.

    Raises:
        ValueError: no such format.
        OSError: from `chunks`.

    >>> log = [b'{"role":"system","content":"Be brief."}\\n{"role":"system"}\\n']
    >>> good, bad = read(log, "molo")
    >>> good.messages
    [System(content='Be brief.')]
    >>> bad.line, bad.offset, bad.reason
    (2, 40, 'Expected field `content`, got an object without it - at `$`')
    """
    if format not in (AUTO, *FORMATS):
        names = alternatives((AUTO, *FORMATS))
        raise ValueError(f"Expected a format, one of {names}, got {identified(format)}")
    place = Place(source, limit, line, offset, keep_raw)
    if format == AUTO:
        return _read_guessed(Chunks(chunks), layout, place)
    return _read(Chunks(chunks), format, layout, place)


def _read_guessed(chunks: Chunks, layout: Layout | None, place: Place) -> Iterator[Record | Fault]:
    found = guess(chunks.peek(layout, place.limit), layout)
    yield from _read(chunks, found.format, found.layout, place)


def _read(
    chunks: Chunks, format: str, layout: Layout | None, place: Place
) -> Iterator[Record | Fault]:
    row = FORMATS[format]
    return _READERS[layout or row.layout](chunks, row, place)


_READERS: Mapping[Layout, Callable[[Chunks, Format, Place], Iterator[Record | Fault]]] = {
    "lines": read_lines,
    "frames": read_frames,
    "document": read_document,
}
