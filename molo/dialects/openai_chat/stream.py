"""Streamed answers put together: chunk by chunk into what the vendor would have sent at once.

The pieces are gathered in the vendor's form and read as an answer that came in one piece. What
vendors do in streams, and what is made of it:

- A call comes whole or in pieces. A piece belongs to the call of its `index`; without one, to the
  call of its `id`; without either, to the last call, unless it has a name: then it opens a new one.
  An id other than the one its call has opens a new call too (calls that all have the index 0).
- Text is added up: `content`, `reasoning_content`, `reasoning`, `refusal`, arguments, the data
  and transcript of sound. Of `reasoning_details`, entries of one `index` and type are one entry.
- Of everything else the last value that is not null counts, but the first of `id`, `name`, `type`
  and `role`; arrays are put behind one another.
- `content` comes as text, as arrays of parts, or both in one stream: then it is one array.
- Chunks without choices, choices without a delta, roles that are missing or null are no matter.
- What streams leave out is filled in: `type` and `arguments` of a call, the role, and `content`
  without text, which is null beside calls or a refusal, else "".

Each piece is looked at once: the cost is linear in the length of the stream.
"""

from collections.abc import Iterable
from typing import TypeAlias

from molo.dialects.loss import BrokenStreamError, Reply
from molo.dialects.openai_chat.forms import objects
from molo.dialects.openai_chat.replies import Response, members_of, reply_of
from molo.dialects.wire import Json, Number, expect_array, expect_object
from molo.errors import DecodeError

__all__ = ["Accumulator", "accumulate"]


class Accumulator:
    """An answer that is being streamed: feed it every chunk, then ask for the reply.

    >>> accumulator = Accumulator()
    >>> accumulator.feed({"choices": [{"delta": {"role": "assistant", "content": "Hel"}}]})
    >>> accumulator.feed({"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]})
    >>> accumulator.reply().message
    Assistant(content='Hello')
    """

    def __init__(self) -> None:
        self._rest: dict[str, Json] = {}
        self._choices: dict[int, _Choice] = {}

    def feed(self, chunk: Response) -> None:
        """Take one chunk: the JSON of a `data:` line, or what a parser makes of it.

        Raises:
            BrokenStreamError: the chunk is an error, or is none; its `reply` is what had come.
        """
        try:
            members = members_of(chunk)
            if members.get("error"):
                raise DecodeError("Expected a chunk, got an error", path="$.error")
            self._take(members)
        except DecodeError as failure:
            text, path, offset = failure.text, failure.path, failure.offset
        except RecursionError:
            text, path, offset = "Expected a chunk nested less deeply", "$", None
        else:
            return
        raise BrokenStreamError(text, path=path, offset=offset, reply=self._so_far())

    def reply(self) -> Reply:
        """Give the reply that the chunks make; `stop` is None where no chunk gave a reason.

        Raises:
            BrokenStreamError: no choice has come, or what came is more than JSON can hold.
        """
        reply = self._so_far()
        if reply is None:
            raise BrokenStreamError("Expected a choice, got a stream without one", path="$.choices")
        return reply

    def _take(self, members: dict[str, Json]) -> None:
        for key, value in members.items():
            if key != "choices" and value is not None:
                self._rest[key] = value
        for at, item in enumerate(expect_array(members.get("choices") or [], "$.choices")):
            choice = expect_object(item, f"$.choices[{at}]")
            index = choice.get("index")
            number = index if isinstance(index, int) else 0
            self._choices.setdefault(number, _Choice()).take(choice)

    def _so_far(self) -> Reply | None:
        if not self._choices:
            return None
        try:
            choices: Json = [choice.whole() for _, choice in sorted(self._choices.items())]
            return reply_of({**self._rest, "choices": choices})
        except DecodeError as failure:
            text, path = failure.text, failure.path
        except RecursionError:
            text, path = "Expected an answer nested less deeply", "$"
        raise BrokenStreamError(text, path=path)


def accumulate(chunks: Iterable[Response]) -> Reply:
    """Put a streamed answer together.

    Raises:
        BrokenStreamError: a chunk is an error or none, or no choice came.
    """
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.reply()


# --- What grows -----------------------------------------------------------------------------------


class _Pieces:
    """A text that comes in pieces."""

    def __init__(self) -> None:
        self.texts: list[str] = []


_Growing: TypeAlias = (
    "dict[str, _Growing] | list[_Growing] | _Pieces | str | int | float | bool | Number | None"
)

_ADDED = frozenset(
    (
        *("content", "reasoning_content", "reasoning", "refusal"),
        *("arguments", "input", "text", "summary", "data", "transcript"),
    )
)
_SET_ONCE = frozenset(("id", "name", "role", "type"))
_CONTINUED = ("text", "thinking", "reasoning.text", "reasoning.summary")


def _grow(whole: dict[str, _Growing], piece: dict[str, Json]) -> None:
    """Add the members of a piece to what has come of an object."""
    for key, value in piece.items():
        if isinstance(value, str):
            _grow_text(whole, key, value)
        elif isinstance(value, list):
            _grow_items(_items(whole, key), value)
        elif isinstance(value, dict):
            inner = whole.get(key)
            if not isinstance(inner, dict):
                inner = whole[key] = {}
            _grow(inner, value)
        elif value is not None:
            whole[key] = value


