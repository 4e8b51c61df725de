"""Histories written as requests: parts, as canonical as they are or as they were on the wire.

The parts of a message stand in a content of their own, except:

- Systems stand in `systemInstruction`, wherever they are in the history, unless they were read
  from among the contents.
- A ToolResult joins the content of the ToolResult before it, and so does a User: the results of a
  step and what the user says then are one content, results first.

Attachments of results that the Rules do not take there, and texts, which the vendor does not, stand
behind the last result of their step.
"""

import base64
from collections.abc import Sequence

from msgspec.structs import replace

from molo.dialects.arguments import values_of
from molo.dialects.blocks import Step
from molo.dialects.delta import LOST, Unit, restore
from molo.dialects.gemini.forms import canonical, canonical_reply, shell, write_result
from molo.dialects.gemini.ids import named
from molo.dialects.gemini.parts import DIALECT, SIGNATURES, unplaced, write_parts
from molo.dialects.loss import Code, Loss, Written, WrittenJson
from molo.dialects.wire import Json, encoded, expect_object, plain
from molo.history import pair as pair_up
from molo.history.contents import blocks
from molo.history.rules import GEMINI, BlockKind, Rules
from molo.message import (
    Assistant,
    Message,
    ProviderData,
    System,
    ToolResult,
    User,
    require_messages,
)

__all__ = ["STAND_IN_SIGNATURE", "to_request", "to_request_json", "write_json"]

STAND_IN_SIGNATURE = base64.b64encode(b"skip_thought_signature_validator").decode()
"""The signature that Gemini 3 takes for calls of another model's history, which have none.

https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11; recorded: in Base64.
"""


def to_request(
    history: Sequence[Message],
    *,
    rules: Rules = GEMINI,
    envelope: ProviderData | None = None,
    stand_in: str | None = None,
) -> Written:
    """Write a history as `{"systemInstruction": {...}, "contents": [...]}`, a part of a request.

    `systemInstruction` is left out where the history has no System. Of the rules only the blocks
    that results may hold count here; what else they refuse is the business of
    `molo.history.repair`. `stand_in` is a signature for the first call of each reply that has
    none, which Gemini 3 demands (`STAND_IN_SIGNATURE`); by default none is added.

    Raises:
        EncodeError: an item of the history is no message.

    >>> from molo import user
    >>> to_request([user("Hi")]).request
    {'contents': [{'role': 'user', 'parts': [{'text': 'Hi'}]}]}
    """
    writer = _written(history, rules, envelope, stand_in)
    request = {key: plain(value) for key, value in writer.request().items()}
    return Written(request, tuple(writer.losses))


def to_request_json(
    history: Sequence[Message],
    *,
    rules: Rules = GEMINI,
    envelope: ProviderData | None = None,
    stand_in: str | None = None,
) -> bytes:
    """Write a history as `to_request` does, in JSON, numbers as they were spelled.

    Raises:
        EncodeError: an item is no message, or holds what JSON cannot (a lone surrogate).
    """
    return write_json(history, rules=rules, envelope=envelope, stand_in=stand_in).request


def write_json(
    history: Sequence[Message],
    *,
    rules: Rules = GEMINI,
    envelope: ProviderData | None = None,
    stand_in: str | None = None,
) -> WrittenJson:
    """Write a history as `to_request_json` does, and say what it lacks."""
    writer = _written(history, rules, envelope, stand_in)
    return WrittenJson(encoded(writer.request()), tuple(writer.losses))


def _written(
    history: Sequence[Message], rules: Rules, envelope: ProviderData | None, stand_in: str | None
) -> "_Writer":
    require_messages(history)
    writer = _Writer(history, rules, stand_in)
    writer.open_envelope(envelope)
    for at, message in enumerate(history):
        writer.write(at, message)
    writer.end_step()
    return writer


