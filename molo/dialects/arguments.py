"""The arguments of calls as values, for the dialects whose wire carries no text for them."""

from collections.abc import Iterable

from molo.dialects.wire import Json, parse
from molo.errors import DecodeError
from molo.message import ToolCall

__all__ = ["value_of", "values_of"]


def value_of(arguments: str) -> Json:
    """Parse arguments, numbers as spelled; empty or blank ones mean `{}`, and so do damaged ones.

    >>> value_of('{"days":3}'), value_of(" "), value_of('{"days":')
    ({'days': 3}, {}, {})
    """
    try:
        return _parsed(arguments)
    except DecodeError:
        return {}


def values_of(calls: Iterable[ToolCall]) -> tuple[list[Json], list[int]]:
    """Give what `value_of` gives of each call, and the indices of those that are damaged.

    >>> values_of([ToolCall("c1", "f", '{"days":3}'), ToolCall("c2", "f", '{"days":')])
    ([{'days': 3}, {}], [1])
    """
    values: list[Json] = []
    damaged: list[int] = []
    for index, call in enumerate(calls):
        try:
            values.append(_parsed(call.arguments))
        except DecodeError:
            values.append({})
            damaged.append(index)
    return values, damaged


def _parsed(arguments: str) -> Json:
    return parse(arguments) if arguments and not arguments.isspace() else {}
