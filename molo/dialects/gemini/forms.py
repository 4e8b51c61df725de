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

from collections.abc import Iterable

from molo.dialects.gemini.ids import is_made_up, named
from molo.dialects.gemini.parts import write_part
from molo.dialects.wire import Json, encoded, parse, text
from molo.errors import DecodeError, EncodeError
from molo.message import Assistant, Message, System, Text, ToolCall, ToolResult, User

__all__ = ["canonical", "parse_arguments", "read_response", "shell", "write_result"]


def shell(message: Message) -> dict[str, Json]:
    """Write what stands around the parts of a message, where it has an object of its own."""
    match message:
        case System():
            return {"systemInstruction": {"role": "user"}}
        case Assistant():
            return {"role": "model"}
        case User() | ToolResult():
            return {"role": "user"}


def canonical(message: Message) -> list[Json]:
    """Write one message as parts; what has no place in the dialect is left out."""
    match message:
        case System(content=content):
            return [{"text": content}]
        case User(content=blocks):
            return _placed(map(write_part, blocks))
        case Assistant():
            return _assistant(message)
        case ToolResult(id=id):
            return [write_result(message, named(id) or "")]


def _assistant(message: Assistant) -> list[Json]:
    written: list[Json] = []
    if message.reasoning is not None:
        written.append({"text": message.reasoning, "thought": True})
    if message.content:
        written.append({"text": message.content})
    written += _placed(map(write_part, message.attachments))
    written += map(_call, message.tool_calls)
    return written or [{"text": ""}]


def _placed(written: Iterable[Json]) -> list[Json]:
    return [item for item in written if item is not None]


# --- Calls ----------------------------------------------------------------------------------------


def _call(call: ToolCall) -> Json:
    try:
        args = parse_arguments(call.arguments)
    except DecodeError:
        args = {}
    return {"functionCall": {**_id(call.id, call.name), "name": call.name, "args": args}}


def _id(id: str, name: str) -> dict[str, Json]:
    return {} if is_made_up(id, name) else {"id": id}


def parse_arguments(arguments: str) -> Json:
    """Parse the arguments of a call into its args; empty or blank ones mean `{}`.

    Raises:
        DecodeError: they are no JSON.
    """
    return parse(arguments) if arguments and not arguments.isspace() else {}


# --- Results --------------------------------------------------------------------------------------


def write_result(message: ToolResult, name: str) -> Json:
    """Write a result as the one of a call of this name."""
    written: dict[str, Json] = {
        **_id(message.id, name),
        "name": name,
        "response": _response(message.content, message.is_error),
    }
    # Text has no place here: https://ai.google.dev/api/caching#FunctionResponsePart
    held = [block for block in message.attachments if not isinstance(block, Text)]
    if parts := _placed(map(write_part, held)):
        written["parts"] = parts
    return {"functionResponse": written}


def _response(content: str, is_error: bool) -> Json:
    value = _compact_object(content)
    if is_error:
        return {"error": content if value is None else value}
    if value is None or read_response(value) != (content, False):
        return {"result": content}
    return value


def _compact_object(content: str) -> dict[str, Json] | None:
    """Parse text that is a JSON object exactly as it would be written; None for any other."""
    if content[:1] != "{" or content[-1:] != "}":
        return None
    try:
        value = parse(content)
        written = encoded(value)
    except (DecodeError, EncodeError):  # nested too deeply for the encoder alone
        return None
    return value if isinstance(value, dict) and written == content.encode() else None


def read_response(response: Json) -> tuple[str, bool]:
    """Read what a result says, and whether it says that the call failed."""
    match response:
        case {"result": str(words), **rest} | {"output": str(words), **rest} if not rest:
            return words, False
        case {"error": str(words), **rest} if not rest:
            return words, True
        case {"error": dict(details), **rest} if not rest:
            return text(details), True
        case None:
            return "", False
        case _:
            return text(response), False
