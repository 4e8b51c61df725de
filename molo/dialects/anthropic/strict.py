"""The canonical shapes as types: what they accept loses nothing by being read.

A conversation of canonical messages is decoded in one call and built without a look at any key.
Content that is a bare string, and a bare string for `system`, are canonical but for that, which a
small delta says. What is refused here, for whatever reason, takes the careful path (`reading`).
"""

from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.anthropic.blocks import DIALECT, read_block, write_block
from molo.dialects.anthropic.forms import canonical
from molo.dialects.delta import Unit, keep
from molo.dialects.wire import parse
from molo.errors import DECODE_FAILURES, Buffer
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

__all__ = ["read_json"]


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes."""


class _Image(_Shape, tag_field="type", tag="image"):
    source: dict[str, str]


class _Document(_Shape, tag_field="type", tag="document"):
    source: dict[str, str]
    title: str | UnsetType = UNSET


class _Result(_Shape, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str
    is_error: bool | UnsetType = UNSET


class _Call(_Shape, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: Raw


_Media: TypeAlias = _Image | _Document


class _User(_Shape, tag_field="role", tag="user"):
    content: str | list[Text | _Result | _Media]


class _Assistant(_Shape, tag_field="role", tag="assistant"):
    content: str | list[Text | _Call]


class _Body(Struct):
    """A request body; its other keys are no business of the conversation."""

    messages: list[_User | _Assistant]
    system: str | list[Text | _Image] | UnsetType = UNSET  # one type alone needs no tag


_decode = msgspec.json.Decoder(_Body | list[_User | _Assistant]).decode


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
            history.append(_assistant(shape.content))
        elif history and isinstance(history[-1], ToolResult):
            raise _NotCanonicalError  # one object would hold both
        else:
            _read_user(shape.content, history)


def _read_user(content: str | list[Text | _Result | _Media], history: list[Message]) -> None:
    if isinstance(content, str):
        history.append(_bare(User((Text(content),)), content))
        return
    said: list[ContentBlock] = []
    for block in content:
        if isinstance(block, Text):
            said.append(block)
        elif not isinstance(block, _Result):
            said.append(_media(block))
        elif said or block.is_error is False:
            raise _NotCanonicalError
        else:
            history.append(
                ToolResult(block.tool_use_id, block.content, is_error=block.is_error is True)
            )
    if said or not content:
        history.append(User(tuple(said)))


def _media(shape: _Media) -> ContentBlock:
    wire = msgspec.to_builtins(shape)
    block = read_block(wire)
    if isinstance(block, Wire) or write_block(block) != wire:
        raise _NotCanonicalError
    return block


def _assistant(content: str | list[Text | _Call]) -> Message:
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
