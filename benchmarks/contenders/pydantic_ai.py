"""pydantic-ai: its own messages, through the adapter that it has for storing them.

What stands between two replies is one request with a part for each message. Fields that molo has
no value for have their defaults, and every time is the same. All fields are written, as `dump_json`
does unless told otherwise; with `exclude_none` it would write in two thirds of the time, and read
about as fast.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)

from benchmarks.contenders import Call
from benchmarks.sent import text_of
from molo import Assistant, Message, System, ToolCall, ToolResult, User, user

PACKAGES = ("pydantic-ai-slim", "pydantic", "pydantic-core")

decode_json = ModelMessagesTypeAdapter.validate_json
encode_json = ModelMessagesTypeAdapter.dump_json

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def convert(history: Sequence[Message]) -> list[ModelMessage]:
    """Make requests and responses of a history."""
    messages: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    names: dict[str, str] = {}
    for message in history:
        if not isinstance(message, Assistant):
            parts.append(_request_part(message, names))
            continue
        names |= {call.id: call.name for call in message.tool_calls}
        if parts:
            messages.append(ModelRequest(parts))
            parts = []
        messages.append(ModelResponse(list(_response_parts(message)), timestamp=_NOON))
    return [*messages, ModelRequest(parts)] if parts else messages


def _request_part(message: System | User | ToolResult, names: dict[str, str]) -> ModelRequestPart:
    match message:
        case System(content=text):
            return SystemPromptPart(text, timestamp=_NOON)
        case User():
            return UserPromptPart(text_of(message), timestamp=_NOON)
        case ToolResult(id=id, content=text):
            return ToolReturnPart(names[id], text, id, timestamp=_NOON)


def _response_parts(message: Assistant) -> Iterator[ModelResponsePart]:
    if message.reasoning is not None:
        yield ThinkingPart(message.reasoning)
    yield TextPart(message.content)
    for call in message.tool_calls:
        yield ToolCallPart(call.name, call.arguments, call.id)


def restore(own: Sequence[ModelMessage]) -> list[Message]:
    """Make a history of requests and responses."""
    history: list[Message] = []
    for message in own:
        if isinstance(message, ModelRequest):
            history += map(_message, message.parts)
        else:
            history.append(_assistant(message.parts))
    return history


def _message(part: ModelRequestPart) -> Message:
    match part:
        case SystemPromptPart(content=text):
            return System(text)
        case UserPromptPart(content=str(text)):
            return user(text)
        case ToolReturnPart(content=str(text), tool_call_id=id):
            return ToolResult(id, text)
        case _:
            raise ValueError("a part that no message was converted to")


def _assistant(parts: Sequence[ModelResponsePart]) -> Assistant:
    content = "".join(part.content for part in parts if isinstance(part, TextPart))
    reasoning = [part.content for part in parts if isinstance(part, ThinkingPart)]
    calls = [_call(part) for part in parts if isinstance(part, ToolCallPart)]
    return Assistant(content, reasoning[0] if reasoning else None, tuple(calls))


def _call(part: ToolCallPart) -> ToolCall:
    if not isinstance(part.args, str):
        raise ValueError("arguments that came back as another thing than their text")
    return ToolCall(part.tool_call_id, part.tool_name, part.args)


def _repair(history: list[Message]) -> Call:
    own = convert(history)
    if repair_messages(own) != own:
        raise ValueError("pydantic-ai repaired a valid history")
    return partial(repair_messages, own)


CALLS = {"repair_messages": _repair}
