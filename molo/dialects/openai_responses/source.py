"""What callers give: JSON, or what a parser made of it, whatever that is."""

from collections.abc import Mapping

from molo.dialects.wire import Given, text
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import Buffer

__all__ = ["as_json"]


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
