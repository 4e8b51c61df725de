"""Reading what has no lines: frames of MessagePack, and logs that are one document."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain

from molo.errors import DecodeError, FrameError
from molo.framing import FrameDecoder
from molo.ingest.chunks import Chunks, Place
from molo.ingest.formats import Format
from molo.ingest.lines import Stretch, stretches
from molo.ingest.linewise import TRAILING
from molo.ingest.records import Code, Fault, Record

__all__ = ["read_document", "read_frames"]

_HEADER = 4  # bytes; of a frame
_LARGEST = 2**32 - 1  # bytes; that a frame can declare


# --- Frames ---------------------------------------------------------------------------------------


def read_frames(chunks: Chunks, row: Format, place: Place) -> Iterator[Record | Fault]:
    """Read frames, each a Record or a Fault; what is left where no frame begins is one Fault.

    A log that begins as no frame can, but as an array or a map does, is a document.
    """
    if chunks.peek("frames", place.limit)[:1] >= b"\x80":
        yield from read_document(chunks, row, place)
        return
    frames = _Frames(row, place)
    for chunk in chunks:
        yield from frames.take(chunk)
        if frames.lost:
            break
    code: Code = "frame" if frames.lost else "torn"
    yield from frames.finish()
    if chunks.broken:
        code, frames.lost = "compressed", chunks.broken
    if frames.lost:
        left = stretches(chain((frames.left(),), chunks), place.limit)
        yield from _faults(left, frames.next, place, code, frames.lost)


class _Frames:
    """The frames of a log as they come."""

    def __init__(self, row: Format, place: Place) -> None:
        self.lost = ""  # why no frame follows
        self.next = Stretch(b"", place.line, place.offset)  # where the next frame starts
        self._row = row
        self._place = place
        self._decoder = FrameDecoder(min(place.limit, _LARGEST))
        self._held = bytearray()  # the bytes from there on

    def take(self, chunk: bytes) -> Iterator[Record | Fault]:
        """Give the frames that are whole with the next bytes."""
        self._held += chunk
        self._decoder.feed(chunk)
        yield from self._take()

    def finish(self) -> Iterator[Record | Fault]:
        """Find what the end of the log leaves open."""
        if not self.lost:
            self._decoder.finish()
            yield from self._take()

    def left(self) -> bytes:
        """Give the bytes that are no frame."""
        return bytes(self._held)

    def _take(self) -> Iterator[Record | Fault]:
        while True:
            try:
                payload = self._decoder.take()
            except FrameError as error:
                self.lost = error.text
                return
            if payload is None:
                return
            yield self._read(payload)

    def _read(self, payload: bytes) -> Record | Fault:
        size = _HEADER + len(payload)
        frame = self.next._replace(data=bytes(self._held[:size]))
        del self._held[:size]
        self.next = Stretch(b"", frame.line + 1, frame.offset + size)
        try:
            return self._place.record(self._row.read(payload), frame)
        except DecodeError as error:
            return self._place.fault(frame, _code_of(error, torn="json"), str(error))


def _faults(
    stretches: Iterator[bytes], start: Stretch, place: Place, code: Code, reason: str
) -> Iterator[Fault]:
    """Tell of a piece of a log, stretch by stretch; of no bytes, that there are none."""
    offset = start.offset
    for data in chain((next(stretches, b""),), stretches):
        yield place.fault(Stretch(data, start.line, offset), code, reason)
        offset += len(data)


# --- Documents ------------------------------------------------------------------------------------


def read_document(chunks: Chunks, row: Format, place: Place) -> Iterator[Record | Fault]:
    """Read a log that is one record in any layout; over the limit, it is Faults."""
    parts = stretches(chunks, place.limit)
    first, second = next(parts, b""), next(parts, None)
    start = Stretch(first, place.line, place.offset)
    if second is None:
        yield _document(start, chunks.broken, row, place)
        return
    reason = f"Expected a document of at most {place.limit} bytes, got a longer one"
    yield from _faults(chain((first, second), parts), start, place, "too_long", reason)


def _document(whole: Stretch, broken: str, row: Format, place: Place) -> Record | Fault:
    try:
        return place.record(row.read(whole.data.removeprefix(BOM_UTF8)), whole)
    except DecodeError as error:
        if broken:
            return place.fault(whole, "compressed", broken)
        return place.fault(whole, _code_of(error, torn="torn"), str(error))


def _code_of(error: DecodeError, torn: Code) -> Code:
    if error.offset is None:
        return "record"
    if error.text.startswith("Expected more "):
        return torn
    return "extra" if error.text.endswith(TRAILING) else "json"
