"""The usual shapes as types: what they accept loses nothing by being read.

A conversation of such contents is decoded in one call and built without a look at any key. Where
they depart from the canonical form it is known how, and a small delta says it: the signature of a
part, a `thought` that no canonical part has, the name of a result that has an id, a content of its
own behind results, the role of a system instruction. What is refused here, for whatever reason,
takes the careful path (`reading`), where a content whose parts are usual is still read by its
types, whatever keys it has besides.
"""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Base, Edit, Join, known, would_join
from molo.dialects.gemini.forms import canonical, is_written_so, read_response, unnamed
from molo.dialects.gemini.ids import Ids, is_made_up
from molo.dialects.gemini.parts import DIALECT, read_part, write_part
from molo.dialects.shapes import NotUsualError, Shape, shell_edit
from molo.dialects.wire import Json, Number, parse
from molo.errors.translation import DECODE_FAILURES, Buffer
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

__all__ = ["read_json", "read_open_content", "read_open_json"]


class _Call(Shape):
    name: str
    args: Raw
    id: str | UnsetType = UNSET


class _Result(Shape):
    name: str
    response: dict[str, Any]
    id: str | UnsetType = UNSET


class _Blob(Shape):
    mimeType: str  # noqa: N815
    data: str


class _File(Shape):
    fileUri: str  # noqa: N815
    mimeType: str | UnsetType = UNSET  # noqa: N815


class _Part(Shape):
    text: str | UnsetType = UNSET
    thought: bool | UnsetType = UNSET
    thoughtSignature: str | UnsetType = UNSET  # noqa: N815
    functionCall: _Call | UnsetType = UNSET  # noqa: N815
    functionResponse: _Result | UnsetType = UNSET  # noqa: N815
    inlineData: _Blob | UnsetType = UNSET  # noqa: N815
    fileData: _File | UnsetType = UNSET  # noqa: N815


class _Content(Shape):
    role: Literal["user", "model"]
    parts: list[_Part]


class _Sentence(Shape):
    text: str
    thought: bool | UnsetType = UNSET


class _Instruction(Shape):
    parts: Annotated[list[_Sentence], Meta(min_length=1)]
    role: Literal["user", "model"] | UnsetType = UNSET


class _Beside(Struct, kw_only=True):
    """What a request body has beside its contents that is business of the conversation."""

    systemInstruction: _Instruction | UnsetType = UNSET  # noqa: N815
    system_instruction: Raw | UnsetType = UNSET


class _Body(_Beside):
    contents: list[_Content]


_Open: TypeAlias = dict[str, str | list[_Part] | dict[str, Any] | int | bool | None]
"""A content with any other keys.

Its only array is that of the parts, and none of its numbers a fraction, whose spelling would be
lost."""


class _OpenBody(_Beside):
    contents: list[_Open]


_decode = msgspec.json.Decoder(_Body | list[_Content], float_hook=Number).decode
_decode_open = msgspec.json.Decoder(_OpenBody | list[_Open], float_hook=Number).decode
_decode_open_content = msgspec.json.Decoder(_Open, float_hook=Number).decode


def read_json(data: Buffer | str) -> list[Message] | None:
    """Read a request whose contents are all usual; None for any other."""
    ids = Ids()
    try:
        body = _decode(data)
        history = _systems(body) if isinstance(body, _Body) else []
        for content in body.contents if isinstance(body, _Body) else body:
            history += _content(content.role, content.parts, ids, joins=would_join(history))
    except DECODE_FAILURES:  # also what is not usual, and args that are no UTF-8
        return None
    return history


def read_open_json(data: Buffer | str) -> list[Message] | None:
    """Read a request whose contents are all usual but for other keys; None for any other."""
    ids = Ids()
    try:
        body = _decode_open(data)
        history = _systems(body) if isinstance(body, _OpenBody) else []
        for members in body.contents if isinstance(body, _OpenBody) else body:
            history += _open_content(members, ids, joins=would_join(history))
    except DECODE_FAILURES:
        return None
    return history


def read_open_content(raw: Raw, ids: Ids, *, joins: bool) -> list[Message] | None:
    """Read a content that is usual but for other keys; None for any other.

    `joins` says that parts of a user would stand in one content with those before them.
    """
    before = ids.state()
    try:
        return _open_content(_decode_open_content(raw), ids, joins=joins)
    except DECODE_FAILURES:
        ids.reset(before)
        return None


def _open_content(members: _Open, ids: Ids, *, joins: bool) -> list[Message]:
    role, parts = members.pop("role", None), members.pop("parts", None)
    if isinstance(parts, list) and (role == "user" or role == "model"):
        return _content(str(role), parts, ids, joins=joins, shell=shell_edit(members))
    raise NotUsualError


def _content(
    role: str, parts: list[_Part], ids: Ids, *, joins: bool, shell: Edit | None = None
) -> list[Message]:
    if role == "model":
        return [_assistant(parts, ids, shell)]
    ids.end_replies()
    return _user(parts, ids, "new" if joins else None, shell)


def _require_one(part: _Part) -> None:
    """Make sure that a part says one thing."""
    given = (part.text, part.functionCall, part.functionResponse, part.inlineData, part.fileData)
    if given.count(UNSET) != len(given) - 1:
        raise NotUsualError


_Edits: TypeAlias = dict[str, Json]
"""How a part departs from the canonical one; or the parts of a message, by their index."""


def _kept(
    message: Message,
    edit: Edit | None,
    join: Join | None = None,
    shell: Edit | None = None,
) -> Message:
    """Keep how a message departs from its canonical form, if it does."""
    if not edit and join is None and shell is None:
        return message
    data = known(Base(canonical(message)), edit or None, DIALECT, join=join, shell=shell)
    return replace(message, provider_data=data)


