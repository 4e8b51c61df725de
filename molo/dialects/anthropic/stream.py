"""Streamed answers put together: event by event into what the vendor would have sent at once.

A stream is `message_start`, then for each block `content_block_start`, deltas and
`content_block_stop`, then `message_delta` with the reason, and `message_stop`. Decisions:

- A delta is added to the member of its block that has its name: text, thinking, signature, and
  what is yet to come. The input of a call comes as pieces of JSON text, which become its arguments
  to the letter; citations become items of `citations`.
- Events of unknown types, and `ping`, are no matter. What `message_delta` and `message_stop` say
  beyond the message goes to the `rest` of the reply.
- A second `message_start` begins another answer, and the reply is that one's: ask for the reply at
  each `message_stop` where one stream holds several.

Each piece is looked at once: the cost is linear in the length of the stream.

https://platform.claude.com/docs/en/build-with-claude/streaming, read 2026-11
"""

from collections.abc import Iterable

from molo.dialects.anthropic.messages import Members
from molo.dialects.anthropic.replies import Response, reply_of
from molo.dialects.loss import BrokenStreamError, Reply, broken_at
from molo.dialects.wire import Json, as_json, expect_array, expect_object, kind, named_error, parse
from molo.errors import DecodeError

__all__ = ["Accumulator", "accumulate"]


class Accumulator:
    """An answer that is being streamed: feed it every event, then ask for the reply.

    >>> accumulator = Accumulator()
    >>> for event in (
    ...     {"type": "message_start", "message": {"role": "assistant", "content": []}},
    ...     {"type": "content_block_start", "index": 0,
    ...      "content_block": {"type": "text", "text": ""}},
    ...     {"type": "content_block_delta", "index": 0,
    ...      "delta": {"type": "text_delta", "text": "Hi"}},
    ...     {"type": "content_block_stop", "index": 0},
    ...     {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ...     {"type": "message_stop"},
    ... ):
    ...     accumulator.feed(event)
    >>> accumulator.reply().message
    Assistant(content='Hi')
    """

    def __init__(self) -> None:
        self._message: Members | None = None
        self._blocks: dict[int, _Block] = {}
        self._ended = False

    def feed(self, chunk: Response) -> None:
        """Take one event: the JSON of a `data:` line, or what a parser makes of it.

        Raises:
            BrokenStreamError: the event is an error, is none, or belongs to nothing that has
                begun; its `reply` is what had come.
        """
        try:
            self._take(expect_object(parse(as_json(chunk)), "$"))
        except DecodeError as failure:
            broken = failure
        else:
            return
        raise broken_at(broken, self._so_far())

    def reply(self) -> Reply:
        """Give the reply that the events make.

        Raises:
            BrokenStreamError: the answer has not come to its end; its `reply` is what has come.
        """
        if self._message is None:
            raise BrokenStreamError("Expected `message_start`, got a stream without one")
        try:
            reply = self._whole(self._message)
        except DecodeError as failure:
            error = BrokenStreamError(failure.text, path=failure.path)
        else:
            if self._ended or reply.stop is not None:
                return reply
            text = "Expected `message_stop`, got the end of the stream"
            error = BrokenStreamError(text, reply=reply)
        raise error

    def _take(self, event: Members) -> None:
        match event.get("type"):
            case "message_start":
                self._start(expect_object(event.get("message"), "$.message"))
            case "content_block_start":
                self._opened()
                block = expect_object(event.get("content_block"), "$.content_block")
                self._blocks[_index(event)] = _Block(block)
            case "content_block_delta":
                self._block(event).take(expect_object(event.get("delta"), "$.delta"))
            case "message_delta":
                self._update(event)
            case "message_stop":
                self._update(event)
                self._ended = True
            case "error":
                raise DecodeError(f"Expected an event, got {named_error(event)}", path="$.error")
            case _:
                pass

    def _start(self, message: Members) -> None:
        content = expect_array(message.get("content", []), "$.message.content")
        blocks = [expect_object(block, "$.message.content") for block in content]
        self._message = message
        self._blocks = {index: _Block(block) for index, block in enumerate(blocks)}
        self._ended = False

    def _opened(self) -> Members:
        if self._message is None:
            raise DecodeError("Expected `message_start` first, got another event")
        return self._message

    def _block(self, event: Members) -> "_Block":
        index = _index(event)
        if index not in self._blocks:
            raise DecodeError(
                "Expected the index of a block that has begun, got another", path="$.index"
            )
        return self._blocks[index]

    def _update(self, event: Members) -> None:
        """Add what an event says of the whole answer: the reason, usage, and other keys."""
        message = self._opened()
        for key, value in event.items():
            old = message.get(key)
            if key == "delta":
                message.update(expect_object(value, "$.delta"))
            elif isinstance(value, dict) and isinstance(old, dict):
                message[key] = {**old, **value}
            elif key != "type":
                message[key] = value

    def _so_far(self) -> Reply | None:
        try:
            return self._whole(self._message) if self._message is not None else None
        except DecodeError:
            return None

    def _whole(self, message: Members) -> Reply:
        wholes = [block.whole() for _, block in sorted(self._blocks.items())]
        content: list[Json] = [members for members, _ in wholes]
        return reply_of({**message, "content": content}, [given for _, given in wholes])


def accumulate(chunks: Iterable[Response]) -> Reply:
    """Put a streamed answer together.

    Raises:
        BrokenStreamError: an event is an error or none, or the answer did not come to its end.
    """
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.reply()


def _index(event: Members) -> int:
    index = event.get("index")
    if isinstance(index, int):
        return index
    raise DecodeError(f"Expected `int`, got `{kind(index)}`", path="$.index")


class _Block:
    """A block as it grows."""

    def __init__(self, start: Members) -> None:
        self._members = start
        self._texts: dict[str, list[str]] = {}
        self._input: list[str] = []
        self._citations: list[Json] = []

    def take(self, delta: Members) -> None:
        match delta:
            case {"type": "input_json_delta", "partial_json": str(piece)}:
                self._input.append(piece)
            case {"type": "citations_delta", "citation": citation}:
                self._citations.append(citation)
            case _:
                for key, value in delta.items():
                    if key != "type":
                        self._add(key, value)

    def _add(self, key: str, value: Json) -> None:
        if not isinstance(value, str):
            self._members[key] = value
            return
        if key not in self._texts:
            start = self._members.get(key)
            self._texts[key] = [start] if isinstance(start, str) else []
            self._members[key] = ""  # its place
        self._texts[key].append(value)

    def whole(self) -> tuple[Members, str | None]:
        """Give the block as it would have come at once, and the text of its input if it has one."""
        members = dict(self._members)
        for key, pieces in self._texts.items():
            members[key] = "".join(pieces)
        if self._citations:
            cited = members.get("citations")
            members["citations"] = [*(cited if isinstance(cited, list) else ()), *self._citations]
        given = "".join(self._input)
        if not given:
            return members, None
        try:
            members["input"] = parse(given)
        except DecodeError:  # cut short: the arguments of a call keep it, other blocks as text
            members["input"] = {} if members.get("type") == "tool_use" else given
        return members, given
