"""Requests read into histories: the strict way where it goes, else message by message, with care.

The careful path takes any object with a role for a message. What it understands becomes a field;
the difference between the message's canonical form and the wire is kept as a delta, so nothing is
refused for being unknown. Decisions:

- Content parts of a System and of a result are joined by line ends, those of an assistant by
  nothing: a reply comes in pieces, instructions and results in paragraphs.
- Reasoning is the first that is given of `reasoning_content`, `reasoning`, `reasoning_details`
  (its texts and summaries) and of parts of type `thinking` in the content.
- A refusal, and the transcript of sound, is the content of a message that has no other.
- A legacy `function_call` is a call with the function's name as its id, and so is its result:
  messages of role `function` name the function and nothing else.
- The input of a custom tool, free text, becomes the arguments `{"input": "…"}`.
- Arguments and content that are no strings become their JSON text.
- Roles `developer` and `system` are System; a role that is not known is a User.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from molo import json
from molo.dialects.delta import Unit, keep
from molo.dialects.loss import Read
from molo.dialects.openai_chat.forms import AUDIO_TYPES, DIALECT, SEALED, canonical, objects
from molo.dialects.openai_chat.strict import read_json, read_open_message
from molo.dialects.wire import (
    Given,
    Json,
    Spell,
    expect_array,
    expect_object,
    expect_text,
    parse,
    spelling,
    string,
    text,
)
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import Buffer
from molo.message import (
    Assistant,
    Audio,
    ContentBlock,
    File,
    Image,
    Message,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)

__all__ = ["from_request", "read_message", "read_reply"]


def from_request(request: Given) -> Read:
    """Read a request body, or its `messages`, given as JSON bytes or text or as dicts and lists.

    What else the body holds (`model`, `tools`, parameters) is no part of the conversation and
    stays with the caller; there is no envelope. A message of a role that is not known is a User. Of
    a repeated key the last value counts. Of bytes, arguments given as objects keep their text to
    the letter, and all numbers their spelling.

    Raises:
        DecodeError: no JSON, or no conversation; `path` says where.

    >>> body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}
    >>> from_request(body).history
    [User(content=(Text(text='Hi'),))]
    """
    if not isinstance(request, bytes | bytearray | memoryview | str):
        return Read(_read_builtins(request))
    history = read_json(request)
    return Read(_read_carefully(request) if history is None else history)


def read_reply(wire: Json, spell: Spell | None = None) -> Assistant:
    """Read the message of an answer: an Assistant, whether it says so or not.

    `spell` knows its JSON, if that is at hand.

    Raises:
        DecodeError: no object.
        EncodeError: the message holds what JSON cannot.
    """
    message = read_open_message(wire)  # as it will be read when it goes back
    if not isinstance(message, Assistant):
        if spell is None:
            wire, spell = _written(wire)
        members = expect_object(wire, "")
        message = _with_delta(_assistant(members, spell), members)
    json.encode_message(message)  # a str may hold lone surrogates, which no JSON can
    return message


# --- Requests -------------------------------------------------------------------------------------


def _read_carefully(data: Buffer | str) -> list[Message]:
    request = parse(data)
    place, values = _messages_of(request)
    path = ("messages",) if isinstance(request, dict) else ()
    spell = spelling(data, *path)
    return _read_all(place, values, lambda at, wire: read_message(wire, partial(spell, at)))


def _messages_of(request: Json) -> tuple[str, list[Json]]:
    """Find the messages of a body, or take the request for them; and say where they stand."""
    if isinstance(request, list):
        return "$", request
    body = expect_object(request, "$")
    if "messages" not in body:
        raise DecodeError("Expected field `messages`, got an object without it", path="$")
    return "$.messages", expect_array(body["messages"], "$.messages")


def _read_builtins(
    request: Mapping[str, Any] | list[Any] | tuple[Any, ...],
) -> list[Message]:
    if isinstance(request, Mapping):
        place, values = _messages_of({key: _listed(value) for key, value in request.items()})
    else:
        place, values = _messages_of(_listed(request))
    history = _read_all(place, values, _read_builtin)
    try:
        json.encode(history)  # a str may hold lone surrogates, which no JSON can
    except EncodeError as failure:
        index = failure.path.partition("]")[0].removeprefix("$")
        error = DecodeError(failure.text, path=f"{place}{index}]")
    else:
        return history
    raise error


def _listed(value: "Json | tuple[Json, ...]") -> Json:
    """Make a list of a tuple, which the vendor's SDK takes for messages as well."""
    return list(value) if isinstance(value, tuple) else value


