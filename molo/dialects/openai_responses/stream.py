"""Streamed answers put together: event by event into what the vendor would have sent at once.

- The answer is the response of the event that ends the stream. Where its `output` is empty though
  items were streamed (Codex), they are the output.
- An item counts as it stands in `response.output_item.done`. Until then it is what came with
  `…added` and the pieces of its texts. Items are told apart by `output_index`; their ids may change
  from event to event (Copilot).
- A second `response.created` begins another answer.
- An event of an error, or of an answer that failed, ends it with what had come until then. So does
  the end of the stream without an event that ends the answer. Reasoning that was not done has no
  encrypted content then: it may be cut short.
- Events of other kinds (progress, partial images, `keepalive`) say nothing that the items do not.

Each piece is looked at once: the cost is linear in the length of the stream.

https://platform.openai.com/docs/api-reference/responses-streaming, read 2026-11
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from molo.dialects.loss import BrokenStreamError, Reply, broken_at
from molo.dialects.openai_responses.items import Members, objects_of, type_of
from molo.dialects.openai_responses.replies import reply_of
from molo.dialects.wire import Given, Json, as_json, expect_object, parse, spelling_parsed
from molo.errors import DecodeError

__all__ = ["Accumulator", "accumulate"]


class Accumulator:
    """An answer that is being streamed: feed it every event, then ask for the reply.

    >>> accumulator = Accumulator()
    >>> item = {"type": "message", "role": "assistant", "content": [
    ...     {"type": "output_text", "text": "Hi"}]}
    >>> accumulator.feed({"type": "response.output_item.done", "output_index": 0, "item": item})
    >>> response = {"status": "completed", "output": []}
    >>> accumulator.feed({"type": "response.completed", "response": response})
    >>> accumulator.reply().message.content
    'Hi'
    """

    def __init__(self) -> None:
        self._response: Members = {}
        self._items: dict[int, _Item] = {}
        self._ended = False

    def feed(self, event: Given) -> None:
        """Take one event: the JSON of a `data:` line, or what a parser makes of it.

        Raises:
            BrokenStreamError: the event is an error, or is none; its `reply` is what had come.
        """
        try:
            self._take(expect_object(parse(as_json(event)), "$"))
        except DecodeError as failure:
            broken = failure
        else:
            return
        raise broken_at(broken, self._so_far())

    def reply(self) -> Reply:
        """Give the reply that the events make.

        Raises:
            BrokenStreamError: the answer has not ended; the error's `reply` is what has come.
        """
        reply = self._so_far()
        if reply is None or not self._ended:
            raise BrokenStreamError(
                "Expected the end of an answer, got the end of its stream", reply=reply
            )
        return reply

    def _take(self, event: Members) -> None:
        kind = type_of(event)
        if kind == "error" or event.get("error"):
            raise DecodeError("Expected an event of an answer, got an error", path="$.error")
        response = event.get("response")
        if isinstance(response, dict):
            self._take_response(kind, response)
        index = event.get("output_index")
        if isinstance(index, int):
            self._take_item(index, kind, event)

    def _take_response(self, kind: str, response: Members) -> None:
        if kind == "response.created":
            self._items = {}
        if output := response.get("output"):
            objects_of(output, "$.response.output")
        self._response = response
        self._ended = kind in _ENDS
        if response.get("error"):
            raise DecodeError("Expected an answer, got an error", path="$.response.error")

    def _take_item(self, index: int, kind: str, event: Members) -> None:
        item = event.get("item")
        if isinstance(item, dict):
            self._items[index] = _Item(item, done=kind == "response.output_item.done")
        elif index in self._items:
            self._items[index].take(kind, event)

    def _so_far(self) -> Reply | None:
        if not (self._response or self._items):
            return None
        output: Json = self._response.get("output")
        if not output:
            output = [item.whole() for _, item in sorted(self._items.items())]
        return reply_of({**self._response, "output": output}, spelling_parsed(output))


def accumulate(events: Iterable[Given]) -> Reply:
    """Put a streamed answer together.

    Raises:
        BrokenStreamError: an event is an error or none, or the answer did not end.
    """
    accumulator = Accumulator()
    for event in events:
        accumulator.feed(event)
    return accumulator.reply()


# --- What grows -----------------------------------------------------------------------------------


class _Growth(NamedTuple):
    """Where the pieces of a text belong in an item: under a key, maybe of a part in an array."""

    key: str
    parts: str = ""  # the key of the array
    type: str = ""  # of the part

    def part_of(self, event: Members) -> int:
        """Give the index of the part that an event belongs to."""
        index = event.get(f"{self.parts}_index")
        return index if isinstance(index, int) else 0


_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_GROWTHS: Mapping[str, _Growth] = {
    "response.output_text": _Growth("text", "content", "output_text"),
    "response.refusal": _Growth("refusal", "content", "refusal"),
    "response.reasoning_text": _Growth("text", "content", "reasoning_text"),
    "response.reasoning_summary_text": _Growth("text", "summary", "summary_text"),
    "response.function_call_arguments": _Growth("arguments"),
    "response.custom_tool_call_input": _Growth("input"),
    "response.mcp_call_arguments": _Growth("arguments"),
    "response.code_interpreter_call_code": _Growth("code"),
}


class _Item:
    """An item of an answer: as it came, and the pieces of its texts until it is done."""

    def __init__(self, item: Members, *, done: bool) -> None:
        self._item = item
        self._done = done
        self._texts: dict[tuple[_Growth, int], list[str]] = {}

    def take(self, kind: str, event: Members) -> None:
        """Take a piece of a text; what tells the whole text again says nothing new."""
        growth = _GROWTHS.get(kind.removesuffix(".delta"))
        piece = event.get("delta")
        if growth is not None and isinstance(piece, str):
            self._texts.setdefault((growth, growth.part_of(event)), []).append(piece)

    def whole(self) -> Members:
        if self._done:
            return self._item
        item = {key: value for key, value in self._item.items() if key != "encrypted_content"}
        for (growth, _), pieces in sorted(self._texts.items(), key=_place):
            if growth.parts:
                part: Json = {"type": growth.type, growth.key: "".join(pieces)}
                item[growth.parts] = [*_array(item.get(growth.parts)), part]
            else:
                item[growth.key] = "".join(pieces)
        return item


def _place(text: tuple[tuple[_Growth, int], list[str]]) -> int:
    return text[0][1]


def _array(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
