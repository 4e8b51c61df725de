"""A user's program that both checkers accept in their strictest mode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never, assert_type

import molo
from molo import (
    Assistant,
    Audio,
    ContentBlock,
    DecodeError,
    EncodeError,
    File,
    FrameError,
    HistoryError,
    Image,
    Message,
    MessageError,
    MoloError,
    ProviderData,
    StreamError,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    parse_arguments,
)


def who(message: Message) -> str:
    match message:
        case System(content):
            return assert_type(content, str)
        case User(content):
            assert_type(content, tuple[ContentBlock, ...])
            return "user"
        case Assistant(content, reasoning, tool_calls):
            assert_type(reasoning, str | None)
            assert_type(tool_calls, tuple[ToolCall, ...])
            return content
        case ToolResult(id, content, is_error=is_error):
            assert_type(is_error, bool)
            return id + content
    assert_never(message)


def what(block: ContentBlock) -> str:
    match block:
        case Text(text):
            return assert_type(text, str)
        case Image(data=data, url=url) | Audio(data=data, url=url):
            assert_type(data, bytes | None)
            return url or ""
        case File(name=name, mime_type=mime_type):
            assert_type(name, str)
            return assert_type(mime_type, str)
        case Wire(dialect, data):
            return assert_type(dialect, str) + assert_type(data, str)
    assert_never(block)


# The types of every field that a program reads.
result = ToolResult("1", "a", is_error=True, attachments=(Image(url="u"),), provider_data=None)
assert_type(result.attachments, tuple[ContentBlock, ...])
assert_type(result.provider_data, ProviderData | None)
sealed = ProviderData(dialect="anthropic", delta="{}", digest="", sealed=True)
assert_type(sealed.sealed, bool)
call = ToolCall("1", "f", "{}")
assert_type((call.id, call.name, call.arguments), tuple[str, str, str])
assert_type(Assistant("a", "r", (call,)).attachments, tuple[ContentBlock, ...])

# Constructors.
assert_type(molo.system("a"), System)
assert_type(molo.user("a"), User)
assert_type(molo.user_blocks([Text("a"), Image(data=b"", mime_type="image/png")]), User)
assert_type(molo.user_blocks(Text(word) for word in ("a", "b")), User)
assert_type(molo.assistant("a"), Assistant)
assert_type(molo.assistant_with_reasoning("a", "r"), Assistant)
assert_type(molo.tool_result("1", "a"), ToolResult)

# Codecs: a list or tuple of any of the messages goes in.
history: list[Message] = [molo.system("a"), molo.user("b")]
users = [molo.user("a"), molo.user("b")]
assert_type(molo.json.encode(history), bytes)
assert_type(molo.json.encode(users), bytes)
assert_type(molo.json.encode((molo.system("a"), molo.user("b"))), bytes)
assert_type(molo.json.decode(b"[]"), list[Message])
assert_type(molo.json.decode("[]"), list[Message])
assert_type(molo.json.decode(bytearray(b"[]")), list[Message])
assert_type(molo.json.encode_message(history[0]), bytes)
assert_type(molo.json.decode_message(memoryview(b"{}")), Message)
assert_type(molo.json.from_builtins([]), list[Message])
assert_type(molo.json.to_builtins(users), list[dict[str, Any]])
assert_type(molo.json.schema(), dict[str, Any])
assert_type(molo.msgpack.encode(history), bytes)
assert_type(molo.msgpack.decode(b"\x90"), list[Message])
assert_type(molo.msgpack.encode_message(users[0]), bytes)
assert_type(molo.msgpack.decode_message(b""), Message)


# Arguments: the type that is asked for is the type that comes.
@dataclass
class Weather:
    city: str


assert_type(parse_arguments(call), dict[str, object])
assert_type(parse_arguments(call, Weather), Weather)
assert_type(parse_arguments(call, dict[str, int]), dict[str, int])
assert_type(parse_arguments(call, list[Weather]), list[Weather])
assert_type(parse_arguments(call, type=Weather).city, str)
assert_type(parse_arguments(call, Weather | None), object)


# Errors: each is a MoloError and a ValueError, and tells its place.
def told(history: Sequence[Message]) -> tuple[str, str, int | None]:
    try:
        molo.msgpack.encode(history)
    except (DecodeError, EncodeError, MessageError, HistoryError, FrameError, StreamError) as error:
        plain: ValueError = error
        mine: MoloError = error
        assert_type(error.path, str)
        return str(plain), mine.text, error.offset
    return "", "", None


# Values are compared, hashed and kept in sets and as keys.
seen: set[Message] = {molo.system("a"), *history}
names: dict[ContentBlock, str] = {Text("a"): "a"}