def _read_builtin(_: int, wire: Json) -> Message:
    return read_message(*_written(wire))


def _written(wire: Json) -> tuple[Json, Spell]:
    """Write a value whose JSON is not at hand, and read it as it will be read from there."""
    written = text(wire)
    return parse(written), spelling(written)


def _read_all(
    place: str, values: list[Json], read: Callable[[int, Json], Message]
) -> list[Message]:
    history: list[Message] = []
    try:
        for at, value in enumerate(values):
            history.append(read_open_message(value) or read(at, value))
    except DecodeError as failure:
        error = DecodeError(failure.text, path=f"{place}[{len(history)}]{failure.path}")
    except EncodeError as failure:  # of the delta, whose path is not the message's
        error = DecodeError(failure.text, path=f"{place}[{len(history)}]")
    except RecursionError:
        error = DecodeError(
            "Expected a message nested less deeply", path=f"{place}[{len(history)}]"
        )
    else:
        return history
    raise error


# --- Messages -------------------------------------------------------------------------------------

M = TypeVar("M", bound=Message)

_Members: TypeAlias = dict[str, Json]


def read_message(wire: Json, spell: Spell) -> Message:
    """Read one message with care; `spell` knows its JSON.

    Raises:
        DecodeError: no object with a role; `path` begins at the message.
    """
    members = expect_object(wire, "")
    if "role" not in members:
        raise DecodeError("Expected field `role`, got an object without it")
    build = _BUILDERS.get(expect_text(members["role"], ".role"), _user)
    return _with_delta(build(members, spell), members)


def _with_delta(message: M, wire: _Members) -> M:
    sealed = isinstance(message, Assistant) and _is_sealed(wire)
    data = keep(Unit(canonical(message)), Unit(wire), DIALECT, sealed=sealed)
    return message if data is None else replace(message, provider_data=data)


def _is_sealed(wire: _Members) -> bool:
    return (
        _has_seal(wire)
        or any(map(_has_seal, objects(wire.get("tool_calls"))))
        or any(map(_has_seal, objects(wire.get("content"))))
    )


def _has_seal(holder: _Members) -> bool:
    return not SEALED.isdisjoint(holder) and any(holder.get(key) for key in SEALED)


def _system(wire: _Members, spell: Spell) -> System:
    texts, _ = _paragraphs(wire.get("content"))
    return System(texts)


def _user(wire: _Members, spell: Spell) -> User:
    content = wire.get("content")
    if isinstance(content, list):
        return User(tuple([_block(part) for part in content]))
    return User(() if content is None else (Text(string(content)),))


def _tool(wire: _Members, spell: Spell) -> ToolResult:
    content, attachments = _paragraphs(wire.get("content"))
    return ToolResult(string(wire.get("tool_call_id")), content, attachments=attachments)


def _function(wire: _Members, spell: Spell) -> ToolResult:
    content, attachments = _paragraphs(wire.get("content"))
    return ToolResult(string(wire.get("name")), content, attachments=attachments)


def _assistant(wire: _Members, spell: Spell) -> Assistant:
    content, thinking, blocks = _spoken(wire.get("content"))
    blocks += map(_block, objects(wire.get("images")))
    return Assistant(
        content or string(wire.get("refusal")) or _transcript(wire.get("audio")),
        _reasoning(wire, thinking),
        _calls(wire, spell),
        attachments=tuple(blocks),
    )


def _transcript(audio: Json) -> str:
    return string(audio.get("transcript")) if isinstance(audio, dict) else ""


_BUILDERS: Mapping[str, Callable[[_Members, Spell], Message]] = {
    "system": _system,
    "developer": _system,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
    "function": _function,
}


# --- Content --------------------------------------------------------------------------------------


