"""The canonical shapes as types: what they accept loses nothing by being read.

A conversation of canonical messages alone is decoded in one call and built without a look at any
key. What is refused here, for whatever reason, takes the careful path (`reading`).
"""

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from molo.errors.translation import DECODE_FAILURES, Buffer
from molo.message import (
    Assistant,
    ContentBlock,
    Image,
    Message,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
)

__all__ = ["read_builtins", "read_json"]

T = TypeVar("T")


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes."""


class _Function(_Shape):
    name: str
    arguments: str


class _Call(_Shape):
    id: str
    type: Literal["function"]
    function: _Function


class _Url(_Shape):
    url: str


class _ImageUrl(_Shape, tag_field="type", tag="image_url"):
    image_url: _Url


class _System(_Shape, tag_field="role", tag="system"):
    content: str


class _User(_Shape, tag_field="role", tag="user"):
    content: str | list[Text | _ImageUrl]


class _Assistant(_Shape, tag_field="role", tag="assistant"):
    content: str | None
    reasoning_content: str | UnsetType = UNSET
    tool_calls: Annotated[list[_Call], Meta(min_length=1)] | UnsetType = UNSET


class _Tool(_Shape, tag_field="role", tag="tool"):
    tool_call_id: str
    content: str


_Shaped = _System | _User | _Assistant | _Tool


class _Body(Struct):
    """A request body; its other keys are no business of the conversation."""

    messages: list[_Shaped]


_decode = msgspec.json.Decoder(_Body | list[_Shaped]).decode


class _NotCanonicalError(ValueError):
    """A shape that the types accept and the writer would write differently."""


def read_json(data: Buffer | str) -> list[Message] | None:
    """Read a request that is canonical throughout; None for any other."""
    return _history(_decode, data)


def read_builtins(request: object) -> list[Message] | None:
    """Read a request that is canonical throughout, from dicts and lists; None for any other."""
    return _history(_convert, request)


def _convert(request: object) -> _Body | list[_Shaped]:
    return msgspec.convert(request, _Body | list[_Shaped])


def _history(decode: Callable[[T], _Body | list[_Shaped]], data: T) -> list[Message] | None:
    try:
        body = decode(data)
    except DECODE_FAILURES:
        return None
    shapes = body.messages if isinstance(body, _Body) else body
    try:
        return [_message(shape) for shape in shapes]
    except _NotCanonicalError:
        return None


def _message(shape: _Shaped) -> Message:
    match shape:
        case _Assistant():
            return _assistant(shape)
        case _Tool():
            return ToolResult(shape.tool_call_id, shape.content)
        case _User():
            return User(_blocks(shape.content))
        case _System():
            return System(shape.content)


def _blocks(content: str | list[Text | _ImageUrl]) -> tuple[ContentBlock, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if len(content) == 1 and isinstance(content[0], Text):
        raise _NotCanonicalError
    return tuple(
        [part if isinstance(part, Text) else Image(url=part.image_url.url) for part in content]
    )


def _assistant(shape: _Assistant) -> Assistant:
    content, reasoning, calls = shape.content, shape.reasoning_content, shape.tool_calls
    # No text is written as null beside calls, and as "" without.
    if not content and (content is None) is (calls is UNSET):
        raise _NotCanonicalError
    return Assistant(
        content or "",
        None if reasoning is UNSET else reasoning,
        () if calls is UNSET else tuple([_call(call) for call in calls]),
    )


def _call(call: _Call) -> ToolCall:
    return ToolCall(call.id, call.function.name, call.function.arguments)
