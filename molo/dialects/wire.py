"""JSON as vendors write it: parsed with the spelling of its numbers kept, and asked for its shape.

A dialect reads what its strict decoder refused in this form. A number with a fraction or an
exponent is a `Number`, which keeps `0.10`, `1E2` and `1e400` as they were spelled; all else is
dict, list, str, int, bool and None. Of a repeated key the last value counts, as in every parser.

Errors of `expect_object` and its siblings hold the path that they are given; readers give the
path from the message on, and whoever holds the message's own place puts it in front.
"""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, TypeAlias, TypeVar

import msgspec

from molo.errors import DecodeError, EncodeError
from molo.errors.translation import (
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Buffer,
    Form,
    decode_error,
    encode_error,
    identified,
)

__all__ = [
    "Given",
    "Json",
    "Number",
    "Spell",
    "as_json",
    "decoded",
    "encoded",
    "expect_array",
    "expect_object",
    "expect_text",
    "kind",
    "member",
    "named_error",
    "parse",
    "plain",
    "require_finite",
    "spelled",
    "spelling",
    "spelling_parsed",
    "string",
    "text",
]


T = TypeVar("T")


class Number:
    """A number as it was spelled, for all that are not plain integers."""

    __slots__ = ("spelled",)

    def __init__(self, spelled: str) -> None:
        self.spelled = spelled

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.spelled == other.spelled

    def __hash__(self) -> int:
        return hash(self.spelled)

    def __repr__(self) -> str:
        return f"Number({self.spelled!r})"


Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | Number | None"
"""Any JSON value."""

Given: TypeAlias = Buffer | str | Mapping[str, Any] | list[Any] | tuple[Any, ...]
"""What callers give: JSON as bytes or text, or what a parser makes of it."""

Spell: TypeAlias = Callable[..., str]
"""Gives the JSON text at a path of a value as it stands on the wire."""


def parse(data: Buffer | str) -> Json:
    """Parse JSON, numbers as spelled.

    Raises:
        DecodeError: the data is no JSON.

    >>> parse('{"temperature": 0.10}')
    {'temperature': Number('0.10')}
    """
    value: Json = decoded(_decode, data)
    return value


def decoded(decode: Callable[[Buffer | str], T], data: Buffer | str) -> T:
    """Decode JSON with a decoder.

    Raises:
        DecodeError: the data is no JSON, or not of the decoder's type.
    """
    try:
        return decode(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _FORM)
    raise error


def plain(value: Json) -> Json:
    """Turn spelled numbers into floats, for those who want builtins; `1e400` becomes infinite.

    >>> plain(parse("[0.10, 1]"))
    [0.1, 1]
    """
    if isinstance(value, Number):
        return float(value.spelled)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def text(value: Json) -> str:
    """Write a value as JSON text without white space, numbers as spelled.

    Raises:
        EncodeError: the value holds what JSON cannot (NaN, a lone surrogate, another type).

    >>> text(parse('{"temperature": 0.10}'))
    '{"temperature":0.10}'
    """
    written = encoded(value)
    # Not `in`, which would first take the bytes for a number, in vain.
    if written.find(b"null") >= 0:
        require_finite(value)
    return written.decode()


def require_finite(value: Json) -> None:
    """Make sure that a value holds neither NaN nor an infinite number; nothing parsed does.

    Raises:
        EncodeError: it does.
    """
    if _holds_infinite(value):
        raise EncodeError("Expected numbers that JSON can hold, got NaN or Infinity")


def encoded(value: Json) -> bytes:
    """Write a value that was parsed, and so holds no NaN, as `text` does, in UTF-8.

    Raises:
        EncodeError: a string holds a lone surrogate.
    """
    try:
        return _encode(value)
    except ENCODE_FAILURES as failure:
        error = encode_error(failure, value, _FORM)
    raise error


def spelled(data: Buffer | str, *path: str | int) -> str:
    """Give the JSON text at a path of a document as it stands there, white space and all.

    Raises:
        KeyError, ValidationError: the path is not there; ask for what was parsed.

    >>> spelled(b'{"calls": [{"arguments": {"n": 0.10}}]}', "calls", 0, "arguments")
    '{"n": 0.10}'
    """
    return spelling(data)(*path)


