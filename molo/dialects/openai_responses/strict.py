"""The usual shapes as types: what they accept loses nothing by being read.

A conversation of such items alone is decoded in one call and built without a look at any key. They
are canonical, or messages that depart from it in a known way, which a small delta says: with a
`"type": "message"`, or with their one text as a part, or both. What is refused here, for whatever
reason, takes the careful path (`reading`), where the items of one message that have such shapes are
still read by their types, whatever other keys they have besides.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Base, copied, known
from molo.dialects.openai_responses.envelope import Body
from molo.dialects.openai_responses.forms import DIALECT, canonical
from molo.dialects.openai_responses.items import Members
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

__all__ = ["read", "read_open"]


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes."""


class _Text(_Shape, tag_field="type", tag="input_text"):
    text: str


class _Image(_Shape, tag_field="type", tag="input_image"):
    image_url: str
    detail: Literal["auto"]


class _Said(_Shape, tag_field="type", tag="output_text"):
    text: str


_Part = _Text | _Image | _Said


class _Item(_Shape):
    """A message, a call or its output: the three have no tag in common."""

    type: Literal["message", "function_call", "function_call_output"] | UnsetType = UNSET
    role: Literal["system", "user", "assistant"] | UnsetType = UNSET
    content: str | list[_Part] | UnsetType = UNSET
    call_id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET
    output: str | UnsetType = UNSET


class _OpenItem(_Item, forbid_unknown_fields=False):
    """An item with any other keys."""


_KEYS = frozenset(_Item.__struct_fields__)


class _Shaped(Struct):
    """A request body; its other keys are no business of the conversation."""

    input: list[_Item] | str
    instructions: str | UnsetType | None = UNSET


_decode = msgspec.json.Decoder(_Shaped | list[_Item]).decode


class _NotUsualError(ValueError):
    """A shape that the types accept and that departs from the canonical form in another way."""


def read(data: Buffer | str) -> Body | None:
    """Read a request whose items are all usual; None for any other."""
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
    except _NotUsualError:
        return None


def read_open(run: list[Members]) -> Message | None:
    """Read the items of one message that are usual but for other keys; None for any others."""
    try:
        items: list[_Item] = [msgspec.convert(members, _OpenItem) for members in run]
        (message,) = _history(items)
    except DECODE_FAILURES:  # also what is not usual, or more than one message
        return None
    if all(map(_KEYS.issuperset, run)):
        return message
    base = Base(canonical(message))
    edits: dict[str, Json] = {}
    own = _edits(items[0])  # the others are calls, which have none
    for index, members in enumerate(run):
        if own := {**own, **base.added(members, _KEYS)}:
            edits[str(index)] = own
        own = {}
    return replace(message, provider_data=known(base, edits, DIALECT))


_Edits: TypeAlias = dict[str, Json]
"""How the first item of a message departs from its canonical form; the others do not."""


def _with_edits(message: Message, edits: _Edits) -> Message:
    if not edits:
        return message
    return replace(message, provider_data=known(Base(canonical(message)), {"0": edits}, DIALECT))


def _history(items: list[_Item]) -> list[Message]:
    history: list[Message] = []
    reply: list[_Item] = []  # the items of the reply that is open
    for item in items:
        if item.type == "function_call" or item.role == "assistant":
            reply.append(item)
            continue
        if reply:
            history.append(_with_edits(_reply(reply), _edits(reply[0])))
            reply = []
        if item.type == "function_call_output":
            history.append(_result(item))
        else:
            history.append(_with_edits(_spoken(item), _edits(item)))
    if reply:
        history.append(_with_edits(_reply(reply), _edits(reply[0])))
    return history


def _reply(items: list[_Item]) -> Assistant:
    said: str | None = None
    calls: list[ToolCall] = []
    for item in items:
        if item.type == "function_call":
            calls.append(_call(item))
        elif said is None and not calls:
            said = _words(item, _Said)
        else:
            raise _NotUsualError
    if said == "" and calls:
        raise _NotUsualError
    return Assistant(said or "", None, tuple(calls))


def _call(item: _Item) -> ToolCall:
    id, name, arguments = item.call_id, item.name, item.arguments
    if id is UNSET or name is UNSET or arguments is UNSET:
        raise _NotUsualError
    if item.role is not UNSET or item.content is not UNSET or item.output is not UNSET:
        raise _NotUsualError
    return ToolCall(id, name, arguments)


def _spoken(item: _Item) -> System | User:
    if item.role == "user":
        return User(_blocks(_content(item)))
    if item.role == "system":
        return System(_words(item, _Text))
    raise _NotUsualError


def _result(item: _Item) -> ToolResult:
    id, output = item.call_id, item.output
    if id is UNSET or output is UNSET or item.name is not UNSET:
        raise _NotUsualError
    if item.role is not UNSET or item.content is not UNSET or item.arguments is not UNSET:
        raise _NotUsualError
    return ToolResult(id, output)


def _content(item: _Item) -> str | list[_Part]:
    content = item.content
    if item.type == "function_call_output":
        raise _NotUsualError
    if content is UNSET or item.call_id is not UNSET or item.name is not UNSET:
        raise _NotUsualError
    if item.arguments is not UNSET or item.output is not UNSET:
        raise _NotUsualError
    return content


def _words(item: _Item, kind: type[_Text | _Said]) -> str:
    """Give the content of a message that is text: a string, or one part of this kind."""
    content = _content(item)
    if isinstance(content, str):
        return content
    if len(content) == 1 and isinstance(part := content[0], kind):
        return part.text
    raise _NotUsualError


def _blocks(content: str | list[_Part]) -> tuple[ContentBlock, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple([_block(part) for part in content])


def _block(part: _Part) -> ContentBlock:
    match part:
        case _Text():
            return Text(part.text)
        case _Image():
            return Image(url=part.image_url)
        case _Said():
            raise _NotUsualError


def _edits(item: _Item) -> _Edits:
    """Tell how an item departs from its canonical form: it has a type, or its text is a part."""
    edits: _Edits = {"type": ["message"]} if item.type == "message" else {}
    if isinstance(item.content, list):
        match item.content:
            case [_Text() | _Said() as part]:
                kind = str(part.__struct_config__.tag)
                edits["content"] = [[{"type": kind, "text": copied(part.text, 0, "content")}]]
            case _:
                pass
    return edits
