"""The arguments of a call: what is wrong with them as JSON text, and how to keep what is."""

import re
from typing import Literal

import msgspec

from molo.history.surrogates import replace_surrogates

__all__ = ["RAW_ARGUMENTS", "ArgumentsFault", "arguments_fault", "wrap_arguments"]

RAW_ARGUMENTS = "_raw_arguments"
"""The key under which `repair` puts arguments that a vendor does not take, as text."""

ArgumentsFault = Literal[
    "arguments_invalid",
    "arguments_not_object",
    "arguments_not_finite",
    "arguments_repeated_key",
]

ArgumentsShape = Literal["json", "object", "parsed"]
"""What arguments have to be, as `Rules.arguments` says it."""

MAX_NESTING = 256  # levels; far from the interpreter's recursion limit on a stack of usual depth
SHALLOW = 2 * MAX_NESTING  # characters; JSON that is no longer has no more levels
# characters, the fewest that open a level of objects; `[` alone opens one of arrays
OPENING = len('{"":')

_skim = msgspec.json.Decoder(msgspec.Raw).decode  # the cheapest way through valid JSON
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_decode_key = msgspec.json.Decoder(str).decode

# A string that is not closed goes on to the end: else it would be looked for behind each quotation
# mark in it anew.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_NOT_FINITE = re.compile(rf"{_STRING}|(-?Infinity|NaN)", re.DOTALL)
_BRACKET = re.compile(rf"{_STRING}|([\[{{])|([\]}}])", re.DOTALL)
_MEMBER = re.compile(rf"({_STRING})\s*:|{_STRING}|([{{}}])", re.DOTALL)


def arguments_fault(text: str, shape: ArgumentsShape) -> ArgumentsFault | None:
    """Say what keeps arguments from being JSON of this shape (`Rules.arguments`).

    Empty or blank arguments mean `{}`. Repeated keys, NaN and Infinity are faults only where the
    shape is "parsed". Nesting of more than 256 levels counts as invalid.

    >>> arguments_fault('{"city":"Bei', "json")
    'arguments_invalid'
    >>> arguments_fault("[1]", "json"), arguments_fault("[1]", "object")
    (None, 'arguments_not_object')
    """
    if len(text) > SHALLOW and _nesting(text) > MAX_NESTING:
        return "arguments_invalid"
    try:
        _skim(text)
    except msgspec.DecodeError:
        return None if not text or text.isspace() else _unskimmed_fault(text, shape)
    except UnicodeEncodeError:
        return arguments_fault(replace_surrogates(text), shape)
    if shape == "json":
        return None
    if text.lstrip()[0] != "{":
        return "arguments_not_object"
    if shape == "parsed" and _repeats_key(text):
        return "arguments_repeated_key"
    return None


def wrap_arguments(text: str) -> str:
    """Make an object that holds the text of arguments under `RAW_ARGUMENTS`.

    >>> wrap_arguments('{"city":"Bei')
    '{"_raw_arguments":"{\\\\"city\\\\":\\\\"Bei"}'
    """
    return msgspec.json.encode({RAW_ARGUMENTS: text}).decode()


def _nesting(text: str) -> int:
    """Count the levels of brackets; 0 where there cannot be too many.

    Of text that is no JSON, a bracket may be counted that opens no level.
    """
    # 257 levels end in 257 closing brackets. In front of the last 256 characters they take, if all
    # are objects, more than 4 * 256 characters; each level of arrays takes 1 instead of 4.
    arrays = text.count("[")
    if (len(text) - MAX_NESTING - arrays) + OPENING * arrays <= OPENING * MAX_NESTING:
        return 0
    if arrays + text.count("{") <= MAX_NESTING:
        return 0
    depth = deepest = 0
    for bracket in _BRACKET.finditer(text):
        depth += (bracket[1] is not None) - (bracket[2] is not None)
        deepest = max(deepest, depth)
    return deepest


def _repeats_key(text: str) -> bool:
    """Tell whether an object in this valid JSON has a key twice."""
    if _keeps_colons(text):
        return False
    outer: list[set[str]] = []
    keys: set[str] = set()
    for key, brace in _MEMBER.findall(text):
        if brace == "{":
            outer.append(keys)
            keys = set()
        elif brace == "}":
            keys = outer.pop()
        elif key:
            name = _decode_key(key)
            if name in keys:
                return True
            keys.add(name)
    return False


def _keeps_colons(text: str) -> bool:
    """Tell whether this JSON has as many colons when it is read and written again.

    It has fewer if a key was repeated; escaped ones cannot be told.
    """
    if "\\u003" in text:
        return False
    try:
        return _encode(_decode(text)).count(b":") == text.count(":")
    except msgspec.DecodeError:  # half an escaped surrogate pair, or a number without bounds
        return False


def _unskimmed_fault(text: str, shape: ArgumentsShape) -> ArgumentsFault | None:
    """Judge what is no JSON: Python and JavaScript write NaN and Infinity all the same."""
    if "NaN" not in text and "Infinity" not in text:
        return "arguments_invalid"
    finite = _NOT_FINITE.sub(lambda found: "null" if found[1] else found[0], text)
    if finite == text:
        return "arguments_invalid"
    fault = arguments_fault(finite, shape)
    if fault is None and shape == "parsed":
        return "arguments_not_finite"
    return fault
