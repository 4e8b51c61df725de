"""The common shapes as types: what they accept loses nothing by being read.

A conversation of such items alone is decoded in one call and built without a look at any key. They
are canonical, or messages of the system or a user that depart from it in a known way: with a
`"type": "message"`, or with their one text as a part, or both. What is refused here, for whatever
reason, takes the careful path (`reading`).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Base, Edit, known
from molo.dialects.openai_responses.envelope import Body
from molo.dialects.openai_responses.forms import DIALECT, canonical
from molo.dialects.wire import Json
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

__all__ = ["read"]


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes."""


class _Text(_Shape, tag_field="type", tag="input_text"):
    text: str


class _Image(_Shape, tag_field="type", tag="input_image"):
    image_url: str
    detail: Literal["auto"]


class _Item(_Shape):
    """A message, a call or its output: the three have no tag in common."""

    type: Literal["message", "function_call", "function_call_output"] | UnsetType = UNSET
    role: Literal["system", "user", "assistant"] | UnsetType = UNSET
    content: str | list[_Text | _Image] | UnsetType = UNSET
    call_id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET
    output: str | UnsetType = UNSET


class _Shaped(Struct):
    """A request body; its other keys are no business of the conversation."""

    input: list[_Item] | str
    instructions: str | UnsetType | None = UNSET


_decode = msgspec.json.Decoder(_Shaped | list[_Item]).decode


class _NotCanonicalError(ValueError):
    """A shape that the types accept and the writer would write differently."""


def read(data: Buffer | str) -> Body | None:
    """Read a request whose items are canonical throughout; None for any other."""
    try:
        body = _decode(data)
    except DECODE_FAILURES:
        return None
    items, instructions = (
        (body.input, body.instructions) if isinstance(body, _Shaped) else (body, UNSET)
    )
    if isinstance(items, str):
        return Body(items, instructions)
    try:
        return Body(_history(items), instructions)
    except _NotCanonicalError:
        return None


def _history(items: list[_Item]) -> list[Message]:
    history: list[Message] = []
    said: str | None = None  # by the reply that is open
    calls: list[ToolCall] = []
    for item in items:
        if item.type == "function_call":
            calls.append(_call(item))
            continue
        if said is not None or calls:
            if item.role == "assistant":
                raise _NotCanonicalError
            history.append(_reply(said, calls))
            said, calls = None, []
        if item.type == "function_call_output":
            history.append(_result(item))
        elif item.role == "assistant":
            said = _text(item)
        else:
            history.append(_spoken(item))
    if said is not None or calls:
        history.append(_reply(said, calls))
    return history


def _reply(said: str | None, calls: list[ToolCall]) -> Assistant:
    if said == "" and calls:
        raise _NotCanonicalError
    return Assistant(said or "", None, tuple(calls))


def _call(item: _Item) -> ToolCall:
    id, name, arguments = item.call_id, item.name, item.arguments
    if id is UNSET or name is UNSET or arguments is UNSET:
        raise _NotCanonicalError
    if item.role is not UNSET or item.content is not UNSET or item.output is not UNSET:
        raise _NotCanonicalError
    return ToolCall(id, name, arguments)


def _result(item: _Item) -> ToolResult:
    id, output = item.call_id, item.output
    if id is UNSET or output is UNSET or item.name is not UNSET:
        raise _NotCanonicalError
    if item.role is not UNSET or item.content is not UNSET or item.arguments is not UNSET:
        raise _NotCanonicalError
    return ToolResult(id, output)


def _spoken(item: _Item) -> Message:
    content = _content(item)
    alone = _only_text(content)
    words = content if alone is None else alone
    message: System | User
    if item.role == "user":
        message = User(_blocks(words))
    elif item.role == "system" and isinstance(words, str):
        message = System(words)
    else:
        raise _NotCanonicalError
    edit = _EDITS.get((item.type == "message", alone is not None))
    if edit is None:
        return message
    return replace(message, provider_data=known(Base(canonical(message)), edit, DIALECT))


def _only_text(content: str | list[_Text | _Image]) -> str | None:
    if len(content) != 1 or isinstance(content, str):
        return None
    (part,) = content
    return part.text if isinstance(part, _Text) else None


_TYPED: dict[str, Json] = {"type": ["message"]}
_LISTED: dict[str, Json] = {"content": [[{"type": "input_text", "text": {"$": [0, "content"]}}]]}
_EDITS: Mapping[tuple[bool, bool], Edit] = {
    (True, False): {"0": _TYPED},
    (False, True): {"0": _LISTED},
    (True, True): {"0": {**_TYPED, **_LISTED}},
}
"""How messages depart from the canonical form that have a type, or their one text as a part."""


def _text(item: _Item) -> str:
    content = _content(item)
    if isinstance(content, str) and item.type is UNSET:
        return content
    raise _NotCanonicalError


def _content(item: _Item) -> str | list[_Text | _Image]:
    content = item.content
    if content is UNSET or item.call_id is not UNSET or item.name is not UNSET:
        raise _NotCanonicalError
    if item.arguments is not UNSET or item.output is not UNSET:
        raise _NotCanonicalError
    return content


def _blocks(content: str | list[_Text | _Image]) -> tuple[ContentBlock, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple([_block(part) for part in content])


def _block(part: _Text | _Image) -> ContentBlock:
    return Text(part.text) if isinstance(part, _Text) else Image(url=part.image_url)
