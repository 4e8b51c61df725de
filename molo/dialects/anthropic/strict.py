"""The usual shapes as types: what they accept loses nothing by being read.

A conversation of such messages is decoded in one call and built without a look at any key. They are
canonical, or depart from it in a known way, which a small delta says: a bare string for content or
`system`, a `cache_control`, a result whose text is an array's or that says `is_error: false`, an
object of its own behind results, the signature of thinking in front of all else. What is refused
here, for whatever reason, takes the careful path (`reading`), where an object whose blocks are
usual is still read by its types, whatever keys it has besides.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.anthropic.blocks import DIALECT, read_block, write_block
from molo.dialects.anthropic.forms import SHELLS, canonical, is_whole
from molo.dialects.anthropic.messages import read_run
from molo.dialects.delta import Base, Edit, Join, added, copied, known, would_join
from molo.dialects.shapes import NotUsualError, Shape, shell_edit
from molo.dialects.wire import Json, Number, parse
from molo.errors.translation import DECODE_FAILURES, Buffer
from molo.history.contents import blocks
from molo.message import (
    Assistant,
    ContentBlock,
    Message,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)

__all__ = ["read_json", "read_open_json", "read_open_object", "read_said"]


class _Block(Shape, kw_only=True):
    cache_control: dict[str, str] | UnsetType | None = UNSET


class _Text(_Block, tag_field="type", tag="text"):
    text: str


class _Image(_Block, tag_field="type", tag="image"):
    source: dict[str, str]


class _Document(_Block, tag_field="type", tag="document"):
    source: dict[str, str]
    title: str | UnsetType = UNSET


class _Result(_Block, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str | list[_Text | _Image | _Document]
    is_error: bool | UnsetType = UNSET


class _Call(_Block, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: Raw


class _Thinking(_Block, tag_field="type", tag="thinking"):
    thinking: str
    signature: str


_Media: TypeAlias = _Image | _Document
_Own: TypeAlias = _Call | _Thinking  # of an assistant alone


_AnyBlock: TypeAlias = _Text | _Result | _Media | _Own


class _User(Shape, tag_field="role", tag="user"):
    content: str | list[_Text | _Result | _Media]


class _Assistant(Shape, tag_field="role", tag="assistant"):
    content: str | list[_Text | _Own]


class _Beside(Struct, kw_only=True):
    """What a request body has beside its messages that is business of the conversation."""

    system: str | list[_Text | _Image] | UnsetType = UNSET  # one type alone needs no tag


class _Body(_Beside):
    messages: list[_User | _Assistant]


_Open: TypeAlias = dict[str, str | list[_AnyBlock] | dict[str, Any] | int | bool | None]
"""A message with any other keys.

