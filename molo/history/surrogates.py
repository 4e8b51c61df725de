"""Lone surrogates: text that a Python `str` can hold and UTF-8, so JSON and MessagePack, cannot.

They come from decoders that let half an escaped pair through (`"\\ud83d"`), or from text that was
cut between the halves.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from molo.message import (
    Assistant,
    Message,
    System,
    Text,
    ToolResult,
    User,
    not_messages,
    require_messages,
)

__all__ = ["replace_surrogates", "unencodable", "without_surrogates"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_write = msgspec.msgpack.Encoder().encode


def unencodable(history: Sequence[Message]) -> list[int]:
    """List the indices of the messages of which some text cannot be written as UTF-8.

    Raises:
        EncodeError: an item is no message; `path` says which.
    """
    if _is_encodable(history):
        return []
    require_messages(history)
    return [at for at, message in enumerate(history) if not _is_encodable([message])]


def _is_encodable(history: Sequence[Message]) -> bool:
    try:
        _ask_for_utf8(history)
    except UnicodeEncodeError:
        return False
    return True


def _ask_for_utf8(history: Sequence[Message]) -> None:
    """Ask each text for its UTF-8: nothing is looked for, and text that is ASCII is not read."""
    for message in history:
        if type(message) is Assistant:
            if not message.content.isascii():
                Raw(message.content)
            if message.reasoning is not None and not message.reasoning.isascii():
                Raw(message.reasoning)
            for call in message.tool_calls:
                if not (call.arguments.isascii() and call.id.isascii() and call.name.isascii()):
                    _write(call)
            if message.attachments or message.provider_data is not None:
                _write(message)
        elif type(message) is ToolResult:
            if not (message.content.isascii() and message.id.isascii()):
                Raw(message.content)
                Raw(message.id)
            if message.attachments or message.provider_data is not None:
                _write(message)
        elif type(message) is User:
            for block in message.content:
                if type(block) is not Text:
                    _write(block)
                elif not block.text.isascii():
                    Raw(block.text)
            if message.provider_data is not None:
                _write(message)
        elif type(message) is System:
            if not message.content.isascii():
                Raw(message.content)
            if message.provider_data is not None:
                _write(message)
        else:
            raise not_messages(history)


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
