"""Requests read into histories: the strict way where it goes, else run by run, with care.

The careful path takes any object with a role, a type or an id for an item. What it understands
becomes a field; the difference between the message's canonical form and the wire is kept as a
delta, so nothing is refused for being unknown. Decisions:

- A run of items that are part of a reply is one Assistant (`output`); every other item is a
  message. Which items they are stands in `items`.
- Content parts of a System and of a result are joined by line ends.
- Of the outputs of other tools than functions, what a shell wrote is text, a screenshot is an
  image, and whatever else is no text becomes its JSON.
- `instructions` are a System in front of the items (`envelope`).
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from molo.dialects.loss import Read
from molo.dialects.openai_responses.envelope import Body, opened
from molo.dialects.openai_responses.forms import DIALECT, with_delta
from molo.dialects.openai_responses.items import (
    OUTPUTS,
    Kind,
    Members,
    kind_of,
    objects_of,
    texts_of,
    type_of,
)
from molo.dialects.openai_responses.output import read_output
from molo.dialects.openai_responses.strict import read_json, read_open_run
from molo.dialects.wire import Given, Json, Number, Spell, as_json, decoded, spelling, string, text
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import (
    Buffer,
)
from molo.message import ContentBlock, File, Image, Message, System, Text, ToolResult, User, Wire

__all__ = ["from_request", "read_run"]


def from_request(request: Given) -> Read:
    """Read a request body, or its `input` items, given as JSON bytes or text or as dicts and lists.

    What else the body holds (`model`, `tools`, `previous_response_id`, parameters) is no part of
    the conversation and stays with the caller. A message of a role that is not known is a User. Of
    a repeated key the last value counts. Of bytes, arguments given as objects keep their text to
    the letter, and all numbers their spelling.

    Raises:
        DecodeError: no JSON, or no conversation; `path` says where.

    >>> body = {"instructions": "Be brief.", "input": [{"role": "user", "content": "Hi"}]}
    >>> [message.content for message in from_request(body).history]
    ['Be brief.', (Text(text='Hi'),)]
    """
    if isinstance(request, Mapping):
        request = {key: request[key] for key in ("instructions", "input") if key in request}
    data = as_json(request)
    return opened(read_json(data) or _read_with_care(data))


# --- Requests -------------------------------------------------------------------------------------


class _Loose(Struct):
    input: Any = UNSET
    instructions: Any = UNSET


_decode = msgspec.json.Decoder(_Loose | list[Any], float_hook=Number).decode


def _read_with_care(data: Buffer | str) -> Body:
    body = decoded(_decode, data)
    if isinstance(body, list):
        return Body(_read_all(body, "$", spelling(data)), UNSET)
    given, instructions = body.input, body.instructions
    if given is UNSET and instructions is UNSET:
        raise DecodeError("Expected field `input`, got an object without it", path="$")
    if given is UNSET or given is None or isinstance(given, str):
        return Body(given, instructions)
    return Body(_read_all(given, "$.input", spelling(data, "input")), instructions)


def _read_all(values: Json, place: str, spell: Spell) -> list[Message]:
    """Read items: those of a run that are part of a reply as one message, any other as its own."""
    items = objects_of(values, place)
    history: list[Message] = []
    start = at = 0  # the first item that is not read yet, and the one that is looked at
    try:
        for at, item in enumerate(items):
            kind = kind_of(item)
            if kind == "reply":
                continue
            if start < at:
                history.append(_read_run(items[start:at], "reply", spell, start))
            start = at
            history.append(_read_run([item], kind, spell, at))
            start = at + 1
        if start < len(items):
            history.append(_read_run(items[start:], "reply", spell, start))
    except DecodeError as failure:
        error = DecodeError(failure.text, path=f"{place}[{at}]{failure.path}")
    except (EncodeError, RecursionError):  # of JSON there is no other reason
        error = DecodeError("Expected an item nested less deeply", path=f"{place}[{start}]")
    else:
        return history
    raise error


def _read_run(run: list[Members], kind: Kind, spell: Spell, start: int) -> Message:
    return read_open_run(run) or read_run(run, kind, spell, start)


def read_run(run: list[Members], kind: Kind, spell: Spell, start: int) -> Message:
    """Read the items of one message with care; `spell` knows them, the first by this index."""
    reader = _READERS.get(kind)
    return reader(run[0]) if reader else read_output(run, spell, start)


# --- Messages -------------------------------------------------------------------------------------


def _system(item: Members) -> System:
    return with_delta(System("\n".join(texts_of(item.get("content")))), [item])


def _user(item: Members) -> User:
    return with_delta(User(tuple(_blocks(item.get("content")))), [item])


def _result(item: Members) -> ToolResult:
    id = item.get("call_id") if "call_id" in item else item.get("id")  # local_shell_call_output
    key = OUTPUTS[type_of(item)]
    given = item.get(key)
    blocks = _blocks(given) if key == "output" else [Text(string(given))]
    texts = [block.text for block in blocks if isinstance(block, Text)]
    others = tuple([block for block in blocks if not isinstance(block, Text)])
    return with_delta(ToolResult(string(id), "\n".join(texts), attachments=others), [item])


_READERS: Mapping[Kind, Callable[[Members], Message]] = {
    "system": _system,
    "user": _user,
    "result": _result,
}


# --- Content --------------------------------------------------------------------------------------


def _blocks(content: Json) -> list[ContentBlock]:
    match content:
        case None:
            return []
        case list():
            return [_block(part) for part in content]
        case {"type": "computer_screenshot"}:
            return [_block(content)]
        case _:
            return [Text(string(content))]


def _block(part: Json) -> ContentBlock:
    match part:
        case {"type": "input_text" | "output_text" | "text", "text": str(words)}:
            return Text(words)
        case {"stdout": str(output), "stderr": str(errors)}:
            return Text(output + errors)
        case {"type": "input_image" | "computer_screenshot", "image_url": str(url)}:
            return Image(url=url)
        case {"type": "input_file", "file_data": str(url), "filename": str(name)} if _is_data(url):
            return File(url=url, name=name)
        case {"type": "input_file", "file_data": str(url)} if _is_data(url):
            return File(url=url)
        case {"type": "input_file", "file_url": str(url)}:
            return File(url=url)
        case _:
            return Wire(DIALECT, text(part))


def _is_data(url: str) -> bool:
    return url.startswith("data:")
