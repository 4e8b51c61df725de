"""The canonical form: the content blocks that a message gives, whatever it was read from.

Deltas are differences to it, and the strict shapes accept little else:

    System      {"type": "text", "text": "…"}
    User        its blocks: text, image, document
    Assistant   thinking, then text unless it is empty, attachments, and a tool_use for each call
    ToolResult  {"type": "tool_result", "tool_use_id": "…", "content": "…"}, and is_error if true

A result with attachments has an array for content: its text unless it is empty, then their blocks.

Thinking stands in the canonical form with the signature `UNSIGNED`, which nobody ever sends. A
delta puts the real one in its place; without a delta the writer leaves the block out. So reasoning
of other origin never becomes signed thinking, and a delta holds of thinking no more than the
signature.

https://platform.claude.com/docs/en/api/messages, read 2026-11
"""

import re
from collections.abc import Iterable, Mapping

from molo.dialects.anthropic.blocks import unplaced, write_block
from molo.dialects.arguments import value_of
from molo.dialects.loss import Code
from molo.dialects.wire import Json
from molo.message import (
    Assistant,
    ContentBlock,
    Message,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)

__all__ = [
    "SHELLS",
    "UNSIGNED",
    "canonical",
    "canonical_reply",
    "is_whole",
    "shell",
    "unplaced_spoken",
]

SHELLS: Mapping[str, dict[str, Json]] = {
    name: {"role": name} for name in ("system", "user", "assistant")
}
"""The canonical objects around blocks, by role."""

UNSIGNED = False
"""The signature of thinking that has none: a value that no signature on the wire has."""

_SIGNATURE = re.compile(r"[A-Za-z0-9+/_-]+=*")  # Base64; "Eo8C…" was cut by somebody's log


def is_whole(signature: str) -> bool:
    """Tell whether a signature can be one that the vendor gave."""
    return _SIGNATURE.fullmatch(signature) is not None


def shell(message: Message) -> dict[str, Json]:
    """Give the object that a message's blocks stand in, without the blocks; not to be changed."""
    return _SHELLS[type(message)]


_SHELLS: Mapping[type[Message], dict[str, Json]] = {
    System: SHELLS["system"],
    User: SHELLS["user"],
    ToolResult: SHELLS["user"],
    Assistant: SHELLS["assistant"],
}


def canonical(message: Message) -> list[Json]:
    """Write one message as blocks; what has no place in the dialect is left out."""
    match message:
        case System(content=content):
            return [_text(content)]
        case User(content=blocks):
            return [item for block in blocks if (item := write_block(block)) is not None]
        case Assistant():
            return canonical_reply(
                message, [value_of(call.arguments) for call in message.tool_calls]
            )
        case ToolResult():
            return [_result(message)]


def canonical_reply(message: Assistant, inputs: Iterable[Json]) -> list[Json]:
    """Write an Assistant as blocks; `inputs` are what the arguments of its calls say."""
    written: list[Json] = []
    if message.reasoning is not None:
        thinking: Json = {"type": "thinking", "thinking": message.reasoning, "signature": UNSIGNED}
        written.append(thinking)
    if message.content:
        written.append(_text(message.content))
    written += _placed(map(_spoken, message.attachments))
    written += map(_call, message.tool_calls, inputs)
    return written


def _result(message: ToolResult) -> Json:
    content: Json = message.content
    if message.attachments:
        content = [_text(message.content)] if message.content else []
        content += _placed(map(write_block, message.attachments))
    failed: dict[str, Json] = {"is_error": True} if message.is_error else {}
    return {"type": "tool_result", "tool_use_id": message.id, "content": content, **failed}


def unplaced_spoken(attachment: ContentBlock) -> Code | None:
    """Name what of an Assistant's attachment has no place: replies hold no media here."""
    return unplaced(attachment) if isinstance(attachment, Text | Wire) else "block"


def _spoken(attachment: ContentBlock) -> Json:
    return write_block(attachment) if isinstance(attachment, Text | Wire) else None


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _placed(written: Iterable[Json]) -> list[Json]:
    return [item for item in written if item is not None]


# --- Calls ----------------------------------------------------------------------------------------


def _call(call: ToolCall, value: Json) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": value}
