"""The Arrow types and schemas of molo: conversations, messages, calls.

All text is `large_string`, all bytes `large_binary`, all lists `large_list`, so that one column can
hold more than 2 GiB. Every field may be null as far as Arrow knows, since engines lose that in any
case; the tables below say where a null can stand, and the reader holds to it.

A message:

| field | System | User | Assistant | ToolResult |
|---|---|---|---|---|
| `role` | `"system"` | `"user"` | `"assistant"` | `"tool"` |
| `content` | text | the text of one Text block; null for anything else | text | text |
| `blocks` | empty | all blocks, if not one Text alone | attachments | attachments |
| `reasoning` | null | null | text or null | null |
| `tool_calls` | empty | empty | calls | empty |
| `call_id` | null | null | null | `ToolResult.id` |
| `is_error` | null | null | null | true or false |
| `provider_data` | a struct or null | likewise | likewise | likewise |

A block has `type` (`text`, `image`, `audio`, `file`, `wire`), and of the others what its kind has:
`text`; `data` or `url`, and `mime_type`; `name`; `dialect` and `json` (`Wire.data`). The rest is
null.
"""

import pyarrow as pa

__all__ = [
    "BLOCK",
    "CALL",
    "CALLS",
    "CHANGE",
    "CONVERSATIONS",
    "FAULT",
    "MESSAGE",
    "MESSAGES",
    "PROBLEM",
    "PROVIDER_DATA",
]

_TEXT = pa.large_string()
_BYTES = pa.large_binary()
_NUMBER = pa.int64()
_FLAG = pa.bool_()

CALL = pa.struct([("id", _TEXT), ("name", _TEXT), ("arguments", _TEXT)])
"""A `molo.ToolCall`."""

BLOCK = pa.struct(
    [
        ("type", _TEXT),
        ("text", _TEXT),
        ("data", _BYTES),
        ("url", _TEXT),
        ("mime_type", _TEXT),
        ("name", _TEXT),
        ("dialect", _TEXT),
        ("json", _TEXT),
    ]
)
"""A content block of any kind."""

PROVIDER_DATA = pa.struct(
    [("dialect", _TEXT), ("delta", _TEXT), ("digest", _TEXT), ("sealed", _FLAG)]
)
"""A `molo.ProviderData`."""

MESSAGE = pa.struct(
    [
        ("role", _TEXT),
        ("content", _TEXT),
        ("blocks", pa.large_list(BLOCK)),
        ("reasoning", _TEXT),
        ("tool_calls", pa.large_list(CALL)),
        ("call_id", _TEXT),
        ("is_error", _FLAG),
        ("provider_data", PROVIDER_DATA),
    ]
)
"""A message of any role."""

FAULT = pa.struct(
    [("code", _TEXT), ("reason", _TEXT), ("source", _TEXT), ("length", _NUMBER), ("raw", _BYTES)]
)
"""What a `molo.ingest` Fault says beside its line and offset."""

CONVERSATIONS = pa.schema(
    [
        ("id", _TEXT),
        ("line", _NUMBER),
        ("offset", _NUMBER),
        ("messages", pa.large_list(MESSAGE)),
        ("rest", _TEXT),
        ("single", _FLAG),
        ("origin", _TEXT),
        ("fault", FAULT),
    ]
)
"""One row a conversation: a Record of `molo.ingest`, or a Fault in its place.

`id` is the member `id` of the record's other members, if that is a text or a number; else the
number of its line; null where there is neither. It is made for queries and not read back. `rest`
and `origin` are JSON text. Of a Fault, `messages`, `rest`, `single` and `origin` are null; of a
Record, `fault` is, and `origin` where there is none.
"""

MESSAGES = pa.schema([("at", _NUMBER), *MESSAGE])
"""One row a message: what `to_messages` puts behind the columns that it repeats."""

CALLS = pa.schema(
    [
        ("at", _NUMBER),
        ("part", _NUMBER),
        ("call_id", _TEXT),
        ("name", _TEXT),
        ("arguments", _TEXT),
        ("result_at", _NUMBER),
        ("is_error", _FLAG),
    ]
)
"""One row a tool call: what `to_calls` puts behind the columns that it repeats.

`at` is the index of the Assistant in its conversation, `part` that of the call in it, `result_at`
that of its result. A dangling call has null in `result_at` and `is_error`.
"""

PROBLEM = pa.struct([("code", _TEXT), ("at", _NUMBER), ("part", _NUMBER), ("text", _TEXT)])
"""A `molo.history.Problem`; `check` adds lists of them."""

CHANGE = pa.struct(
    [("code", _TEXT), ("at", _NUMBER), ("to", _NUMBER), ("part", _NUMBER), ("text", _TEXT)]
)
"""A `molo.history.Change`, without what was replaced; `repair` adds lists of them."""
