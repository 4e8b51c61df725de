"""Histories and messages as JSON: one of the two codec twins (`molo.msgpack` is the other).

Both have the same four functions. Decoding is strict: any bytes give a value or a `DecodeError`,
nothing else. Encoding writes UTF-8 without white space, the same bytes for the same value every
time. All functions are safe to call from many threads at once.

`from_builtins` and `to_builtins` are for histories kept as dicts and lists (a JSONB column, a web
framework); `schema` describes the form to other software.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from molo.errors import DecodeError
from molo.errors.translation import (
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Buffer,
    Form,
    decode_error,
    encode_error,
)
from molo.message import TAGS, Message, not_messages, only_messages, require_message

__all__ = [
    "decode",
    "decode_message",
    "encode",
    "encode_message",
    "from_builtins",
    "schema",
    "to_builtins",
]

_encode = msgspec.json.Encoder().encode
_decode_history = msgspec.json.Decoder(list[Message]).decode
_decode_message = msgspec.json.Decoder(Message).decode

_FORM = Form("JSON", msgspec.json.decode, _encode, TAGS, "; written by a newer molo?")
_BUILTINS = _FORM._replace(escapes=True)


def encode(history: Sequence[Message]) -> bytes:
    """Write a history, a list or tuple of messages, as a JSON array in UTF-8.

    Items are checked to be messages; what stands in their fields is the type checker's business
    (`System(5)` is written as given, and does not decode).

    Raises:
        EncodeError: an item is no message, or a field holds what JSON cannot (a lone surrogate).

    >>> from molo import user
    >>> encode([user("Hi")])
    b'[{"role":"user","content":[{"type":"text","text":"Hi"}]}]'
    """
    # `require_messages` in place: its call alone is a twentieth of the time of a small history.
    if not (isinstance(history, (list, tuple)) and only_messages(map(type, history))):
        raise not_messages(history)
    try:
        return _encode(history)
    except ENCODE_FAILURES as failure:
        error = encode_error(failure, history, _FORM)
    raise error


def decode(data: Buffer | str) -> list[Message]:
    """Read a history from a JSON array.

    Raises:
        DecodeError: the data is no JSON (`offset` says where) or no history (`path` says where).

    >>> decode('[{"role":"assistant","content":null}]')
    Traceback (most recent call last):
    molo.errors.DecodeError: Expected `str`, got `null` - at `$[0].content`
    """
    try:
        return _decode_history(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _FORM)
    raise error


def encode_message(message: Message) -> bytes:
    """Write one message as a JSON object; otherwise as `encode`."""
    require_message(message)
    try:
        return _encode(message)
    except ENCODE_FAILURES as failure:
        error = encode_error(failure, message, _FORM)
    raise error


def decode_message(data: Buffer | str) -> Message:
    """Read one message from a JSON object; otherwise as `decode`."""
    try:
        return _decode_message(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _FORM)
    raise error


def to_builtins(history: Sequence[Message]) -> list[dict[str, Any]]:
    """Turn a history into what `json.loads(encode(history))` gives: dicts, lists, base64 text.

    Raises:
        EncodeError: as `encode`.

    >>> from molo import system
    >>> to_builtins([system("Be brief.")])
    [{'role': 'system', 'content': 'Be brief.'}]
    """
    builtins: list[dict[str, Any]] = msgspec.json.decode(encode(history))
    return builtins


def from_builtins(obj: object) -> list[Message]:
    """Read a history from dicts and lists, as `to_builtins` or a JSON parser gives them.

    Raises:
        DecodeError: as `decode` of the same value written as JSON, with the same `path`.

    >>> from_builtins([{"role": "system", "content": "Be brief."}])
    [System(content='Be brief.')]
    """
    try:
        written = _encode(obj)  # a str may hold lone surrogates, which no JSON can
    except ENCODE_FAILURES as failure:
        unwritten = encode_error(failure, obj, _FORM)
        error = DecodeError(unwritten.text, path=unwritten.path)
    else:
        try:
            msgspec.convert(obj, list[Message])  # refuses what only looks right when written: dates
        except msgspec.ValidationError as failure:
            error = decode_error(failure, b"", _BUILTINS)
        else:
            return decode(written)  # `convert` takes Structs and enums as they are, unchecked
    raise error


def schema() -> dict[str, Any]:
    """Describe a history as a JSON Schema (2020-12): what `encode` writes, it accepts.

    A new dict every time, made of what JSON has. It is as strict as `decode`, but for what no
    schema can say: that text is UTF-8, that no key is repeated.
    """
    described = msgspec.json.schema(list[Message])
    for name in ("Image", "Audio", "File"):
        described["$defs"][name]["oneOf"] = _ONE_SOURCE
        described["$defs"][name]["properties"]["data"]["anyOf"][0].update(_BASE64)
    plain: dict[str, Any] = msgspec.json.decode(_encode(described))  # its defaults are tuples
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **plain}


# RFC 4648 section 4, with padding: what msgspec reads and writes for bytes. In some languages `$`
# also stands in front of a last line end, so that is refused by itself.
_BASE64 = {
    "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "not": {"pattern": "\n"},
}

# A field that has its default may be written out, so `null` counts as absent.
_ONE_SOURCE = [
    {"required": [given], "properties": {given: {"type": "string"}, other: {"type": "null"}}}
    for given, other in (("data", "url"), ("url", "data"))
]
