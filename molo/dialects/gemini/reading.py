"""Requests read into histories: the strict way where it goes, else message by message, with care.

The careful path takes any object with parts for a message, and any part. What it understands
becomes a field; the difference between the message's canonical form and the wire is kept as a
delta, so nothing is refused for being unknown. Decisions:

- Every part of `systemInstruction` is a System. One that says nothing (null, no parts) is the
  envelope, and so is how a single content is wrapped: `contents` as an object or a bare string.
- A content of role `model` is an Assistant, one of role `system` a System; any other, and one
  without a role, is its functionResponses, each a ToolResult, and a User for what stands between.
- The texts of a `model` content are joined by nothing, and so are its thoughts: a reply comes in
  pieces. Signatures stand in the delta, which is sealed. Parts of other kinds are attachments:
  media, or Wire.
- Calls and results without ids get some: see `ids`.
- A response object is the text of its `result`, `output` or `error` if it has nothing else, and its
  own JSON text otherwise; `error` makes it an error. Media in a result are its attachments.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Join, Unit, keep
from molo.dialects.gemini.forms import canonical, read_response, shell
from molo.dialects.gemini.ids import Ids
from molo.dialects.gemini.parts import DIALECT, SIGNATURES, read_part
from molo.dialects.gemini.strict import read_json
from molo.dialects.loss import Read
from molo.dialects.wire import Json, expect_object, expect_text, kind, parse, spelled, text
from molo.errors import DECODE_FAILURES, Buffer, DecodeError, EncodeError, Form, decode_error
from molo.message import (
    Assistant,
    ContentBlock,
    Message,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
)

__all__ = ["Members", "Request", "args_of", "as_json", "from_request", "parts_of", "read_reply"]

Request: TypeAlias = Buffer | str | Mapping[str, Any] | list[Any]
"""A request body, or its `contents`: JSON as bytes or text, or what a parser makes of it."""

Members: TypeAlias = dict[str, Json]
"""A content of the vendor, or another object of its JSON."""


def from_request(request: Request) -> Read:
    """Read a request body, its `systemInstruction` and `contents`, or `contents` alone.

    It is given as JSON bytes or text, or as dicts and lists. What else the body holds (`tools`,
    `generationConfig`) is no part of the conversation and stays with the caller. Of bytes, the
    args of a call keep their text to the letter, and all numbers their spelling.

    Raises:
        DecodeError: no JSON, or no conversation; `path` says where.

    >>> body = {"systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
    ...         "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    >>> from_request(body).history
    [System(content='Be brief.'), User(content=(Text(text='Hi'),))]
    """
    data = as_json(request)
    history = read_json(data)
    return _careful(data) if history is None else Read(history)


def as_json(value: Request) -> Buffer | str:
    """Give JSON as it is, and what a parser made of it as JSON again.

    Raises:
        DecodeError: the value is not what JSON can hold.
    """
    if isinstance(value, bytes | bytearray | memoryview | str):
        return value
    try:
        return text(value if isinstance(value, list) else dict(value))
    except EncodeError as failure:
        error = DecodeError(failure.text, path=failure.path)
    raise error


def read_reply(content: Members, args: list[str | None]) -> Assistant:
    """Read the content of a candidate; `args` are the texts of its calls' args, where known.

    Raises:
        EncodeError, RecursionError: it holds what JSON cannot, or is nested too deeply.
    """
    return _assistant({**content, "role": "model"}, args, Ids())


# --- Requests -------------------------------------------------------------------------------------


class _Body(Struct):
    contents: Raw
    systemInstruction: Raw | UnsetType = UNSET  # noqa: N815
    system_instruction: Raw | UnsetType = UNSET


_decode_body = msgspec.json.Decoder(_Body | list[Raw]).decode
_decode_items = msgspec.json.Decoder(list[Raw]).decode
_FORM = Form("JSON", msgspec.json.decode, msgspec.json.encode)


def _careful(data: Buffer | str) -> Read:
    try:
        body = _decode_body(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _FORM)
    else:
        return _read_raw(body, data)
    raise error


def _read_raw(body: "_Body | list[Raw]", data: Buffer | str) -> Read:
    reading = _Reading()
    try:
        reading.read(body)
    except DecodeError as failure:
        error = failure
    else:
        return Read(reading.history, envelope=reading.envelope())
    parse(data)  # does not come back if the JSON is at fault: that has its place in the whole
    raise error


class _Reading:
    """A request as it is read: its messages so far, and whether a result stands last."""

    def __init__(self) -> None:
        self.history: list[Message] = []
        self._wrapping: dict[str, Json] = {}  # what belongs to no message
        self._ids = Ids()
        self._after_result = False

    def envelope(self) -> ProviderData | None:
        return keep(Unit({}), Unit(self._wrapping), DIALECT)

    def read(self, body: _Body | list[Raw]) -> None:
        if isinstance(body, list):
            self._read_items("$", body)
            return
        if body.systemInstruction is not UNSET:
            self._read_instruction("systemInstruction", body.systemInstruction)
        if body.system_instruction is not UNSET:
            self._read_instruction("system_instruction", body.system_instruction)
        self._read_contents(body.contents)

    def _read_instruction(self, key: str, raw: Raw) -> None:
        instruction = parse(raw)
        if _is_silent(instruction):
            self._wrapping[key] = instruction
        elif self.history:
            raise DecodeError("Expected one system instruction, got two", path=f"$.{key}")
        elif isinstance(instruction, str):
            self.history.append(_kept(System(instruction), Unit(instruction, {key: ""})))
        else:
            self.history += _instructions(key, expect_object(instruction, f"$.{key}"))

    def _read_contents(self, raw: Raw) -> None:
        match parse(raw):
            case list():
                self._read_items("$.contents", _decode_items(raw))
            case dict():
                self._wrapping["contents"] = "object"
                self._read_at("$.contents", raw)
            case str(words):
                self._wrapping["contents"] = "text"
                self.history.append(User((Text(words),)))
            case other:
                got = kind(other)
                raise DecodeError(f"Expected `array`, got `{got}`", path="$.contents")

    def _read_items(self, place: str, raws: list[Raw]) -> None:
        for index, raw in enumerate(raws):
            self._read_at(f"{place}[{index}]", raw)

    def _read_at(self, place: str, raw: Raw) -> None:
        try:
            self._read(parse(raw), raw)
        except (DecodeError, EncodeError) as failure:
            error = DecodeError(failure.text, path=place + failure.path.removeprefix("$"))
        except RecursionError:
            error = DecodeError("Expected a content nested less deeply", path=place)
        else:
            return
        raise error

    def _read(self, value: Json, raw: Raw) -> None:
        members = expect_object(value, "")
        role = members.get("role")
        if "parts" not in members and (role is None or len(members) > 1):
            raise DecodeError("Expected field `parts`, got an object without it")
        match role if role is None else expect_text(role, ".role"):
            case "model":
                self._append(_assistant(members, args_of(parts_of(members), raw), self._ids))
            case "system":
                self._append(_system(members))
            case _:
                self._ids.end_replies()
                self._read_user(members)

    def _append(self, message: Message) -> None:
        self.history.append(message)
        self._after_result = isinstance(message, ToolResult)

    def _read_user(self, members: Members) -> None:
        around: Json = _shell(members)
        join: Join | None = "new" if self._after_result else None
        parts = parts_of(members)
        for run in _runs(parts):
            value: Json = run if parts is members.get("parts") else _value(members)
            self._append(_kept(_user(run, self._ids), Unit(value, around, join)))
            around = None
            join = None if self._after_result else "same"


# --- Messages -------------------------------------------------------------------------------------

M = TypeVar("M", bound=Message)


def _kept(
    message: M, wire: Unit, *, sealed: bool = False, order: Sequence[int | None] | None = None
) -> M:
    base = Unit(canonical(message), shell(message))
    if wire.shell is None:
        wire = wire._replace(shell=base.shell)
    data = keep(base, wire, DIALECT, sealed=sealed, order=order)
    return message if data is None else replace(message, provider_data=data)


def _shell(members: Members) -> Members:
    return {key: value for key, value in members.items() if key != "parts"}


def parts_of(members: Members) -> list[Json]:
    """List the parts of a content, which may be a single one, or none."""
    parts = members.get("parts")
    if isinstance(parts, list):
        return parts
    return [] if parts is None else [parts]


def _value(members: Members) -> Json:
    """Give the parts of a content; where they are no list, an object with `parts` as they are."""
    parts = members.get("parts")
    if isinstance(parts, list):
        return parts
    return {"parts": parts} if "parts" in members else {}


def _is_silent(instruction: Json) -> bool:
    """Tell whether a system instruction says nothing."""
    if isinstance(instruction, dict):
        return not instruction.get("parts") and instruction.keys() <= {"role", "parts"}
    return instruction is None or instruction == ""


def _instructions(key: str, instruction: Members) -> list[Message]:
    parts = instruction.get("parts")
    if not parts:
        raise DecodeError("Expected field `parts`, got an object without it", path=f"$.{key}")
    if not isinstance(parts, list):
        around: Json = {key: _shell(instruction)}
        return [_kept(System(_text(parts)), Unit(_value(instruction), around))]
    arounds: list[Json] = [{key: _shell(instruction)}, *[None] * (len(parts) - 1)]
    return [
        _kept(System(_text(part)), Unit([part], around))
        for part, around in zip(parts, arounds, strict=True)
    ]


def _text(part: Json) -> str:
    block = read_part(part)
    return block.text if isinstance(block, Text) else ""


def _system(members: Members) -> System:
    """Read a content of role `system`, which stands among the others."""
    words = "\n".join(filter(None, map(_text, parts_of(members))))
    return _kept(System(words), Unit(_value(members), _shell(members)))


def _runs(parts: list[Json]) -> list[list[Json]]:
    """Split the parts of a user's content: each result alone, and what stands between them."""
    runs: list[list[Json]] = []
    for part in parts:
        if runs and _result_in(part) is None and _result_in(runs[-1][0]) is None:
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs or [[]]


def _result_in(part: Json) -> Members | None:
    """Find the functionResponse of a part, if it has one that names its function."""
    return _named_in(part, "functionResponse", "function_response")


def _named_in(part: Json, *keys: str) -> Members | None:
    if isinstance(part, dict):
        for key in keys:
            held = part.get(key)
            if isinstance(held, dict) and isinstance(held.get("name"), str):
                return held
    return None


def _user(run: list[Json], ids: Ids) -> User | ToolResult:
    result = _result_in(run[0]) if run else None
    if result is not None:
        return _result(result, ids)
    return User(tuple([read_part(part) for part in run]))


def _result(members: Members, ids: Ids) -> ToolResult:
    content, is_error = read_response(members.get("response"))
    given = members.get("id")
    parts = members.get("parts")
    attachments = map(read_part, parts) if isinstance(parts, list) else ()
    return ToolResult(
        ids.result(_name(members), given if isinstance(given, str) else None),
        content,
        is_error=is_error,
        attachments=tuple([block for block in attachments if not isinstance(block, Text)]),
    )


def _name(members: Members) -> str:
    name = members.get("name")
    return name if isinstance(name, str) else ""


# --- Assistants -----------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where in its Assistant a part of the wire went: which field, and the number in it."""

    field: Literal["reasoning", "content", "attachments", "tool_calls"]
    number: int = 0


def _assistant(members: Members, args: list[str | None], ids: Ids) -> Assistant:
    parts = parts_of(members)
    message, places = _spoken(parts, args, ids)
    sealed = any(map(_is_sealed, parts))
    wire = Unit(_value(members), _shell(members))
    return _kept(message, wire, sealed=sealed, order=_order(message, places))


def _spoken(
    parts: list[Json], args: list[str | None], ids: Ids
) -> tuple[Assistant, list[_Place | None]]:
    """Sort the parts of a reply by what they become; None for what only the delta holds."""
    thought: list[str] = []
    said: list[str] = []
    attachments: list[ContentBlock] = []
    calls: list[ToolCall] = []
    places: list[_Place | None] = []
    for part, given in zip(parts, args, strict=True):
        call = _named_in(part, "functionCall", "function_call")
        if call is not None:
            places.append(_Place("tool_calls", len(calls)))
            calls.append(_call(call, given, ids))
            continue
        block = read_part(part)
        if not isinstance(block, Text):
            places.append(_Place("attachments", len(attachments)))
            attachments.append(block)
        elif isinstance(part, dict) and part.get("thought") is True:
            places.append(_Place("reasoning"))
            thought.append(block.text)
        else:
            places.append(_Place("content") if block.text else None)
            said.append(block.text)
    reasoning = "".join(thought) if thought else None
    message = Assistant("".join(said), reasoning, tuple(calls), attachments=tuple(attachments))
    return message, places


def _call(members: Members, given: str | None, ids: Ids) -> ToolCall:
    name, args, id = _name(members), members.get("args"), members.get("id")
    if args is None:
        given = ""
    elif given is None:
        given = text(args)
    return ToolCall(ids.call(name, id if isinstance(id, str) else None), name, given)


def _order(message: Assistant, places: list[_Place | None]) -> list[int | None]:
    """Tell which canonical part stands at each place of the wire."""
    content = 0 if message.reasoning is None else 1
    attachments = content + (1 if message.content else 0)
    starts = {
        "reasoning": 0,
        "content": content,
        "attachments": attachments,
        "tool_calls": attachments + len(message.attachments),
    }
    return [None if place is None else starts[place.field] + place.number for place in places]


def _is_sealed(part: Json) -> bool:
    return isinstance(part, dict) and any(part.get(key) for key in SIGNATURES)


class _RawCall(Struct):
    args: Raw | UnsetType = UNSET


class _RawPart(Struct):
    functionCall: _RawCall | None = None  # noqa: N815
    function_call: _RawCall | None = None


class _RawContent(Struct):
    parts: list[_RawPart]


_decode_args = msgspec.json.Decoder(_RawContent).decode


def args_of(parts: list[Json], data: Buffer | str, *path: str | int) -> list[str | None]:
    """Give for each part of a content the JSON text of its call's args, as it stands on the wire.

    None for parts that have none. The content stands at `path` of the JSON `data`.
    """
    unknown: list[str | None] = [None] * len(parts)
    if not any(map(_is_call, parts)):
        return unknown
    try:
        decoded = _decode_args(spelled(data, *path) if path else data).parts
    except DECODE_FAILURES:  # parts that are no list, or one of them no object
        return unknown
    return [_given(part) for part in decoded]


def _is_call(part: Json) -> bool:
    return isinstance(part, dict) and not part.keys().isdisjoint(("functionCall", "function_call"))


def _given(part: _RawPart) -> str | None:
    call = part.functionCall or part.function_call
    return None if call is None or call.args is UNSET else bytes(call.args).decode()
