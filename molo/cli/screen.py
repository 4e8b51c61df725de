"""The standard streams: what is told on them, with or without a terminal behind.

On a terminal, and with the package rich, things look as `fancy` has them, else as `plain` does.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import IO, Protocol, TextIO, TypeAlias

from molo.cli import plain
from molo.cli.plain import Line, Row, Style
from molo.ingest import STANDARD, compressed, whole_file
from molo.ingest.compression import compression_of

__all__ = [
    "Bar",
    "Look",
    "Write",
    "above",
    "look",
    "open_joined",
    "open_output",
    "say",
    "working",
    "write_error",
]

Write: TypeAlias = Callable[[bytes], object]
"""Takes all of some bytes."""


class Look(Protocol):
    """How things are shown: what `plain` and `fancy` have in common."""

    def paint(self, text: str, style: Style) -> str:
        """Give a text the look of its style."""
        ...

    def lines(self, shown: Iterable[Line]) -> str:
        """Write pieces of text below each other."""
        ...

    def table(self, headings: Row, rows: Sequence[Row]) -> str:
        """Write rows below headings; the first column is text, the others are numbers."""
        ...


class Bar(Protocol):
    """Shows how far work is."""

    def update(self, position: int) -> None:
        """Say how many bytes are done."""
        ...

    def hide(self) -> None:
        """Make room for other text."""
        ...


def look(stream: TextIO | None) -> Look:
    """Choose how things are shown on a stream."""
    if _is_terminal(stream) and find_spec("rich") is not None:
        from molo.cli import fancy  # takes 0.1 s, and an extra

        return fancy
    return plain


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def say(text: str) -> None:
    """Tell something on standard error, if anybody listens."""
    write_error(f"{text}\n".encode(errors="backslashreplace"))


def write_error(data: bytes) -> None:
    """Write to standard error, if anybody listens."""
    if sys.stderr is not None:  # else another file may have its number
        with suppress(OSError):  # it is full, or its reader has gone; the work goes on
            os.write(sys.stderr.fileno(), data)


@contextmanager
def open_output(path: str, bar: Bar) -> Generator[Write, None, None]:
    """Open a file that is whole or stays as it was, compressed as its name says; or `-`.

    Raises:
        OSError: it cannot be written; of standard output, it is closed or its reader has gone.
    """
    with whole_file(path) as file, compressed(file, path) as output:
        shares_terminal = path == STANDARD and _is_terminal(sys.stdout)
        yield above(bar, _at_once(file)) if shares_terminal else output.write


@contextmanager
def open_joined(path: str, bar: Bar) -> Generator[Write, None, None]:
    """Open a file as `open_output` does, for parts that are compressed already if need be."""
    if compression_of(path) is None:
        with open_output(path, bar) as write:
            yield write
    else:
        with whole_file(path) as file:
            yield file.write


def _at_once(file: IO[bytes]) -> Write:
    def write(data: bytes) -> None:
        file.write(data)
        file.flush()

    return write


def above(bar: Bar, write: Write) -> Write:
    """Write to a terminal that may have a bar at its foot."""

    def write_above(data: bytes) -> None:
        bar.hide()
        write(data)

    return write_above


class _NoBar:
    def update(self, position: int) -> None:
        pass

    def hide(self) -> None:
        pass


@contextmanager
def working(total: int | None) -> Generator[Bar, None, None]:
    """Show how far long work on so many bytes is, if somebody looks at standard error."""
    if look(sys.stderr) is plain:
        yield _NoBar()
        return
    from molo.cli.fancy import Bar as FancyBar

    with FancyBar(total) as bar:
        yield bar
