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
from msgspec import Struct

from molo import json
from molo.dialects.loss import Loss, Read, Reply, WrittenJson
from molo.errors import DecodeError
from molo.errors.translation import DECODE_FAILURES, alternatives, decode_error
from molo.errors.translation import Form as WireForm
from molo.history.rules import Rules
from molo.message import Message, ProviderData

__all__ = ["FORMS", "Answers", "Body", "Form", "Members", "Path", "encode", "members_of"]

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


class Body(Struct, frozen=True):
    """The members that are a conversation, and what they lack of it."""

    members: Members
    losses: tuple[Loss, ...] = ()


Write: TypeAlias = Callable[[Sequence[Message], Rules | None, ProviderData | None], Body]
"""Writes a body: of a history, for a vendor's Rules (None: the form's own), with an envelope."""


class Form(NamedTuple):
    """How one kind of JSON holds a conversation.

    `keys` are the members of a body that are the conversation; the last is its messages. `read`
    takes such a body or its messages alone; where there is but one key, its messages alone.
    """

    name: str
    keys: tuple[str, ...]
    read: Callable[[bytes], Read]
    write: Write
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

    def write(history: Sequence[Message], _: Rules | None, __: ProviderData | None) -> Body:
        return Body({"messages": msgspec.Raw(encode(history))})

    return Form(name, ("messages",), read, write)


# --- The vendors' forms ---------------------------------------------------------------------------


class _WriteJson(Protocol):
    """What the dialects' ways to write have in common, as far as it is used here."""

    def __call__(
        self,
        history: Sequence[Message],
        *,
        rules: Rules = ...,
        envelope: ProviderData | None = ...,
    ) -> WrittenJson: ...


def _vendor(
    name: str,
    keys: tuple[str, ...],
    read: Callable[[bytes], Read],
    write_json: _WriteJson,
    answers: Answers,
) -> Form:
    def write(
        history: Sequence[Message], rules: Rules | None, envelope: ProviderData | None
    ) -> Body:
        if rules is None:
            written = write_json(history, envelope=envelope)
        else:
            written = write_json(history, rules=rules, envelope=envelope)
        return Body(members_of(written.request), written.losses)

    return Form(name, keys, read, write, answers)


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
    from molo.dialects.openai_chat import from_request, from_response
    from molo.dialects.openai_chat.writing import write_json

    told_by = ("content", "tool_calls", "function_call", "refusal", "audio")
    place = ("choices", 0, "message")
    answers = Answers(from_response, place, ("messages", 0), bare=("response_message",))
    read = _read_told(from_request, told_by)
    return _vendor("openai-chat", ("messages",), read, write_json, answers)


@cache
def _openai_responses() -> Form:
    from molo.dialects.openai_responses import from_request, from_response
    from molo.dialects.openai_responses.writing import write_json

    answers = Answers(from_response, ("output",), ("input",))
    keys = ("instructions", "input")
    return _vendor("openai-responses", keys, from_request, write_json, answers)


@cache
def _anthropic() -> Form:
    from molo.dialects.anthropic import from_request, from_response
    from molo.dialects.anthropic.writing import write_json

    answers = Answers(from_response, ("content",), ("messages", 0, "content"))
    read = _read_told(from_request, ("content",))
    return _vendor("anthropic", ("system", "messages"), read, write_json, answers)


@cache
def _gemini() -> Form:
    from molo.dialects.gemini import from_request, from_response
    from molo.dialects.gemini.writing import write_json

    place = ("candidates", 0, "content", "parts")
    answers = Answers(from_response, place, ("contents", 0, "parts"))
    keys = ("systemInstruction", "system_instruction", "contents")
    return _vendor("gemini", keys, from_request, write_json, answers)


FORMS: Mapping[str, Callable[[], Form]] = {
    "molo": _molo,
    "rust-molo": _rust_molo,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
"""What gives a form, by the name of its format."""
