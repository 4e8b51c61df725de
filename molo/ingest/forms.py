"""The forms of a JSON line: what molo, the Rust crate and each vendor call a conversation.

A form is a row: the members of an object that are the conversation, how it is read and written,
and where the message of an answer stands. What is done with them stands in `objects`, which names
no vendor. A row, and the dialect that it stands for, is loaded when it is first asked for: all of
them together take a quarter of the time in which the command starts.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from molo import json
from molo.dialects.loss import Loss, Read, Reply, Written
from molo.errors import DecodeError
from molo.errors.translation import DECODE_FAILURES, alternatives, decode_error
from molo.errors.translation import Form as WireForm
from molo.history.rules import Rules
from molo.message import Message, ProviderData

__all__ = ["FORMS", "Answers", "Form", "Members", "Path", "encode", "members_of"]

Path: TypeAlias = tuple[str | int, ...]
"""The way to a part of a JSON value: keys of objects and indices of arrays."""

Members: TypeAlias = dict[str, msgspec.Raw]
"""The members of an object, each as the text that it is."""


class Answers(NamedTuple):
    """How answers hold a message.

    `read` takes an answer, `place` is the way in it to what its message is, `written` the way to
    the same thing in a body that holds that message alone. `bare` are keys of a line under which
    that thing stands without an answer around it.
    """

    read: Callable[[bytes], Reply]
    place: Path
    written: Path
    bare: tuple[str, ...] = ()


Write: TypeAlias = Callable[[Sequence[Message], Rules | None, ProviderData | None], Members]
"""Writes a body: of a history, for a vendor's Rules (None: the form's own), with an envelope."""

Lost: TypeAlias = Callable[[Sequence[Message], Rules | None, ProviderData | None], tuple[Loss, ...]]
"""Says what a body lacks that is written of the same."""


class Form(NamedTuple):
    """How one kind of JSON holds a conversation.

    `keys` are the members of a body that are the conversation; the last is its messages. `read`
    takes such a body or its messages alone; where there is but one key, its messages alone.
    """

    name: str
    keys: tuple[str, ...]
    read: Callable[[bytes], Read]
    write: Write
    lost: Lost
    answers: Answers | None = None


def members_of(data: bytes) -> Members:
    """Take an object apart.

    Raises:
        DecodeError: the data is no JSON, or no object.
    """
    try:
        return _decode_members(data)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _JSON)
    raise error


encode = msgspec.json.Encoder().encode
_decode_members = msgspec.json.Decoder(Members).decode
_decode_messages = msgspec.json.Decoder(list[Members]).decode
_JSON = WireForm("JSON", msgspec.json.decode, encode)


# --- molo's own form, and the Rust crate's --------------------------------------------------------


def _own(
    name: str,
    decode: Callable[[bytes], list[Message]],
    encode: Callable[[Sequence[Message]], bytes],
) -> Form:
    def read(data: bytes) -> Read:
        return Read(decode(data))

    def write(history: Sequence[Message], _: Rules | None, __: ProviderData | None) -> Members:
        return {"messages": msgspec.Raw(encode(history))}

    def lost(history: Sequence[Message], _: Rules | None, __: ProviderData | None) -> tuple[()]:
        return ()

    return Form(name, ("messages",), read, write, lost)


# --- The vendors' forms ---------------------------------------------------------------------------


class _Dialect(Protocol):
    """What the dialects' modules have in common, as far as it is used here."""

    def from_request(self, request: bytes, /) -> Read: ...
    def from_response(self, response: bytes, /) -> Reply: ...
    def to_request(
        self,
        history: Sequence[Message],
        *,
        rules: Rules = ...,
        envelope: ProviderData | None = ...,
    ) -> Written: ...
    def to_request_json(
        self,
        history: Sequence[Message],
        *,
        rules: Rules = ...,
        envelope: ProviderData | None = ...,
    ) -> bytes: ...


def _vendor(
    name: str,
    dialect: _Dialect,
    keys: tuple[str, ...],
    answers: Answers,
    told_by: tuple[str, ...] = (),  # keys of which a message has at least one
) -> Form:
    def write(
        history: Sequence[Message], rules: Rules | None, envelope: ProviderData | None
    ) -> Members:
        if rules is None:
            return members_of(dialect.to_request_json(history, envelope=envelope))
        return members_of(dialect.to_request_json(history, rules=rules, envelope=envelope))

    def lost(
        history: Sequence[Message], rules: Rules | None, envelope: ProviderData | None
    ) -> tuple[Loss, ...]:
        if rules is None:
            return dialect.to_request(history, envelope=envelope).losses
        return dialect.to_request(history, rules=rules, envelope=envelope).losses

    read = _read_told(dialect.from_request, told_by) if told_by else dialect.from_request
    return Form(name, keys, read, write, lost, answers)


def _read_told(read: Callable[[bytes], Read], told_by: tuple[str, ...]) -> Callable[[bytes], Read]:
    """Refuse messages that say nothing in the keys of a form, but something in others.

    The dialects keep unknown keys, and so read the messages of other software as empty ones.
    """

    def read_told(data: bytes) -> Read:
        found = read(data)
        if any(map(_is_hollow, found.history)):
            _require_told(data, told_by)
        return found

    return read_told


def _is_hollow(message: Message) -> bool:
    return message.provider_data is not None and not message.content


def _require_told(data: bytes, told_by: tuple[str, ...]) -> None:
    is_array = data.lstrip().startswith(b"[")
    messages = data if is_array else members_of(data)["messages"]
    for at, message in enumerate(_decode_messages(messages)):
        if message.keys().isdisjoint(told_by):
            raise DecodeError(
                f"Expected a message with {alternatives(told_by)}, got one with none of them",
                path=f"$[{at}]" if is_array else f"$.messages[{at}]",
            )


# --- The rows -------------------------------------------------------------------------------------


@cache
def _molo() -> Form:
    return _own("molo", json.decode, json.encode)


@cache
def _rust_molo() -> Form:
    from molo.dialects import rust_molo

    return _own("rust-molo", rust_molo.decode_json, rust_molo.encode_json)


@cache
def _openai_chat() -> Form:
    from molo.dialects import openai_chat

    return _vendor(
        "openai-chat",
        openai_chat,
        ("messages",),
        Answers(
            openai_chat.from_response,
            ("choices", 0, "message"),
            ("messages", 0),
            bare=("response_message",),
        ),
        told_by=("content", "tool_calls", "function_call", "refusal", "audio"),
    )


@cache
def _openai_responses() -> Form:
    from molo.dialects import openai_responses

    return _vendor(
        "openai-responses",
        openai_responses,
        ("instructions", "input"),
        Answers(openai_responses.from_response, ("output",), ("input",)),
    )


@cache
def _anthropic() -> Form:
    from molo.dialects import anthropic

    return _vendor(
        "anthropic",
        anthropic,
        ("system", "messages"),
        Answers(anthropic.from_response, ("content",), ("messages", 0, "content")),
        told_by=("content",),
    )


@cache
def _gemini() -> Form:
    from molo.dialects import gemini

    return _vendor(
        "gemini",
        gemini,
        ("systemInstruction", "system_instruction", "contents"),
        Answers(
            gemini.from_response, ("candidates", 0, "content", "parts"), ("contents", 0, "parts")
        ),
    )


FORMS: Mapping[str, Callable[[], Form]] = {
    "molo": _molo,
    "rust-molo": _rust_molo,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
"""What gives a form, by the name of its format."""
