"""The arguments of calls as values, for the dialects whose wire carries no text for them."""

from molo.dialects.wire import Json, parse
from molo.errors import DecodeError

__all__ = ["are_json", "value_of"]


def value_of(arguments: str) -> Json:
    """Parse arguments, numbers as spelled; empty or blank ones mean `{}`, and so do damaged ones.

    >>> value_of('{"days":3}'), value_of(" "), value_of('{"days":')
    ({'days': 3}, {}, {})
    """
    try:
        return _parsed(arguments)
    except DecodeError:
        return {}


def are_json(arguments: str) -> bool:
    """Tell whether arguments have a value; else `value_of` leaves them out.

    >>> are_json(" "), are_json('{"days":')
    (True, False)
    """
    try:
        _parsed(arguments)
    except DecodeError:
        return False
    return True


def _parsed(arguments: str) -> Json:
    return parse(arguments) if arguments and not arguments.isspace() else {}
