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

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from molo.dialects.delta import Unit, keep, would_join
from molo.dialects.gemini.args import args_of
from molo.dialects.gemini.contents import (
    Members,
    read_instruction,
    read_reply,
    read_system,
    read_user,
)
from molo.dialects.gemini.ids import Ids
from molo.dialects.gemini.parts import DIALECT
from molo.dialects.gemini.strict import read_json, read_open_content, read_open_json
from molo.dialects.loss import Read
from molo.dialects.wire import Given, Json, as_json, decoded, kind, parse
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import (
    Buffer,
)
from molo.message import Message, Text, User

__all__ = ["from_request", "read_carefully"]


def from_request(request: Given) -> Read:
    """Read a request body, its `systemInstruction` and `contents`, or `contents` alone.

    It is given as JSON bytes or text, or as dicts and lists. What else the body holds (`tools`,
    `generationConfig`) is no part of the conversation and stays with the caller. A content of a
    role that is not known is a User. Of a repeated key the last value counts. Of bytes, the args of
    a call keep their text to the letter, and all numbers their spelling.

    Raises:
        DecodeError: no JSON, or no conversation; `path` says where.

    >>> body = {"systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
    ...         "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    >>> from_request(body).history
    [System(content='Be brief.'), User(content=(Text(text='Hi'),))]
    """
    data = as_json(request)
    history = read_json(data)
    if history is None:
        history = read_open_json(data)
    return read_carefully(data) if history is None else Read(history)


# --- Requests -------------------------------------------------------------------------------------


class _Body(Struct):
    contents: list[Raw] | dict[str, Raw] | str
    systemInstruction: Raw | UnsetType = UNSET  # noqa: N815
    system_instruction: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Body | list[Raw]).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def read_carefully(data: Buffer | str) -> Read:
    """Read a request whatever it holds; raises as `from_request`."""
    body = decoded(_decode, data)
    reading = _Reading()
    try:
        if isinstance(body, list):
            reading.read_contents("$", body)
        else:
            reading.read_body(body)
    except DecodeError as failure:
        error = failure
    else:
        return reading.result()
    parse(data)  # does not come back if the JSON is at fault: that has its place in the whole
    raise error


class _Reading:
    """A request as it is read: its messages so far, and what belongs to none."""

    def __init__(self) -> None:
        self._history: list[Message] = []
        self._wrapping: Members = {}
        self._ids = Ids()

    def result(self) -> Read:
        return Read(self._history, envelope=keep(Unit({}), Unit(self._wrapping), DIALECT))

    def read_body(self, body: _Body) -> None:
        self._read_instruction("systemInstruction", body.systemInstruction)
        self._read_instruction("system_instruction", body.system_instruction)
        if isinstance(body.contents, str):
            self._wrapping["contents"] = "text"
            self._history.append(User((Text(body.contents),)))
        elif isinstance(body.contents, dict):
            self._wrapping["contents"] = "object"
            self._read_at("$.contents", body.contents)
        else:
            self.read_contents("$.contents", body.contents)

    def read_contents(self, place: str, contents: list[Raw]) -> None:
        for index, raw in enumerate(contents):
            found = read_open_content(raw, self._ids, joins=would_join(self._history))
            if found is None:
                self._read_at(f"{place}[{index}]", raw)
            else:
                self._history += found

    def _read_instruction(self, key: str, raw: Raw | UnsetType) -> None:
        if raw is UNSET:
            return
        instruction = parse(raw)
        if _is_silent(instruction):
            self._wrapping[key] = instruction
        elif self._history:
            raise DecodeError("Expected one system instruction, got two", path=f"$.{key}")
        else:
            self._history += read_instruction(key, instruction)

    def _read_at(self, place: str, content: Raw | dict[str, Raw]) -> None:
        try:
            self._read(_members(content))
        except DecodeError as failure:
            error = DecodeError(failure.text, path=place + failure.path.removeprefix("$"))
        except (EncodeError, RecursionError):
            error = DecodeError("Expected a content nested less deeply", path=place)
        else:
            return
        raise error

    def _read(self, content: dict[str, Raw]) -> None:
        shell = {key: parse(value) for key, value in content.items() if key != "parts"}
        role = shell.get("role")
        if role is not None and not isinstance(role, str):
            raise DecodeError(f"Expected `str`, got `{kind(role)}`", path=".role")
        parts = content.get("parts")
        if parts is None:
            if role is None or len(shell) > 1:
                raise DecodeError("Expected field `parts`, got an object without it")
            self._read_carefully(role, shell, [])
        else:
            members = {**shell, "parts": parse(parts)}
            self._read_carefully(role, members, args_of(members, parts))

    def _read_carefully(self, role: str | None, members: Members, args: list[str | None]) -> None:
        if role == "model":
            self._history.append(read_reply(members, args, self._ids))
        elif role == "system":
            self._history.append(read_system(members))
        else:
            self._ids.end_replies()
            self._history += read_user(members, self._ids, joins=would_join(self._history))


def _members(content: Raw | dict[str, Raw]) -> dict[str, Raw]:
    if isinstance(content, dict):
        return content
    try:
        return _decode_members(content)
    except msgspec.ValidationError:
        pass
    raise DecodeError(f"Expected `object`, got `{kind(parse(content))}`")


def _is_silent(instruction: Json) -> bool:
    """Tell whether a system instruction says nothing."""
    if isinstance(instruction, dict):
        return not instruction.get("parts") and instruction.keys() <= {"role", "parts"}
    return instruction is None or instruction == ""
