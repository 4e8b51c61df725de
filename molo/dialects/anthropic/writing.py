"""Histories written as requests: blocks, as canonical as they are or as they were on the wire.

The blocks of a message stand in an object of their own, except:

- Systems in front of all else stand in the top-level `system`. Those behind stand as objects of
  role `system` in `messages`, where the Rules allow that, else in the top-level one too.
- A ToolResult joins the object of the ToolResult before it, and so does a User: the results of a
  step and what the user says then are one object, results first.
"""

from collections.abc import Sequence
from itertools import chain

from msgspec.structs import replace

from molo.dialects.anthropic.blocks import DIALECT, unplaced
from molo.dialects.anthropic.forms import SHELLS, canonical, canonical_reply, shell, unplaced_spoken
from molo.dialects.arguments import values_of
from molo.dialects.delta import LOST, Unit, restore
from molo.dialects.loss import Code, Loss, Written, WrittenJson
from molo.dialects.wire import Json, encoded, expect_array, expect_object, plain
from molo.history.contents import blocks
from molo.history.rules import ANTHROPIC, Rules
from molo.message import (
    Assistant,
    Message,
    ProviderData,
    System,
    ToolResult,
    require_messages,
)

__all__ = ["to_request", "to_request_json", "write_json"]


def to_request(
    history: Sequence[Message], *, rules: Rules = ANTHROPIC, envelope: ProviderData | None = None
) -> Written:
    """Write a history as `{"system": [...], "messages": [...]}`, the part of a request that it is.

    `system` is left out where the history has no System. Of the rules only the place of Systems
    counts here; what they refuse otherwise is the business of `molo.history.repair`.

    Raises:
        EncodeError: an item of the history is no message.

    >>> from molo import user
    >>> to_request([user("Hi")]).request
    {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi'}]}]}
    """
    writer = _written(history, rules, envelope)
    return Written(
        {key: plain(value) for key, value in writer.request().items()}, tuple(writer.losses)
    )


def to_request_json(
    history: Sequence[Message], *, rules: Rules = ANTHROPIC, envelope: ProviderData | None = None
) -> bytes:
    """Write a history as `to_request` does, in JSON, numbers as they were spelled.

    Raises:
        EncodeError: an item is no message, or holds what JSON cannot (a lone surrogate).
    """
    return write_json(history, rules=rules, envelope=envelope).request


def write_json(
    history: Sequence[Message], *, rules: Rules = ANTHROPIC, envelope: ProviderData | None = None
) -> WrittenJson:
    """Write a history as `to_request_json` does, and say what it lacks."""
    writer = _written(history, rules, envelope)
    return WrittenJson(encoded(writer.request()), tuple(writer.losses))


def _written(history: Sequence[Message], rules: Rules, envelope: ProviderData | None) -> "_Writer":
    require_messages(history)
    writer = _Writer(rules, envelope)
    for at, message in enumerate(history):
        writer.write(at, message)
    return writer


class _Writer:
    """The request as it grows, and what was lost."""

    def __init__(self, rules: Rules, envelope: ProviderData | None) -> None:
        self.losses: list[Loss] = []
        self._rules = rules
        self._request = self._restored(None, Unit({}), envelope).value
        self._system: list[tuple[Json, list[Json]]] = []  # as on the wire, and as canonical blocks
        self._messages: list[Json] = []
        self._open: list[Json] | None = None  # the content of a user object that may grow
        self._after_result = False

    def request(self) -> dict[str, Json]:
        request = self._request if isinstance(self._request, dict) else {}
        if self._system:
            request = {**request, "system": _joined(self._system)}
        return {**request, "messages": self._messages}

    def write(self, at: int, message: Message) -> None:
        self._name_losses(at, message)
        written = self._canonical(at, message)
        base = Unit(written, shell(message))
        unit = self._restored(at, base, message.provider_data)
        if isinstance(message, Assistant) and message.reasoning is not None and unit is base:
            if message.reasoning:
                self._lose("reasoning", at, "Expected signed thinking, got reasoning without")
            unit = replace(unit, value=written[1:])
        if isinstance(message, System) and self._is_on_top(at, unit):
            self._system.append((unit.value, written))
        else:
            self._add(unit)
            self._after_result = isinstance(message, ToolResult)

    def _lose(self, code: Code, at: int | None, sentence: str, part: int | None = None) -> None:
        self.losses.append(Loss(code, at, part, sentence))

    def _canonical(self, at: int, message: Message) -> list[Json]:
        if not isinstance(message, Assistant):
            return canonical(message)
        inputs, damaged = values_of(message.tool_calls)
        for index in damaged:
            self._lose("arguments", at, "Expected arguments that are JSON, got others", index)
        return canonical_reply(message, inputs)

    def _restored(self, at: int | None, base: Unit, data: ProviderData | None) -> Unit:
        if data is None:
            return base
        unit, lost = restore(base, data, DIALECT)
        if lost is None and not _is_written(unit):
            lost = "stale"
        if lost is None:
            return unit
        self._lose(lost, at, LOST[lost])
        return base

    def _is_on_top(self, at: int, unit: Unit) -> bool:
        if self._rules.system == "anywhere":
            return unit.join != "new" and not self._messages
        if self._messages:
            self._lose("moved", at, "Expected a System in front of all messages, got one behind")
        return True

    def _add(self, unit: Unit) -> None:
        """Put a unit into the user object at hand, or into an object of its own."""
        joins = unit.join == "same" or (self._after_result and unit.join is None)
        opened, self._open = self._open, None
        shell = expect_object(unit.shell, "")
        if isinstance(unit.value, dict):
            self._messages.append({**shell, **unit.value})
            return
        blocks = expect_array(unit.value, "")
        if opened is not None and joins and shell == SHELLS["user"]:
            opened += blocks
        else:
            opened = [*blocks]
            self._messages.append({**shell, "content": opened})
        self._open = opened if shell.get("role") == "user" else None

    def _name_losses(self, at: int, message: Message) -> None:
        spoken = isinstance(message, Assistant)
        for index, block in enumerate(blocks(message)):
            code = unplaced_spoken(block) if spoken else unplaced(block)
            if code is not None:
                self._lose(code, at, _UNPLACED[code], index)


_UNPLACED: dict[Code, str] = {
    "block": "Expected a block that this dialect has, got another",
    "media_type": "Expected media whose type the block tells, got a type that it does not",
}


def _is_written(unit: Unit) -> bool:
    """Tell whether a delta gave what a unit of this dialect can be."""
    return isinstance(unit.value, (list, dict)) and isinstance(unit.shell, (dict, type(None)))


def _joined(units: list[tuple[Json, list[Json]]]) -> Json:
    """Put the units of the top-level `system` together; one that is no list may stand alone."""
    (first, _), *others = units
    if isinstance(first, dict) and not others and "content" in first:
        return first["content"]
    blocks = [value if isinstance(value, list) else canonical for value, canonical in units]
    return list(chain.from_iterable(blocks))
