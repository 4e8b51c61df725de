"""The usual shapes as types: what they accept loses nothing by being read.

A conversation of such contents is decoded in one call and built without a look at any key. Where
they depart from the canonical form it is known how, and a small delta says it: the signature of a
part, the name of a result that has an id, a content of its own behind results. What is refused
here, for whatever reason, takes the careful path (`reading`).
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Base, Edit, Join, known
from molo.dialects.gemini.forms import canonical, is_written_so, read_response, unnamed
from molo.dialects.gemini.ids import Ids, is_made_up, named
from molo.dialects.gemini.parts import DIALECT, read_part, write_part
from molo.dialects.wire import Json, Number, parse
from molo.errors.translation import DECODE_FAILURES, Buffer
from molo.message import Assistant, ContentBlock, Message, System, Text, ToolCall, ToolResult, User

__all__ = ["read_json", "read_parts", "would_join"]


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes, whose fields are spelled as on the wire."""


class _Call(_Shape):
    name: str
    args: Raw
    id: str | UnsetType = UNSET


class _Result(_Shape):
    name: str
    response: dict[str, Any]
    id: str | UnsetType = UNSET


class _Blob(_Shape):
    mimeType: str  # noqa: N815
    data: str


class _File(_Shape):
    fileUri: str  # noqa: N815
    mimeType: str | UnsetType = UNSET  # noqa: N815


class _Part(_Shape):
    text: str | UnsetType = UNSET
    thought: bool | UnsetType = UNSET
    thoughtSignature: str | UnsetType = UNSET  # noqa: N815
    functionCall: _Call | UnsetType = UNSET  # noqa: N815
    functionResponse: _Result | UnsetType = UNSET  # noqa: N815
    inlineData: _Blob | UnsetType = UNSET  # noqa: N815
    fileData: _File | UnsetType = UNSET  # noqa: N815


class _Content(_Shape):
    role: Literal["user", "model"]
    parts: list[_Part]


class _Sentence(_Shape):
    text: str


class _Instruction(_Shape):
    role: Literal["user"]
    parts: Annotated[list[_Sentence], Meta(min_length=1)]


class _Body(Struct):
    """A request body; its other keys are no business of the conversation."""

    contents: list[_Content]
    systemInstruction: _Instruction | UnsetType = UNSET  # noqa: N815
    system_instruction: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Body | list[_Content], float_hook=Number).decode
_decode_parts = msgspec.json.Decoder(list[_Part], float_hook=Number).decode


class _NotCanonicalError(ValueError):
    """A shape that the types accept and the writer would write differently."""


def read_json(data: Buffer | str) -> list[Message] | None:
    """Read a request that has the usual shapes throughout; None for any other."""
    try:
        body = _decode(data)
    except DECODE_FAILURES:
        return None
    contents = body.contents if isinstance(body, _Body) else body
    ids = Ids()
    try:
        history = _systems(body) if isinstance(body, _Body) else []
        for content in contents:
            history += _content(content.role, content.parts, ids, joins=would_join(history))
    except ValueError:  # not canonical, or args that are no UTF-8
        return None
    return history


def read_parts(
    role: str, parts: Raw, ids: Ids, *, joins: bool, shell: Edit | None
) -> list[Message] | None:
    """Read a content whose parts have the usual shapes; None for any other.

    `joins` says that parts of a user would stand in one content with those before them, `shell` is
    what is unusual about the content otherwise.
    """
    before = ids.state()
    try:
        return _content(role, _decode_parts(parts), ids, joins=joins, shell=shell)
    except DECODE_FAILURES:  # also what is not canonical
        ids.reset(before)
        return None


def would_join(history: list[Message]) -> bool:
    """Tell whether parts of a user would stand in one content with those before them."""
    return bool(history) and isinstance(history[-1], ToolResult)


def _systems(body: _Body) -> list[Message]:
    if body.system_instruction is not UNSET:
        raise _NotCanonicalError
    if body.systemInstruction is UNSET:
        return []
    return [System(part.text) for part in body.systemInstruction.parts]


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
        raise _NotCanonicalError


def _require_plain(part: _Part) -> None:
    """Make sure that a part says one thing, and nothing about it."""
    given = (part.text, part.functionCall, part.functionResponse, part.inlineData, part.fileData)
    about = (part.thought, part.thoughtSignature)
    if given.count(UNSET) + about.count(UNSET) != len(given) + len(about) - 1:
        raise _NotCanonicalError


