"""Lone surrogates: text that a Python `str` can hold and UTF-8, so JSON and MessagePack, cannot.

They come from decoders that let half an escaped pair through (`"\\ud83d"`), or from text that was
cut between the halves.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from molo.message import Message

__all__ = ["replace_surrogates", "unencodable", "without_surrogates"]

_encode = msgspec.msgpack.Encoder().encode
CHUNK = 64  # messages written in one call; keeps the memory small that a long history takes

_SURROGATE = re.compile("[\ud800-\udfff]")


def unencodable(history: Sequence[Message]) -> Iterator[int]:
    """List the indices of the messages of which some text cannot be written as UTF-8.

    Messages are written, many in one call, and nothing is looked for: that is several times faster
    than to visit each text.
    """
    for start in range(0, len(history), CHUNK):
        chunk = history[start : start + CHUNK]
        if not _is_encodable(chunk):
            yield from (at for at, message in enumerate(chunk, start) if not _is_encodable(message))


def _is_encodable(value: object) -> bool:
    try:
        _encode(value)
    except UnicodeEncodeError:
        return False
    return True


def replace_surrogates(text: str) -> str:
    r"""Put U+FFFD, the replacement character, in the place of each lone surrogate.

    >>> replace_surrogates("cut \ud83d") == "cut \N{REPLACEMENT CHARACTER}"
    True
    """
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def without_surrogates(message: Message) -> Message:
    """Write a message anew, with U+FFFD for each lone surrogate in any of its texts."""
    builtins: _Builtins = msgspec.to_builtins(message, builtin_types=(bytes,))
    clean: Message = msgspec.convert(_replaced(builtins), Message)
    return clean


_Builtins = (
    str | bytes | bool | None | dict[str, "_Builtins"] | list["_Builtins"] | tuple["_Builtins", ...]
)


def _replaced(value: _Builtins) -> _Builtins:
    match value:
        case str():
            return replace_surrogates(value)
        case dict():
            return {key: _replaced(item) for key, item in value.items()}
        case list() | tuple():
            return [_replaced(item) for item in value]
        case bytes() | bool() | None:
            return value
