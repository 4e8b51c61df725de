"""Reading the lines of a log, each a Record or a Fault.

Lines of molo's own form are decoded by one chain of iterators, without a step in Python for each.
A line that it does not read, and every line of other forms, is taken by itself.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import count, repeat

from molo.errors import DecodeError
from molo.errors.translation import DECODE_FAILURES
from molo.ingest.chunks import Chunks, Place
from molo.ingest.formats import Format, Quick
from molo.ingest.lines import Run, Stretch, cut_lines
from molo.ingest.multiline import Multiline, opens
from molo.ingest.records import Fault, Record

__all__ = ["TRAILING", "read_lines"]

TRAILING = ": trailing characters"  # how the error ends that says so


def read_lines(chunks: Chunks, row: Format, place: Place) -> Iterator[Record | Fault]:
    """Read lines, each a Record or a Fault; blank ones are counted and nothing else."""
    reader = _Lines(row, place, chunks)
    for cut in cut_lines(chunks, place.limit, place.line, place.offset):
        yield from reader.read(_unmarked(cut))


def _unmarked(cut: Run | Stretch) -> Run | Stretch:
    """Take a byte order mark off the start of a log."""
    if cut.offset != 0:
        return cut
    data = cut.lines[0] if isinstance(cut, Run) else cut.data
    if not data.startswith(BOM_UTF8):
        return cut
    bare = data.removeprefix(BOM_UTF8)
    if isinstance(cut, Run):
        return Run([bare, *cut.lines[1:]], cut.line, len(BOM_UTF8))
    return cut._replace(data=bare, offset=len(BOM_UTF8))


class _Lines:
    """What reading lines has to keep between them."""

    def __init__(self, row: Format, place: Place, chunks: Chunks) -> None:
        self._row = row
        self._place = place
        self._chunks = chunks
        self._long = 0  # number of the line of which parts have gone out
        self._multiline: Multiline | None = None

    def read(self, cut: Run | Stretch) -> Iterator[Record | Fault]:
        if isinstance(cut, Run):
            quick = self._quick(cut.lines[0])
            return self._read_each(cut) if quick is None else self._read_run(cut, quick)
        if cut.part:
            return self._read_part(cut)
        return self._read_line(cut) if cut.data else self._finish(cut)

    def _read_each(self, run: Run) -> Iterator[Record | Fault]:
        for line in run.stretches():
            yield from self._read_line(line)

    def _read_part(self, part: Stretch) -> Iterator[Fault]:
        yield from self._end_multiline()
        yield self._too_long(part)

    def _quick(self, first: bytes) -> Quick | None:
        """Give the quick way to read lines like this first one, if there is any."""
        if self._row.quick is None or self._multiline is not None or self._place.keep_raw:
            return None
        return self._row.quick(first)

    def _read_run(self, run: Run, quick: Quick) -> Iterator[Record | Fault]:
        """Read lines quickly; one that fails, and all of one value over several, with care."""
        numbers, offsets, lines = count(run.line), run.offsets(), iter(run.lines)
        histories = quick.read(lines)
        records = map(Record, histories, numbers, offsets, repeat(""), repeat(quick.single))
        failed = True
        while failed:
            failed = False
            try:
                yield from records
            except DECODE_FAILURES:
                failed = True
            if failed:
                number = next(numbers)
                data = run.lines[number - run.line]
                yield from self._read_line(Stretch(data, number, next(offsets)))
            while self._multiline is not None and (line := next(lines, None)) is not None:
                yield from self._read_line(Stretch(line, next(numbers), next(offsets)))

    def _finish(self, end: Stretch) -> Iterator[Record | Fault]:
        """Tell what the end of the log leaves open."""
        yield from self._end_multiline()
        if self._chunks.broken:
            yield self._broken(end)

    def _read_line(self, line: Stretch) -> Iterator[Record | Fault]:
        if self._multiline is not None:
            if self._multiline.takes(line.data):
                yield from self._go_on(self._multiline, line)
                return
            yield from self._end_multiline()
        if line.data.isspace():
            return
        try:
            content = self._row.read(line.data)
        except DecodeError as error:
            if opens(line.data):
                self._multiline = Multiline(line)
            else:
                yield self._bad_line(line, error)
        else:
            yield self._place.record(content, line)

    def _go_on(self, multiline: Multiline, line: Stretch) -> Iterator[Fault]:
        if multiline.size + len(line.data) > self._place.limit:
            yield self._place.fault(multiline.give(), "multiline", _MULTILINE)
        multiline.add(line)
        if multiline.closed:
            yield from self._end_multiline()

    def _end_multiline(self) -> Iterator[Fault]:
        multiline, self._multiline = self._multiline, None
        if multiline is None:
            return
        block = multiline.give()
        if multiline.count > 1:
            yield self._place.fault(block, "multiline", _MULTILINE)
        else:
            text = "Expected more JSON, got the end of the line"
            yield self._bad_line(block, DecodeError(text, offset=len(block.data)))

    def _too_long(self, block: Stretch) -> Fault:
        again = "more of " if block.line == self._long else ""
        self._long = block.line
        reason = f"Expected a line of at most {self._place.limit} bytes, got {again}a longer one"
        return self._place.fault(block, "too_long", reason)

    def _bad_line(self, line: Stretch, error: DecodeError) -> Fault:
        bare = line.data.lstrip(b"\0")
        if len(bare) < len(line.data):
            reason = f"Expected JSON, got {len(line.data) - len(bare)} NUL bytes"
            return self._place.fault(line, "nul", reason)
        if error.offset is None:
            return self._place.fault(line, "record", str(error))
        if not line.data.endswith(b"\n"):
            return self._torn(line)
        if error.text.endswith(TRAILING):
            reason = f"Expected one record a line, got more behind it - at byte {error.offset}"
            return self._place.fault(line, "extra", reason)
        # msgspec calls the end of such a line a wrong character.
        if not line.data[error.offset :].strip():
            reason = f"Expected more JSON, got the end of the line - at byte {error.offset}"
            return self._place.fault(line, "json", reason)
        return self._place.fault(line, "json", str(error))

    def _torn(self, line: Stretch) -> Fault:
        if self._chunks.broken:
            return self._broken(line)
        reason = f"Expected a whole last line, got {len(line.data)} bytes of one that breaks off"
        return self._place.fault(line, "torn", reason)

    def _broken(self, stretch: Stretch) -> Fault:
        reason, self._chunks.broken = self._chunks.broken, ""  # told, and not to be told again
        return self._place.fault(stretch, "compressed", reason)


_MULTILINE = "Expected one record a line, got JSON over several lines"