Its only array is that of the blocks, and none of its numbers a fraction, whose spelling would be
lost."""


class _OpenBody(_Beside):
    messages: list[_Open]


_decode = msgspec.json.Decoder(_Body | list[_User | _Assistant]).decode
_decode_open = msgspec.json.Decoder(_OpenBody | list[_Open], float_hook=Number).decode
_decode_open_object = msgspec.json.Decoder(_Open, float_hook=Number).decode
_decode_said = msgspec.json.Decoder(str | list[_AnyBlock]).decode


def read_json(data: Buffer | str) -> list[Message] | None:
    """Read a request whose messages are all usual; None for any other."""
    try:
        body = _decode(data)
        history = _systems(body.system) if isinstance(body, _Body) else []
        for shape in body.messages if isinstance(body, _Body) else body:
            if isinstance(shape, _Assistant):
                history.append(_said(shape.content))
            else:
                history += _heard(shape.content, "new" if would_join(history) else None)
    except DECODE_FAILURES:  # also what is not usual, and an input that is no UTF-8
        return None
    return history


def read_open_json(data: Buffer | str) -> list[Message] | None:
    """Read a request whose messages are all usual but for other keys; None for any other."""
    try:
        body = _decode_open(data)
        history = _systems(body.system) if isinstance(body, _OpenBody) else []
        for members in body.messages if isinstance(body, _OpenBody) else body:
            history += _open_object(members, joins=would_join(history))
    except DECODE_FAILURES:
        return None
    return history


def read_open_object(raw: Raw, *, joins: bool) -> list[Message] | None:
    """Read one object of `messages` that is usual but for other keys; None for any other.

    `joins` says that blocks of a user would stand in one object with those before them.
    """
    try:
        return _open_object(_decode_open_object(raw), joins=joins)
    except DECODE_FAILURES:
        return None


def read_said(content: Raw) -> Assistant | None:
    """Read the content of an assistant that is usual; None for any other."""
    try:
        return _said(_decode_said(content))
    except DECODE_FAILURES:
        return None


def _open_object(members: _Open, *, joins: bool) -> list[Message]:
    role, content = members.pop("role", None), members.pop("content", None)
    if isinstance(content, str | list) and role == "user":
        return _heard(content, "new" if joins else None, shell_edit(members))
    if isinstance(content, str | list) and role == "assistant":
        return [_said(content, shell_edit(members))]
    raise NotUsualError


M = TypeVar("M", bound=Message)

_Edits: TypeAlias = dict[str, Json]
"""How a block departs from the canonical one; or the blocks of a message, by their index."""


def _kept(
    message: M,
    edit: Edit | None,
    join: Join | None = None,
    shell: Edit | None = None,
) -> M:
    """Keep how a message departs from its canonical form, if it does."""
    if not edit and join is None and shell is None:
        return message
    data = known(Base(canonical(message)), edit or None, DIALECT, join=join, shell=shell)
    return replace(message, provider_data=data)


def _bare(content: str) -> Edit:
    return [{"content": copied(content, 0, "text")}]


def _marked(block: _Block) -> _Edits:
    """Tell of the `cache_control` of a block, which no canonical one has."""
    control = block.cache_control
    if control is UNSET:
        return {}
    return added({"cache_control": None if control is None else {**control}})


# --- Systems, users and results -------------------------------------------------------------------


def _systems(system: str | list[_Text | _Image] | UnsetType) -> list[Message]:
    if system is UNSET:
        return []
    if not system:
        raise NotUsualError
    if isinstance(system, str):
        return [_kept(System(system), _bare(system))]
    return [_system(block) for block in system]


def _system(block: _Text | _Image) -> Message:
    if not isinstance(block, _Text):
        raise NotUsualError
    marked = _marked(block)
    return _kept(System(block.text), {"0": marked} if marked else None)


def _heard(
    content: str | Sequence[_AnyBlock], join: Join | None, shell: Edit | None = None
) -> list[Message]:
    """Read the blocks of a user; `join` and `shell` are those of the first message."""
    if isinstance(content, str):
        return [_kept(User((Text(content),)), _bare(content), join, shell)]
    messages: list[Message] = []
    said: list[ContentBlock] = []
    edits: _Edits = {}
    for block in content:
        if not isinstance(block, _Result):
            if block.cache_control is not UNSET:
                edits[str(len(said))] = _marked(block)
            said.append(Text(block.text) if isinstance(block, _Text) else _media(block))
        elif said:
            raise NotUsualError
        else:
            messages.append(_result(block, join, shell))
            join, shell = None, None
    if said or not content:
        messages.append(_kept(User(tuple(said)), edits, join, shell))
    return messages


def _result(shape: _Result, join: Join | None, shell: Edit | None) -> Message:
    edits = _marked(shape)
    content = shape.content
    if isinstance(content, list):
        match content:
            case [_Text(text=text, cache_control=UnsetType())]:
                content = text
                edits["content"] = [[{"type": "text", "text": copied(text, 0, "content")}]]
            case _:
                return _result_with_parts(shape, join, shell)
    if shape.is_error is False:
        edits["is_error"] = [False]
    message = ToolResult(shape.tool_use_id, content, is_error=shape.is_error is True)
    return _kept(message, {"0": edits} if edits else None, join, shell)


def _result_with_parts(shape: _Result, join: Join | None, shell: Edit | None) -> Message:
    if join is not None or shell is not None:
        raise NotUsualError
    message = read_run([msgspec.to_builtins(shape)], SHELLS["user"], None)
    if any(isinstance(block, Wire) for block in blocks(message)):
        raise NotUsualError
    return message


def _media(shape: _Media | _Own) -> ContentBlock:
    if isinstance(shape, _Own):
        raise NotUsualError
    wire = msgspec.to_builtins(shape)
    wire.pop("cache_control", None)
    block = read_block(wire)
    if isinstance(block, Wire) or write_block(block) != wire:
        raise NotUsualError
    return block


# --- Assistants -----------------------------------------------------------------------------------


def _said(content: str | Sequence[_AnyBlock], shell: Edit | None = None) -> Assistant:
    if isinstance(content, str):
        return _kept(Assistant(content), _bare(content), None, shell)
    said = ""
    thought: _Thinking | None = None
    calls: list[ToolCall] = []
    edits: _Edits = {}
    for index, block in enumerate(content):
        if block.cache_control is not UNSET:
            edits[str(index)] = _marked(block)
        if isinstance(block, _Call):
            calls.append(ToolCall(block.id, block.name, _arguments(block.input)))
        elif isinstance(block, _Text) and block.text and not (said or calls):
            said = block.text
        elif isinstance(block, _Thinking) and index == 0:
            thought = block
        else:
            raise NotUsualError
    if thought is None:
        return _kept(Assistant(said, None, tuple(calls)), edits, None, shell)
    return _signed(Assistant(said, thought.thinking, tuple(calls)), thought, edits, shell)


def _signed(message: Assistant, thought: _Thinking, edits: _Edits, shell: Edit | None) -> Assistant:
    """Keep the signature of thinking, which no canonical one has."""
    signature = thought.signature
    if signature and not is_whole(signature):
        raise NotUsualError
    base = Base(canonical(message))
    edits["0"] = {"signature": [base.template(signature)], **_marked(thought)}
    data = known(base, edits, DIALECT, shell=shell, sealed=signature != "")
    return replace(message, provider_data=data)


def _arguments(given: Raw) -> str:
    arguments = bytes(given).decode()
    if "\\u" in arguments:
        parse(arguments)  # may raise: half a surrogate pair, which nobody has looked at yet
    return arguments
