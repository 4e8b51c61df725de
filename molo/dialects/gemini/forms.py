"""The canonical form: the parts that a message gives, whatever it was read from.

Deltas are differences to it, and the strict shapes accept little else:

    System      {"text": "…"}, in systemInstruction
    User        its blocks: text, inlineData, fileData
    Assistant   {"text": "…", "thought": true} if there is reasoning, text unless it is empty,
                attachments, and a functionCall for each call; {"text": ""} if there is nothing
    ToolResult  {"functionResponse": {"id": "…", "name": "…", "response": {…}}}

Signatures have no place in it: they are in deltas only, and so none is ever sent that Gemini has
not given for this very message.

`response` is an object. What the result says becomes one in the way of Google's own SDK,
`{"result": "…"}` and `{"error": "…"}`. A result that is the text of a JSON object, written without
white space, is that object.

Ids that were made up (`ids`) are not written. The name of a result is that of its call, which only
the whole history tells: a result that stands alone has the name that its id was made up from, or
none.

https://ai.google.dev/api/generate-content and …/api/caching#FunctionResponse, read 2026-11
"""

import re
from collections.abc import Iterable

from molo.dialects.arguments import value_of
from molo.dialects.gemini.ids import is_made_up, named
from molo.dialects.gemini.parts import write_parts
from molo.dialects.wire import Json, encoded, parse, text
from molo.errors import DecodeError, EncodeError
from molo.message import Assistant, Message, System, Text, ToolCall, ToolResult, User

__all__ = [
    "INSTRUCTION",
    "SHELLS",
    "canonical",
    "canonical_reply",
    "is_written_so",
    "read_response",
    "shell",
    "unnamed",
    "write_result",
]


SHELLS: dict[str, Json] = {"user": {"role": "user"}, "model": {"role": "model"}}
"""What stands around the parts of a message, where it has a content of its own, by its role."""

INSTRUCTION: Json = {"systemInstruction": {"role": "user"}}
"""The same of a System."""


def shell(message: Message) -> Json:
    """Give what stands around the parts of a message, where it has a content of its own."""
    if isinstance(message, Assistant):
        return SHELLS["model"]
    return INSTRUCTION if isinstance(message, System) else SHELLS["user"]


def canonical(message: Message) -> list[Json]:
    """Write one message as parts; what has no place in the dialect is left out."""
    match message:  # by how often they come
        case ToolResult():
            return [_result(message, unnamed(message.id))]
        case Assistant():
            return canonical_reply(
                message, [value_of(call.arguments) for call in message.tool_calls]
            )
        case User():
            return write_parts(message.content)
        case System():
            return [{"text": message.content}]


def canonical_reply(message: Assistant, args: Iterable[Json]) -> list[Json]:
    """Write a reply as parts; `args` are what the arguments of its calls say."""
    written: list[Json] = []
    if message.reasoning is not None:
        written.append({"text": message.reasoning, "thought": True})
    if message.content:
        written.append({"text": message.content})
    written += write_parts(message.attachments)
    written += map(_call, message.tool_calls, args)
    return written or [{"text": ""}]


# --- Calls ----------------------------------------------------------------------------------------


def _call(call: ToolCall, args: Json) -> Json:
    return {"functionCall": {**_named(call.id, call.name), "args": args}}


def _named(id: str, name: str) -> dict[str, Json]:
    return {"name": name} if is_made_up(id, name) else {"id": id, "name": name}


# --- Results --------------------------------------------------------------------------------------


def write_result(message: ToolResult, name: str) -> Json:
    """Write a result as the one of a call of this name."""
    return _result(message, _named(message.id, name))


def unnamed(id: str) -> dict[str, Json]:
    """Tell of the call of a result what the result alone tells: the name is empty if unknown."""
    name = named(id)
    return {"id": id, "name": ""} if name is None else {"name": name}


def _result(message: ToolResult, call: dict[str, Json]) -> Json:
    written = {**call, "response": _response(message.content, message.is_error)}
    if message.attachments:
        # Text has no place here: https://ai.google.dev/api/caching#FunctionResponsePart
        held = [block for block in message.attachments if not isinstance(block, Text)]
        if parts := write_parts(held):
            written["parts"] = parts
    return {"functionResponse": written}


def _response(content: str, is_error: bool) -> Json:
    value = _compact_object(content)
    if is_error:
        return {"error": content if value is None else value}
    if value is None or read_response(value) != (content, False):
        return {"result": content}
    return value


_COMPACT = re.compile(r'\{(?:\}|"(?:[^"\\]|\\.)*":\S)')  # how such text begins


def _compact_object(content: str) -> dict[str, Json] | None:
    """Parse text that is a JSON object exactly as it would be written; None for any other."""
    if content[-1:] != "}" or not _COMPACT.match(content):
        return None
    try:
        value = parse(content)
        written = encoded(value)
    except (DecodeError, EncodeError):  # nested too deeply for the encoder alone
        return None
    return value if isinstance(value, dict) and written == content.encode() else None


def read_response(response: Json) -> tuple[str, bool]:
    """Read what a result says, and whether it says that the call failed."""
    if not isinstance(response, dict):
        return "" if response is None else text(response), False
    if len(response) == 1:
        ((key, said),) = response.items()
        if isinstance(said, str) and key in _SAYING:
            return said, key == "error"
        if isinstance(said, dict) and key == "error":
            return text(said), True
    return text(response), False


_SAYING = frozenset(("result", "output", "error"))


def is_written_so(response: dict[str, Json]) -> bool:
    """Tell whether what is read from a response is written as this response."""
    if len(response) != 1:
        return True
    ((key, said),) = response.items()
    if key not in _SAYING or not isinstance(said, str):
        return True
    return key != "output" and _compact_object(said) is None
