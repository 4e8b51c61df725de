"""What a message has to say: its text, its blocks, and whether there is anything at all.

The functions compare exact types: a failing isinstance against a msgspec type takes long.
"""

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
    "is_taken",
    "own_text",
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
    if type(message) is Assistant or type(message) is ToolResult:
        return message.attachments
    return message.content if isinstance(message, User) else ()


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
    return message.tool_calls if type(message) is Assistant else ()


def own_text(message: Message) -> str:
    """Give the text of a message that stands in no block; a User has none."""
    if type(message) is Assistant or type(message) is ToolResult or type(message) is System:
        return message.content
    return ""


def text_rule(message: Message, rules: Rules) -> TextRule:
    """Say what the text of this message has to be."""
    kind = type(message)
    if kind is System:
        return "any"
    return rules.result_text if kind is ToolResult else rules.text


def block_rule(message: Message, rules: Rules) -> tuple[BlockKind, ...]:
    """Say which kinds of blocks this message may hold."""
    kind = type(message)
    if kind is User:
        return rules.user_blocks
    if kind is Assistant:
        return rules.assistant_blocks
    return rules.result_blocks if kind is ToolResult else ()


def is_empty(message: Message, rules: Rules) -> bool:
    """Tell whether a message says nothing to the vendor of these rules.

    Blocks that the vendor does not take say nothing, except text, and neither does the data of
    another dialect. Data of its own stands for something.
    """
    if own_text(message):
        return False
    if type(message) is Assistant and (message.tool_calls or message.reasoning):
        return False
    if _is_readable(message, rules):
        return False
    for block in blocks(message):
        if type(block) is Text or is_taken(block, message, rules):
            return False
    return True


def is_taken(block: ContentBlock, message: Message, rules: Rules) -> bool:
    """Tell whether a block is one that the vendor takes in a message like this."""
    foreign = type(block) is Wire and rules.dialect not in {"", block.dialect}
    return not foreign and KINDS[type(block)] in block_rule(message, rules)


def is_sealed(message: Message, rules: Rules) -> bool:
    """Tell whether a message has sealed data that the vendor of these rules can read."""
    extra = message.provider_data
    return (
        extra is not None and extra.sealed and rules.reads_sealed and _is_readable(message, rules)
    )


def _is_readable(message: Message, rules: Rules) -> bool:
    extra = message.provider_data
    return extra is not None and rules.dialect in {"", extra.dialect}
