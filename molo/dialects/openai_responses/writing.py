"""Histories written as requests: canonical, then as it was on the wire.

Each message becomes its items, whatever stands next to it. The exception are attachments of results
that the Rules do not take there: they follow in a user message behind the last result of their
step, where the Rules take them from users.
"""

from collections.abc import Sequence

from molo.dialects.blocks import Step, has_untold_type
from molo.dialects.delta import LOST, Unit, restore
from molo.dialects.loss import Code, Loss, Written, WrittenJson
from molo.dialects.openai_responses.envelope import join, parts_of
from molo.dialects.openai_responses.forms import (
    DIALECT,
    canonical,
    has_place,
    is_inline,
    is_sent,
    made,
    parts,
)
from molo.dialects.openai_responses.items import is_reference, is_sealed_elsewhere, without_id
from molo.dialects.openai_responses.spelling import RECORDED, Spelling
from molo.dialects.wire import Json, encoded, plain
from molo.errors import EncodeError
from molo.history.contents import blocks
from molo.history.rules import OPENAI_RESPONSES, Rules
from molo.message import (
    Assistant,
    File,
    Message,
    ProviderData,
    Text,
    ToolResult,
    require_messages,
)

__all__ = ["to_request", "to_request_json", "write_json"]


def to_request(
    history: Sequence[Message],
    *,
    rules: Rules = OPENAI_RESPONSES,
    spelling: Spelling = RECORDED,
    envelope: ProviderData | None = None,
) -> Written:
    """Write a history as `{"input": […]}`, with `instructions` where it was read from such.

    `rules` are the vendor's (`molo.history.rules`): they say which blocks it takes in results.

    Raises:
        EncodeError: an item of the history is no message, or holds what is nested too deeply.

    >>> from molo import user
    >>> to_request([user("Hi")]).request
    {'input': [{'role': 'user', 'content': 'Hi'}]}
    """
    request, losses = _written(history, rules, spelling, envelope)
    try:
        return Written({key: plain(value) for key, value in request.items()}, losses)
    except RecursionError:
        error = EncodeError("Expected items nested less deeply")
    raise error


def to_request_json(
    history: Sequence[Message],
    *,
    rules: Rules = OPENAI_RESPONSES,
    spelling: Spelling = RECORDED,
    envelope: ProviderData | None = None,
) -> bytes:
    """Write a history as `to_request` does, in JSON, numbers as they were spelled.

    Raises:
        EncodeError: an item is no message, or holds what JSON cannot (a lone surrogate).
    """
    return write_json(history, rules=rules, spelling=spelling, envelope=envelope).request


def write_json(
    history: Sequence[Message],
    *,
    rules: Rules = OPENAI_RESPONSES,
    spelling: Spelling = RECORDED,
    envelope: ProviderData | None = None,
) -> WrittenJson:
    """Write a history as `to_request_json` does, and say what it lacks."""
    request, losses = _written(history, rules, spelling, envelope)
    return WrittenJson(encoded(request), losses)


def _written(
    history: Sequence[Message], rules: Rules, spelling: Spelling, envelope: ProviderData | None
) -> tuple[dict[str, Json], tuple[Loss, ...]]:
    require_messages(history)
    writer = _Writer(rules, spelling)
    parts = parts_of(envelope)
    if parts is None:
        writer.lose("foreign", None, "Expected an envelope of this dialect, got another")
    for at, message in enumerate(history):
        writer.write(at, message)
    writer.end_step()
    return join(parts or {}, writer.instructions, writer.items), tuple(writer.losses)


class _Writer:
    """The request as it grows: its instructions, its items, and what was lost."""

    def __init__(self, rules: Rules, spelling: Spelling) -> None:
        self.instructions: list[Json] = []
        self.items: list[Json] = []
        self.losses: list[Loss] = []
        self._spelling = spelling
        self._step = Step(rules.result_blocks, rules.user_blocks, parts, self.losses)

    def lose(self, code: Code, at: int | None, sentence: str, part: int | None = None) -> None:
        self.losses.append(Loss(code, at, part, sentence))

    def write(self, at: int, message: Message) -> None:
        self._name_placeless(at, message)
        given = message
        if isinstance(message, ToolResult):
            message = self._result(at, message)
        else:
            self.end_step()
        items = self._recorded(at, message)
        if items is None:
            self._name_simplified(at, given)
            items = [item for item in canonical(message) if is_sent(item)]
        self.items += items if self._spelling.stored else self._stateless(at, items)

    def end_step(self) -> None:
        """Write what follows the results of a step, if anything does."""
        if following := self._step.end():
            self.items.append({"role": "user", "content": following})

    def _recorded(self, at: int, message: Message) -> list[Json] | None:
        """Give the items as they were on the wire; None where that is not known."""
        data = message.provider_data
        if data is None:
            return None
        unit, lost = restore(Unit([*canonical(message)]), data, DIALECT)
        match unit.value:
            case list() as items if lost is None:
                return items
            case {"instructions": said} if lost is None:
                return self._instructed(at, said)
            case _:
                lost = lost or "stale"
                self.lose(lost, at, LOST[lost])
                return None

    def _instructed(self, at: int, said: Json) -> list[Json]:
        if self.items:
            self.lose("moved", at, "Expected the instructions in front, got them behind a message")
        self.instructions.append(said)
        return []

    def _result(self, at: int, message: ToolResult) -> ToolResult:
        if message.is_error:
            self.lose("error_flag", at, "Expected a result, got an error, which has no flag here")
        return self._step.result(at, message)

    def _name_placeless(self, at: int, message: Message) -> None:
        """Name the blocks that no delta brings back, for none was ever read from this dialect."""
        for index, block in enumerate(blocks(message)):
            if not (isinstance(message, Assistant) or has_place(block)):
                self.lose("block", at, "Expected a block of this dialect, got another", index)

    def _name_simplified(self, at: int, message: Message) -> None:
        """Name what the canonical form of a message does not say."""
        if isinstance(message, Assistant):
            self._name_unsent(at, message)
            return
        for index, block in enumerate(blocks(message)):
            if has_untold_type(block) and has_place(block):
                self.lose("media_type", at, "Expected a URL alone, got one with its type", index)
            if isinstance(block, File) and block.name and not is_inline(block):
                self.lose("name", at, "Expected a URL alone, got one with a file name", index)

    def _name_unsent(self, at: int, message: Assistant) -> None:
        if message.reasoning:
            self.lose("reasoning", at, "Expected the vendor's own reasoning, got text alone")
        for index, block in enumerate(message.attachments):
            if not (isinstance(block, Text) or is_sent(made(block))):
                self.lose("block", at, "Expected an item of this dialect, got another block", index)

    def _stateless(self, at: int, items: list[Json]) -> list[Json]:
        kept: list[Json] = []
        for item in items:
            if not isinstance(item, dict):
                kept.append(item)
            elif is_reference(item):
                self.lose("message", at, "Expected an item, got a reference to one")
            elif is_sealed_elsewhere(item):
                self.lose("sealed", at, "Expected encrypted reasoning, got a reference to it")
            else:
                kept.append(without_id(item))
        return kept
