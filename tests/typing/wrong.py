"""A user's program full of mistakes.

A mark names what is reported of its line: `E:`, the codes of mypy, `|`, the rules of pyright.
"""

from typing import assert_never

import molo
from molo import (
    Assistant,
    ContentBlock,
    File,
    Image,
    Message,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    parse_arguments,
)

message = System("a")
call = ToolCall("1", "f", "{}")
image = Image(url="u")
reply = Assistant("a", None, (call,))

# Frozen fields.
message.content = "b"  # E: misc | reportAttributeAccessIssue
call.arguments = ""  # E: misc | reportAttributeAccessIssue
image.url = None  # E: misc | reportAttributeAccessIssue
reply.tool_calls += (call,)  # E: misc | reportAttributeAccessIssue
reply.provider_data = None  # E: misc | reportAttributeAccessIssue

# Fields of a wrong type.
System(5)  # E: arg-type | reportArgumentType
System(None)  # E: arg-type | reportArgumentType
User("Hi")  # E: arg-type | reportArgumentType
User([Text("Hi")])  # E: arg-type | reportArgumentType
User((call,))  # E: arg-type | reportArgumentType
Assistant("a", tool_calls=[call])  # E: arg-type | reportArgumentType
Image(data="text")  # E: arg-type | reportArgumentType
ToolCall("1", "f", {"city": "Beijing"})  # E: arg-type | reportArgumentType
ToolResult("1", "a", is_error="yes")  # E: arg-type | reportArgumentType

# Fields that are missing or unknown.
System()  # E: call-arg | reportCallIssue
ToolCall("1", "f")  # E: call-arg | reportCallIssue
ProviderData(dialect="d", delta="")  # E: call-arg | reportCallIssue
System("a", name="root")  # E: call-arg | reportCallIssue

# Keyword-only fields by position.
System("a", None)  # E: call-arg | reportCallIssue
User((), None)  # E: call-arg | reportCallIssue
Assistant("a", None, (), ())  # E: call-arg | reportCallIssue
ToolResult("1", "a", True)  # E: call-arg | reportCallIssue
Image(b"")  # E: call-arg | reportCallIssue
File("name")  # E: arg-type, call-arg | reportCallIssue
ProviderData("d", "", "")  # E: call-arg | reportCallIssue

# A field that only some of the variants have.
history: list[Message] = molo.json.decode(b"[]")
failed: bool = history[0].is_error  # E: union-attr | reportAttributeAccessIssue

# What the codecs do not take.
molo.json.encode([call])  # E: list-item | reportArgumentType
molo.json.encode(message)  # E: arg-type | reportArgumentType
molo.msgpack.decode("[]")  # E: arg-type | reportArgumentType
molo.msgpack.encode_message(history)  # E: arg-type | reportArgumentType
count: int = parse_arguments(call, dict[str, int])  # E: assignment | reportAssignmentType
number: int = parse_arguments(call)["a"]  # E: assignment | reportAssignmentType


def who(message: Message) -> str:
    match message:  # E: exhaustive-match | reportMatchNotExhaustive
        case System() | User():
            return "human"
        case Assistant():
            return "model"
    assert_never(message)  # E: arg-type | reportArgumentType


def what(block: ContentBlock) -> str:
    match block:  # E: exhaustive-match | reportMatchNotExhaustive
        case Text(text):
            return text
        case Image() | File() | Wire():
            return ""
    assert_never(block)  # E: arg-type | reportArgumentType


def role(message: Message) -> None:
    match message:  # E: exhaustive-match | reportMatchNotExhaustive
        case System() | User() | Assistant():
            pass