# --- Systems --------------------------------------------------------------------------------------


def _systems(body: _Beside) -> list[Message]:
    if body.system_instruction is not UNSET:
        raise NotUsualError
    if body.systemInstruction is UNSET:
        return []
    role, parts = body.systemInstruction.role, body.systemInstruction.parts
    shells: list[Edit | None] = [None] * len(parts)
    if role != "user":
        shells[0] = {"systemInstruction": {"role": [] if role is UNSET else [role]}}
    return [_system(part, shell) for part, shell in zip(parts, shells, strict=True)]


def _system(part: _Sentence, shell: Edit | None) -> Message:
    edits: _Edits = {} if part.thought is UNSET else {"0": {"thought": [part.thought]}}
    return _kept(System(part.text), edits, None, shell)


# --- Users and results ----------------------------------------------------------------------------


def _user(parts: list[_Part], ids: Ids, join: Join | None, shell: Edit | None) -> list[Message]:
    found: list[Message] = []
    said: list[ContentBlock] = []
    edits: _Edits = {}
    for part in parts:
        _require_one(part)
        if part.thoughtSignature is not UNSET:
            raise NotUsualError
        if part.functionResponse is UNSET:
            if part.thought is not UNSET:
                edits[str(len(said))] = {"thought": [part.thought]}
            said.append(_block(part))
        elif said:
            raise NotUsualError
        else:
            found.append(_result(part, part.functionResponse, ids, join, shell))
            join, shell = None, None
    if said or not parts:
        found.append(_kept(User(tuple(said)), edits, join, shell))
    return found


def _block(part: _Part) -> ContentBlock:
    if part.text is not UNSET:
        return Text(part.text)
    if part.functionCall is not UNSET:
        raise NotUsualError
    wire = msgspec.to_builtins(part)
    wire.pop("thought", None)
    block = read_part(wire)
    if type(block) is Wire or write_part(block) != wire:  # Base64 of another spelling, or none
        raise NotUsualError
    return block


def _result(
    part: _Part, result: _Result, ids: Ids, join: Join | None, shell: Edit | None
) -> ToolResult:
    name, response, given = result.name, result.response, result.id or None
    content, is_error = _read_response(response)
    id = ids.result(name, given)
    if is_made_up(id, name) is not (result.id is UNSET) or result.id not in (id, UNSET):
        raise NotUsualError
    message = ToolResult(id, content, is_error=is_error)
    if given is None and part.thought is UNSET and join is None and shell is None:
        return message
    call = unnamed(id)
    edits: _Edits = {} if part.thought is UNSET else {"thought": [part.thought]}
    if given is not None:
        named_so: _Edits = {"name": [name]} if "id" in call else {"id": [id], "name": [name]}
        edits["functionResponse"] = named_so
    base = Base([{"functionResponse": {**call, "response": response}}])
    edit: Edit | None = {"0": edits} if edits else None
    data = known(base, edit, DIALECT, join=join, shell=shell)
    return replace(message, provider_data=data)


def _read_response(response: dict[str, Json]) -> tuple[str, bool]:
    said = response.get("result")
    if isinstance(said, str) and len(response) == 1 and not said.endswith("}"):
        return said, False  # what most results are; spares the look at what it may be
    if is_written_so(response):
        return read_response(response)
    raise NotUsualError


# --- Assistants -----------------------------------------------------------------------------------


def _assistant(parts: list[_Part], ids: Ids, shell: Edit | None) -> Message:
    said = ""
    reasoning: str | None = None
    calls: list[ToolCall] = []
    marked: dict[int, _Part] = {}
    for index, part in enumerate(parts):
        _require_one(part)
        if part.thoughtSignature is not UNSET or part.thought is False:
            marked[index] = part
        if part.functionCall is not UNSET:
            calls.append(_call(part, part.functionCall, ids))
        elif part.text is UNSET or said or calls:
            raise NotUsualError
        elif part.thought is not True and (part.text or len(parts) == 1):
            said = part.text
        elif part.thought is True and reasoning is None:
            reasoning = part.text
        else:
            raise NotUsualError
    if not parts:
        raise NotUsualError
    message = Assistant(said, reasoning, tuple(calls))
    if not marked:
        return _kept(message, None, None, shell)
    base = Base(canonical(message))
    edits: _Edits = {str(index): _edited(part, base) for index, part in marked.items()}
    sealed = any(part.thoughtSignature for part in marked.values())
    data = known(base, edits, DIALECT, shell=shell, sealed=sealed)
    return replace(message, provider_data=data)


def _edited(part: _Part, base: Base) -> _Edits:
    """Tell of what no canonical part of a reply has."""
    edits: _Edits = {}
    if part.thoughtSignature is not UNSET:
        edits["thoughtSignature"] = [base.template(part.thoughtSignature)]
    if part.thought is False:
        edits["thought"] = [False]
    return edits


def _call(part: _Part, call: _Call, ids: Ids) -> ToolCall:
    id = ids.call(call.name, call.id or None)
    is_odd = call.id is not UNSET and is_made_up(id, call.name)  # would be written without it
    if is_odd or part.thought is True:
        raise NotUsualError
    arguments = bytes(call.args).decode()
    if arguments == "null":  # as good as none
        raise NotUsualError
    if "\\u" in arguments:
        parse(arguments)  # may raise: half a surrogate pair, which nobody has looked at yet
    return ToolCall(id, call.name, arguments)