def spelling(data: Buffer | str, *path: str | int) -> Spell:
    """Make the `Spell` of what stands at a path of a document; its paths begin there.

    Each object or array is cut into its members once, when one is first asked for: as a rule none.

    >>> spelling(b'{"calls": [{"arguments": {"n": 0.10}}]}', "calls")(0, "arguments", "n")
    '0.10'
    """
    cut: dict[tuple[str | int, ...], _Members] = {}

    def spell(*place: str | int) -> str:
        there: Buffer | str = data
        whole = (*path, *place)
        for depth, step in enumerate(whole):
            members = cut.get(whole[:depth])
            if members is None:
                members = cut[whole[:depth]] = _members(there, step)
            there = members[step]
        return there if isinstance(there, str) else bytes(there).decode()

    return spell


_Members: TypeAlias = Mapping[str | int, msgspec.Raw]


def _members(data: Buffer | str, step: str | int) -> _Members:
    """Cut an array or object, whichever this step goes into."""
    if isinstance(step, int):
        return dict(enumerate(_decode_items(data)))
    return {key: raw for key, raw in _decode_members(data).items()}  # noqa: C416 - wider keys


def spelling_parsed(value: Json) -> Spell:
    """Make the `Spell` of a value whose JSON is not at hand: it is written again.

    >>> spelling_parsed([{"arguments": {"n": 0.10}}])(0, "arguments")
    '{"n":0.1}'
    """
    return lambda *path: text(reduce(member, path, value))


def member(value: Json, step: Json) -> Json:
    """Give one member of an object or array; DecodeError where it has none such."""
    if isinstance(value, dict) and isinstance(step, str) and step in value:
        return value[step]
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    raise DecodeError("Expected a path into the value")


def as_json(value: Given) -> Buffer | str:
    """Give JSON as it is, and what a parser made of it as JSON again.

    So there is one way to read, and what no JSON can hold is an error with its place.

    Raises:
        DecodeError: the value is not what JSON can hold; `path` says where.

    >>> as_json(b'{"n": 0.10}'), as_json({"n": 0.1})
    (b'{"n": 0.10}', '{"n":0.1}')
    """
    if isinstance(value, bytes | bytearray | memoryview | str):
        return value
    if isinstance(value, tuple):
        value = [*value]
    try:
        return text({**value} if isinstance(value, Mapping) else value)
    except EncodeError as failure:
        error = DecodeError(failure.text, path=failure.path or "$")
    raise error


def string(value: Json) -> str:
    """Make text of what should be text: nothing of null, of others their JSON.

    >>> string("Hi"), string(None), string({"n": 1})
    ('Hi', '', '{"n":1}')
    """
    if isinstance(value, str):
        return value
    return "" if value is None else text(value)


def expect_object(value: Json, path: str) -> dict[str, Json]:
    """Return a value that is an object; DecodeError with this path otherwise."""
    if isinstance(value, dict):
        return value
    raise DecodeError(f"Expected `object`, got `{kind(value)}`", path=path)


def expect_array(value: Json, path: str) -> list[Json]:
    """Return a value that is an array; DecodeError with this path otherwise."""
    if isinstance(value, list):
        return value
    raise DecodeError(f"Expected `array`, got `{kind(value)}`", path=path)


def expect_text(value: Json, path: str) -> str:
    """Return a value that is a string; DecodeError with this path otherwise."""
    if isinstance(value, str):
        return value
    raise DecodeError(f"Expected `str`, got `{kind(value)}`", path=path)


def named_error(answer: dict[str, Json]) -> str:
    """Name the `error` that an answer holds, by its status, code or type.

    Its message is left out, for it may quote anything.

    >>> named_error({"error": {"code": None, "type": "server_error", "message": "Oh, no."}})
    'an error of type `server_error`'
    """
    error = answer.get("error")
    for key in ("status", "code", "type"):
        if isinstance(error, dict) and isinstance(name := error.get(key), str) and name:
            return f"an error of {key} {identified(name)}"
    return "an error"


def kind(value: Json) -> str:
    """Name the type of a value as errors do: `object`, `array`, `str`, `null` …"""
    return _KINDS.get(type(value), type(value).__name__)


_KINDS: dict[type, str] = {dict: "object", list: "array", type(None): "null", Number: "float"}


def _number_text(value: object) -> msgspec.Raw:
    if isinstance(value, Number):
        return msgspec.Raw(value.spelled.encode())
    raise TypeError(f"Expected a JSON value, got {type(value).__name__}")


_decode = msgspec.json.Decoder(float_hook=Number).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder(enc_hook=_number_text).encode
_FORM = Form("JSON", msgspec.json.decode, _encode)


def _holds_infinite(value: Json) -> bool:
    """Find what msgspec would write as `null`: NaN and the infinities."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_holds_infinite, value.values()))
    return isinstance(value, list) and any(map(_holds_infinite, value))
