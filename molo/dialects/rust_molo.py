"""Histories in the form in which the Rust crate molo 0.2.2 writes and reads them.

The crate's form is serde's derive over its enum `Message`: the only key of an object names the
kind of the message, its value holds it.

    {"System":"…"}
    {"User":[{"Text":"…"}]}
    {"Assistant":{"content":"…","reasoning":null,"tool_calls":[{"id":…,"name":…,"arguments":…}]}}
    {"ToolResult":{"id":"…","content":"…"}}

So in JSON (`serde_json::to_vec`) and in named MessagePack (`rmp_serde::to_vec_named`). In compact
MessagePack (`rmp_serde::to_vec`) Assistant, ToolResult and the tool calls are arrays of the values
alone. `decode_msgpack` reads both.

Encoding writes, byte for byte, what the crate writes. What the crate cannot hold is an EncodeError
that names the message: any block but Text, attachments, `is_error`, provider_data. Decoding reads
whatever the crate writes and refuses whatever it refuses. What the crate merely tolerates is read
to the same value, or refused because it would be lost or because no release of the crate writes
it (then the bytes come from elsewhere, or are damaged):

    The crate tolerates                        molo     because
    -----------------------------------------  -------  -----------------------------------------
    JSON: white space between tokens           reads    people format files
    JSON: escapes where none are needed        reads    other writers of JSON escape more
    JSON: fields of a struct in another order  reads    the order of members means nothing in JSON
    JSON: Assistant without reasoning          reads    as null; other writers leave nulls out
    JSON: structs as arrays                    refuses  no release writes it
    any: unknown fields in a struct            refuses  they would be lost
    MessagePack: another order of fields       refuses  no release writes it
    MessagePack: Assistant without reasoning   refuses  no release writes it
    MessagePack: structs as arrays and maps    refuses  no release writes both in one value
    MessagePack: numbers for names             refuses  no release writes it
    MessagePack: bin for text                  refuses  no release writes it
    MessagePack: headers longer than needed    refuses  no release writes it
    MessagePack: bytes behind the value        refuses  they would be lost

A repeated key, which the crate refuses and msgspec does not see, is found by writing the value
again: where that gives the input, there is none. Other JSON is looked through; other MessagePack
is one of the refused kinds above.

Any bytes give a value or a DecodeError. Its path is one of the wire (`$[0].Assistant.content`);
the path of an EncodeError is one of the messages (`$[0].content`). Later releases of the crate
have the same messages and two more kinds of blocks, Image and Wire; these are refused.

Sources, read 2026-11: the types, https://docs.rs/crate/molo/0.2.2/source/src/message.rs and, of
later releases, https://github.com/Silwings-git/molo (molo-core/src/message.rs); the forms of
MessagePack, https://docs.rs/rmp-serde/latest/rmp_serde/encode/; and data written by the crate,
which the tests hold.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import astuple

from molo.errors import DecodeError, EncodeError
from molo.errors.translation import (
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Buffer,
    Form,
    alternatives,
    decode_error,
    encode_error,
    identified,
)
from molo.message import (
    Assistant,
    Message,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    require_message,
    require_messages,
)

__all__ = [
    "decode_json",
    "decode_json_message",
    "decode_msgpack",
    "decode_msgpack_message",
    "encode_json",
    "encode_json_message",
    "encode_msgpack",
    "encode_msgpack_message",
    "encode_msgpack_named",
    "encode_msgpack_named_message",
]

D = TypeVar("D", bound=Buffer | str)
T = TypeVar("T")


def encode_json(history: Sequence[Message], *, drop_provider_data: bool = False) -> bytes:
    """Write a history, a list or tuple of messages, as the crate's JSON array in UTF-8.

    With `drop_provider_data` messages are written without it: what they say stays, what only the
    vendor understands (signatures of reasoning) is gone. What stands in the fields is the type
    checker's business (`System(5)` is written as given, and does not decode).

    Raises:
        EncodeError: an item is no message, the crate cannot hold it, or its text is no Unicode
            (a lone surrogate).

    >>> from molo import user
    >>> encode_json([user("Hi")])
    b'[{"User":[{"Text":"Hi"}]}]'
    """
    return _encode_history(history, _as_maps, _JSON, drop_provider_data)


def encode_json_message(message: Message, *, drop_provider_data: bool = False) -> bytes:
    """Write one message as the crate's JSON object; otherwise as `encode_json`."""
    return _encode_message(message, _as_maps, _JSON, drop_provider_data)


