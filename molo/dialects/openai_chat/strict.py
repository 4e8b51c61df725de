"""The usual shapes as types: what they accept loses nothing by being read.

A conversation of such messages alone is decoded in one call and built without a look at any key.
They are canonical, or depart from it in a known way, which a small delta says: their one text is
the only part of an array, the role is `developer`, a reply says nothing in another way than the
canonical one, has its reasoning under another key, or the keys that answers have although they say
nothing. What is refused here, for whatever reason, takes the careful path (`reading`), where
a message of such a shape is still read by its type, whatever keys that tell nothing it has besides.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Base, copied, known
from molo.dialects.openai_chat.forms import DIALECT, TELLING, canonical
from molo.dialects.shapes import Empty, NotUsualError, Shape
from molo.dialects.wire import Json, require_finite
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

__all__ = ["read_json", "read_open_message"]

_Edits: TypeAlias = dict[str, Json]  # what makes a canonical message the one on the wire


class _Function(Shape):
    name: str
    arguments: str


class _Call(Shape):
    id: str
    type: Literal["function"]
    function: _Function
    index: int | UnsetType = UNSET


class _Url(Shape):
    url: str


class _ImageUrl(Shape, tag_field="type", tag="image_url"):
    image_url: _Url


_Parts: TypeAlias = list[Text | _ImageUrl]


class _System(Shape, tag_field="role", tag="system"):
    content: str | _Parts

    def message(self) -> System:
        return System(_one_text(self.content))

    def edits(self) -> _Edits:
        return _listed(self.content)


class _Developer(_System, tag="developer"):
    def edits(self) -> _Edits:
        return {"role": ["developer"], **super().edits()}


class _User(Shape, tag_field="role", tag="user"):
    content: str | _Parts

    def message(self) -> User:
        content = self.content
        if isinstance(content, str):
            return User((Text(content),))
        return User(tuple([_block(part) for part in content]))

    def edits(self) -> _Edits:
        return _listed(self.content)


class _Assistant(Shape, tag_field="role", tag="assistant"):
    content: str | _Parts | UnsetType | None = UNSET
    reasoning_content: str | UnsetType | None = UNSET
    reasoning: str | UnsetType | None = UNSET
    tool_calls: list[_Call] | UnsetType | None = UNSET
    refusal: UnsetType | None = UNSET
    annotations: Empty | UnsetType | None = UNSET
    audio: UnsetType | None = UNSET
    function_call: UnsetType | None = UNSET

    def message(self) -> Assistant:
        content, calls = self.content, self.tool_calls
        return Assistant(
            "" if content is UNSET or content is None else _one_text(content),
            self._thought(),
            tuple([_call(call) for call in calls]) if calls else (),
        )

    def _thought(self) -> str | None:
        first, second = self.reasoning_content, self.reasoning
        if isinstance(first, str) and isinstance(second, str) and first != second:
            raise NotUsualError
        if isinstance(first, str):
            return first
        return second if isinstance(second, str) else None

    def edits(self) -> _Edits:
        edits: _Edits = {}
        content = self.content
        if isinstance(content, list):
            edits.update(_listed(content))
        elif content is UNSET:
            edits["content"] = []
        # No text is written as null beside calls, and as "" without.
        elif not content and (content is None) is not bool(self.tool_calls):
            edits["content"] = [content]
        if self.reasoning is not UNSET or self.reasoning_content is None:
            edits.update(self._edits_of_reasoning())
        if self.tool_calls is not UNSET:
            edits.update(_edits_of_calls(self.tool_calls))
        if self.refusal is None:
            edits["refusal"] = [None]
        if self.annotations is not UNSET:
            edits["annotations"] = [None if self.annotations is None else []]
        if self.audio is None:
            edits["audio"] = [None]
        if self.function_call is None:
            edits["function_call"] = [None]
        return edits

    def _edits_of_reasoning(self) -> _Edits:
        """Say of reasoning that it stands under another key than the canonical, or that it is null.

        The edit of the canonical key comes first.
        """
        edits: _Edits = {}
        other = self.reasoning
        if self.reasoning_content is None:
            edits["reasoning_content"] = [None]
        elif isinstance(other, str) and self.reasoning_content is UNSET:
            edits["reasoning_content"] = []
        if other is None:
            edits["reasoning"] = [None]
        elif other is not UNSET:
            edits["reasoning"] = [copied(other, "reasoning_content")]
        return edits


def _edits_of_calls(calls: list[_Call] | None) -> _Edits:
    if not calls:
        return {"tool_calls": [None if calls is None else []]}
    numbers: _Edits = {}
    for at, call in enumerate(calls):
        if call.index is not UNSET:
            numbers[str(at)] = {"index": [call.index]}
    return {"tool_calls": numbers} if numbers else _CANONICAL


class _Tool(Shape, tag_field="role", tag="tool"):
    tool_call_id: str
    content: str

    def message(self) -> ToolResult:
        return ToolResult(self.tool_call_id, self.content)

    def edits(self) -> _Edits:
        return _CANONICAL


_CANONICAL: _Edits = {}


def _listed(content: str | _Parts) -> _Edits:
    """Say of a text that it is the only part of an array, if it is."""
    if isinstance(content, str):
        return _CANONICAL
    match content:
        case [Text(text=text)]:
            return {"content": [[{"type": "text", "text": copied(text, "content")}]]}
        case _:
            return _CANONICAL


def _one_text(content: str | _Parts) -> str:
    """Give the text of a content, the only part of an array if it is one."""
    if isinstance(content, str):
        return content
    match content:
        case [Text(text=text)]:
            return text
        case _:
            raise NotUsualError


def _block(part: Text | _ImageUrl) -> ContentBlock:
    return part if isinstance(part, Text) else Image(url=part.image_url.url)


def _call(call: _Call) -> ToolCall:
    return ToolCall(call.id, call.function.name, call.function.arguments)


_Shaped = _System | _Developer | _User | _Assistant | _Tool


def _read(shape: _Shaped) -> Message:
    message, edits = shape.message(), shape.edits()
    if not edits:
        return message
    return replace(message, provider_data=known(Base(canonical(message)), edits, DIALECT))


# --- Requests -------------------------------------------------------------------------------------


class _Body(Struct):
    """A request body; its other keys are no business of the conversation."""

    messages: list[_Shaped]


_decode = msgspec.json.Decoder(_Body | list[_Shaped]).decode


def read_json(data: Buffer | str) -> list[Message] | None:
    """Read a request whose messages are all usual; None for any other."""
    try:
        body = _decode(data)
        return [_read(shape) for shape in (body.messages if isinstance(body, _Body) else body)]
    except DECODE_FAILURES:  # also what is not usual
        return None


# --- Messages with other keys ---------------------------------------------------------------------


class _OpenSystem(_System, forbid_unknown_fields=False):
    """A shape with any other keys, as are the next four."""


class _OpenDeveloper(_Developer, forbid_unknown_fields=False):
    pass


class _OpenUser(_User, forbid_unknown_fields=False):
    pass


class _OpenAssistant(_Assistant, forbid_unknown_fields=False):
    pass


class _OpenTool(_Tool, forbid_unknown_fields=False):
    pass


_OPEN: Mapping[Json, tuple[type[_Shaped], frozenset[str]]] = {
    str(shape.__struct_config__.tag): (shape, frozenset(("role", *shape.__struct_fields__)))
    for shape in (_OpenSystem, _OpenDeveloper, _OpenUser, _OpenAssistant, _OpenTool)
}
"""By role: the shape, and the keys that are no others."""

_TELLING = {role: TELLING - keys for role, (_, keys) in _OPEN.items()}


def read_open_message(wire: Json) -> Message | None:
    """Read a message that is usual but for keys that tell nothing; None for any other.

    Raises:
        EncodeError: a key holds what JSON cannot, which only builtins do.
    """
    role = wire.get("role") if isinstance(wire, dict) else None
    if not (isinstance(wire, dict) and isinstance(role, str) and role in _OPEN):
        return None
    telling = _TELLING[role]
    if not telling.isdisjoint(wire) and any(wire.get(key) is not None for key in telling):
        return None
    opened, keys = _OPEN[role]
    try:
        shape = msgspec.convert(wire, opened)
        message = shape.message()
    # Also what is not usual; and what is no JSON at all, of which msgspec asks for its items.
    except (*DECODE_FAILURES, TypeError, ValueError, LookupError):
        return None
    edits = shape.edits()
    if not edits and wire.keys() <= keys:
        return message
    base = Base(canonical(message))
    others = base.added(wire, keys)
    require_finite(others)
    return replace(message, provider_data=known(base, {**edits, **others}, DIALECT))
