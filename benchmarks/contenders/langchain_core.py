"""langchain-core: its own messages, through the dicts that it has for storing them.

With a pydantic TypeAdapter of one's own, of its union `AnyMessage`, it would write in about half
the time, and read small messages more slowly.

Reasoning is where its integrations put it, and where `content_blocks` looks for it. Arguments are
parsed, as they have to be here; the texts come back the same, since they were written by json.

`CALLS` trim to half of the messages, and to half of the tokens by the estimate that it recommends
for the hot path, and read the dicts of OpenAI's form.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    messages_from_dict,
    messages_to_dict,
    trim_messages,
)
from langchain_core.messages import ToolCall as OwnCall
from langchain_core.messages.utils import count_tokens_approximately

from benchmarks.contenders import Call
from benchmarks.sent import as_chat, text_of
from molo import Assistant, Message, System, ToolCall, ToolResult, User, user

PACKAGES = ("langchain-core", "pydantic", "pydantic-core")


def decode_json(data: bytes) -> list[BaseMessage]:
    """Read what `encode_json` wrote."""
    return messages_from_dict(json.loads(data))


def encode_json(own: Sequence[BaseMessage]) -> bytes:
    """Write all fields, as `messages_to_dict` does, in as few bytes as the others."""
    return json.dumps(messages_to_dict(own), ensure_ascii=False, separators=(",", ":")).encode()


def convert(history: Sequence[Message]) -> list[BaseMessage]:
    """Make messages of a history."""
    return [_own(message) for message in history]


def _own(message: Message) -> BaseMessage:
    match message:
        case System(content=text):
            return SystemMessage(text)
        case User():
            return HumanMessage(text_of(message))
        case Assistant(content=text, reasoning=reasoning, tool_calls=calls):
            more = {} if reasoning is None else {"reasoning_content": reasoning}
            return AIMessage(text, additional_kwargs=more, tool_calls=list(map(_own_call, calls)))
        case ToolResult(id=id, content=text):
            return ToolMessage(text, tool_call_id=id)


def _own_call(call: ToolCall) -> OwnCall:
    return OwnCall(name=call.name, args=json.loads(call.arguments), id=call.id)


def restore(own: Sequence[BaseMessage]) -> list[Message]:
    """Make a history of messages."""
    return [_message(message) for message in own]


def _message(message: BaseMessage) -> Message:
    match message:
        case SystemMessage(content=str(text)):
            return System(text)
        case HumanMessage(content=str(text)):
            return user(text)
        case AIMessage(content=str(text), additional_kwargs=more, tool_calls=calls):
            return Assistant(text, more.get("reasoning_content"), tuple(map(_call, calls)))
        case ToolMessage(content=str(text), tool_call_id=id):
            return ToolResult(id, text)
        case _:
            raise ValueError("a message that none was converted to")


def _call(own: OwnCall) -> ToolCall:
    arguments = json.dumps(own["args"], ensure_ascii=False)
    return ToolCall(own["id"] or "", own["name"], arguments)


def _trimmed_by_messages(history: list[Message]) -> Call:
    return _trimmed(history, len)


def _trimmed_by_tokens(history: list[Message]) -> Call:
    return _trimmed(history, count_tokens_approximately)


def _trimmed(history: list[Message], count: Callable[[list[BaseMessage]], int]) -> Call:
    own = convert(history)
    budget = count(own) // 2

    def trim() -> list[BaseMessage]:
        return trim_messages(
            own, max_tokens=budget, token_counter=count, start_on="human", include_system=True
        )

    if count(trim()) > budget or not set(restore(trim())) < set(history):
        raise ValueError("langchain-core trimmed to something else")
    return trim


def _read(history: list[Message]) -> Call:
    dicts = as_chat(history)
    if restore(convert_to_messages(dicts)) != history:
        raise ValueError("langchain-core read something else")
    return partial(convert_to_messages, dicts)


CALLS = {
    "trim_messages by len": _trimmed_by_messages,
    "trim_messages by count_tokens_approximately": _trimmed_by_tokens,
    "convert_to_messages": _read,
}
