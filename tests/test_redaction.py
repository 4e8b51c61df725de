"""What was blackened in a history is in no request that is written of it, for whatever vendor."""

import json
from functools import cache
from itertools import product

import pytest
from msgspec.structs import replace
from recordings import DIALECTS, body, histories, needs_corpus, records

from molo import Assistant, Text, ToolResult, User
from molo.history import map_text

pytestmark = needs_corpus
PAIRS = pytest.mark.parametrize(("source", "target"), [*product(DIALECTS, DIALECTS)])

# Keys whose strings are no text in some dialect: words of the protocol, ids, names of tools, and
# what media are and where. The tests of each dialect mark all that it can.
NO_TEXT = frozenset(
    [
        *("role", "type", "id", "call_id", "tool_call_id", "tool_use_id", "name", "namespace"),
        *("format", "status", "execution", "phase", "toolType", "tool_type", "language", "outcome"),
        *("data", "url", "image_url", "file_url", "file_data", "document_url", "file_id", "result"),
        *("media_type", "mimeType", "mime_type", "fileUri", "file_uri", "output_format"),
        *("thoughtSignature", "thought_signature"),
    ]
)


def marked(value, key=None):
    """Put a word into every text of a wire value, and into the texts of JSON in text."""
    if isinstance(value, dict):
        return {name: marked(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [marked(item, key) for item in value]
    if key == "arguments" and isinstance(value, str) and value[:1] == "{" and value[-1:] == "}":
        return json.dumps(marked(json.loads(value)))
    return f"Ada {value} Ada" if isinstance(value, str) and key not in NO_TEXT else value


@cache
def marked_histories(dialect):
    read = DIALECTS[dialect].from_request
    return [read(json.dumps(marked(body(dialect, r)))).history for r in records(dialect)[::3]]


@PAIRS
def test_a_word_that_was_blackened_is_in_no_request(source, target):
    write = DIALECTS[target].to_request_json
    before = sum(write(history).count(b"Ada") for history in marked_histories(source))
    redacted = [
        map_text(history, lambda text: text.replace("Ada", "[name]"))
        for history in marked_histories(source)
    ]
    assert before > 1000
    assert [history for history in redacted if b"Ada" in write(history)] == []


@cache
def edited_histories(dialect):
    """Write other words into every message and leave what the vendor said of it where it is."""
    return [[*map(edited, history)] for history in [*histories(dialect).values()][1::3]]


def edited(message):
    match message:
        case User():
            return replace(message, content=(Text("new"), Text("words")))
        case Assistant():
            return replace(message, content="new words", reasoning=None, attachments=())
        case ToolResult():
            return replace(message, content="new words", attachments=())
        case system:
            return replace(system, content="new words")


@PAIRS
def test_an_edited_message_is_written_as_if_no_vendor_had_said_a_word(source, target):
    write = DIALECTS[target].to_request
    for history in edited_histories(source):
        bare = [replace(message, provider_data=None) for message in history]
        assert write(history).request == write(bare).request
