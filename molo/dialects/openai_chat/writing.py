"""Histories written as requests: canonical, then as it was on the wire, then as the vendor spells.

Each message becomes one object, whatever stands next to it. The exception are attachments of
results that the Rules do not take there: they follow in a user message behind the last result of
their step, where the Rules take them from users.
"""

from collections.abc import Sequence

from molo.dialects.blocks import Step, has_untold_type
from molo.dialects.delta import LOST, Unit, restore
from molo.dialects.loss import Code, Loss, Written, WrittenJson
from molo.dialects.openai_chat.forms import (
    DIALECT,
    SEALED,
    canonical,
    has_place,
    objects,
    part,
    parts,
)
from molo.dialects.openai_chat.spelling import RECORDED, SPELLINGS, Spelling
from molo.dialects.wire import Json, encoded, plain, string
from molo.errors import EncodeError
from molo.history.alphabets import is_written_in
from molo.history.contents import blocks
from molo.history.rules import COMMON, Rules
from molo.message import (
    Assistant,
    Audio,
    Message,
    ProviderData,
    System,
    Text,
    ToolResult,
    Wire,
    require_messages,
)

__all__ = ["to_request", "to_request_json", "write_json"]


def to_request(
    history: Sequence[Message],
    *,
    rules: Rules = COMMON,
    spelling: Spelling | None = None,
    envelope: ProviderData | None = None,
) -> Written:
    """Write a history as `{"messages": […]}`, the part of a request that it is.

    `rules` are the vendor's (`molo.history.rules`) or made from them; their `vendor` also tells the
    `spelling`, unless another one is given. Without a vendor, what was read is written as it was.

    Raises:
        EncodeError: an item of the history is no message, or a Wire block is nested too deeply.

    >>> from molo import user
    >>> to_request([user("Hi")]).request
    {'messages': [{'role': 'user', 'content': 'Hi'}]}
    """
    writer = _written(history, rules, spelling, envelope)
    return Written({"messages": writer.plain_messages()}, tuple(writer.losses))


def to_request_json(
    history: Sequence[Message],
    *,
    rules: Rules = COMMON,
    spelling: Spelling | None = None,
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
    rules: Rules = COMMON,
    spelling: Spelling | None = None,
    envelope: ProviderData | None = None,
) -> WrittenJson:
    """Write a history as `to_request_json` does, and say what it lacks."""
    writer = _written(history, rules, spelling, envelope)
    return WrittenJson(encoded({"messages": writer.messages}), tuple(writer.losses))


def _written(
    history: Sequence[Message],
    rules: Rules,
    spelling: Spelling | None,
    envelope: ProviderData | None,
) -> "_Writer":
    require_messages(history)
    writer = _Writer(rules, spelling or SPELLINGS.get(rules.vendor, RECORDED))
    if envelope is not None:
        writer.lose("foreign", None, "Expected no envelope, got that of another dialect")
    for at, message in enumerate(history):
        writer.write(at, message)
    writer.end_step()
    return writer