def encode_msgpack(history: Sequence[Message], *, drop_provider_data: bool = False) -> bytes:
    """Write a history as compact MessagePack; otherwise as `encode_json`.

    >>> from molo import tool_result
    >>> encode_msgpack([tool_result("call_1", "Sunny")])
    b'\\x91\\x81\\xaaToolResult\\x92\\xa6call_1\\xa5Sunny'
    """
    return _encode_history(history, _as_arrays, _MSGPACK, drop_provider_data)


def encode_msgpack_message(message: Message, *, drop_provider_data: bool = False) -> bytes:
    """Write one message as compact MessagePack; otherwise as `encode_json`."""
    return _encode_message(message, _as_arrays, _MSGPACK, drop_provider_data)


def encode_msgpack_named(history: Sequence[Message], *, drop_provider_data: bool = False) -> bytes:
    """Write a history as named MessagePack; otherwise as `encode_json`.

    >>> from molo import tool_result
    >>> encode_msgpack_named([tool_result("call_1", "Sunny")])
    b'\\x91\\x81\\xaaToolResult\\x82\\xa2id\\xa6call_1\\xa7content\\xa5Sunny'
    """
    return _encode_history(history, _as_maps, _MSGPACK, drop_provider_data)


def encode_msgpack_named_message(message: Message, *, drop_provider_data: bool = False) -> bytes:
    """Write one message as named MessagePack; otherwise as `encode_json`."""
    return _encode_message(message, _as_maps, _MSGPACK, drop_provider_data)


def decode_json(data: Buffer | str) -> list[Message]:
    """Read a history from the crate's JSON array.

    Raises:
        DecodeError: the data is no JSON (`offset` says where) or no history in the crate's form
            (`path` says where).

    >>> decode_json('[{"System":"Be brief."}]')
    [System(content='Be brief.')]
    >>> decode_json('[{"User":[{"Image":"…"}]}]')
    Traceback (most recent call last):
    molo.errors.DecodeError: Expected known fields only, got unknown field `Image`; \
written by a newer release of the crate? - at `$[0].User[0]`
    """
    tagged = _typed(_json_history, data, _JSON)
    _require_unrepeated(tagged, data)
    return [_message(item, index) for index, item in enumerate(tagged)]


def decode_json_message(data: Buffer | str) -> Message:
    """Read one message from the crate's JSON object; otherwise as `decode_json`."""
    tagged = _typed(_json_message, data, _JSON)
    _require_unrepeated(tagged, data)
    return _message(tagged)


def decode_msgpack(data: Buffer) -> list[Message]:
    """Read a history from compact or named MessagePack.

    Raises:
        DecodeError: the data is not what the crate writes, in one form or the other (`offset` or
            `path` says where).

    >>> decode_msgpack(b"\\x91\\x81\\xa6System\\xa9Be brief.")
    [System(content='Be brief.')]
    """
    tagged = _typed(_msgpack_history, data, _MSGPACK)
    _require_exact(tagged, data)
    _require_one_form(tagged)
    return [_message(item, index) for index, item in enumerate(tagged)]


def decode_msgpack_message(data: Buffer) -> Message:
    """Read one message from compact or named MessagePack; otherwise as `decode_msgpack`."""
    tagged = _typed(_msgpack_message, data, _MSGPACK)
    _require_exact(tagged, data)
    return _message(tagged)


# --- The types of the wire ------------------------------------------------------------------------
# msgspec knows no union that is tagged by its only key: a Struct of optional fields stands for it,
# of which one must be set. Nor does it know a union of two kinds of Structs, so the compact form
# is spelled in tuples.


