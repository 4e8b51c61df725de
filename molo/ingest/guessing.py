"""Which format a log has, by a look at its first records.

Every record says what marks it, if anything does: a member or a kind of block that one format has
and no other. The format that marks the most of them is taken. Where nothing does, the log is
molo's own if that reads all of them, and else `openai-chat`: plain text in plain messages looks
alike for it and for others, and is read alike.
"""

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from molo.errors import DecodeError
from molo.ingest.formats import FORMATS
from molo.ingest.records import Layout

__all__ = ["Guess", "guess", "is_msgpack"]

SAMPLE = 32  # records; looked at

FormatName: TypeAlias = Literal[
    "molo", "rust-molo", "openai-chat", "openai-responses", "anthropic", "gemini"
]


class Guess(NamedTuple):
    """A format and a layout that a log seems to have, and a sentence that says why."""

    format: str
    layout: Layout
    why: str


def guess(head: bytes, layout: Layout | None = None) -> Guess:
    """Guess the format of a log by its first bytes, which hold at least one whole record.

    `layout` is what else is known (by the suffix of a file).

    >>> guess(b'{"contents":[{"parts":[{"text":"Hi"}]}]}\\n')
    Guess(format='gemini', layout='lines', why='1 of 1 records: `contents`')
    """
    head = head.removeprefix(BOM_UTF8)
    if is_msgpack(head):
        return _of_msgpack(head)
    layout = _layout(head, layout)
    values = [head] if layout == "document" else list(islice(_lines(head), SAMPLE))
    return _of_json(values, layout)


# --- MessagePack ----------------------------------------------------------------------------------

# A frame starts with its length, which is below 512 MiB; a document with an array or a map.
_MSGPACK = re.compile(rb"(?!\x00{4})[\x00-\x08\x0b\x0c\x0e-\x1f\x80-\x9f\xdc-\xdf]")
_RUST = re.compile(
    rb"(?:[\x90-\x9f]|\xdc..|\xdd....)?\x81(?:\xa6System|\xa4User|\xa9Assistant|\xaaToolResult)",
    re.DOTALL,
)


def is_msgpack(head: bytes) -> bool:
    """Tell by the first bytes of a log whether it is MessagePack, and not text."""
    return _MSGPACK.match(head) is not None


def _of_msgpack(head: bytes) -> Guess:
    if head[0] < 0x80:
        return Guess("molo-msgpack", "frames", "it begins with the length of a frame")
    if _RUST.match(head):
        return Guess("rust-molo-msgpack", "document", "its first message is the Rust crate's")
    return Guess("molo-msgpack", "document", "it is MessagePack, and not the Rust crate's")


# --- JSON -----------------------------------------------------------------------------------------

_Value: TypeAlias = "dict[str, _Value] | list[_Value] | str | int | float | bool | None"
_Mark: TypeAlias = tuple[FormatName, str]


def _layout(head: bytes, layout: Layout | None) -> Layout:
    """Take lines for lines, whatever a suffix says: a value on the first, and one on the next."""
    if layout != "document":
        return "lines"
    opening = [line[:1] for line in islice(_lines(head), 2)]
    if (
        len(opening) == 2
        and set(opening) <= {b"{", b"["}
        and _value(next(_lines(head))) is not None
    ):
        return "lines"
    return "document"


def _lines(head: bytes) -> Iterator[bytes]:
    return (line for line in head.split(b"\n") if line and not line.isspace())


def _value(data: bytes) -> _Value:
    """Parse a record; None where it is none, for a Fault will tell."""
    try:
        value: _Value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value


def _of_json(records: list[bytes], layout: Layout) -> Guess:
    records = [record for record in records if _value(record) is not None]
    values = [_value(record) for record in records]
    marks = [mark for mark in map(_mark, values) if mark is not None]
    if marks:
        [(format, _)] = Counter(format for format, _ in marks).most_common(1)
        signs = dict.fromkeys(sign for name, sign in marks if name == format)
        found = sum(name == format for name, _ in marks)
        return Guess(format, layout, f"{found} of {len(values)} records: {', '.join(signs)}")
    if values and all(map(_is_native, records)):
        return Guess("molo", layout, f"{len(values)} of {len(values)} records are molo's own")
    return Guess("openai-chat", layout, "nothing marks another format")


