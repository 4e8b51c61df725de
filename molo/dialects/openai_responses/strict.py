"""The usual shapes as types: what they accept loses nothing by being read.

A conversation of such items alone is decoded in one call and built without a look at any key. They
are canonical, or depart from it in a known way, which a small delta says: items with an `id` or a
`status`, messages with a `"type": "message"` or with their one text as a part, and the reasoning in
front of what the model said or called. What is refused here, for whatever reason, takes the careful
path (`reading`), where the items of one message that have such shapes are still read by their
types, whatever other keys they have besides (reasoning has none: it is kept whole).
"""

from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Base, Edit, copied, known
from molo.dialects.openai_responses.envelope import Body
from molo.dialects.openai_responses.forms import BETWEEN, DIALECT, canonical
from molo.dialects.openai_responses.items import Members
from molo.dialects.shapes import Empty, NotUsualError, Shape
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

__all__ = ["read_json", "read_open_run"]


M = TypeVar("M", bound=Message)


class _Text(Shape, tag_field="type", tag="input_text"):
    text: str


class _Image(Shape, tag_field="type", tag="input_image"):
    image_url: str
    detail: Literal["auto"]


class _Said(Shape, tag_field="type", tag="output_text"):
    text: str
    annotations: Empty | UnsetType = UNSET
    logprobs: Empty | UnsetType = UNSET


class _Summary(Shape):
    type: Literal["summary_text"]  # not a tag, which may be missing where a type stands alone
    text: str


_Part = _Text | _Image | _Said


class _Item(Shape):
    """A message, a call, its output, or reasoning: the four have no tag in common."""

    type: Literal["message", "function_call", "function_call_output", "reasoning"] | UnsetType = (
        UNSET
    )
    role: Literal["system", "user", "assistant"] | UnsetType = UNSET
    content: str | list[_Part] | UnsetType | None = UNSET
    call_id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET
    output: str | UnsetType = UNSET
    summary: list[_Summary] | UnsetType = UNSET
    encrypted_content: str | UnsetType | None = UNSET
    id: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET


class _OpenItem(_Item, forbid_unknown_fields=False):
    """An item with any other keys."""


_KEYS = frozenset(_Item.__struct_fields__)


class _Shaped(Struct):
    """A request body; its other keys are no business of the conversation."""

    input: list[_Item] | str
    instructions: str | UnsetType | None = UNSET


_decode = msgspec.json.Decoder(_Shaped | list[_Item]).decode


def read_json(data: Buffer | str) -> Body | None:
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
    except NotUsualError:
        return None


def read_open_run(run: list[Members]) -> Message | None:
    """Read the items of one message that are usual but for other keys; None for any others."""
    try:
        items: list[_Item] = [msgspec.convert(members, _OpenItem) for members in run]
        (message,) = _history(items)
        if all(map(_KEYS.issuperset, run)):
            return message
        return _with_other_keys(message, items, run)
    except DECODE_FAILURES:  # also what is not usual, or more than one message
        return None


def _with_other_keys(message: Message, items: list[_Item], run: list[Members]) -> Message:
    base = Base(canonical(message))
    edits: dict[str, Json] = {}
    for index, members in enumerate(run):
        own, others = _edit(items[index], index), base.added(members, _KEYS)
        if own and others:
            own = _merged(own, others)
        if own or others:
            edits[str(index)] = own or others
    sealed = message.provider_data is not None and message.provider_data.sealed
    return replace(message, provider_data=known(base, edits, DIALECT, sealed=sealed))


def _merged(own: Edit, others: dict[str, Json]) -> Edit:
    """Put what an item departs in and its other keys in one edit."""
    if isinstance(own, list):  # reasoning
        raise NotUsualError
    return {**own, **others}


def _history(items: list[_Item]) -> list[Message]:
    history: list[Message] = []
    reply: list[_Item] = []  # the items of the reply that is open
    for item in items:
        if item.type == "function_call" or item.role == "assistant" or item.type == "reasoning":
            reply.append(item)
            continue
        if reply:
            history.append(_reply(reply))
            reply = []
        message = _result(item) if item.type == "function_call_output" else _spoken(item)
        edit = _edit(item, 0)
        history.append(_kept(message, {"0": edit}) if edit else message)
    if reply:
        history.append(_reply(reply))
    return history


def _kept(message: M, edits: dict[str, Json], *, sealed: bool = False) -> M:
    """Keep how the items of a message depart from its canonical form."""
    data = known(Base(canonical(message)), edits, DIALECT, sealed=sealed)
    return replace(message, provider_data=data)