class _Strict(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The settings that every type of the wire shares."""


class _Block(_Strict, frozen=True, rename="pascal"):
    text: str


class _Assistant(_Strict, frozen=True, kw_only=True):
    content: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...]


class _ToolResult(_Strict, frozen=True):
    id: str
    content: str


_CompactCall = tuple[str, str, str]
_CompactAssistant = tuple[str, str | None, tuple[_CompactCall, ...]]
_CompactToolResult = tuple[str, str]


class _InMsgpack(_Strict, frozen=True, rename="pascal"):
    """A message of either form of MessagePack."""

    system: str | UnsetType = UNSET
    user: tuple[_Block, ...] | UnsetType = UNSET
    assistant: _Assistant | _CompactAssistant | UnsetType = UNSET
    tool_result: _ToolResult | _CompactToolResult | UnsetType = UNSET


class _InJson(_InMsgpack, frozen=True, rename="pascal"):
    """A message of JSON, which has no compact form."""

    assistant: _Assistant | UnsetType = UNSET
    tool_result: _ToolResult | UnsetType = UNSET


_KINDS = ("System", "User", "Assistant", "ToolResult")

_json_history = msgspec.json.Decoder(list[_InJson]).decode
_json_message = msgspec.json.Decoder(_InJson).decode
_msgpack_history = msgspec.msgpack.Decoder(list[_InMsgpack]).decode
_msgpack_message = msgspec.msgpack.Decoder(_InMsgpack).decode

_HINT = "; written by a newer release of the crate?"
_JSON = Form("JSON", msgspec.json.decode, msgspec.json.Encoder().encode, hint=_HINT)
_MSGPACK = Form("MessagePack", msgspec.msgpack.decode, msgspec.msgpack.Encoder().encode, hint=_HINT)


# --- Decoding -------------------------------------------------------------------------------------


def _typed(decode: Callable[[D], T], data: D, form: Form) -> T:
    try:
        return decode(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, form)
    raise error


def _message(tagged: _InMsgpack, index: int | None = None) -> Message:
    """Turn a message of the wire, the index-th of a history or a lone one, into molo's."""
    system, user = tagged.system, tagged.user
    assistant, result = tagged.assistant, tagged.tool_result
    if assistant is not UNSET and system is user is result is UNSET:
        return _assistant(assistant)
    if result is not UNSET and system is user is assistant is UNSET:
        return _tool_result(result)
    if user is not UNSET and system is assistant is result is UNSET:
        return User(tuple([Text(block.text) for block in user]))
    if system is not UNSET and user is assistant is result is UNSET:
        return System(system)
    given = len(_KINDS) - [system, user, assistant, result].count(UNSET)
    raise DecodeError(
        f"Expected exactly one of {alternatives(_KINDS)}, got {given} of them",
        path="$" if index is None else f"$[{index}]",
    )


def _assistant(assistant: _Assistant | _CompactAssistant) -> Assistant:
    if isinstance(assistant, tuple):
        content, reasoning, calls = assistant
        return Assistant(content, reasoning, tuple([ToolCall(*call) for call in calls]))
    return Assistant(assistant.content, assistant.reasoning, assistant.tool_calls)


def _tool_result(result: _ToolResult | _CompactToolResult) -> ToolResult:
    if isinstance(result, tuple):
        return ToolResult(*result)
    return ToolResult(result.id, result.content)


def _require_unrepeated(tagged: object, data: Buffer | str) -> None:
    """Make sure that JSON, of which `tagged` was read, has no key twice in one object."""
    raw = data.encode() if isinstance(data, str) else bytes(data)
    written = _JSON.encode(tagged)
    if written == raw or written == msgspec.json.format(raw, indent=-1):
        return
    parsed: _Parsed = json.loads(raw.decode(), object_pairs_hook=tuple)
    for path in _repeated(parsed, "$"):
        raise DecodeError("Expected each key once, got a key for the second time", path=path)


_Parsed: TypeAlias = "str | list[_Parsed] | tuple[tuple[str, _Parsed], ...] | None"


def _repeated(parsed: _Parsed, path: str) -> Iterator[str]:
    """Yield the paths of keys that stand in their object, a tuple of pairs, a second time."""
    if isinstance(parsed, list):
        for index, item in enumerate(parsed):
            yield from _repeated(item, f"{path}[{index}]")
    elif isinstance(parsed, tuple):
        seen: set[str] = set()
        for name, member in parsed:
            if name in seen:
                yield f"{path}.{name}"
            seen.add(name)
            if not isinstance(member, str):  # most members are text, and this is the slow way
                yield from _repeated(member, f"{path}.{name}")


def _require_exact(tagged: object, data: Buffer) -> None:
    """Make sure that MessagePack, of which `tagged` was read, is what the crate writes."""
    raw, written = bytes(data), _MSGPACK.encode(tagged)
    if raw != written:
        raise DecodeError(
            "Expected MessagePack as the crate writes it, got other bytes for the same value",
            offset=next(at for at, (a, b) in enumerate(zip(raw, written, strict=False)) if a != b),
        )


def _require_one_form(history: Sequence[_InMsgpack]) -> None:
    """Make sure that the structs of a history are all arrays or all maps."""
    types: set[type] = {type(item.assistant) for item in history}
    types.update(type(item.tool_result) for item in history)
    if tuple in types and not types.isdisjoint({_Assistant, _ToolResult}):
        raise DecodeError("Expected structs all as arrays or all as maps, got both", path="$")


# --- Encoding -------------------------------------------------------------------------------------

# A message has exactly one of the four types here, and `type(message) is User` costs a fraction of
# what `match` or isinstance cost where they fail: msgspec's Structs have a metaclass of their own.

_Spell: TypeAlias = Callable[[Message], dict[str, object]]


def _encode_history(
    history: Sequence[Message], spell: _Spell, form: Form, drop_provider_data: bool
) -> bytes:
    require_messages(history)
    for index, message in enumerate(history):
        if beyond := _beyond(message, drop_provider_data):
            raise _not_held(beyond, f"$[{index}]")
    try:
        return form.encode([spell(message) for message in history])
    except ENCODE_FAILURES as failure:
        error = encode_error(failure, history, form)
    raise error


def _encode_message(message: Message, spell: _Spell, form: Form, drop_provider_data: bool) -> bytes:
    require_message(message)
    if beyond := _beyond(message, drop_provider_data):
        raise _not_held(beyond, "$")
    try:
        return form.encode(spell(message))
    except ENCODE_FAILURES as failure:
        error = encode_error(failure, message, form)
    raise error


def _as_maps(message: Message) -> dict[str, object]:
    if type(message) is Assistant:
        content, reasoning, calls = message.content, message.reasoning, message.tool_calls
        return {"Assistant": _Assistant(content=content, reasoning=reasoning, tool_calls=calls)}
    if type(message) is ToolResult:
        return {"ToolResult": _ToolResult(message.id, message.content)}
    return _as_either(message)


def _as_arrays(message: Message) -> dict[str, object]:
    if type(message) is Assistant:
        calls = [astuple(call) for call in message.tool_calls]
        return {"Assistant": (message.content, message.reasoning, calls)}
    if type(message) is ToolResult:
        return {"ToolResult": (message.id, message.content)}
    return _as_either(message)


def _as_either(message: Message) -> dict[str, object]:
    if type(message) is User:
        # `_beyond` has found any other kind of block.
        return {"User": [_Block(block.text) for block in message.content if type(block) is Text]}
    return {"System": message.content}


def _beyond(message: Message, drop_provider_data: bool) -> tuple[str, str] | None:
    """Find what the crate has no place for: where it stands in the message, and what it is."""
    if type(message) is User:
        for index, block in enumerate(message.content):
            if type(block) is not Text:
                return f"content[{index}]", identified(type(block).__name__)
    elif type(message) is Assistant:
        if message.attachments:
            return "attachments", "attachments"
    elif type(message) is ToolResult:
        if message.attachments:
            return "attachments", "attachments"
        if message.is_error:
            return "is_error", "a result that is an error"
    if message.provider_data is not None and not drop_provider_data:
        return "provider_data", "provider_data (drop_provider_data=True leaves it out)"
    return None


def _not_held(beyond: tuple[str, str], message_path: str) -> EncodeError:
    place, what = beyond
    return EncodeError(
        f"Expected what the Rust crate can hold, got {what}", path=f"{message_path}.{place}"
    )
