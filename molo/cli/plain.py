"""What is shown, as plain text: for files and pipes, and where the package rich is not installed.

The functions are those of `fancy`, which shows the same on terminals. Text of a log is shown
without control characters: they could make a terminal do things.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Line", "Row", "Style", "inline", "lines", "paint", "printable", "table"]

Style: TypeAlias = Literal[
    "text", "place", "problem", "fault", "loss", "change", "heading", "aside", "call"
]
"""What a piece of text is; `fancy` has a colour for each."""

Row: TypeAlias = tuple[str, ...]


class Line(NamedTuple):
    """A piece of text that is shown, of one or more lines."""

    text: str
    style: Style = "text"
    indent: int = 0  # columns


# Control characters but tab and line end, what ends lines elsewhere, what turns the direction of
# text around (https://trojansource.codes), and lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SPACED = re.compile("[\t\n]")


def printable(text: str) -> str:
    r"""Show control characters as Python would write them; tabs and line ends stay.

    >>> print(printable("a\x1b[31mb\r\n"))
    a\x1b[31mb
    <BLANKLINE>
    """
    return _UNSAFE.sub(_escaped, text.replace("\r\n", "\n"))


def inline(text: str) -> str:
    """Show all control characters as Python would write them."""
    return _SPACED.sub(_escaped, printable(text))


def _escaped(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


def paint(text: str, style: Style) -> str:
    """Give a text the look of its style: none."""
    return text


def lines(shown: Iterable[Line]) -> str:
    """Write pieces of text below each other."""
    return "".join(f"{_indented(line)}\n" for line in shown)


def _indented(line: Line) -> str:
    margin = " " * line.indent
    return "\n".join(f"{margin}{text}".rstrip() for text in line.text.split("\n"))


def table(headings: Row, rows: Sequence[Row]) -> str:
    """Write rows below headings; the first column is text, the others are numbers."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    return "".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in (headings, *rows)
    )
