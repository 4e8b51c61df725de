"""What a message has to say: its text, its blocks, and whether there is anything at all."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from molo.history.rules import BlockKind, Rules
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
    "KINDS",
    "TextRule",
    "block_rule",
    "blocks",
    "calls",
    "is_empty",
    "is_sealed",
    "text_rule",
    "with_blocks",
]

TextRule = Literal["any", "not_empty", "not_blank"]

KINDS: Mapping[type[ContentBlock], BlockKind] = {
    Text: "text",
    Image: "image",
    Audio: "audio",
    File: "file",
    Wire: "wire",
}


def blocks(message: Message) -> tuple[ContentBlock, ...]:
    """List the blocks of a message: its content if it is a User, else its attachments."""
    match message:
        case System():
            return ()
        case User():
            return message.content
        case Assistant() | ToolResult():
            return message.attachments


def with_blocks(message: Message, new: tuple[ContentBlock, ...]) -> Message:
    """Put other blocks in the place of those that `blocks` lists; a System stays as it is."""
    match message:
        case System():
            return message
        case User():
            return msgspec.structs.replace(message, content=new)
        case Assistant() | ToolResult():
            return msgspec.structs.replace(message, attachments=new)


def calls(message: Message) -> tuple[ToolCall, ...]:
    """List the calls of a message; only an Assistant has any."""
    return message.tool_calls if isinstance(message, Assistant) else ()


def text_rule(message: Message, rules: Rules) -> TextRule:
    """Say what the text of this message has to be."""
    match message:
        case System():
            return "any"
        case User() | Assistant():
            return rules.text
        case ToolResult():
            return rules.result_text


def block_rule(message: Message, rules: Rules) -> tuple[BlockKind, ...]:
    """Say which kinds of blocks this message may hold."""
    match message:
        case System():
            return ()
        case User():
            return rules.user_blocks
        case Assistant():
            return rules.assistant_blocks
        case ToolResult():
            return rules.result_blocks


def is_empty(message: Message) -> bool:
    """Tell whether a message says nothing. Whatever a vendor's data stands for is something."""
    if message.provider_data is not None or blocks(message):
        return False
    match message:
        case User():
            return True
        case Assistant():
            return not (message.content or message.tool_calls or message.reasoning)
        case System() | ToolResult():
            return not message.content


def is_sealed(message: Message, rules: Rules) -> bool:
    """Tell whether a message has sealed data that the vendor of these rules can read."""
    extra = message.provider_data
    return extra is not None and extra.sealed and rules.dialect in {"", extra.dialect}
