"""JSON over several lines, where a log should have one value a line: found, and told once.

Pretty-printed JSON begins with a line that is nothing but opening brackets, and goes on with lines
that are indented, follow a comma, end in one, or are nothing but brackets. A line that is none of
these is a record again: a torn line `{` does not take the rest of the log with it.
"""

import re

from molo.ingest.lines import Stretch

__all__ = ["Multiline", "opens"]

_OPENING = re.compile(rb"[\[{][\[{ \t\r]*\n?")
_MORE = re.compile(rb"[ \t\"\]}]|[\[{, \t\r]*\n?\Z")  # what a line begins with that goes on


def opens(line: bytes) -> bool:
    """Tell whether a line is nothing but opening brackets.

    >>> opens(b"[{\\n"), opens(b"{}\\n")
    (True, False)
    """
    return _OPENING.fullmatch(line) is not None


class Multiline:
    """The lines of one value so far, of which some may have been given out."""

    def __init__(self, opening: Stretch) -> None:
        self.size = 0  # bytes, of the lines that are held
        self.count = 0  # lines, all
        self._lines: list[Stretch] = []
        self._depth = 0
        self._comma = False
        self.add(opening)

    @property
    def closed(self) -> bool:
        """Whether the value has ended."""
        return self._depth <= 0

    def takes(self, line: bytes) -> bool:
        """Tell whether the value goes on with this line."""
        return self._comma or _MORE.match(line) is not None or line.rstrip().endswith(b",")

    def add(self, line: Stretch) -> None:
        """Go on with a line that it takes."""
        self._lines.append(line)
        self.size += len(line.data)
        self.count += 1
        if not line.data[:1].isspace():  # what is opened within an indented line is closed in one
            self._depth += _opened(line.data) - _closed(line.data)
        if not line.data.isspace():
            self._comma = line.data.rstrip().endswith(b",")

    def give(self) -> Stretch:
        """Give the lines that are held, as one stretch."""
        given = self._lines[0]._replace(data=b"".join(line.data for line in self._lines))
        self._lines.clear()
        self.size = 0
        return given


def _opened(line: bytes) -> int:
    """Count the brackets that a line opens at its end."""
    bare = line.replace(b" ", b"").rstrip()
    return len(bare) - len(bare.rstrip(b"[{"))


def _closed(line: bytes) -> int:
    """Count the brackets that a line closes at its start."""
    return len(line) - len(line.lstrip(b"]}"))
