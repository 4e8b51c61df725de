"""Histories and messages as MessagePack: one of the two codec twins (`molo.json` is the other).

Both have the same four functions. Decoding is strict: any bytes give a value or a `DecodeError`,
nothing else. Encoding writes the same bytes for the same value every time. All functions are safe
to call from many threads at once.

The form is JSON's, member for member, except that the bytes of media are `bin` instead of base64
text. Text is `str` and never `bin`; extension types are refused.
"""

from collections.abc import Sequence

import msgspec

from molo.errors.translation import (
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Buffer,
    Form,
    decode_error,
    encode_error,
)
from molo.message import TAGS, Message, not_messages, only_messages, require_message

__all__ = ["decode", "decode_message", "encode", "encode_message"]

_encode = msgspec.msgpack.Encoder().encode
_decode_history = msgspec.msgpack.Decoder(list[Message]).decode
_decode_message = msgspec.msgpack.Decoder(Message).decode

_FORM = Form("MessagePack", msgspec.msgpack.decode, _encode, TAGS, "; written by a newer molo?")


def encode(history: Sequence[Message]) -> bytes:
    """Write a history, a list or tuple of messages, as a MessagePack array.

    Items are checked to be messages; what stands in their fields is the type checker's business
    (`System(5)` is written as given, and does not decode).

    Raises:
        EncodeError: an item is no message, or a field holds what MessagePack cannot (a lone
            surrogate, an integer beyond 64 bits).

    >>> from molo import system
    >>> encode([system("Hi")])
    b'\\x91\\x82\\xa4role\\xa6system\\xa7content\\xa2Hi'
    """
    # `require_messages` in place: its call alone is a twentieth of the time of a small history.
    if not (isinstance(history, (list, tuple)) and only_messages(map(type, history))):
        raise not_messages(history)
    try:
        return _encode(history)
    except ENCODE_FAILURES as failure:
        error = encode_error(failure, history, _FORM)
    raise error


def decode(data: Buffer) -> list[Message]:
    """Read a history from a MessagePack array.

    Raises:
        DecodeError: the data is no MessagePack (`offset` says where) or no history (`path` says
            where).

    >>> decode(b"\\x91\\x81\\xa4role\\xa6system")
    Traceback (most recent call last):
    molo.errors.DecodeError: Expected field `content`, got an object without it - at `$[0]`
    """
    try:
        return _decode_history(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _FORM)
    raise error


def encode_message(message: Message) -> bytes:
    """Write one message as a MessagePack map; otherwise as `encode`."""
    require_message(message)
    try:
        return _encode(message)
    except ENCODE_FAILURES as failure:
        error = encode_error(failure, message, _FORM)
    raise error


def decode_message(data: Buffer) -> Message:
    """Read one message from a MessagePack map; otherwise as `decode`."""
    try:
        return _decode_message(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _FORM)
    raise error