def _grow_text(whole: dict[str, _Growing], key: str, value: str) -> None:
    if key not in _ADDED:
        if not whole.get(key) or (value and key not in _SET_ONCE):
            whole[key] = value
        return
    text = whole.get(key)
    if isinstance(text, list):  # content that came as parts before
        _grow_items(text, [{"type": "text", "text": value}] if value else [])
        return
    if not isinstance(text, _Pieces):
        text = whole[key] = _Pieces()
    text.texts.append(value)


def _items(whole: dict[str, _Growing], key: str) -> list[_Growing]:
    """Give the array under a key; a text that stands there becomes its first part."""
    there = whole.get(key)
    if isinstance(there, list):
        return there
    items: list[_Growing] = []
    if isinstance(there, _Pieces) and any(there.texts):
        items.append({"type": "text", "text": there})
    whole[key] = items
    return items


def _grow_items(items: list[_Growing], pieces: list[Json]) -> None:
    for piece in pieces:
        if not isinstance(piece, dict):
            items.append(_grown(piece))
            continue
        last = items[-1] if items else None
        if not (isinstance(last, dict) and _continues(last, piece)):
            items.append(last := _empty())
        _grow(last, piece)


def _empty() -> dict[str, _Growing]:
    return {}


def _grown(value: Json) -> _Growing:
    """Copy a value into one that may grow."""
    if isinstance(value, dict):
        copy = _empty()
        _grow(copy, value)
        return copy
    if isinstance(value, list):
        items: list[_Growing] = []
        _grow_items(items, value)
        return items
    return value


def _continues(last: dict[str, _Growing], piece: dict[str, Json]) -> bool:
    kind = piece.get("type")
    if kind not in _CONTINUED or last.get("type") != kind:
        return False
    return last.get("index") == piece.get("index")


def _settled(growing: _Growing) -> Json:
    """Join the pieces of all texts."""
    if isinstance(growing, _Pieces):
        return "".join(growing.texts)
    if isinstance(growing, dict):
        return {key: _settled(value) for key, value in growing.items()}
    if isinstance(growing, list):
        return [_settled(item) for item in growing]
    return growing


def _settled_members(growing: dict[str, _Growing]) -> dict[str, Json]:
    return {key: _settled(value) for key, value in growing.items()}


_TOOLS = ("function", "custom")


def _whole_call(growing: dict[str, _Growing]) -> Json:
    """Settle a call, with what streams leave out of it."""
    call = _settled_members(growing)
    if isinstance(function := call.get("function"), dict):
        function.setdefault("arguments", "")
        call.setdefault("type", "function")
    return call


class _Choice:
    """One choice of a streamed answer: its message, its calls, and its other keys."""

    def __init__(self) -> None:
        self._rest: dict[str, _Growing] = {}
        self._message: dict[str, _Growing] = {}
        self._calls: list[dict[str, _Growing]] = []
        self._by_index: dict[int, dict[str, _Growing]] = {}
        self._by_id: dict[str, dict[str, _Growing]] = {}

    def take(self, choice: dict[str, Json]) -> None:
        for key, value in choice.items():
            if key == "delta" and isinstance(value, dict):
                self._take_delta(value)
            elif key == "logprobs" and isinstance(value, dict):
                _grow(self._rest, {key: value})
            elif key != "message" and value is not None:
                self._rest[key] = _grown(value)

    def whole(self) -> Json:
        message = _settled_members(self._message)
        message["role"] = message.get("role") or "assistant"
        if not message.get("refusal"):
            message.pop("refusal", None)
        if self._calls:
            message["tool_calls"] = [_whole_call(call) for call in self._calls]
        if not message.get("content"):
            silent = message.keys() & {"tool_calls", "function_call", "refusal"}
            message["content"] = None if silent else ""
        return {**_settled_members(self._rest), "message": message}

    def _take_delta(self, delta: dict[str, Json]) -> None:
        for piece in objects(delta.get("tool_calls")):
            call = self._call(piece)
            _grow(call, {key: value for key, value in piece.items() if key != "index"})
        _grow(self._message, {key: value for key, value in delta.items() if key != "tool_calls"})

    def _call(self, piece: dict[str, Json]) -> dict[str, _Growing]:
        """Find the call that a piece belongs to, or open a new one."""
        index, id = piece.get("index"), piece.get("id")
        named = any(tool.get("name") for tool in objects([piece.get(kind) for kind in _TOOLS]))
        if isinstance(index, int):
            call = self._by_index.get(index)
        elif isinstance(id, str) and id:
            call = self._by_id.get(id)
        else:
            call = self._calls[-1] if self._calls and not named else None
        if call is None or (named and id and call.get("id") not in (None, "", id)):
            self._calls.append(call := _empty())
        if isinstance(index, int):
            self._by_index[index] = call
        if isinstance(id, str) and id:
            self._by_id[id] = call
        return call