class _Writer:
    """The request as it grows: its messages, and what was lost."""

    def __init__(self, rules: Rules, spelling: Spelling) -> None:
        self.messages: list[Json] = []
        self.losses: list[Loss] = []
        self.spelled = False  # whether numbers may be in it that keep their spelling
        self._spelling = spelling
        self._step = Step(rules.result_blocks, rules.user_blocks, parts, self.losses)

    def lose(self, code: Code, at: int | None, sentence: str, part: int | None = None) -> None:
        self.losses.append(Loss(code, at, part, sentence))

    def write(self, at: int, message: Message) -> None:
        self._name_losses(at, message)
        if isinstance(message, ToolResult):
            message = self._result(at, message)
        else:
            self.end_step()
        written = self._restored(at, message)
        if self._spelling is not RECORDED:
            self._respell(at, message, written)
        self.messages.append(written)

    def end_step(self) -> None:
        """Write what follows the results of a step, if anything does."""
        if following := self._step.end():
            self.messages.append({"role": "user", "content": following})

    def plain_messages(self) -> list[Json]:
        """Give the messages as builtins alone."""
        if not self.spelled:
            return self.messages
        try:
            return [plain(item) for item in self.messages]
        except RecursionError:
            error = EncodeError("Expected blocks nested less deeply")
        raise error

    def _restored(self, at: int, message: Message) -> dict[str, Json]:
        base = canonical(message)
        if message.provider_data is None:
            return base
        self.spelled = True
        unit, lost = restore(Unit(base), message.provider_data, DIALECT)
        if lost is None and isinstance(unit.value, dict):
            return unit.value
        lost = lost or "stale"
        self.lose(lost, at, LOST[lost])
        return base

    def _result(self, at: int, message: ToolResult) -> ToolResult:
        if message.is_error:
            self.lose("error_flag", at, "Expected a result, got an error, which has no flag here")
        return self._step.result(at, message)

    def _name_losses(self, at: int, message: Message) -> None:
        for index, block in enumerate(blocks(message)):
            if isinstance(block, Wire):
                self.spelled = True
                if not has_place(block):
                    self.lose("block", at, "Expected a block of this dialect, got another", index)
            elif has_untold_type(block) and not isinstance(block, Audio):
                self.lose("media_type", at, "Expected a URL alone, got one with its type", index)

    # What the vendor spells in another way than the message came, or than the canonical form.

    def _respell(self, at: int, message: Message, written: dict[str, Json]) -> None:
        if isinstance(message, System) and self._spelling.system_role != "recorded":
            written["role"] = self._spelling.system_role
        if isinstance(message, Assistant):
            self._respell_reasoning(at, message, written)
            self._respell_empty(message, written)
        if self._spelling.file_part == "document_url" and "content" in written:
            written["content"] = _with_documents(written["content"])
        if not self._spelling.sealed and _unseal(written):
            self.lose("sealed", at, LOST["sealed"])
        if self._spelling.keys:
            self._drop_other_keys(at, written)
        if not is_written_in(string(written.get("name")), self._spelling.name_chars):
            del written["name"]
            self.lose("field", at, "Expected a name of letters and digits, got another")

    def _respell_reasoning(self, at: int, message: Assistant, written: dict[str, Json]) -> None:
        key = self._spelling.reasoning_key
        if key == "recorded":
            return
        for other in {"reasoning_content", "reasoning"} - {key}:
            written.pop(other, None)
        if key == "thinking":
            _think(message, written)
            return
        if isinstance(content := written.get("content"), list):
            written["content"] = [item for item in content if not _is_thinking(item)]
        if key == "none":
            if message.reasoning:
                self.lose("reasoning", at, "Expected a reply without reasoning, got one with it")
        elif written.get(key) is None and not self._is_told(message, written):
            written[key] = message.reasoning

    def _is_told(self, message: Assistant, written: dict[str, Json]) -> bool:
        """Tell whether there is no reasoning, or the sealed form of it goes back anyway."""
        sealed = self._spelling.sealed and bool(written.get("reasoning_details"))
        return sealed or message.reasoning is None

    def _respell_empty(self, message: Assistant, written: dict[str, Json]) -> None:
        spelled = self._spelling.empty_content
        if spelled == "recorded" or written.get("content") or not message.tool_calls:
            return
        if spelled == "absent":
            written.pop("content", None)
        else:
            written["content"] = None if spelled == "null" else ""

    def _drop_other_keys(self, at: int, written: dict[str, Json]) -> None:
        taken = self._spelling.keys.get(str(written.get("role")), written.keys())
        for key in [key for key in written if key not in taken]:
            if written.pop(key):
                self.lose("field", at, "Expected the vendor's own fields, got one of another")


def _think(message: Assistant, written: dict[str, Json]) -> None:
    """Put the reasoning into the content, in front, unless it stands there already."""
    content = written.get("content")
    said = content if isinstance(content, list) else _text_parts(content)
    if message.reasoning and not any(map(_is_thinking, said)):
        words: Json = [part(Text(message.reasoning))]
        thinking: Json = {"type": "thinking", "thinking": words}
        written["content"] = [thinking, *said]


def _text_parts(content: Json) -> list[Json]:
    return [part(Text(content))] if isinstance(content, str) and content else []


def _is_thinking(part: Json) -> bool:
    return isinstance(part, dict) and part.get("type") == "thinking"


def _with_documents(content: Json) -> Json:
    return [*map(_document, content)] if isinstance(content, list) else content


def _document(part: Json) -> Json:
    match part:
        case {"type": "file", "file": {"file_data": url, "filename": name}}:
            return {"type": "document_url", "document_url": url, "document_name": name}
        case {"type": "file", "file": {"file_data": url}}:
            return {"type": "document_url", "document_url": url}
        case _:
            return part


def _unseal(written: dict[str, Json]) -> bool:
    """Take sealed reasoning out of a message; tell whether there was any."""
    holders = (written, *objects(written.get("tool_calls")), *objects(written.get("content")))
    taken = [holder.pop(key, None) for holder in holders for key in SEALED]
    return any(taken)