def _reply(items: list[_Item]) -> Assistant:
    said: str | None = None
    reasoning: str | None = None
    calls: list[ToolCall] = []
    for item in items:
        if item.type == "function_call":
            calls.append(_call(item))
        elif item.type == "reasoning" and item is items[0]:
            reasoning = _thought(item)
        elif said is None and not calls and item.type != "reasoning":
            said = _words(item, _Said)
        else:
            raise NotUsualError
    if (said == "" and calls) or (said is None and not calls):
        raise NotUsualError
    message = Assistant(said or "", reasoning, tuple(calls))
    edits: dict[str, Json] = {}
    for index, item in enumerate(items):
        if edit := _edit(item, index):
            edits[str(index)] = edit
    return _kept(message, edits, sealed=reasoning is not None) if edits else message


def _thought(item: _Item) -> str:
    if item.role is not UNSET or item.call_id is not UNSET or item.name is not UNSET:
        raise NotUsualError
    if item.arguments is not UNSET or item.output is not UNSET:
        raise NotUsualError
    if item.content is not UNSET and item.content is not None:
        raise NotUsualError
    return BETWEEN.join([part.text for part in item.summary or () if part.text])


def _call(item: _Item) -> ToolCall:
    id, name, arguments = item.call_id, item.name, item.arguments
    if id is UNSET or name is UNSET or arguments is UNSET:
        raise NotUsualError
    if item.role is not UNSET or item.content is not UNSET or item.output is not UNSET:
        raise NotUsualError
    if item.summary is not UNSET or item.encrypted_content is not UNSET:
        raise NotUsualError
    return ToolCall(id, name, arguments)


def _spoken(item: _Item) -> System | User:
    if item.role == "user":
        return User(_blocks(_content(item)))
    if item.role == "system":
        return System(_words(item, _Text))
    raise NotUsualError


def _result(item: _Item) -> ToolResult:
    id, output = item.call_id, item.output
    if id is UNSET or output is UNSET or item.name is not UNSET:
        raise NotUsualError
    if item.role is not UNSET or item.content is not UNSET or item.arguments is not UNSET:
        raise NotUsualError
    if item.summary is not UNSET or item.encrypted_content is not UNSET:
        raise NotUsualError
    return ToolResult(id, output)


def _content(item: _Item) -> str | list[_Part]:
    content = item.content
    if item.type is not UNSET and item.type != "message":
        raise NotUsualError
    if content is UNSET or content is None or item.call_id is not UNSET or item.name is not UNSET:
        raise NotUsualError
    if item.arguments is not UNSET or item.output is not UNSET:
        raise NotUsualError
    if item.summary is not UNSET or item.encrypted_content is not UNSET:
        raise NotUsualError
    return content


def _words(item: _Item, kind: type[_Text | _Said]) -> str:
    """Give the content of a message that is text: a string, or one part of this kind."""
    content = _content(item)
    if isinstance(content, str):
        return content
    if len(content) == 1 and isinstance(part := content[0], kind):
        return part.text
    raise NotUsualError


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
            raise NotUsualError


# --- Edits ----------------------------------------------------------------------------------------


def _edit(item: _Item, index: int) -> Edit:
    """Tell how an item departs from the canonical one at this index; empty if it does not."""
    if item.type == "reasoning":
        return [_shaped(item, index)]
    edits: dict[str, Json] = {"type": ["message"]} if item.type == "message" else {}
    if item.id is not UNSET:
        edits["id"] = [item.id]
    if item.status is not UNSET:
        edits["status"] = [item.status]
    if isinstance(item.content, list) and len(item.content) == 1:
        part = item.content[0]
        if isinstance(part, _Text | _Said):
            shaped: dict[str, Json] = msgspec.to_builtins(part)
            edits["content"] = [[{**shaped, "text": copied(part.text, index, "content")}]]
    return edits


def _shaped(item: _Item, index: int) -> Json:
    """Give reasoning as it stands on the wire, but for its texts, which the message has."""
    shaped: dict[str, Json] = msgspec.to_builtins(item)
    if item.summary is not UNSET:
        texts = [part.text for part in item.summary]
        shaped["summary"] = [
            {"type": "summary_text", "text": copy} for copy in _copies(texts, index)
        ]
    return shaped


def _copies(texts: Sequence[str], index: int) -> list[Json]:
    """Say of texts that stand joined in one string at this index where they stand there."""
    if sum(map(bool, texts)) < 2:
        return [copied(text, index) for text in texts]
    copies: list[Json] = []
    start = 0
    for text in texts:
        copy = copied(text, index)
        copies.append(
            {**copy, "cut": [start, start + len(text)]} if isinstance(copy, dict) else copy
        )
        start += len(text) + len(BETWEEN) if text else 0
    return copies
