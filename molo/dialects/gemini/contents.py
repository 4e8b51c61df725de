"""Contents read with care: any part is taken, and what is not canonical is kept as a delta.

Each function reads the units of one content. A unit is its parts on the wire; where a content has
no array of parts, it is an object with its `parts` as they are, and no other unit joins it.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeVar

from msgspec.structs import replace

from molo.dialects.delta import Join, Unit, keep
from molo.dialects.gemini.forms import (
    INSTRUCTION,
    SHELLS,
    canonical,
    canonical_reply,
    read_response,
    shell,
)
from molo.dialects.gemini.ids import Ids
from molo.dialects.gemini.parts import DIALECT, SIGNATURES, read_part
from molo.dialects.wire import Json, expect_object, string, text
from molo.errors import DecodeError
from molo.message import Assistant, ContentBlock, Message, System, Text, ToolCall, ToolResult, User

__all__ = [
    "Members",
    "call_in",
    "parts_of",
    "read_instruction",
    "read_reply",
    "read_system",
    "read_user",
]

Members = dict[str, Json]

M = TypeVar("M", bound=Message)


def parts_of(members: Members) -> list[Json]:
    """List the parts of a content, which may be a single one, or none."""
    parts = members.get("parts")
    if isinstance(parts, list):
        return parts
    return [] if parts is None else [parts]


def call_in(part: Json) -> Members | None:
    """Find the functionCall of a part, if it has one that names its function."""
    return _named_in(part, _CALL)


def _result_in(part: Json) -> Members | None:
    return _named_in(part, _RESULT)


_CALL = ("functionCall", "function_call")
_RESULT = ("functionResponse", "function_response")


def _named_in(part: Json, keys: tuple[str, str]) -> Members | None:
    if isinstance(part, dict):
        for key in keys:
            held = part.get(key)
            if isinstance(held, dict) and isinstance(held.get("name"), str):
                return held
    return None


def _unit(members: Members) -> Unit:
    if "parts" not in members:
        return Unit({}, members)
    shell = {**members}
    parts = shell.pop("parts")
    return Unit(parts if isinstance(parts, list) else {"parts": parts}, shell)


def _kept(message: M, wire: Unit) -> M:
    data = keep(Unit(canonical(message), shell(message)), wire, DIALECT)
    return message if data is None else replace(message, provider_data=data)


# --- Systems --------------------------------------------------------------------------------------


def read_instruction(key: str, instruction: Json) -> list[Message]:
    """Read a system instruction: a System for each of its parts.

    Raises:
        DecodeError: it is neither text nor a content with parts.
    """
    if isinstance(instruction, str):
        return [_kept(System(instruction), Unit(instruction, {key: ""}))]
    members = expect_object(instruction, f"$.{key}")
    if not members.get("parts"):
        raise DecodeError("Expected field `parts`, got an object without it", path=f"$.{key}")
    unit = _unit(members)
    around: Json = {key: unit.shell}
    if not isinstance(unit.value, list):
        return [_kept(System(_text(members["parts"])), Unit(unit.value, around))]
    first, *others = unit.value
    return [
        _kept(System(_text(first)), Unit([first], around)),
        *(_kept(System(_text(part)), Unit([part], INSTRUCTION)) for part in others),
    ]


def read_system(members: Members) -> System:
    """Read a content of role `system`, which stands among the others."""
    words = filter(None, map(_text, parts_of(members)))
    return _kept(System("\n".join(words)), _unit(members))


def _text(part: Json) -> str:
    block = None if part is None else read_part(part)
    return block.text if isinstance(block, Text) else ""


# --- Users and results ----------------------------------------------------------------------------


def read_user(members: Members, ids: Ids, *, joins: bool) -> list[User | ToolResult]:
    """Read a content of a user: each result, and a User for what stands between them.

    `joins` says that its parts would stand in one content with those before them.
    """
    found: list[User | ToolResult] = []
    unit = _unit(members)
    around = unit.shell
    join: Join | None = "new" if joins else None
    for result, run in _runs(parts_of(members)):
        message = _user(run) if result is None else _result(result, ids)
        value: Json = run if isinstance(unit.value, list) else unit.value
        found.append(_kept(message, Unit(value, around, join)))
        around = SHELLS["user"]
        join = None if result is not None else "same"
    return found


def _runs(parts: list[Json]) -> list[tuple[Members | None, list[Json]]]:
    """Split parts: each result alone, and what stands between them; at least one run."""
    runs: list[tuple[Members | None, list[Json]]] = []
    for part in parts:
        result = _result_in(part)
        if runs and result is None and runs[-1][0] is None:
            runs[-1][1].append(part)
        else:
            runs.append((result, [part]))
    return runs or [(None, [])]


def _user(run: list[Json]) -> User:
    return User(tuple(_blocks(run)))


def _blocks(parts: list[Json]) -> list[ContentBlock]:
    return [read_part(part) for part in parts if part is not None]


def _result(members: Members, ids: Ids) -> ToolResult:
    content, is_error = read_response(members.get("response"))
    parts = members.get("parts")
    blocks = _blocks(parts) if isinstance(parts, list) else []
    return ToolResult(
        ids.result(string(members["name"]), _id(members)),
        content,
        is_error=is_error,
        attachments=tuple([block for block in blocks if not isinstance(block, Text)]),
    )


def _id(members: Members) -> str | None:
    id = members.get("id")
    return id if isinstance(id, str) else None


# --- Assistants -----------------------------------------------------------------------------------


def read_reply(members: Members, args: Sequence[str | None], ids: Ids) -> Assistant:
    """Read a content of the model; `args` are the texts of its calls' args, where known.

    Raises:
        EncodeError, RecursionError: it holds what JSON cannot, or is nested too deeply.
    """
    parts = parts_of(members)
    reply = _Reply(ids)
    for at, (part, given) in enumerate(zip_longest(parts, args)):
        reply.take(at, part, given)
    message = reply.message()
    base = Unit(canonical_reply(message, reply.args), SHELLS["model"])
    order = reply.order(len(parts))
    data = keep(base, _unit(members), DIALECT, sealed=reply.sealed, order=order)
    return message if data is None else replace(message, provider_data=data)


class _Reply:
    """The parts of a reply, sorted by what they become, each kind with their places."""

    def __init__(self, ids: Ids) -> None:
        self.args: list[Json] = []  # what the arguments of the calls say
        self.sealed = False
        self._ids = ids
        self._thought: list[tuple[int, str]] = []
        self._said: list[tuple[int, str]] = []
        self._attached: list[tuple[int, ContentBlock]] = []
        self._calls: list[tuple[int, ToolCall]] = []

    def take(self, at: int, part: Json, given: str | None) -> None:
        """Take a part; `given` is the text of its args, where that is known."""
        if part is None:
            return
        if isinstance(part, dict) and not SIGNATURES.isdisjoint(part):
            self.sealed = self.sealed or any(part.get(key) for key in SIGNATURES)
        call = call_in(part)
        if call is not None:
            self._calls.append((at, self._call(call, given)))
            return
        block = read_part(part)
        if not isinstance(block, Text):
            self._attached.append((at, block))
        elif isinstance(part, dict) and part.get("thought") is True:
            self._thought.append((at, block.text))
        elif block.text:
            self._said.append((at, block.text))

    def message(self) -> Assistant:
        """Make the message of all parts."""
        return Assistant(
            "".join([words for _, words in self._said]),
            "".join([words for _, words in self._thought]) if self._thought else None,
            tuple([call for _, call in self._calls]),
            attachments=tuple([block for _, block in self._attached]),
        )

    def order(self, count: int) -> list[int | None]:
        """Tell which canonical part stands at each place of the wire, if any."""
        places: list[int | None] = [None] * count
        canonical = 0
        for texts in (self._thought, self._said):
            for at, _ in texts:
                places[at] = canonical
            canonical += 1 if texts else 0
        for at, _ in (*self._attached, *self._calls):
            places[at] = canonical
            canonical += 1
        return places

    def _call(self, call: Members, given: str | None) -> ToolCall:
        name, args = string(call["name"]), call.get("args")
        self.args.append({} if args is None else args)
        if args is None:
            given = ""
        elif given is None:
            given = text(args)
        return ToolCall(self._ids.call(name, _id(call)), name, given)
