"""The canonical form: the items that a message gives, whatever it was read from.

Deltas are differences to it, and the strict shapes accept little else. It is the shortest form
that OpenAI's reference has for each:

    {"role": "system", "content": "…"}
    {"role": "user", "content": "…"}                      one text
    {"role": "user", "content": [part, …]}                anything else
    {"role": "assistant", "content": "…"}                 unless there are calls and no text
    {"type": "function_call", "call_id": "…", "name": "…", "arguments": "…"}     one for each call
    {"type": "function_call_output", "call_id": "…", "output": "…" or [part, …]}

What only an answer can hold stands in front of its text as a bare string, which no vendor sends
and none is sent: a delta turns it into the item that was on the wire, and where there is none it
is a loss. These are the reasoning (it goes back with the id or the encrypted content that the
vendor gave it, or not at all) and media that the model made.

https://platform.openai.com/docs/api-reference/responses/create, read 2026-11
"""

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard, TypeVar

from msgspec.structs import replace

from molo.dialects.blocks import is_verbatim, url_of
from molo.dialects.delta import Unit, keep
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
    "BETWEEN",
    "DIALECT",
    "canonical",
    "has_place",
    "is_inline",
    "is_sent",
    "made",
    "part",
    "parts",
    "with_delta",
]

DIALECT = "openai_responses"

BETWEEN = "\n\n"
"""What stands between texts that are joined, and between thoughts."""

M = TypeVar("M", bound=Message)


def canonical(message: Message) -> list[Json]:
    """Write one message in canonical form; blocks that have no place are left out."""
    match message:  # by how often they come
        case ToolResult():
            output = _output(message.content, message.attachments)
            return [{"type": "function_call_output", "call_id": message.id, "output": output}]
        case Assistant():
            return _reply(message)
        case User():
            return [{"role": "user", "content": _user_content(message.content)}]
        case System():
            return [{"role": "system", "content": message.content}]


def with_delta(
    message: M,
    wire: Json,
    *,
    sealed: bool = False,
    order: Sequence[int | None] | None = None,
) -> M:
    """Give a message what it lacks to be written as it was on the wire; itself if nothing."""
    data = keep(Unit(canonical(message)), Unit(wire), DIALECT, sealed=sealed, order=order)
    return message if data is None else replace(message, provider_data=data)


def _user_content(blocks: tuple[ContentBlock, ...]) -> Json:
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return blocks[0].text
    return parts(blocks)


def _output(text: str, attachments: tuple[ContentBlock, ...]) -> Json:
    if not attachments:
        return text
    return parts((Text(text), *attachments) if text else attachments)


def parts(blocks: Sequence[ContentBlock]) -> list[Json]:
    """Write the blocks that have a place in this dialect as content parts."""
    return [part(block) for block in blocks if has_place(block)]


def _reply(message: Assistant) -> list[Json]:
    items: list[Json] = [] if message.reasoning is None else [message.reasoning]
    texts = [message.content] if message.content else []
    for block in message.attachments:
        if isinstance(block, Text):
            texts.append(block.text)
        else:
            items.append(made(block))
    if texts or not message.tool_calls:
        items.append({"role": "assistant", "content": BETWEEN.join(texts)})
    items += [_call(call) for call in message.tool_calls]
    return items


def made(block: Image | Audio | File | Wire) -> Json:
    """Give an item that the model made: one of this dialect as it stands, others as a string."""
    match block:
        case Wire(data=data):
            return parse(data) if is_verbatim(block, DIALECT) else data
        case Image() | Audio() | File():
            return url_of(block)


def _call(call: ToolCall) -> Json:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    }


def is_sent(item: Json) -> bool:
    """Tell whether a canonical item is sent as it is; the others only with a delta."""
    return not isinstance(item, str)


Placed: TypeAlias = Text | Image | File | Wire
"""The blocks that can be content parts: a Wire if it is of this dialect."""


def has_place(block: ContentBlock) -> TypeGuard[Placed]:
    """Tell whether a block can be a content part."""
    if isinstance(block, Wire):
        return is_verbatim(block, DIALECT)
    return not isinstance(block, Audio)


def is_inline(block: File) -> bool:
    """Tell whether a file is sent with its bytes; one that is not has no name."""
    return block.url is None or block.url.startswith("data:")


def part(block: Placed) -> Json:
    """Write a block as a content part.

    `detail` is required, and "auto" its default; so is `filename` beside `file_data`.
    """
    match block:
        case Text(text=text):
            return {"type": "input_text", "text": text}
        case Image():
            return {"type": "input_image", "image_url": url_of(block), "detail": "auto"}
        case File(name=name) if is_inline(block):
            return {"type": "input_file", "filename": name or "file", "file_data": url_of(block)}
        case File():
            return {"type": "input_file", "file_url": url_of(block)}
        case Wire(data=data):
            return parse(data)