class _Writer:
    """The request as it grows, and what was lost."""

    def __init__(self, history: Sequence[Message], rules: Rules, stand_in: str | None) -> None:
        self.losses: list[Loss] = []
        self._history = history
        self._stand_in = stand_in
        self._envelope: dict[str, Json] = {}
        self._instructions: list[Unit] = []
        self._contents: list[Json] = []
        self._open: list[Json] | None = None  # the parts of a user's content that may grow
        self._after_result = False
        held = _HELD.intersection(rules.result_blocks)
        self._step = Step(held, rules.user_blocks, write_parts, self.losses)
        self._names: dict[int | None, str] | None = None  # of the tools, by the index of the result

    def open_envelope(self, data: ProviderData | None) -> None:
        unit = self._restored(None, Unit({}), data)
        self._envelope = unit.value if isinstance(unit.value, dict) else {}

    def request(self) -> dict[str, Json]:
        request = {**self._envelope}
        if self._instructions:
            request |= _instruction(self._instructions)
        request["contents"] = self._wrapped(self._envelope.get("contents"))
        return request

    def write(self, at: int, message: Message) -> None:
        self._name_losses(at, message)
        if isinstance(message, ToolResult):
            message = self._step.result(at, message)
        else:
            self.end_step()
        unit = self._unit(at, message)
        if isinstance(message, Assistant) and self._stand_in is not None:
            unit = replace(unit, value=_signed(unit.value, self._stand_in))
        if isinstance(message, System) and _is_instruction(unit):
            self._instruct(at, unit)
        else:
            self._add(unit, grows=isinstance(message, User | ToolResult))
            self._after_result = isinstance(message, ToolResult)

    def end_step(self) -> None:
        """Write what follows the results of a step, if anything does."""
        if following := self._step.end():
            self._add(Unit(following, _USER), grows=True)

    def _lose(self, code: Code, at: int | None, sentence: str, part: int | None = None) -> None:
        self.losses.append(Loss(code, at, part, sentence))

    def _unit(self, at: int, message: Message) -> Unit:
        """Write a message as it was on the wire, or else in canonical form."""
        if isinstance(message, ToolResult):
            return self._result_unit(at, message)
        base = Unit(self._canonical(at, message), shell(message))
        return self._restored(at, base, message.provider_data)

    def _result_unit(self, at: int, message: ToolResult) -> Unit:
        """Write a result; in canonical form with the name of its call, which the history tells."""
        if message.provider_data is not None:
            base = Unit(canonical(message), _USER)
            unit = self._restored(at, base, message.provider_data)
            if unit is not base:
                return unit
        return Unit([write_result(message, self._name(at, message))], _USER)

    def _canonical(self, at: int, message: Message) -> list[Json]:
        if not isinstance(message, Assistant):
            return canonical(message)
        args, damaged = values_of(message.tool_calls)
        for index in damaged:
            self._lose("arguments", at, "Expected arguments that are JSON, got others", index)
        return canonical_reply(message, args)

    def _restored(self, at: int | None, base: Unit, data: ProviderData | None) -> Unit:
        if data is None:
            return base
        unit, lost = restore(base, data, DIALECT)
        if lost is None and _is_written(unit):
            return unit
        lost = lost or "stale"
        self._lose(lost, at, LOST[lost])
        return base

    # Results

    def _name(self, at: int, message: ToolResult) -> str:
        """Give the name of the tool that a result is of: that of its call."""
        if self._names is None:
            self._names = {pair.result_at: pair.call.name for pair in pair_up(self._history).pairs}
        name = self._names.get(at, named(message.id))
        if name is not None:
            return name
        self._lose("id", at, "Expected a result of a call, got one of none: its tool is unknown")
        return message.id

    # Contents

    def _instruct(self, at: int, unit: Unit) -> None:
        """Put a unit into the system instruction."""
        if self._contents:
            self._lose("moved", at, "Expected a System in front of all contents, got one behind")
        self._instructions.append(unit)

    def _add(self, unit: Unit, *, grows: bool) -> None:
        """Put a unit into the user's content at hand, or into a content of its own."""
        joins = unit.join == "same" or (self._after_result and unit.join is None)
        opened, self._open = self._open, None
        written = dict(unit.shell) if isinstance(unit.shell, dict) else {}
        if not isinstance(unit.value, list):
            written |= expect_object(unit.value, "")
        else:
            if opened is not None and joins and written == _USER:
                opened += unit.value
                self._open = opened
                return
            written["parts"] = parts = [*unit.value]
            self._open = parts if grows else None
        self._contents.append(written)

    def _wrapped(self, wrapping: Json) -> Json:
        """Give the contents, wrapped as a single one was."""
        match wrapping, self._contents:
            case "object", [content]:
                return content
            case "text", [{"role": "user", "parts": [{"text": str(words), **rest}]}] if not rest:
                return words
            case _:
                return self._contents

    # Losses

    def _name_losses(self, at: int, message: Message) -> None:
        for index, block in enumerate(blocks(message)):
            code = unplaced(block)
            if code is not None:
                self._lose(code, at, _UNPLACED[code], index)


_USER: dict[str, Json] = {"role": "user"}
_HELD: frozenset[BlockKind] = frozenset(("image", "audio", "file", "wire"))  # by a result

_UNPLACED: dict[Code, str] = {
    "block": "Expected a block that this dialect has, got another",
    "media_type": "Expected media whose type says what they are, got others",
    "name": "Expected a file without a name, got one with it",
}


def _is_written(unit: Unit) -> bool:
    """Tell whether a delta gave what a unit of this dialect can be."""
    if isinstance(unit.value, str):  # as only the system instruction may be
        return _is_instruction(unit)
    return isinstance(unit.value, (list, dict)) and isinstance(unit.shell, (dict, type(None)))


def _signed(value: Json, signature: str) -> Json:
    """Sign the first call among the parts of a reply, unless it is signed."""
    parts = value if isinstance(value, list) else []
    for index, part in enumerate(parts):
        if isinstance(part, dict) and not _CALLS.isdisjoint(part):
            signed: Json = {"thoughtSignature": signature, **part}
            return (
                value if part.keys() & SIGNATURES else [*parts[:index], signed, *parts[index + 1 :]]
            )
    return value


_CALLS = frozenset(("functionCall", "function_call"))


# --- The system instruction -----------------------------------------------------------------------

_INSTRUCTION = ("systemInstruction", "system_instruction")


def _is_instruction(unit: Unit) -> bool:
    return isinstance(unit.shell, dict) and not unit.shell.keys().isdisjoint(_INSTRUCTION)


def _instruction(units: list[Unit]) -> dict[str, Json]:
    """Put the units of the system instruction together, under the key of the first."""
    first, *others = units
    shell = first.shell if isinstance(first.shell, dict) else {}
    key = next(key for key in _INSTRUCTION if key in shell)
    around = shell[key]
    if isinstance(first.value, str) and not others:
        return {key: first.value}
    members = around if isinstance(around, dict) else _USER
    if isinstance(first.value, dict) and not others:
        return {key: {**members, **first.value}}
    return {key: {**members, "parts": [part for unit in units for part in _listed(unit.value)]}}


def _listed(value: Json) -> list[Json]:
    """List the parts of a unit that may be a single one."""
    match value:
        case list():
            return value
        case {"parts": part}:
            return [part]
        case _:
            return [{"text": value}]