# --- Users and results ----------------------------------------------------------------------------


def _user(parts: list[_Part], ids: Ids, join: Join | None, shell: Edit | None) -> list[Message]:
    found: list[Message] = []
    said: list[ContentBlock] = []
    for part in parts:
        _require_plain(part)
        if part.functionResponse is UNSET:
            said.append(_block(part))
        elif said:
            raise _NotCanonicalError
        else:
            found.append(_result(part.functionResponse, ids, join, shell))
            join, shell = None, None
    if said or not parts:
        found.append(_said(User(tuple(said)), join, shell))
    return found


def _block(part: _Part) -> ContentBlock:
    if part.text is not UNSET:
        return Text(part.text)
    if part.functionCall is not UNSET:
        raise _NotCanonicalError
    wire = msgspec.to_builtins(part)
    block = read_part(wire)
    if write_part(block) != wire:  # Base64 of another spelling
        raise _NotCanonicalError
    return block


def _said(message: User, join: Join | None, shell: Edit | None) -> User:
    if join is None and shell is None:
        return message
    data = known(Base(canonical(message)), None, DIALECT, join=join, shell=shell)
    return replace(message, provider_data=data)


def _result(result: _Result, ids: Ids, join: Join | None, shell: Edit | None) -> ToolResult:
    name, response, given = result.name, result.response, result.id or None
    content, is_error = _read_response(response)
    id = ids.result(name, given)
    is_usual = is_made_up(id, name) if result.id is UNSET else given == id and named(id) != name
    if not is_usual:
        raise _NotCanonicalError
    if given is None and join is None and shell is None:
        return ToolResult(id, content, is_error=is_error)
    call = unnamed(id)
    edit: Edit | None = None
    if given is not None:
        edits: dict[str, Json] = {"name": [name]} if "id" in call else {"id": [id], "name": [name]}
        edit = {"0": {"functionResponse": edits}}
    base: Json = [{"functionResponse": {**call, "response": response}}]
    data = known(Base(base), edit, DIALECT, join=join, shell=shell)
    return ToolResult(id, content, is_error=is_error, provider_data=data)


def _read_response(response: dict[str, Json]) -> tuple[str, bool]:
    said = response.get("result")
    if isinstance(said, str) and len(response) == 1 and not said.endswith("}"):
        return said, False  # what most results are; spares the look at what it may be
    if is_written_so(response):
        return read_response(response)
    raise _NotCanonicalError


# --- Assistants -----------------------------------------------------------------------------------


def _assistant(parts: list[_Part], ids: Ids, shell: Edit | None) -> Assistant:
    said = ""
    reasoning: str | None = None
    calls: list[ToolCall] = []
    signatures: dict[str, Json] = {}
    for index, part in enumerate(parts):
        _require_one(part)
        if part.thoughtSignature is not UNSET:
            signatures[str(index)] = {"thoughtSignature": [part.thoughtSignature]}
        if part.functionCall is not UNSET:
            calls.append(_call(part, part.functionCall, ids))
        elif part.text is UNSET or said or calls:
            raise _NotCanonicalError
        elif part.thought is UNSET and (part.text or len(parts) == 1):
            said = part.text
        elif part.thought is True and reasoning is None:
            reasoning = part.text
        else:
            raise _NotCanonicalError
    if not parts:
        raise _NotCanonicalError
    message = Assistant(said, reasoning, tuple(calls))
    if not signatures and shell is None:
        return message
    sealed = any(part.thoughtSignature for part in parts)
    edit = signatures or None
    data = known(Base(canonical(message)), edit, DIALECT, sealed=sealed, shell=shell)
    return replace(message, provider_data=data)


def _call(part: _Part, call: _Call, ids: Ids) -> ToolCall:
    id = ids.call(call.name, call.id or None)
    is_odd = call.id is not UNSET and is_made_up(id, call.name)  # would be written without it
    if is_odd or part.thought is not UNSET:
        raise _NotCanonicalError
    arguments = bytes(call.args).decode()
    if arguments == "null":  # as good as none
        raise _NotCanonicalError
    if "\\u" in arguments:
        parse(arguments)  # may raise: half a surrogate pair, which nobody has looked at yet
    return ToolCall(id, call.name, arguments)