def _is_native(record: bytes) -> bool:
    try:
        FORMATS["molo"].read(record)
    except DecodeError:
        return False
    return True


def _mark(value: _Value) -> _Mark | None:
    """Name the format that marks a record, and the sign of it."""
    match value:
        case {"contents": _}:
            return "gemini", "`contents`"
        case {"systemInstruction": _} | {"system_instruction": _}:
            return "gemini", "`systemInstruction`"
        case {"input": str() | list()}:
            return "openai-responses", "`input`"
        case {"system": _, "messages": _}:
            return "anthropic", "`system` beside `messages`"
        case {"messages": list(messages)}:
            return _mark_of_messages(messages) or _mark_of_answer(value)
        case {"request": dict(request)}:
            return _mark(request) or _mark_of_answer(value)
        case {"response": _} | {"response_message": _}:
            return _mark_of_answer(value)
        case dict():
            return _mark_of_messages([value])
        case list(messages):
            return _mark_of_messages(messages)
        case _:
            return None


def _mark_of_answer(value: _Value) -> _Mark | None:
    match value:
        case {"response": {"choices": _}}:
            return "openai-chat", "`choices` of an answer"
        case {"response_message": _}:
            return "openai-chat", "`response_message`"
        case {"response": {"output": _}}:
            return "openai-responses", "`output` of an answer"
        case {"response": {"candidates": _}}:
            return "gemini", "`candidates` of an answer"
        case {"response": {"content": list()}}:
            return "anthropic", "`content` of an answer"
        case _:
            return None


def _mark_of_messages(messages: list[_Value]) -> _Mark | None:
    return next(filter(None, map(_mark_of_message, messages)), None)


def _mark_of_message(message: _Value) -> _Mark | None:
    match message:
        case {"System": _} | {"User": _} | {"Assistant": _} | {"ToolResult": _}:
            return "rust-molo", "messages of the Rust crate"
        case {"parts": _}:
            return "gemini", "`parts` of a message"
        case {"role": "developer" | "function"} | {"tool_call_id": _}:
            return "openai-chat", "a role of the vendor"
        case {"role": "tool", "id": _} | {"provider_data": _}:
            return "molo", "a result with `id`"
        case {"tool_calls": [{"function": _}, *_]} | {"function_call": _}:
            return "openai-chat", "calls of a `function`"
        case {"tool_calls": [{"arguments": _}, *_]}:
            return "molo", "calls with `arguments`"
        case {"type": str(kind)} if kind in _ITEMS:
            return "openai-responses", "items with a `type`"
        case {"content": list(parts)}:
            return next(filter(None, map(_mark_of_part, parts)), None)
        case _:
            return None


# Kinds of items and parts that one format has and no other; the sources are the dialects' own.
_ITEMS = {"function_call", "function_call_output", "reasoning", "item_reference"}
_PARTS: Mapping[str, FormatName] = {
    **dict.fromkeys(
        ["tool_use", "tool_result", "redacted_thinking", "server_tool_use"], "anthropic"
    ),
    **dict.fromkeys(["input_text", "output_text", "input_image", "input_file"], "openai-responses"),
    **dict.fromkeys(["image_url", "input_audio"], "openai-chat"),
    "wire": "molo",
}


def _mark_of_part(part: _Value) -> _Mark | None:
    match part:
        case {"type": str(kind)} if kind in _PARTS:
            return _PARTS[kind], f"parts of type `{kind}`"
        case {"type": "thinking", "thinking": str()} | {"source": _}:
            return "anthropic", "parts with `thinking` or a `source`"
        case {"type": "image" | "audio" | "file", "data": _} | {"type": "image", "url": _}:
            return "molo", "media with `data` or `url`"
        case _:
            return None
