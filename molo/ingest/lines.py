"""Lines cut out of chunks.

A line ends at byte 0x0A and nowhere else. Lines come in `Run`s, as many at once as a piece of the
log holds. The last line of a log may lack its line end; it comes as a `Stretch`. So does a line
that is longer than the limit, part by part, none of which is longer than the limit: memory stays
bounded and no byte is lost.
"""

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import accumulate, count
from typing import NamedTuple

__all__ = ["MAX_LINE", "PIECE", "Run", "Stretch", "cut_lines", "stretches"]

MAX_LINE = 64 * 2**20  # bytes, line end included
PIECE = 2**16  # bytes; taken at once: large enough to be few, small enough to stay in the cache


class Run(NamedTuple):
    """Adjacent lines, with their line ends."""

    lines: list[bytes]
    line: int  # number of the first
    offset: int  # of the first byte

    def offsets(self) -> Iterator[int]:
        """Give the offset of each line, and of what follows."""
        return accumulate(map(len, self.lines), initial=self.offset)

    def stretches(self) -> Iterator["Stretch"]:
        """Give each line by itself."""
        return map(Stretch, self.lines, count(self.line), self.offsets())


class Stretch(NamedTuple):
    """A stretch of a log: a line, a part of one, a frame."""

    data: bytes
    line: int
    offset: int
    part: bool = False  # of a line that is too long


def cut_lines(
    chunks: Iterable[bytes], limit: int = MAX_LINE, line: int = 1, offset: int = 0
) -> Iterator[Run | Stretch]:
    """Cut chunks of any size into lines; the first byte has this `line` and `offset`.

    The last Stretch is empty, and stands where the log ends.

    >>> for cut in cut_lines([b"one\\ntw", b"o\\nthr", b"ee"]):
    ...     print(cut)
    Run(lines=[b'one\\n'], line=1, offset=0)
    Run(lines=[b'two\\n'], line=2, offset=4)
    Stretch(data=b'three', line=3, offset=8, part=False)
    Stretch(data=b'', line=3, offset=13, part=False)
    """
    cutter = _Cutter(limit, line, offset)
    for piece in _pieces(chunks, min(limit, PIECE)):
        yield from cutter.cut(piece)
    yield from cutter.give_held()
    yield cutter.end()


def stretches(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Join chunks into stretches of at most `limit` bytes each, as long as they can be."""
    held: list[bytes] = []
    size = 0
    for piece in _pieces(chunks, min(limit, PIECE)):
        if size + len(piece) > limit:
            yield b"".join(held)
            held, size = [], 0
        held.append(piece)
        size += len(piece)
    if held:
        yield b"".join(held)


def _pieces(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for chunk in chunks:
        if 0 < len(chunk) <= size:
            yield chunk
        else:
            for start in range(0, len(chunk), size):
                yield chunk[start : start + size]


class _Cutter:
    """The bytes behind the last line end, which wait for the next one."""

    def __init__(self, limit: int, line: int, offset: int) -> None:
        self._limit = limit
        self._line = line
        self._offset = offset
        self._held: list[bytes] = []
        self._size = 0  # bytes, of what is held
        self._long = False  # in a line of which parts have gone out

    def cut(self, piece: bytes) -> Iterator[Run | Stretch]:
        lines = BytesIO(piece).readlines()  # ten times as quick as to split, if lines are long
        last = b"" if lines[-1].endswith(b"\n") else lines.pop()
        if self._size + len(lines[0] if lines else last + b"\n") > self._limit:
            self._long = True
            yield from self.give_held()
        if lines and self._long:
            self._hold(lines.pop(0))
            yield from self.give_held()
            self._line += 1
            self._long = False
        if lines:
            yield self._run(lines)
        self._hold(last)

    def give_held(self) -> Iterator[Stretch]:
        """Give what waits for a line end as it is."""
        if self._size:
            yield Stretch(b"".join(self._held), self._line, self._offset, self._long)
        self._release()

    def end(self) -> Stretch:
        """Give the place behind what was given."""
        return Stretch(b"", self._line, self._offset)

    def _hold(self, data: bytes) -> None:
        if data:
            self._held.append(data)
            self._size += len(data)

    def _release(self) -> None:
        self._offset += self._size
        self._held.clear()
        self._size = 0

    def _run(self, lines: list[bytes]) -> Run:
        """Make a Run of lines, the first of which begins with what is held."""
        size = sum(map(len, lines))
        if self._held:
            lines[0] = b"".join((*self._held, lines[0]))
        run = Run(lines, self._line, self._offset)
        self._release()
        self._line += len(lines)
        self._offset += size
        return run
