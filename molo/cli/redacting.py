"""Records without what a regular expression matches, in messages and in what is beside them."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from molo.history import map_text
from molo.history.contents import blocks
from molo.ingest import Origin, Record
from molo.message import User, Wire

__all__ = ["REDACTED", "redacted"]

REDACTED = "[redacted]"


def redacted(record: Record, patterns: Sequence[re.Pattern[str]]) -> Record:
    """Put `REDACTED` in the place of every match, in all that `map_text` sees and in `rest`."""
    blacken = partial(_blackened, patterns=patterns)
    return replace(
        record,
        messages=map_text(record.messages, blacken),
        rest=_in_json(record.rest, blacken),
        origin=_in_origin(record.origin, blacken),
    )


def _blackened(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    for pattern in patterns:
        # What is redacted stays as it is: `map_text` may show a text twice.
        text = REDACTED.join(pattern.sub(REDACTED, piece) for piece in text.split(REDACTED))
    return text


def _in_json(text: str, f: Callable[[str], str]) -> str:
    """Map all strings of JSON text: it is carried as a block of a message, whose strings are."""
    [message] = map_text([User((Wire("", text),))], f)
    return "".join(block.data for block in blocks(message) if isinstance(block, Wire))


def _in_origin(origin: Origin | None, f: Callable[[str], str]) -> Origin | None:
    """Drop the envelope if it holds what is redacted."""
    if origin is None or origin.envelope is None:
        return origin
    delta = origin.envelope.delta
    return origin if _in_json(delta, f) == delta else replace(origin, envelope=None)
