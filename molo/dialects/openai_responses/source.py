"""What callers give: JSON, or what a parser made of it; and how the values in it are spelled."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw

from molo.dialects.wire import spelled, text
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import Buffer

__all__ = ["Given", "Spell", "as_json", "spelling"]

Given: TypeAlias = Buffer | str | Mapping[str, Any] | list[Any]
"""JSON as bytes or text, or what a parser makes of it."""

Spell: TypeAlias = Callable[[int, str], str]
"""Gives the JSON text under a key of the item with an index, as it stands on the wire."""


def as_json(given: Given) -> Buffer | str:
    """Give the JSON of what a caller gave; of builtins it is written first.

    So there is one way to read, and what no JSON can hold is an error with its place.

    Raises:
        DecodeError: the builtins hold what JSON cannot; `path` says where.
    """
    if isinstance(given, bytes | bytearray | memoryview | str):
        return given
    try:
        return text(dict(given) if isinstance(given, Mapping) else given)
    except EncodeError as failure:
        error = DecodeError(failure.text, path=failure.path or "$")
    raise error


def spelling(data: Buffer | str, *path: str) -> Spell:
    """Make the `Spell` of the array that stands at a path of a document.

    The array is cut into its items when one is first asked for: as a rule none is.
    """
    raws: list[Raw] = []

    def spell(index: int, key: str) -> str:
        if not raws:
            raws.extend(msgspec.json.decode(spelled(data, *path), type=list[Raw]))
        return spelled(raws[index], key)

    return spell
