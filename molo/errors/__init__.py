"""The errors of molo.

Every error that molo raises on bad data is a `MoloError` and a `ValueError`; wrong use by the
programmer (`decode(5)`, a negative budget) stays a `TypeError` or a plain `ValueError`. Errors can
be pickled and have no cause or context: a chained UnicodeEncodeError would hold the whole text.

All texts follow one grammar: what was expected, what came, where.

    Expected `str`, got `null` - at `$[2].content`

Conversation text never appears in an error. Of the input, a text may show field names and tags
that are identifiers of at most 40 characters (and the id of a call); anything else appears as its
type and its length. `translation` makes these errors of msgspec's; it is internal to molo.
"""

from typing import Protocol

__all__ = [
    "DecodeError",
    "EncodeError",
    "FrameError",
    "HistoryError",
    "MessageError",
    "MoloError",
    "StreamError",
]


class MoloError(ValueError):
    """Bad data: what was expected, what came, and where.

    `text` is the sentence without the place. `path` is the place as a path from the root of the
    value (`$[2].content`), empty where it is not known. `offset` counts bytes from the start of
    the input (for a `str`, of its UTF-8 form); None where it is not known.

    >>> error = DecodeError("Expected `str`, got `null`", path="$[2].content")
    >>> str(error)
    'Expected `str`, got `null` - at `$[2].content`'
    """

    def __init__(self, text: str, *, path: str = "", offset: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        place = f" - at `{self.path}`" if self.path else ""
        if self.offset is not None:
            place += f" (byte {self.offset})" if place else f" - at byte {self.offset}"
        return self.text + place


class DecodeError(MoloError):
    """Bytes, text or builtins that are not what a decoder reads."""


class StreamError(DecodeError):
    """A vendor's stream that broke off or ended in an error."""


class EncodeError(MoloError):
    """A value that the wire form cannot hold."""


class MessageError(MoloError):
    """A message or block that contradicts itself: an Image with both bytes and a URL."""


class Finding(Protocol):
    """What `HistoryError.problems` holds: a `molo.history.Problem`, as this module may know it."""

    @property
    def code(self) -> str: ...
    @property
    def at(self) -> int | None: ...
    @property
    def part(self) -> int | None: ...
    @property
    def text(self) -> str: ...


class HistoryError(MoloError):
    """A history that breaks rules that were demanded of it.

    `problems` are all that were found, in the order of their places; `text` tells the first.
    """

    def __init__(
        self,
        text: str,
        *,
        path: str = "",
        offset: int | None = None,
        problems: tuple[Finding, ...] = (),
    ) -> None:
        super().__init__(text, path=path, offset=offset)
        self.problems = problems


class FrameError(MoloError):
    """A frame that is torn, too large, or never came."""