def _paragraphs(content: Json) -> tuple[str, tuple[ContentBlock, ...]]:
    """Split the content of a System or a result into its text and what is no text."""
    if not isinstance(content, list):
        return string(content), ()
    blocks = [_block(part) for part in content]
    texts = [block.text for block in blocks if isinstance(block, Text)]
    return "\n".join(texts), tuple([block for block in blocks if not isinstance(block, Text)])


def _spoken(content: Json) -> tuple[str, str | None, list[ContentBlock]]:
    """Split the content of an assistant into what it says, what it thinks, and other blocks."""
    if not isinstance(content, list):
        return string(content), None, []
    said: list[str] = []
    thought: list[str] = []
    blocks: list[ContentBlock] = []
    for part in content:
        match part:
            case {"type": "text", "text": str(words)} | {"type": "refusal", "refusal": str(words)}:
                said.append(words)
            case {"type": "thinking", "thinking": thinking}:
                thought.append(_thoughts(thinking))
            case _:
                blocks.append(_block(part))
    return "".join(said), "\n".join(thought) if thought else None, blocks


def _thoughts(thinking: Json) -> str:
    """Join the text of a `thinking` part: a string or an array of text parts (Mistral)."""
    if isinstance(thinking, list):
        return "".join([string(part.get("text")) for part in objects(thinking)])
    return string(thinking)


def _block(part: Json) -> ContentBlock:
    match part:
        case {"type": "text", "text": str(words)}:
            return Text(words)
        case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
            return Image(url=url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(format)}}:
            return _audio(data, AUDIO_TYPES.get(format, format))
        case {"type": "file", "file": {"file_data": str(url), "filename": str(name)}}:
            return File(url=url, name=name)
        case {"type": "file", "file": {"file_data": str(url)}}:
            return File(url=url)
        case {"type": "document_url", "document_url": str(url), "document_name": str(name)}:
            return File(url=url, name=name)
        case {"type": "document_url", "document_url": str(url)}:
            return File(url=url)
        case _:
            return Wire(DIALECT, text(part))


def _audio(data: str, subtype: str) -> Audio:
    if ":" in data:  # a URL, of any kind; Base64 has no colon
        return Audio(url=data, mime_type=f"audio/{subtype}")
    return Audio(url=f"data:audio/{subtype};base64,{data}")


# --- Reasoning ------------------------------------------------------------------------------------


def _reasoning(wire: _Members, thinking: str | None) -> str | None:
    details = _details(wire.get("reasoning_details"))
    given = (wire.get("reasoning_content"), wire.get("reasoning"), details, thinking)
    texts = [item for item in given if isinstance(item, str)]
    return next(filter(None, texts), texts[0]) if texts else None


def _details(entries: Json) -> str | None:
    if not entries:
        return None
    found = [entry.get("text") or entry.get("summary") for entry in objects(entries)]
    return "\n".join([item for item in found if isinstance(item, str)]) or None


# --- Calls ----------------------------------------------------------------------------------------


def _calls(wire: _Members, spell: Spell) -> tuple[ToolCall, ...]:
    calls = wire.get("tool_calls")
    if isinstance(calls, list) and calls:
        read = [_call(call, spell, index) for index, call in enumerate(calls)]
        return tuple([call for call in read if call is not None])
    match wire.get("function_call"):
        case {"name": str(name), "arguments": arguments} if name:
            return (ToolCall(name, name, string(arguments)),)
        case _:
            return ()


def _call(call: Json, spell: Spell, index: int) -> ToolCall | None:
    if not isinstance(call, dict):
        return None
    id, function = string(call.get("id")), call.get("function")
    match call.get("custom"):
        case {"name": name, "input": given} if call.get("type") == "custom":
            return ToolCall(id, string(name), text({"input": given}))
        case _ if isinstance(function, dict):
            arguments = _arguments(function.get("arguments"), spell, index)
            return ToolCall(id, string(function.get("name")), arguments)
        case _:
            return None


def _arguments(value: Json, spell: Spell, index: int) -> str:
    if isinstance(value, str) or value is None:
        return string(value)
    return spell("tool_calls", index, "function", "arguments")
