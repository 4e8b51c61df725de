"""The canonical form: the one vendor object that a message gives, whatever it was read from.

Deltas are differences to it, and the strict shapes accept little else. It is the form of OpenAI's
own reference, with `reasoning_content`, the key that the vendors want back that ask for reasoning:

    {"role": "system", "content": "…"}
    {"role": "user", "content": "…"}                      one text
    {"role": "user", "content": [part, …]}                anything else
    {"role": "assistant", "content": "…" or null, "reasoning_content": "…", "tool_calls": [call, …]}
    {"role": "tool", "tool_call_id": "…", "content": "…"}

`content` of an assistant is null where it has calls and no text. Where an assistant or a tool has
attachments, its content is an array: the text, unless it is empty, and their parts.

https://platform.openai.com/docs/api-reference/chat/create, read 2026-11
"""

from collections.abc import Sequence

from molo.dialects.blocks import is_verbatim, url_of
from molo.dialects.wire import Json, parse
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

__all__ = [
    "AUDIO_TYPES",
    "DIALECT",
    "SEALED",
    "TELLING",
    "canonical",
    "has_place",
    "objects",
    "part",
    "parts",
]

DIALECT = "openai_chat"

# https://openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details) and
# https://ai.google.dev/gemini-api/docs/thought-signatures (extra_content), read 2026-11; recorded:
# the others, in answers of gateways.
SEALED = frozenset(
    ["reasoning_details", "extra_content", "thought_signature", "reasoning_encrypted", "signature"]
)
"""Keys of a message, a call or a part that hold reasoning as its vendor wants it back."""

TELLING = SEALED | {
    *("reasoning", "reasoning_details", "refusal", "audio", "images", "function_call"),
}
"""Keys that no canonical message has, and that are read into one; their null says nothing."""

AUDIO_TYPES = {"mp3": "mpeg", "m4a": "mp4"}
"""Subtypes of audio/… for the formats of `input_audio` that have another name there."""

_FORMATS = {  # sound that is WAV has three more names
    **{subtype: format for format, subtype in AUDIO_TYPES.items()},
    **dict.fromkeys(("x-wav", "wave", "vnd.wave"), "wav"),
}


def canonical(message: Message) -> dict[str, Json]:
    """Write one message in canonical form; blocks that have no place are left out."""
    match message:  # by how often they come
        case ToolResult():
            content = _content(message.content, message.attachments)
            return {"role": "tool", "tool_call_id": message.id, "content": content}
        case Assistant():
            return _assistant(message)
        case User():
            return {"role": "user", "content": _user_content(message.content)}
        case System():
            return {"role": "system", "content": message.content}


def _user_content(blocks: tuple[ContentBlock, ...]) -> Json:
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return blocks[0].text
    return parts(blocks)


def _assistant(message: Assistant) -> dict[str, Json]:
    content: Json = _content(message.content, message.attachments)
    if content == "" and message.tool_calls:
        content = None
    written: dict[str, Json] = {"role": "assistant", "content": content}
    if message.reasoning is not None:
        written["reasoning_content"] = message.reasoning
    if message.tool_calls:
        written["tool_calls"] = [_call(call) for call in message.tool_calls]
    return written


def _call(call: ToolCall) -> Json:
    function: dict[str, Json] = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _content(text: str, attachments: tuple[ContentBlock, ...]) -> Json:
    if not attachments:
        return text
    return parts((Text(text), *attachments) if text else attachments)


def parts(blocks: Sequence[ContentBlock]) -> list[Json]:
    """Write the blocks that have a place in this dialect as content parts."""
    return [part(block) for block in blocks if has_place(block)]


def has_place(block: ContentBlock) -> bool:
    """Tell whether this dialect can write a block: all but another's, and damaged ones."""
    return not isinstance(block, Wire) or is_verbatim(block, DIALECT)


def part(block: ContentBlock) -> Json:
    """Write a block that has a place in this dialect as a content part."""
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image():
            return {"type": "image_url", "image_url": {"url": url_of(block)}}
        case Audio():
            return {"type": "input_audio", "input_audio": _audio(url_of(block), block.mime_type)}
        case File(name=name):
            named: dict[str, Json] = {"filename": name} if name else {}
            return {"type": "file", "file": {"file_data": url_of(block), **named}}
        case Wire(data=data):
            return parse(data)


def _audio(url: str, mime_type: str) -> Json:
    """Write sound as its bare Base64 where it is a data URL, else as the URL itself."""
    head, base64, data = url.partition(";base64,")
    if base64 and head.startswith("data:audio/"):
        return {"data": data, "format": _format(head.removeprefix("data:"))}
    return {"data": url, "format": _format(mime_type)}


def _format(mime_type: str) -> str:
    subtype = mime_type.removeprefix("audio/")
    return _FORMATS.get(subtype, subtype)


def objects(value: Json) -> list[dict[str, Json]]:
    """List the objects of what should be an array of objects."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
