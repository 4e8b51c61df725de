"""The typed, vendor-neutral conversation history of an LLM agent: plain data and pure functions.

A history is a list of messages; a message is one of four frozen Structs.

>>> import molo
>>> history: list[molo.Message] = [
...     molo.system("You know the weather."),
...     molo.user("How is it in Beijing?"),
...     molo.Assistant(
...         "",
...         reasoning="I need the tool.",
...         tool_calls=(molo.ToolCall("call_1", "weather", '{"city":"Beijing"}'),),
...     ),
...     molo.tool_result("call_1", "Sunny, 23°C"),
...     molo.assistant("Sunny, 23 degrees."),
... ]

The codecs write it as JSON or MessagePack and read it back, to the same value.

>>> molo.json.decode(molo.json.encode(history)) == history
True
>>> molo.msgpack.decode(molo.msgpack.encode(history)) == history
True

Bad data is one error that says what was expected, what came and where.

>>> molo.json.decode('[{"role":"user","content":"Hi"}]')
Traceback (most recent call last):
molo.errors.DecodeError: Expected `array`, got `str` - at `$[0].content`

`molo.history` finds every problem that would make a vendor reject a history, and mends it.

>>> torn = history[:3] + history[4:]
>>> [problem.code for problem in molo.history.check(torn)]
['dangling_call']
>>> repaired = molo.history.repair(torn)
>>> [(change.code, change.at, change.to) for change in repaired.changes]
[('dangling_call', 2, 4)]

A type checker knows every type; `match` over the union is checked for exhaustiveness.

>>> for message in history:
...     match message:
...         case molo.Assistant(tool_calls=calls):
...             for call in calls:
...                 print(call.name, molo.parse_arguments(call))
...         case molo.System() | molo.User() | molo.ToolResult():
...             pass
weather {'city': 'Beijing'}

Messages are not changed but replaced, by `msgspec.structs.replace` (from Python 3.13 also
`copy.replace`).

>>> import msgspec
>>> msgspec.structs.replace(history[4], content="Sunny.")
Assistant(content='Sunny.')
"""

from molo import history, json, msgpack
from molo.errors import (
    DecodeError,
    EncodeError,
    FrameError,
    HistoryError,
    MessageError,
    MoloError,
    StreamError,
)
from molo.message import (
    Assistant,
    Audio,
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
    assistant,
    assistant_with_reasoning,
    parse_arguments,
    system,
    tool_result,
    user,
    user_blocks,
)

__all__ = [
    "Assistant",
    "Audio",
    "ContentBlock",
    "DecodeError",
    "EncodeError",
    "File",
    "FrameError",
    "HistoryError",
    "Image",
    "Message",
    "MessageError",
    "MoloError",
    "ProviderData",
    "StreamError",
    "System",
    "Text",
    "ToolCall",
    "ToolResult",
    "User",
    "Wire",
    "assistant",
    "assistant_with_reasoning",
    "history",
    "json",
    "msgpack",
    "parse_arguments",
    "system",
    "tool_result",
    "user",
    "user_blocks",
]
