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

from molo.dialects.delta import Join, Unit, keep
from molo.dialects.gemini.forms import canonical, read_response, write_result
from molo.dialects.gemini.ids import Ids, is_made_up
from molo.dialects.gemini.parts import DIALECT, read_part, write_part
from molo.dialects.wire import Json, Number, expect_object, parse
from molo.errors import DECODE_FAILURES, Buffer
from molo.message import Assistant, ContentBlock, Message, System, Text, ToolCall, ToolResult, User

__all__ = ["read_json"]


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


class _NotCanonicalError(ValueError):
    """A shape that the types accept and the writer would write differently."""


def read_json(data: Buffer | str) -> list[Message] | None:
    """Read a request that has the usual shapes throughout; None for any other."""
    try:
        body = _decode(data)
    except DECODE_FAILURES:
        return None
    reading = _Reading()
    try:
        reading.read(body)
    except ValueError:  # not canonical, or args that are no UTF-8
        return None
    return reading.history


class _Reading:
    """A request as it is read: its messages so far, and whether a result stands last."""

    def __init__(self) -> None:
        self.history: list[Message] = []
        self._ids = Ids()
        self._after_result = False

    def read(self, body: _Body | list[_Content]) -> None:
        if isinstance(body, _Body):
            self._read_instruction(body)
        contents = body.contents if isinstance(body, _Body) else body
        for content in contents:
            if content.role == "model":
                self.history.append(_assistant(content.parts, self._ids))
                self._after_result = False
            else:
                self._ids.end_replies()
                self._read_user(content.parts)

    def _read_instruction(self, body: _Body) -> None:
        if body.system_instruction is not UNSET:
            raise _NotCanonicalError
        if body.systemInstruction is not UNSET:
            self.history += [System(part.text) for part in body.systemInstruction.parts]

    def _read_user(self, parts: list[_Part]) -> None:
        join: Join | None = "new" if self._after_result else None
        said: list[ContentBlock] = []
        for part in parts:
            if part.functionResponse is UNSET:
                said.append(_block(part))
            elif said:
                raise _NotCanonicalError
            else:
                _require_one(part)
                self.history.append(_result(part.functionResponse, join, self._ids))
                self._after_result = True
                join = None
        if said or not parts:
            self.history.append(_joined(User(tuple(said)), join))
            self._after_result = False


def _require_one(part: _Part) -> None:
    """Make sure that a part says one thing."""
    given = (part.text, part.functionCall, part.functionResponse, part.inlineData, part.fileData)
    if given.count(UNSET) != len(given) - 1:
        raise _NotCanonicalError


# --- Users and results ----------------------------------------------------------------------------


def _block(part: _Part) -> ContentBlock:
    _require_one(part)
    if part.thought is not UNSET or part.thoughtSignature is not UNSET:
        raise _NotCanonicalError
    return _media(part) if part.text is UNSET else Text(part.text)


def _media(part: _Part) -> ContentBlock:
    wire = msgspec.to_builtins(part)
    block = read_part(wire)
    if write_part(block) != wire:  # a call, or Base64 of another spelling
        raise _NotCanonicalError
    return block


def _joined(message: User, join: Join | None) -> User:
    if join is None:
        return message
    base = canonical(message)
    return replace(message, provider_data=keep(Unit(base), Unit(base, None, join), DIALECT))


def _result(result: _Result, join: Join | None, ids: Ids) -> ToolResult:
    name, given = result.name, None if result.id is UNSET else result.id
    content, is_error = _said(result.response)
    id = ids.result(name, given)
    message = ToolResult(id, content, is_error=is_error)
    if is_made_up(id, name) is not (given is None) or given not in (None, id):
        raise _NotCanonicalError
    if given is None and join is None:
        return message
    wire = Unit([write_result(message, name)], None, join)
    return replace(message, provider_data=keep(Unit(canonical(message)), wire, DIALECT))


def _said(response: dict[str, Json]) -> tuple[str, bool]:
    match response:
        case {"output": str()} if len(response) == 1:
            raise _NotCanonicalError
        case {"result": str(words)} | {"error": str(words)} if len(response) == 1:
            if words.startswith("{"):  # JSON, maybe, which would be written as an object
                raise _NotCanonicalError
        case _:
            pass
    return read_response(response)


# --- Assistants -----------------------------------------------------------------------------------


def _assistant(parts: list[_Part], ids: Ids) -> Assistant:
    said = ""
    reasoning: str | None = None
    calls: list[ToolCall] = []
    for part in parts:
        _require_one(part)
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
    return _signed(Assistant(said, reasoning, tuple(calls)), parts)


def _call(part: _Part, call: _Call, ids: Ids) -> ToolCall:
    name, given = call.name, None if call.id is UNSET else call.id
    id = ids.call(name, given)
    if is_made_up(id, name) is not (given is None) or id == "" or part.thought is not UNSET:
        raise _NotCanonicalError
    arguments = bytes(call.args).decode()
    if "\\u" in arguments:
        parse(arguments)  # may raise: half a surrogate pair, which nobody has looked at yet
    return ToolCall(id, name, arguments)


def _signed(message: Assistant, parts: list[_Part]) -> Assistant:
    """Keep the signatures of the parts, which are those of the message in its canonical form."""
    signatures = [part.thoughtSignature for part in parts]
    if signatures.count(UNSET) == len(signatures):
        return message
    base = canonical(message)
    wire = [
        part if signature is UNSET else _with_signature(part, signature)
        for part, signature in zip(base, signatures, strict=True)
    ]
    data = keep(Unit(base), Unit(wire), DIALECT, sealed=any(signatures))
    return replace(message, provider_data=data)


def _with_signature(part: Json, signature: str) -> Json:
    return {**expect_object(part, ""), "thoughtSignature": signature}
