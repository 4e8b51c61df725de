"""The canonical shapes as types: what they accept loses nothing by being read.

A conversation of canonical messages is decoded in one call and built without a look at any key.
Some common shapes are canonical but for one thing, which a small delta says: a bare string for
content or `system`, a result whose content is an array or that says `is_error: false`. What is
refused here, for whatever reason, takes the careful path (`reading`), where an object whose blocks
are canonical is still read by its types, whatever keys it has besides.
"""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.anthropic.blocks import DIALECT, read_block, write_block
from molo.dialects.anthropic.forms import SHELLS, canonical
from molo.dialects.anthropic.messages import read_run
from molo.dialects.delta import Base, Unit, added, keep, known
from molo.dialects.wire import parse
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

__all__ = ["read_json", "read_object"]


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes."""


class _Image(_Shape, tag_field="type", tag="image"):
    source: dict[str, str]


class _Document(_Shape, tag_field="type", tag="document"):
    source: dict[str, str]
    title: str | UnsetType = UNSET


class _Result(_Shape, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str | list[Text | _Image | _Document]
    is_error: bool | UnsetType = UNSET


class _Call(_Shape, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: Raw


_Media: TypeAlias = _Image | _Document


_Heard: TypeAlias = str | list[Text | _Result | _Media]
_Said: TypeAlias = str | list[Text | _Call]


class _User(_Shape, tag_field="role", tag="user"):
    content: _Heard


class _Assistant(_Shape, tag_field="role", tag="assistant"):
    content: _Said


class _Body(Struct):
    """A request body; its other keys are no business of the conversation."""

    messages: list[_User | _Assistant]
    system: str | list[Text | _Image] | UnsetType = UNSET  # one type alone needs no tag


_decode = msgspec.json.Decoder(_Body | list[_User | _Assistant]).decode
_decode_heard = msgspec.json.Decoder(_Heard).decode
_decode_said = msgspec.json.Decoder(_Said).decode


class _NotCanonicalError(ValueError):
    """A shape that the types accept and the writer would write differently."""


def read_json(data: Buffer | str) -> list[Message] | None:
    """Read a request that is canonical throughout; None for any other."""
    try:
        body = _decode(data)
    except DECODE_FAILURES:
        return None
    history: list[Message] = []
    try:
        if isinstance(body, list):
            _read(body, history)
        else:
            history += _systems(body.system)
            _read(body.messages, history)
    except ValueError:  # not canonical, or an input that is no UTF-8
        return None
    return history


def read_object(raws: Mapping[str, Raw]) -> list[Message] | None:
    """Read one object of `messages` with canonical blocks and any other keys; None for any other.

    The messages are those that it gives where no result stands in front of it.
    """
    try:
        if raws.get("role") == _USER:
            messages = _heard(_decode_heard(raws["content"]))
        elif raws.get("role") == _ASSISTANT:
            messages = [_said(_decode_said(raws["content"]))]
        else:
            return None
        if len(raws) > 2:
            messages[0] = _in_shell(messages[0], raws)
    except (KeyError, *DECODE_FAILURES):
        return None
    return messages


_USER = Raw(b'"user"')
_ASSISTANT = Raw(b'"assistant"')


def _in_shell(message: Message, raws: Mapping[str, Raw]) -> Message:
    """Keep the keys that the object of a message has besides its blocks."""
    if message.provider_data is not None:
        raise _NotCanonicalError
    odd = {key: parse(raw) for key, raw in raws.items() if key not in ("role", "content")}
    data = known(Base(canonical(message)), None, DIALECT, shell=added(odd))
    return replace(message, provider_data=data)


def _systems(system: str | list[Text | _Image] | UnsetType) -> list[Message]:
    if system is UNSET:
        return []
    if not system:
        raise _NotCanonicalError
    if isinstance(system, str):
        return [_bare(System(system), system)]
    return [_system(block) for block in system]


def _system(block: Text | _Image) -> System:
    if isinstance(block, Text):
        return System(block.text)
    raise _NotCanonicalError


def _bare(message: System | User | Assistant, content: str) -> Message:
    data = keep(Unit(canonical(message)), Unit({"content": content}), DIALECT)
    return replace(message, provider_data=data)


def _read(shapes: list[_User | _Assistant], history: list[Message]) -> None:
    for shape in shapes:
        if isinstance(shape, _Assistant):
            history.append(_said(shape.content))
        elif history and isinstance(history[-1], ToolResult):
            raise _NotCanonicalError  # one object would hold both
        else:
            history += _heard(shape.content)


def _heard(content: _Heard) -> list[Message]:
    if isinstance(content, str):
        return [_bare(User((Text(content),)), content)]
    messages: list[Message] = []
    said: list[ContentBlock] = []
    for block in content:
        if isinstance(block, Text):
            said.append(block)
        elif not isinstance(block, _Result):
            said.append(_media(block))
        elif said:
            raise _NotCanonicalError
        else:
            messages.append(_result(block))
    if said or not content:
        messages.append(User(tuple(said)))
    return messages


def _result(shape: _Result) -> Message:
    if isinstance(shape.content, str) and shape.is_error is not False:
        return ToolResult(shape.tool_use_id, shape.content, is_error=shape.is_error is True)
    message = read_run([msgspec.to_builtins(shape)], SHELLS["user"], None)
    if any(isinstance(block, Wire) for block in blocks(message)):
        raise _NotCanonicalError
    return message


def _media(shape: _Media) -> ContentBlock:
    wire = msgspec.to_builtins(shape)
    block = read_block(wire)
    if isinstance(block, Wire) or write_block(block) != wire:
        raise _NotCanonicalError
    return block


def _said(content: _Said) -> Message:
    if isinstance(content, str):
        return _bare(Assistant(content), content)
    said = ""
    calls: list[ToolCall] = []
    for block in content:
        if not isinstance(block, Text):
            calls.append(ToolCall(block.id, block.name, _arguments(block.input)))
        elif said or calls or not block.text:
            raise _NotCanonicalError
        else:
            said = block.text
    return Assistant(said, None, tuple(calls))


def _arguments(given: Raw) -> str:
    arguments = bytes(given).decode()
    if "\\u" in arguments:
        parse(arguments)  # may raise: half a surrogate pair, which nobody has looked at yet
    return arguments
