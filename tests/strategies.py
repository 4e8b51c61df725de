"""Hypothesis strategies for the data model: every type and every field, with any text.

`texts`, `blocks`, `messages` and `histories` are for any test of molo; all values that they give
can be written in both native forms (text is Unicode without lone surrogates).
"""

from hypothesis import strategies as st

from molo import (
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
)

_awkward = [
    "",
    " ",
    "null",
    "\x00",
    "\ufeff",
    "\\ud83d",
    '"',
    "\U0001f600",
    "\u2028",
    "x` - at `$.a",
]
texts: st.SearchStrategy[str] = st.text(max_size=20) | st.sampled_from(_awkward)
ids: st.SearchStrategy[str] = texts | st.sampled_from(["call_0", "call_1", "functions.f:0"])
json_texts: st.SearchStrategy[str] = texts | st.sampled_from(['{"city":"Beijing"}', "{", "0.10"])


def _media(kind: type[Image] | type[Audio]) -> st.SearchStrategy[Image | Audio]:
    return st.builds(kind, data=st.binary(max_size=20), mime_type=texts) | st.builds(
        kind, url=texts, mime_type=texts
    )


images = _media(Image)
audios = _media(Audio)
files: st.SearchStrategy[File] = st.builds(
    File, data=st.binary(max_size=20), mime_type=texts, name=texts
) | st.builds(File, url=texts, mime_type=texts, name=texts)
wires: st.SearchStrategy[Wire] = st.builds(Wire, texts, json_texts)
blocks: st.SearchStrategy[ContentBlock] = st.one_of(
    st.builds(Text, texts), images, audios, files, wires
)
attachments: st.SearchStrategy[tuple[ContentBlock, ...]] = st.lists(blocks, max_size=3).map(tuple)
tool_calls: st.SearchStrategy[ToolCall] = st.builds(ToolCall, ids, texts, json_texts)
provider_data: st.SearchStrategy[ProviderData] = st.builds(
    ProviderData, dialect=texts, delta=json_texts, digest=texts, sealed=st.booleans()
)
_extras = {"provider_data": st.none() | provider_data}

systems: st.SearchStrategy[System] = st.builds(System, texts, **_extras)
users: st.SearchStrategy[User] = st.builds(User, attachments, **_extras)
assistants: st.SearchStrategy[Assistant] = st.builds(
    Assistant,
    texts,
    st.none() | texts,
    st.lists(tool_calls, max_size=3).map(tuple),
    attachments=attachments,
    **_extras,
)
tool_results: st.SearchStrategy[ToolResult] = st.builds(
    ToolResult, ids, texts, is_error=st.booleans(), attachments=attachments, **_extras
)
messages: st.SearchStrategy[Message] = st.one_of(systems, users, assistants, tool_results)
histories: st.SearchStrategy[list[Message]] = st.lists(messages, max_size=6)
