"""Histories and rules that nobody sends on purpose, as Hypothesis strategies.

Ids, names and texts come from small pools, so that they clash; every field of `Rules` is drawn on
its own, so that rules also contradict themselves.
"""

from hypothesis import strategies as st

from molo import (
    Assistant,
    Audio,
    File,
    Image,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)
from molo.history import Rules

IDS = ["a", "a_2", "a_3", "b", "call_0", "", "!", "é", "functions.f:0", "x" * 9, "9", "\ud800"]
TEXTS = [
    "",
    " ",
    "\n\t",
    "Hi",
    "Hi ",
    "two\n\nlines",
    "\u3000",
    "\ud83d",
    "cut \udc00",
    "(no content)",
]
ARGUMENTS = [
    "",
    "  ",
    "{}",
    '{"a":1}',
    '{"a":1,"a":2}',
    '{"a":{"b":1},"c":{"b":2}}',
    '{"a":":","\\u0061":1}',
    '[{"a":1}]',
    "null",
    "7",
    '"{}"',
    "NaN",
    '{"a":NaN}',
    '{"a":[-Infinity],"a":0}',
    '{"a":"NaN"}',
    "1NaN",
    '{"a":1',
    '{"a":"\\ud800"}',
    '{"a":"\ud800"}',
    "[" * 300 + "]" * 300,
    "[" * 2000,
    '{"a":1e400}',
    "\u00a0",
    "\x00",
]
NAMES = ["f", "get_weather", "", "two words", "n" * 70, "a.b:c", "\ud800"]

ids = st.sampled_from(IDS)
texts = st.sampled_from(TEXTS)

provider_data = st.none() | st.builds(
    ProviderData,
    dialect=st.sampled_from(["anthropic", "openai_chat"]),
    delta=st.sampled_from(["{}", '{"x":"\ud800"}']),
    digest=st.just("0"),
    sealed=st.booleans(),
)
media = {"url": st.sampled_from(["https://example.org/a", "\ud800"]), "mime_type": st.just("")}
blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(Image, **media),
    st.builds(Audio, data=st.just(b"\xff"), mime_type=st.just("audio/wav")),
    st.builds(File, **media, name=texts),
    st.builds(Wire, st.sampled_from(["anthropic", "gemini"]), st.just("{}")),
)
some_blocks = st.lists(blocks, max_size=2).map(tuple)

calls = st.builds(ToolCall, ids, st.sampled_from(NAMES), st.sampled_from(ARGUMENTS))
plain_calls = st.builds(ToolCall, ids, st.just("f"), st.just("{}"))
systems = st.builds(System, texts, provider_data=provider_data)
users = st.builds(User, some_blocks, provider_data=provider_data)
replies = st.builds(
    Assistant,
    texts,
    st.none() | texts,
    st.lists(calls | plain_calls, max_size=3).map(tuple),
    attachments=st.just(()) | some_blocks,
    provider_data=provider_data,
)
results = st.builds(
    ToolResult,
    ids,
    texts,
    is_error=st.booleans(),
    attachments=st.just(()) | some_blocks,
    provider_data=provider_data,
)
messages = st.one_of(replies, results, results, users, systems)

histories = st.lists(messages, max_size=12)
"""Any messages in any order."""

ROLES = ("system", "user", "assistant", "tool")
KINDS = ("text", "image", "audio", "file", "wire")
ALPHABETS = ["any", "alnum", "word", "dotted"]


def subsets(items):
    return st.lists(st.sampled_from(items), unique=True).map(tuple)


RULE_FIELDS = {
    "vendor": st.sampled_from(["", "openai"]),
    "dialect": st.sampled_from(["", "anthropic", "openai_chat"]),
    "results": st.sampled_from(["block", "anywhere"]),
    "results_in_call_order": st.booleans(),
    "split_replies": st.booleans(),
    "alternation": st.booleans(),
    "id_chars": st.sampled_from(ALPHABETS),
    "id_min": st.integers(0, 10),
    "id_max": st.none() | st.integers(0, 12),
    "id_scope": st.sampled_from(["step", "history"]),
    "name_chars": st.sampled_from(ALPHABETS),
    "name_max": st.none() | st.integers(0, 64),
    "arguments": st.sampled_from(["json", "object", "parsed"]),
    "arguments_max": st.none() | st.integers(0, 40),
    "system": st.sampled_from(["anywhere", "leading", "refused"]),
    "needs_user": st.booleans(),
    "first_roles": subsets(ROLES),
    "last_roles": subsets(ROLES),
    "text": st.sampled_from(["any", "not_empty", "not_blank"]),
    "result_text": st.sampled_from(["any", "not_empty", "not_blank"]),
    "final_trailing_blank": st.booleans(),
    "reasoning": st.sampled_from(["optional", "required", "refused"]),
    "reasoning_in": st.sampled_from(["all", "tool_turns", "current_turn", "calls"]),
    "empty_reasoning": st.booleans(),
    "sealed_reasoning": st.booleans(),
    "reads_sealed": st.booleans(),
    "user_blocks": subsets(KINDS),
    "assistant_blocks": subsets(KINDS),
    "result_blocks": subsets(KINDS),
}
rules = st.fixed_dictionaries({}, optional=RULE_FIELDS).map(lambda given: Rules(**given)) | (
    st.fixed_dictionaries(RULE_FIELDS).map(lambda given: Rules(**given))
)
"""Rules with some fields, or all of them, drawn on their own."""
