"""Conversations as functions over histories take them: as they are sent to a model.

The generated ones have no content but text, no data of vendors, and nothing to repair.
"""

from collections.abc import Sequence
from typing import Any

from molo import Assistant, Message, Text, User
from molo.dialects import openai_chat
from molo.history import COMMON, MISTRAL, Rules, repair, strip_reasoning


def as_sent(history: list[Message]) -> list[Message]:
    """Leave the last reply out: what is sent to a model ends with what it shall answer."""
    return history[:-1] if isinstance(history[-1], Assistant) else history


def for_mistral(history: Sequence[Message]) -> list[Message]:
    """Give calls ids that Mistral takes, and leave the reasoning out."""
    return repair(strip_reasoning(history), MISTRAL).history


def as_chat(history: Sequence[Message], rules: Rules = COMMON) -> list[dict[str, Any]]:
    """Write the messages of a request in the form of OpenAI's Chat Completions."""
    messages: list[dict[str, Any]] = openai_chat.to_request(history, rules=rules).request[
        "messages"
    ]
    return messages


def text_of(message: User) -> str:
    """Give a user's text."""
    match message.content:
        case (Text(text=text),):
            return text
        case _:
            raise ValueError("Expected one block of text")
