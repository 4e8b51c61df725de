"""The dialect of Anthropic's Messages: without loss, or with its name."""

import json
import random
import sys
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import histories

import molo
from molo import (
    Assistant,
    Audio,
    DecodeError,
    EncodeError,
    File,
    Image,
    ProviderData,
    StreamError,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)
from molo.dialects import anthropic
from molo.dialects.anthropic import reading, strict
from molo.dialects.loss import BrokenStreamError
from molo.dialects.wire import parse
from molo.history import rules
from molo.history.text import map_text

# Levels of nesting that msgspec reads, and Python code does not; from 3.12 on, C goes deeper.
TOO_DEEP = 600 if sys.version_info < (3, 12) else 2_000

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
CASES = Path(__file__).parents[2] / "shared" / "cases"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recordings are not here")


@pytest.fixture(scope="module")
def records():
    files = ("anthropic.jsonl", "anthropic__response_only.jsonl")
    return [
        json.loads(line) for name in files for line in (CORPUS / name).read_bytes().splitlines()
    ]


@pytest.fixture(scope="module")
def requests(records):
    """The conversation part of every recorded request but the one whose message is a string."""
    return [
        {key: record[key] for key in ("system", "messages") if key in record}
        for record in records
        if "messages" in record and record["messages"] != ["Invalid content"]
    ]


@pytest.fixture(scope="module")
def answers(records):
    return [record["response"] for record in records if "response" in record]


@pytest.fixture(scope="module")
def streams(records):
    return [record["stream_events"] for record in records if "stream_events" in record]


def written(history, **options):
    """Write a history that must lose nothing."""
    result = anthropic.to_request(history, **options)
    assert result.losses == ()
    assert json.loads(anthropic.to_request_json(history, **options)) == result.request
    return result.request


def is_same(one, other):
    """Compare as JSON: `true` is not `1`."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def reply_content(message):
    (written_message,) = written([message])["messages"]
    assert written_message["role"] == "assistant"
    return written_message["content"]


# --- The recordings -------------------------------------------------------------------------------


@needs_corpus
def test_recorded_requests_come_back_key_for_key(requests, capsys):
    assert len(requests) == 698
    for body in requests:
        whole = {"model": "m", "tools": [{}], **body}
        for request in (body, whole, json.dumps(whole), json.dumps(body, indent=1).encode()):
            read = anthropic.from_request(request)
            assert read.losses == ()
            assert is_same(written(read.history, envelope=read.envelope), body)
    histories = [anthropic.from_request(body).history for body in requests]
    messages = [message for history in histories for message in history]
    deltas = [message.provider_data.delta for message in messages if message.provider_data]
    by_types = sum(strict.read_json(json.dumps(body)) is not None for body in requests)
    with capsys.disabled():
        sys.stdout.write(
            f"\nanthropic: {len(requests)} requests, {by_types} by the strict path; "
            f"{len(messages)} messages, {len(deltas)} with a delta, "
            f"of {sum(map(len, deltas)) / len(deltas):.0f} characters on average\n"
        )


@needs_corpus
def test_recorded_answers_come_back_key_for_key(answers):
    assert len(answers) == 510
    for answer in answers:
        for response in (answer, json.dumps(answer), json.dumps(answer, indent=1).encode()):
            reply = anthropic.from_response(response)
            assert is_same(reply_content(reply.message), answer["content"])
            left = {key: answer[key] for key in answer if key not in ("role", "content")}
            assert is_same(json.loads(reply.rest), left)


@needs_corpus
def test_a_recorded_message_that_is_a_string_is_refused_with_its_place():
    with pytest.raises(DecodeError) as caught:
        anthropic.from_request({"messages": ["Invalid content"]})
    assert str(caught.value) == "Expected `object`, got `str` - at `$.messages[0]`"


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def read_with_care(messages):
    """Read messages object by object, in the way that knows no shape."""
    careful = reading.Reading()
    for raws in msgspec.json.decode(compact(messages), type=list[dict[str, msgspec.Raw]]):
        careful.read({key: parse(raw) for key, raw in raws.items()}, raws)
    return careful.history


def told(history):
    """Tell what messages say, whatever the order of keys in their deltas."""
    return [
        (replace(message, provider_data=None), message.provider_data and delta_of(message))
        for message in history
    ]


def delta_of(message):
    data = message.provider_data
    return json.dumps(json.loads(data.delta), sort_keys=True), data.digest, data.sealed


@needs_corpus
def test_all_ways_read_the_same(requests):
    typed = 0
    for body in requests:
        careful = told(read_with_care(body["messages"]))
        data = compact(body["messages"])
        typed += strict.read_json(data) is not None
        for read in (strict.read_json, strict.read_open_json):
            history = read(data)
            assert history is None or told(history) == careful
        assert told(reading.read_carefully(data).history) == careful
    assert typed > 550


@needs_corpus
def test_histories_survive_the_native_codecs_with_their_deltas(requests):
    for body in requests:
        read = anthropic.from_request(body)
        for codec in (molo.json, molo.msgpack):
            history = codec.decode(codec.encode(read.history))
            assert is_same(written(history, envelope=read.envelope), body)


def blocks_of(request):
    """List the blocks of a request, each with its role and with the keys of its object, if odd."""
    system = request.get("system", [])
    objects = [{"role": "system", "content": system}, *request["messages"]]
    return [
        (item["role"], keys_of(item) if at == 0 else "", json.dumps(block, sort_keys=True))
        for item in objects
        for at, block in enumerate(content_of(item))
    ]


def keys_of(item):
    return json.dumps({key: item[key] for key in item if key != "content"}, sort_keys=True)


def content_of(item):
    """List the blocks of an object; what is no array is one block, as a System has to be."""
    content = item.get("content", [])
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content if isinstance(content, str) else compact(content)}]


def bare(places):
    """Forget the keys of objects: where an object begins depends on what stands before."""
    return [(role, block) for role, _, block in places]


@needs_corpus
def test_a_message_is_written_the_same_whatever_stands_next_to_it(requests):
    read = [anthropic.from_request(body).history for body in requests]
    known = [message for history in read for message in history]
    known += [molo.user("Another message."), molo.tool_result("c1", "Another result.")]
    alone = {id(message): bare(blocks_of(written([message]))) for message in known}
    chance = random.Random(4)
    for history in read:
        others = chance.sample(known, 3)
        for changed in (
            history[1:],
            history[:-1],
            history[::2],
            history[::-1],
            [*others, *history],
            [item for message in history for item in (message, *others)],
            chance.sample([*history, *others], len(history) + 3),
        ):
            expected = [block for message in changed for block in alone[id(message)]]
            assert sorted(bare(blocks_of(written(changed)))) == sorted(expected)


def edited(message):
    """Change what a message says, as a careless editor would: its delta stays where it is."""
    match message:
        case User():
            return replace(message, content=(Text("new"), Text("words")))
        case System() | Assistant() | ToolResult():
            return replace(message, content="new words")


@needs_corpus
def test_a_delta_of_an_edited_message_is_named_and_brings_nothing_back(requests, answers):
    read = [anthropic.from_request(body).history for body in requests]
    read += [[anthropic.from_response(answer).message] for answer in answers]
    kept = [message for history in read for message in history if message.provider_data]
    assert len(kept) > 700
    for message in kept:
        changed = edited(message)
        result = anthropic.to_request([changed])
        afresh = anthropic.to_request([replace(changed, provider_data=None)])
        assert result.losses[0].code == "stale"
        assert (result.losses[1:], result.request) == (afresh.losses, afresh.request)


@needs_corpus
def test_deltas_repeat_no_text_of_the_message(requests):
    for body in requests:
        for message in anthropic.from_request(body).history:
            texts = [getattr(message, "reasoning", None), message.content]
            delta = message.provider_data.delta if message.provider_data else ""
            for text in texts:
                long = isinstance(text, str) and len(text) >= 12
                assert not (long and json.dumps(text, ensure_ascii=False)[1:-1] in delta)


@needs_corpus
def test_a_delta_that_an_editor_left_without_sense_harms_nothing(requests):
    for body in requests:
        for message in anthropic.from_request(body).history:
            data = message.provider_data or ProviderData(dialect="anthropic", delta="", digest="")
            for damaged in (data.delta.replace("t", "c"), data.delta.upper(), data.delta[:-1]):
                changed = replace(message, provider_data=replace(data, delta=damaged))
                anthropic.to_request([changed])


@needs_corpus
def test_signed_and_redacted_thinking_is_sealed_and_nothing_else(requests, answers):
    read = [anthropic.from_request(body).history for body in requests]
    read += [[anthropic.from_response(answer).message] for answer in answers]
    for message in [message for history in read for message in history]:
        (wire,) = anthropic.to_request([message]).request["messages"] or [{"content": []}]
        thinks = '"type": "thinking"' in json.dumps(wire["content"])
        redacted = '"type": "redacted_thinking"' in json.dumps(wire["content"])
        sealed = message.provider_data is not None and message.provider_data.sealed
        assert sealed == (thinks or redacted)


@needs_corpus
def test_every_recorded_stream_gives_what_an_oracle_adds_up(streams):
    assert len(streams) == 201
    for events in streams:
        reply = anthropic.accumulate(events)
        assert is_same(reply_content(reply.message), added_up(events))
        same = anthropic.accumulate(map(json.dumps, events))
        assert (same.message, same.stop) == (reply.message, reply.stop)
        assert json.loads(same.rest) == json.loads(reply.rest)
        last = [event for event in events if event["type"] == "message_start"][-1]["message"]
        assert json.loads(reply.rest)["id"] == last["id"]


ADDED = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def added_up(events):
    """Put the blocks of a stream's last answer together, with what the recordings have."""
    blocks = []
    for event in events:
        delta = event.get("delta", {})
        kind = delta.get("type")
        match event["type"]:
            case "message_start":
                blocks = [dict(block) for block in event["message"]["content"]]
            case "content_block_start":
                blocks.append(dict(event["content_block"]))
            case "content_block_delta" if kind == "input_json_delta":
                text = blocks[-1].pop("text of input", "") + delta["partial_json"]
                blocks[-1]["text of input"] = text
            case "content_block_delta" if kind == "citations_delta":
                blocks[-1]["citations"] = [*(blocks[-1]["citations"] or ()), delta["citation"]]
            case "content_block_delta" if kind == "compaction_delta":
                blocks[-1]["content"] = delta["content"]
            case "content_block_delta":
                blocks[-1][ADDED[kind]] += delta[ADDED[kind]]
            case _:
                pass
    for block in blocks:
        text = block.pop("text of input", "")
        block.update({"input": json.loads(text)} if text else {})
    return blocks


@needs_corpus
def test_a_stream_cut_anywhere_is_broken_and_gives_what_had_come(streams):
    for events in streams[::10]:
        whole = anthropic.accumulate(events).message
        for stop in range(1, len(events), max(1, len(events) // 7)):
            if any(event["type"] == "message_delta" for event in events[:stop]):
                break
            with pytest.raises(StreamError) as caught:
                anthropic.accumulate(events[:stop])
            assert whole.content.startswith(caught.value.reply.message.content)


# Keys whose strings are no text: protocol words, ids, names of tools, media.
NO_TEXT = frozenset(
    ("role", "type", "id", "tool_use_id", "name", "media_type", "data", "url", "file_id")
)


def marked(value, key=None):
    """Put a word into every text of a wire value."""
    if isinstance(value, dict):
        return {name: marked(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [marked(item, key) for item in value]
    return f"Ada {value} Ada" if isinstance(value, str) and key not in NO_TEXT else value


@needs_corpus
def test_redaction_reaches_all_that_is_written(requests, answers):
    bodies = [*requests, *({"messages": [{**answer, "id": ""}]} for answer in answers)]
    for body in bodies:
        conversation = {key: marked(body[key]) for key in ("system", "messages") if key in body}
        history = anthropic.from_request(json.dumps(conversation)).history
        redacted = map_text(history, lambda text: text.replace("Ada", "[name]"))
        assert b"Ada" not in anthropic.to_request_json(redacted)


@pytest.mark.skipif(not CASES.is_dir(), reason="the handed cases are not here")
def test_handed_cases_come_back_key_for_key():
    rows = map(json.loads, (CASES / "index.jsonl").read_bytes().splitlines())
    files = [CASES / row["file"] for row in rows if row["format"] == "anthropic"]
    assert len(files) == 3
    for file in files:
        read = anthropic.from_request(file.read_bytes())
        assert is_same(written(read.history), json.loads(file.read_bytes()))


# --- Canonical shapes -----------------------------------------------------------------------------

PNG = {"type": "base64", "media_type": "image/png", "data": "UE5H"}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
WORDS = {"type": "text", "media_type": "text/plain", "data": "Größe"}
LINK = {"type": "url", "url": "https://example.org/a"}


def text(words):
    return {"type": "text", "text": words}


def call(id="c1", arguments=None):
    return {"type": "tool_use", "id": id, "name": "f", "input": arguments or {}}


def result(content="ok", **members):
    return {"type": "tool_result", "tool_use_id": "c1", "content": content, **members}


def user(*blocks, **members):
    return {"role": "user", "content": [*blocks], **members}


def thinking(words, signature="c2ln"):
    return {"type": "thinking", "thinking": words, "signature": signature}


def assistant(*blocks, **members):
    return {"role": "assistant", "content": [*blocks], **members}


def system(*blocks, **members):
    return {"role": "system", "content": [*blocks], **members}


CANONICAL = [
    ({"messages": []}, []),
    ({"system": [text("Be brief.")], "messages": []}, [System("Be brief.")]),
    ({"system": [text("a"), text("b")], "messages": []}, [System("a"), System("b")]),
    ({"messages": [user(text("Hi"))]}, [User((Text("Hi"),))]),
    ({"messages": [user(text(""))]}, [User((Text(""),))]),
    ({"messages": [user()]}, [User(())]),
    ({"messages": [user(text("a")), user(text("b"))]}, [User((Text("a"),)), User((Text("b"),))]),
    (
        {"messages": [user({"type": "image", "source": PNG})]},
        [User((Image(data=b"PNG", mime_type="image/png"),))],
    ),
    (
        {"messages": [user({"type": "image", "source": LINK})]},
        [User((Image(url="https://example.org/a"),))],
    ),
    (
        {"messages": [user({"type": "document", "source": PDF, "title": "a.pdf"})]},
        [User((File(data=b"%PDF-", mime_type="application/pdf", name="a.pdf"),))],
    ),
    (
        {"messages": [user({"type": "document", "source": WORDS})]},
        [User((File(data="Größe".encode(), mime_type="text/plain"),))],
    ),
    (
        {"messages": [user({"type": "document", "source": LINK})]},
        [User((File(url="https://example.org/a"),))],
    ),
    ({"messages": [assistant(text("Hi"))]}, [Assistant("Hi")]),
    ({"messages": [assistant()]}, [Assistant("")]),
    (
        {"messages": [assistant(text("Hi"), call("c1"), call("c2", {"a": [1, None, True]}))]},
        [
            Assistant(
                "Hi", None, (ToolCall("c1", "f", "{}"), ToolCall("c2", "f", '{"a":[1,null,true]}'))
            )
        ],
    ),
    ({"messages": [user(result())]}, [ToolResult("c1", "ok")]),
    ({"messages": [user(result(is_error=True))]}, [ToolResult("c1", "ok", is_error=True)]),
    (
        {"messages": [user(result("a"), result("b"), text("Hi"))]},
        [ToolResult("c1", "a"), ToolResult("c1", "b"), User((Text("Hi"),))],
    ),
]


@pytest.mark.parametrize(("wire", "history"), CANONICAL)
def test_canonical_shapes_take_the_strict_path_and_have_no_delta(wire, history):
    data = compact(wire)
    assert strict.read_json(data) == reading.read_carefully(data).history == history
    assert read_with_care(wire["messages"]) == history[len(wire.get("system", ())) :]
    assert is_same(written(history), wire)
    assert strict.read_json(compact(wire["messages"])) == [
        message for message in history if not isinstance(message, System)
    ]


CACHED = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
LONG = "Some words that are not repeated."


@pytest.mark.parametrize(
    ("wire", "messages"),
    [
        ({"messages": [{"role": "user", "content": "Hi"}]}, [User((Text("Hi"),))]),
        ({"messages": [{"role": "user", "content": LONG}]}, [User((Text(LONG),))]),
        ({"messages": [{"role": "user", "content": ""}]}, [User((Text(""),))]),
        ({"messages": [{"role": "assistant", "content": LONG}]}, [Assistant(LONG)]),
        ({"messages": [{"role": "assistant", "content": ""}]}, [Assistant("")]),
        ({"system": LONG, "messages": []}, [System(LONG)]),
        ({"system": [{**text("a"), **CACHED}], "messages": []}, [System("a")]),
        (
            {"messages": [user({**text("a"), **CACHED}, {**text("b"), "cache_control": None})]},
            [User((Text("a"), Text("b")))],
        ),
        (
            {"messages": [user({"type": "image", "source": LINK, **CACHED})]},
            [User((Image(url="https://example.org/a"),))],
        ),
        (
            {"messages": [assistant({**text("a"), **CACHED}, {**call(), **CACHED})]},
            [Assistant("a", None, (ToolCall("c1", "f", "{}"),))],
        ),
        ({"messages": [assistant(thinking(LONG), text("a"))]}, [Assistant("a", LONG)]),
        ({"messages": [assistant(thinking(""), text("a"))]}, [Assistant("a", "")]),
        ({"messages": [assistant(thinking("b", ""), text("a"))]}, [Assistant("a", "b")]),
        (
            {"messages": [assistant({**thinking("b"), **CACHED}, call())]},
            [Assistant("", "b", (ToolCall("c1", "f", "{}"),))],
        ),
        ({"messages": [user(result(**CACHED))]}, [ToolResult("c1", "ok")]),
        ({"messages": [user(result([text(LONG)]))]}, [ToolResult("c1", LONG)]),
        ({"messages": [user(result([text("a")], is_error=False))]}, [ToolResult("c1", "a")]),
    ],
)
def test_usual_shapes_take_the_strict_path_and_have_a_small_delta(wire, messages):
    read = strict.read_json(json.dumps(wire))
    assert told(read) == told(reading.read_carefully(json.dumps(wire)).history)
    assert [replace(message, provider_data=None) for message in read] == messages
    assert all(0 < len(message.provider_data.delta) < 150 for message in read)
    assert not any(LONG in message.provider_data.delta for message in read)
    assert is_same(written(read), wire)


@pytest.mark.parametrize(
    ("signature", "sealed"), [("c2lnbmF0dXJl", True), ("", False), ("c2ln…", False)]
)
def test_thinking_is_sealed_by_a_whole_signature(signature, sealed):
    wire = [assistant(thinking("b", signature), text("a"))]
    read = strict.read_json(json.dumps(wire))
    (message,) = anthropic.from_request(wire).history
    assert message.provider_data.sealed is sealed
    assert read == (None if signature == "c2ln…" else [message])


@pytest.mark.parametrize("content", ["Hi", [text("Hi")], [result("b")]])
def test_objects_of_their_own_behind_results_take_the_strict_path(content):
    messages = [user(result("a")), {"role": "user", "content": content}]
    read = strict.read_json(json.dumps(messages))
    assert told(read) == told(read_with_care(messages))
    assert [message.provider_data is not None for message in read] == [False, True]
    assert '"join":"new"' in read[1].provider_data.delta
    assert written(read)["messages"] == messages


@pytest.mark.parametrize("messages", [wire["messages"] for wire, _ in CANONICAL])
def test_objects_with_other_keys_are_read_by_their_types(messages):
    odd = [{"trace": {"$": 1}, **message} for message in messages]
    read = strict.read_open_json(compact(odd))
    assert told(read) == told(read_with_care(odd))
    assert is_same(written(read)["messages"], odd)


@pytest.mark.parametrize(
    "message",
    [
        *[user(call()), assistant(result()), {"role": "user"}],
        user(result([text("a"), {"type": "image", "source": PNG}])),
    ],
)
def test_unusual_blocks_take_the_careful_path(message):
    body = {"messages": [{**message, "trace": 1}]}
    assert strict.read_open_json(compact(body)) is None
    assert is_same(written(anthropic.from_request(compact(body)).history), body)


@pytest.mark.parametrize("odd", [1.5, [text("a")], []])
def test_keys_whose_spelling_or_shape_would_be_lost_take_the_careful_path(odd):
    body = {"messages": [user(text("Hi"), trace=odd)]}
    assert strict.read_open_json(compact(body)) is None
    assert is_same(written(anthropic.from_request(compact(body)).history), body)


# --- Other shapes ---------------------------------------------------------------------------------

THINKING = thinking("I think.")
MORE = thinking("And again.", "c2lnMg==")
REDACTED = {"type": "redacted_thinking", "data": "b3BhcXVl"}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "a"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
UPLOAD = {"type": "container_upload", "file_id": "file_1"}
CITED = {"type": "char_location", "cited_text": "a", "document_index": 0}
TWO = (ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}"))


def wire(block):
    """Give the block that carries another one verbatim."""
    return Wire("anthropic", json.dumps(block, separators=(",", ":")))


CAREFUL = [
    # Assistants: order, thinking, what is not known
    (assistant(THINKING, text("Hi")), Assistant("Hi", "I think.")),
    (assistant({**THINKING, "thinking": ""}, text("Hi")), Assistant("Hi", "")),
    (
        assistant(THINKING, call("c1"), MORE, call("c2")),
        Assistant("", "I think.\n\nAnd again.", TWO),
    ),
    (assistant(THINKING, {**MORE, "thinking": ""}), Assistant("", "I think.")),
    (assistant(REDACTED, text("Hi")), Assistant("Hi")),
    (assistant(THINKING, REDACTED, text("Hi"), MORE), Assistant("Hi", "I think.\n\nAnd again.")),
    (assistant({"type": "thinking", "thinking": "I think."}), Assistant("", "I think.")),
    (assistant({**THINKING, "signature": None}), Assistant("", "I think.")),
    (assistant({**THINKING, "signature": ""}), Assistant("", "I think.")),
    (assistant(text("a"), text("b")), Assistant("ab")),
    (assistant(text("a"), call(), text("b")), Assistant("ab", None, TWO[:1])),
    (assistant(call(), text("a")), Assistant("a", None, TWO[:1])),
    (assistant(text("")), Assistant("")),
    (assistant(text(" ")), Assistant(" ")),
    (assistant({**text("a"), "citations": [CITED]}), Assistant("a")),
    (assistant({**text("a"), "citations": None}), Assistant("a")),
    (assistant({**call(), "caller": {"type": "direct"}}), Assistant("", None, TWO[:1])),
    (assistant({**call(), "input": None}), Assistant("", None, (ToolCall("c1", "f", "null"),))),
    (assistant({**call(), "input": []}), Assistant("", None, (ToolCall("c1", "f", "[]"),))),
    (assistant({**call(), "input": "x"}), Assistant("", None, (ToolCall("c1", "f", '"x"'),))),
    (
        assistant(text("a"), SEARCH, FOUND, text("b")),
        Assistant("ab", attachments=(wire(SEARCH), wire(FOUND))),
    ),
    (assistant({"type": "compaction", "content": None}), None),
    (assistant({"type": "tool_use", "id": "c1"}), None),
    (assistant({"type": "text", "text": None}), None),
    (assistant({"type": "thinking", "thinking": None}), None),
    (assistant({**THINKING, "signature": False}), None),
    (assistant({"type": "image", "source": PNG}), None),
    (assistant({"type": ["text"]}, {}, [], "text", 5, None, True), None),
    ({"role": "assistant"}, Assistant("")),
    ({"role": "assistant", "content": None}, Assistant("")),
    ({"role": "assistant", "content": {"text": "a"}}, Assistant('{"text":"a"}')),
    (assistant(text("Hi"), name="Ann"), Assistant("Hi")),
    # Users: blocks with odd keys, sources of all kinds
    (user({**text("Hi"), "cache_control": {"type": "ephemeral"}}), User((Text("Hi"),))),
    (user(text("Hi"), id=None), User((Text("Hi"),))),
    (user(UPLOAD), User((wire(UPLOAD),))),
    (user({"type": "image", "source": {"type": "file", "file_id": "f"}}), None),
    (user({"type": "image", "source": {**PNG, "data": "UE5"}}), None),
    (user({"type": "image", "source": {**PNG, "media_type": "image/tiff"}}), None),
    (user({"type": "document", "source": {**PNG, "media_type": "application/zip"}}), None),
    (user({"type": "image", "source": {**PNG, "data": "UE5\nH"}}), None),
    (user({"type": "image", "source": {**PNG, "data": "UE5Ö"}}), None),
    (user({"type": "image", "source": {**PNG, "data": "QR=="}}), None),
    (user({"type": "image", "source": {**LINK, "url": "data:image/png;base64,UE5H"}}), None),
    (user({"type": "image", "source": None}), None),
    (user({"type": "image", "source": {**PNG, "x": 1}}), None),
    (user({"type": "document", "source": {**PDF, "media_type": "text/csv"}}), None),
    (user({"type": "document", "source": {"type": "content", "content": [text("a")]}}), None),
    (user({"type": "document", "source": PDF, "title": None}), None),
    (user({"type": "document", "source": PDF, "title": "", "citations": {"enabled": True}}), None),
    (user({"type": "tool_result", "content": "x"}), None),
    (user(call(), THINKING), None),
    (user({"type": ["text"]}, {}, [], "text", 5, None, True), None),
    ({"role": "user"}, User(())),
    ({"role": "user", "content": None}, User(())),
    ({"role": "user", "content": 5}, User((Text("5"),))),
    # Results
    (user(result([text("a")])), ToolResult("c1", "a")),
    (user(result([text("a"), text("b")])), ToolResult("c1", "a\nb")),
    (
        user(result([text("a"), {"type": "image", "source": PNG}, text("b")])),
        ToolResult("c1", "a\nb", attachments=(Image(data=b"PNG", mime_type="image/png"),)),
    ),
    (
        user(result([{"type": "tool_reference", "tool_name": "f"}])),
        ToolResult("c1", "", attachments=(wire({"type": "tool_reference", "tool_name": "f"}),)),
    ),
    (user(result([])), ToolResult("c1", "")),
    (user(result(None)), ToolResult("c1", "")),
    (user(result({"a": 1})), ToolResult("c1", '{"a":1}')),
    (user(result(5.0)), ToolResult("c1", "5.0")),
    (user({"type": "tool_result", "tool_use_id": "c1"}), ToolResult("c1", "")),
    (user(result(is_error=False)), ToolResult("c1", "ok")),
    (user(result(is_error=None)), ToolResult("c1", "ok")),
    (user(result(is_error=1)), ToolResult("c1", "ok")),
    # Systems in the middle
    (system(text("Be brief.")), System("Be brief.")),
    (system(text("a"), text("b"), {"type": "tool_addition", "tool": {}}), System("a\nb")),
    ({"role": "system", "content": "Be brief."}, System("Be brief.")),
    ({"role": "system"}, System("")),
]


@pytest.mark.parametrize(("wire", "message"), CAREFUL)
def test_other_shapes_come_back_too(wire, message):
    for request in ({"messages": [wire]}, json.dumps({"messages": [wire]}, indent=1)):
        (read,) = anthropic.from_request(request).history
        assert message is None or replace(read, provider_data=None) == message
        for codec in (molo.json, molo.msgpack):
            assert is_same(written(codec.decode(codec.encode([read]))), {"messages": [wire]})


@pytest.mark.parametrize(
    ("content", "sealed"),
    [
        ([THINKING], True),
        ([REDACTED], True),
        ([{**THINKING, "thinking": ""}], True),
        ([{"type": "thinking", "thinking": "I think."}], False),
        ([{**THINKING, "signature": ""}], False),
        ([{**THINKING, "signature": "Eo8C…eQ=="}], False),
        ([{**THINKING, "signature": "Eo8C…eQ=="}, THINKING, REDACTED], False),
        ([SEARCH, FOUND, text("Hi")], False),
    ],
)
def test_reasoning_state_is_sealed(content, sealed):
    (read,) = anthropic.from_request([assistant(*content)]).history
    assert read.provider_data.sealed == sealed


@pytest.mark.parametrize(
    ("body", "history"),
    [
        ({"system": None, "messages": []}, []),
        ({"system": "", "messages": []}, []),
        ({"system": [], "messages": []}, []),
        ({"system": {"type": "text"}, "messages": []}, [System('{"type":"text"}')]),
        ({"system": [{"type": "other"}, "a"], "messages": []}, [System(""), System("")]),
        ({"system": [{"type": "image", "source": PNG}], "messages": []}, [System("")]),
        (
            {"system": [{**text("a"), "cache_control": None}], "messages": [system(text("b"))]},
            [System("a"), System("b")],
        ),
        (
            {"messages": [user(result(), text("Hi"), result("b"))]},
            [ToolResult("c1", "ok"), User((Text("Hi"),)), ToolResult("c1", "b")],
        ),
        (
            {"messages": [user(text("Hi"), result())]},
            [User((Text("Hi"),)), ToolResult("c1", "ok")],
        ),
        (
            {"messages": [user(result()), user(text("Hi"))]},
            [ToolResult("c1", "ok"), User((Text("Hi"),))],
        ),
        (
            {"messages": [user(result()), {"role": "user", "content": "Hi"}]},
            [ToolResult("c1", "ok"), User((Text("Hi"),))],
        ),
        (
            {"messages": [user(result()), user(result("b")), user()]},
            [ToolResult("c1", "ok"), ToolResult("c1", "b"), User(())],
        ),
        (
            {"messages": [user(result(), text("Hi"), id="m1"), user(result("b"), id="m2")]},
            [ToolResult("c1", "ok"), User((Text("Hi"),)), ToolResult("c1", "b")],
        ),
        (
            {"messages": [assistant(text("a")), assistant(text("b")), system(text("c"))]},
            [Assistant("a"), Assistant("b"), System("c")],
        ),
    ],
)
def test_what_stands_in_one_object_comes_back_in_one(body, history):
    for request in (body, json.dumps(body)):
        read = anthropic.from_request(request)
        assert [replace(message, provider_data=None) for message in read.history] == history
        assert is_same(written(read.history, envelope=read.envelope), body)


@pytest.mark.parametrize(
    ("history", "request_"),
    [
        ([System("a"), User(())], {"system": [text("a")], "messages": [user()]}),
        ([User(()), System("a")], {"messages": [user(), system(text("a"))]}),
        (
            [ToolResult("c1", "ok"), User((Text("a"),)), User((Text("b"),))],
            {"messages": [user(result(), text("a")), user(text("b"))]},
        ),
        ([User(()), ToolResult("c1", "ok")], {"messages": [user(), user(result())]}),
        (
            [ToolResult("c1", "ok"), Assistant("a"), User(())],
            {"messages": [user(result()), assistant(text("a")), user()]},
        ),
        (
            [ToolResult("c1", "ok"), System("a"), ToolResult("c1", "ok")],
            {"messages": [user(result()), system(text("a")), user(result())]},
        ),
        (
            [Assistant("a", None, TWO[:1], attachments=(wire(SEARCH), Text("b")))],
            {"messages": [assistant(text("a"), SEARCH, text("b"), call())]},
        ),
        (
            [
                ToolResult("c1", "", attachments=(Image(url="https://example.org/a"),)),
                User((File(data=b"\xff", mime_type="application/pdf"),)),
            ],
            {
                "messages": [
                    user(
                        result([{"type": "image", "source": LINK}]),
                        {
                            "type": "document",
                            "source": {
                                "type": "base64",
                                "media_type": "application/pdf",
                                "data": "/w==",
                            },
                        },
                    )
                ]
            },
        ),
        (
            [User((Image(url="data:image/png;base64,UE5H"), File(url="data:text/plain,a%20b")))],
            {
                "messages": [
                    user(
                        {"type": "image", "source": PNG},
                        {"type": "document", "source": {**WORDS, "data": "a b"}},
                    )
                ]
            },
        ),
        (
            [Assistant("", None, (ToolCall("c1", "f", " "), ToolCall("c2", "f", "")))],
            {"messages": [assistant(call("c1"), call("c2"))]},
        ),
        ([Assistant("a", "")], {"messages": [assistant(text("a"))]}),
    ],
)
def test_histories_of_other_origin_are_written_in_canonical_form(history, request_):
    assert is_same(written(history), request_)


def test_what_is_moved_keeps_its_object():
    body = {
        "system": "Be brief.",
        "messages": [
            user(text("a"), id="m1"),
            assistant(text("b"), id="m2"),
            user(result(), id="m3"),
            system(text("c"), id="m4"),
        ],
    }
    brief, said, reply, done, later = anthropic.from_request(body).history
    results = [molo.tool_result("c2", "x")]
    assert written([*results, said])["messages"][1:] == [user(text("a"), id="m1")]
    assert written([*results, done])["messages"][1:] == [user(result(), id="m3")]
    assert written([later, reply, brief]) == {
        "messages": [
            system(text("c"), id="m4"),
            assistant(text("b"), id="m2"),
            {"role": "system", "content": "Be brief."},
        ]
    }
    assert written([brief, System("b")])["system"] == [text("Be brief."), text("b")]


def test_systems_behind_others_move_to_the_top_where_the_rules_ask_for_it():
    leading = replace(rules.ANTHROPIC, system="leading")
    history = [System("a"), User(()), System("b")]
    result = anthropic.to_request(history, rules=leading)
    assert result.request == {"system": [text("a"), text("b")], "messages": [user()]}
    assert [(loss.code, loss.at) for loss in result.losses] == [("moved", 2)]


# --- Losses ---------------------------------------------------------------------------------------

FOREIGN = ProviderData(dialect="gemini", delta="{}", digest="0")


@pytest.mark.parametrize(
    ("message", "losses", "wire"),
    [
        (Assistant("a", "I think."), [("reasoning", None)], [assistant(text("a"))]),
        (User((Text("a"), Audio(url="u"))), [("block", 1)], [user(text("a"))]),
        (User((Wire("gemini", "{}"),)), [("block", 0)], [user()]),
        (User((Wire("anthropic", "{"),)), [("block", 0)], [user()]),
        (
            Assistant("a", attachments=(Image(url="u"), wire(SEARCH))),
            [("block", 0)],
            [assistant(text("a"), SEARCH)],
        ),
        (
            ToolResult("c1", "ok", attachments=(Audio(url="u"),)),
            [("block", 0)],
            [user(result([text("ok")]))],
        ),
        (
            User(
                (
                    Image(data=b"<svg/>", mime_type="image/svg+xml"),
                    Image(url="data:image/tiff;base64,SUkq"),
                    File(data=b"PK", mime_type="application/zip"),
                    File(data=b"\xff", mime_type="text/plain"),
                    Text("a"),
                )
            ),
            [("block", 0), ("block", 1), ("block", 2), ("block", 3)],
            [user(text("a"))],
        ),
        (
            User((Image(url="https://example.org/a", mime_type="image/png"),)),
            [("media_type", 0)],
            [user({"type": "image", "source": LINK})],
        ),
        (
            User((File(data="Größe".encode(), mime_type="text/csv"),)),
            [("media_type", 0)],
            [user({"type": "document", "source": WORDS})],
        ),
        (
            Assistant("", None, (*TWO[:1], ToolCall("c2", "f", '{"a":'))),
            [("arguments", 1)],
            [assistant(call("c1"), call("c2"))],
        ),
        (
            Assistant("", None, (ToolCall("c1", "f", "NaN"),)),
            [("arguments", 0)],
            [assistant(call())],
        ),
        (User((), provider_data=FOREIGN), [("foreign", None)], [user()]),
        (User((), provider_data=replace(FOREIGN, sealed=True)), [("sealed", None)], [user()]),
        (
            Assistant("", "I think.", provider_data=replace(FOREIGN, sealed=True)),
            [("sealed", None), ("reasoning", None)],
            [assistant()],
        ),
    ],
)
def test_what_has_no_place_is_named(message, losses, wire):
    written = anthropic.to_request([User(()), message])
    assert [(loss.code, loss.part) for loss in written.losses] == losses
    assert {loss.at for loss in written.losses} == {1}
    assert written.request["messages"][1:] == wire


@pytest.mark.parametrize(
    "delta", ['{"unit":[5]}', '{"shell":[5]}', '{"unit":{"7":{"a":[1]}}}', '{"order":[3]}', "["]
)
def test_a_delta_without_sense_is_stale(delta):
    read = anthropic.from_request([user({**text("Hi"), "cache_control": None})]).history[0]
    damaged = replace(read, provider_data=replace(read.provider_data, delta=delta))
    written = anthropic.to_request([damaged])
    assert [loss.code for loss in written.losses] == ["stale"]
    assert written.request["messages"] == [user(text("Hi"))]


@pytest.mark.parametrize(
    ("envelope", "code"),
    [
        (FOREIGN, "foreign"),
        (ProviderData(dialect="anthropic", delta='{"unit":[5]}', digest="0"), "stale"),
    ],
)
def test_an_envelope_that_does_not_fit_is_named(envelope, code):
    written = anthropic.to_request([], envelope=envelope)
    assert written.request == {"messages": []}
    assert [(loss.code, loss.at) for loss in written.losses] == [(code, None)]


def test_an_envelope_gives_way_to_a_system():
    read = anthropic.from_request({"system": None, "messages": []})
    assert written([System("a")], envelope=read.envelope) == {
        "system": [text("a")],
        "messages": [],
    }


def test_thinking_without_its_delta_is_never_sent():
    (read,) = anthropic.from_request([assistant(THINKING, text("Hi"))]).history
    for message in (replace(read, provider_data=None), replace(read, reasoning="I thought.")):
        assert anthropic.to_request([message]).request["messages"] == [assistant(text("Hi"))]


# --- Spelling and errors --------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ["", ',"odd":1'])
def test_inputs_keep_their_text_and_numbers_their_spelling(odd):
    given = '{"a" : 0.10, "b":[1E2,1e400,-0.0], "c":"\\u00e9" , "n":123456789012345678901234567890}'
    block = f'{{"type":"tool_use","id":"c1","name":"f","input":{given}{odd}}}'
    data = f'{{"messages":[{{"role":"assistant","content":[{block}]{odd}}}]}}'
    read = anthropic.from_request(data.encode())
    assert read.history[0].tool_calls == (ToolCall("c1", "f", given),)
    again = anthropic.to_request_json(read.history).decode()
    assert "0.10" in again and "[1E2,1e400,-0.0]" in again
    assert "123456789012345678901234567890" in again
    assert (
        anthropic.to_request(read.history).request["messages"][0]["content"][0]["input"]["a"] == 0.1
    )


def test_odd_numbers_keep_their_spelling():
    data = '{"messages":[{"role":"user","content":[{"type":"new","n":0.10}],"odd":1E2}]}'
    again = anthropic.to_request_json(anthropic.from_request(data).history).decode()
    assert '"n":0.10}' in again and '"odd":1E2' in again


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (b"", "Expected more JSON, got the end of the data - at byte 0"),
        (b'{"messages":[}', "Expected JSON, got malformed JSON: invalid character - at byte 13"),
        (b"5", "Expected `object | array`, got `int` - at `$`"),
        ({"system": "a"}, "Expected field `messages`, got an object without it - at `$`"),
        ({"messages": 5}, "Expected `array`, got `int` - at `$.messages`"),
        ({"messages": ["a"]}, "Expected `object`, got `str` - at `$.messages[0]`"),
        ([user(), "a"], "Expected `object`, got `str` - at `$[1]`"),
        ([{}], "Expected field `role`, got an object without it - at `$[0]`"),
        ([{"role": 5}], "Expected `str`, got `int` - at `$[0].role`"),
        (
            {"messages": [{"role": "tool"}]},
            "Expected `user`, `assistant` or `system`, got `tool` - at `$.messages[0].role`",
        ),
        (
            [{"role": "call me at home"}],
            "Expected `user`, `assistant` or `system`, got `str` of 15 characters - at `$[0].role`",
        ),
        ([float("nan")], "Expected numbers that JSON can hold, got NaN or Infinity"),
        (
            b'{"messages":[{"role":"user","odd":1,"content":"\\ud83d"}]}',
            "Expected Unicode text, got a lone surrogate - at `$.messages[0].content` (byte 47)",
        ),
        (
            b'{"system":"\xff","messages":[]}',
            "Expected UTF-8 text, got other bytes - at `$.system` (byte 11)",
        ),
        (
            b'[{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f",'
            b'"input":{"a":"\xff"}}]}]',
            "Expected UTF-8 text, got other bytes - at `$[0].content[0].input.a` (byte 86)",
        ),
        (
            b'{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c1",'
            b'"name":"f","input":{"a":"\\ud83d"}}]}]}',
            "Expected Unicode text, got a lone surrogate",
        ),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(request_, error):
    with pytest.raises(DecodeError) as caught:
        anthropic.from_request(request_)
    assert str(caught.value).startswith(error)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_lone_surrogate_is_refused():
    with pytest.raises(DecodeError, match="lone surrogate"):
        anthropic.from_request([user(text("\ud83d"))])
    with pytest.raises(EncodeError, match="lone surrogate"):
        anthropic.to_request_json([molo.user("\ud83d")])


def test_what_is_nested_too_deeply_is_refused():
    deep = "[" * 50_000 + "]" * 50_000
    for request in (f'[{{"role":"user","odd":{deep}}}]', f'[{{"role":"user","content":{deep}}}]'):
        with pytest.raises(DecodeError, match="nested"):
            anthropic.from_request(request)
    deep = '{"a":' * TOO_DEEP + "1" + "}" * TOO_DEEP
    with pytest.raises(DecodeError, match="nested"):
        anthropic.from_request(f'[{{"role":"user","content":[],"odd":{deep},"content":{deep}}}]')


@pytest.mark.parametrize("request_", [5, None, 1.5])
def test_what_is_no_request_at_all_is_refused(request_):
    with pytest.raises(DecodeError, match="Expected `object") as caught:
        anthropic.from_request(request_)
    assert caught.value.path == "$"


@pytest.mark.parametrize("write", [anthropic.to_request, anthropic.to_request_json])
def test_what_is_no_message_is_refused(write):
    with pytest.raises(EncodeError):
        write([user(text("a"))])


# --- Answers and streams --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "filter"),
        ("pause_turn", "other"),
        ("what is yet to come", "other"),
        (5, "other"),
        (None, None),
    ],
)
def test_reasons_have_a_word(reason, stop):
    assert anthropic.from_response({"content": [], "stop_reason": reason}).stop == stop


@pytest.mark.parametrize("content", [[], None, "Hi", [text("Hi"), THINKING, REDACTED, call()]])
def test_an_answer_goes_back_as_an_assistant_wants_it(content):
    reply = anthropic.from_response({"content": content, "role": "assistant", "usage": None})
    assert is_same(reply_content(reply.message), content)
    assert reply.rest == '{"usage":null}'


def test_the_input_of_an_answer_keeps_its_text():
    data = b'{"content":[{"type":"tool_use","id":"c1","name":"f","input":{"a": 0.10}}]}'
    (read,) = anthropic.from_response(data).message.tool_calls
    assert read.arguments == '{"a": 0.10}'


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ("[]", "Expected `object`, got `array` - at `$`"),
        ({}, "Expected field `content`, got an object without it - at `$`"),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "secret"}},
            "Expected an answer, got an error of type `overloaded_error` - at `$.error`",
        ),
        ({"type": "error"}, "Expected an answer, got an error - at `$.error`"),
    ],
)
def test_what_is_no_answer_is_refused(response, error):
    with pytest.raises(DecodeError) as caught:
        anthropic.from_response(response)
    assert str(caught.value) == error


def test_an_answer_nested_too_deeply_is_refused():
    deep = '{"a":' * TOO_DEEP + "1" + "}" * TOO_DEEP
    with pytest.raises(DecodeError, match="nested"):
        anthropic.from_response(f'{{"content":[{{"type":"text","text":"a","odd":{deep}}}]}}')


def start(**members):
    message = {"id": "m1", "role": "assistant", "content": [], "stop_reason": None, **members}
    return {"type": "message_start", "message": message}


def begin(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def add(index, kind, **members):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def end(reason="end_turn", **members):
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, **members},
        {"type": "message_stop"},
    ]


def pieces(index, *texts):
    return [add(index, "input_json_delta", partial_json=piece) for piece in texts]


STREAMS = [
    ([], []),
    (
        [begin(0, text("")), add(0, "text_delta", text="Hel"), add(0, "text_delta", text="lo")],
        [text("Hello")],
    ),
    ([begin(0, text("Hel")), add(0, "text_delta", text="lo")], [text("Hello")]),
    ([begin(1, text("b")), begin(0, text("a"))], [text("a"), text("b")]),
    (
        [
            begin(0, {"type": "thinking", "thinking": "", "signature": ""}),
            add(0, "thinking_delta", thinking="I think"),
            add(0, "thinking_delta", thinking="."),
            add(0, "signature_delta", signature="c2ln"),
        ],
        [THINKING],
    ),
    (
        [
            begin(0, {"type": "thinking", "thinking": ""}),
            add(0, "signature_delta", signature="c2"),
            add(0, "signature_delta", signature="ln"),
        ],
        [{**THINKING, "thinking": ""}],
    ),
    ([begin(0, REDACTED), begin(1, SEARCH), begin(2, FOUND)], [REDACTED, SEARCH, FOUND]),
    ([begin(0, call()), *pieces(0, "", '{"a"', ":1}")], [call("c1", {"a": 1})]),
    ([begin(0, call()), *pieces(0, "")], [call()]),
    ([begin(0, call("c1", {"a": 1}))], [call("c1", {"a": 1})]),
    (
        [begin(0, {**SEARCH, "input": {}}), *pieces(0, '{"query":', '"a"}')],
        [SEARCH],
    ),
    (
        [begin(0, {**SEARCH, "input": {}}), *pieces(0, '{"query":')],
        [{**SEARCH, "input": '{"query":'}],
    ),
    (
        [
            begin(0, {**text(""), "citations": []}),
            add(0, "citations_delta", citation=CITED),
            add(0, "text_delta", text="a"),
            add(0, "citations_delta", citation=CITED),
        ],
        [{**text("a"), "citations": [CITED, CITED]}],
    ),
    (
        [begin(0, text("a")), add(0, "citations_delta", citation=CITED)],
        [{**text("a"), "citations": [CITED]}],
    ),
    (
        [
            begin(0, {"type": "compaction", "content": None}),
            add(0, "compaction_delta", content="s"),
        ],
        [{"type": "compaction", "content": "s"}],
    ),
    (
        [
            begin(0, {"type": "new"}),
            add(0, "new_delta", words="a", n=[1]),
            add(0, "new", words="b"),
        ],
        [{"type": "new", "words": "ab", "n": [1]}],
    ),
    (
        [
            {"type": "ping"},
            {"type": "new"},
            {},
            begin(0, text("a")),
            {"type": "content_block_stop"},
        ],
        [text("a")],
    ),
]


@pytest.mark.parametrize(("events", "content"), STREAMS)
def test_a_stream_gives_what_would_have_come_at_once(events, content):
    whole = {**start()["message"], "content": content, "stop_reason": "end_turn"}
    for stream in ([start(), *events, *end()], map(json.dumps, [start(), *events, *end()])):
        assert anthropic.accumulate(stream) == anthropic.from_response(whole)
    assert is_same(reply_content(anthropic.from_response(whole).message), content)


def test_arguments_that_come_in_pieces_keep_their_text():
    stream = [start(), begin(0, call()), *pieces(0, '{"a" : ', "0.10", "}"), *end("tool_use")]
    reply = anthropic.accumulate(stream)
    assert reply.message == Assistant("", None, (ToolCall("c1", "f", '{"a" : 0.10}'),))
    assert reply.stop == "tool_calls"


def test_arguments_that_were_cut_short_stay_so_and_are_named():
    stream = [start(), begin(0, call()), *pieces(0, '{"a":"b'), *end("max_tokens")]
    message = anthropic.accumulate(stream).message
    assert message == Assistant("", None, (ToolCall("c1", "f", '{"a":"b'),))
    written = anthropic.to_request([message])
    assert written.request["messages"] == [assistant(call())]
    assert [(loss.code, loss.at, loss.part) for loss in written.losses] == [("arguments", 0, 0)]


def test_the_rest_of_a_stream_is_what_was_said_of_the_whole():
    usage = {"input_tokens": 5, "output_tokens": 1}
    stream = [
        start(usage=usage),
        *end(usage={"output_tokens": 9}, context_management={"applied_edits": []})[:1],
        {"type": "message_stop", "metrics": {"latency": 1}},
    ]
    assert json.loads(anthropic.accumulate(stream).rest) == {
        "id": "m1",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 9},
        "context_management": {"applied_edits": []},
        "metrics": {"latency": 1},
    }


def test_a_second_answer_in_one_stream_begins_anew():
    accumulator = anthropic.Accumulator()
    answers = []
    for event in (
        *[start(), begin(0, text("a")), *end()],
        *[start(id="m2", content=[text("b"), call()]), *end("tool_use")],
    ):
        accumulator.feed(event)
        answers += [accumulator.reply().message] if event["type"] == "message_stop" else []
    assert answers == [Assistant("a"), Assistant("b", None, TWO[:1])]


def test_an_answer_that_says_why_it_ended_has_ended():
    assert anthropic.accumulate([start(), *end()[:1]]).stop == "end"


SAID = [start(), begin(0, text("")), add(0, "text_delta", text="Hel")]


@pytest.mark.parametrize(
    ("events", "error"),
    [
        (SAID, "Expected `message_stop`, got the end of the stream"),
        (
            [*SAID, {"type": "error", "error": {"type": "overloaded_error", "message": "secret"}}],
            "Expected an event, got an error of type `overloaded_error` - at `$.error`",
        ),
        ([*SAID, {"type": "error"}], "Expected an event, got an error - at `$.error`"),
        ([*SAID, "["], "Expected more JSON, got the end of the data - at byte 1"),
        ([*SAID, "5"], "Expected `object`, got `int` - at `$`"),
        ([*SAID, {"type": "message_start"}], "Expected `object`, got `null` - at `$.message`"),
        (
            [*SAID, {"type": "message_delta", "delta": 5}],
            "Expected `object`, got `int` - at `$.delta`",
        ),
        (
            [*SAID, add(7, "text_delta", text="lo")],
            "Expected the index of a block that has begun, got another - at `$.index`",
        ),
        ([*SAID, begin(None, text("a"))], "Expected `int`, got `null` - at `$.index`"),
        (
            [*SAID, {"type": "content_block_delta", "index": 0}],
            "Expected `object`, got `null` - at `$.delta`",
        ),
        ([*SAID, begin(1, 5)], "Expected `object`, got `int` - at `$.content_block`"),
    ],
)
def test_a_stream_that_breaks_gives_what_had_come(events, error):
    with pytest.raises(BrokenStreamError) as caught:
        anthropic.accumulate(events)
    assert str(caught.value) == error
    assert caught.value.reply.message == Assistant("Hel")
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize(
    ("events", "error"),
    [
        ([], "Expected `message_start`, got a stream without one"),
        ([{"type": "ping"}], "Expected `message_start`, got a stream without one"),
        (end(), "Expected `message_start` first, got another event"),
        ([begin(0, text("a"))], "Expected `message_start` first, got another event"),
        ([{"type": "error"}], "Expected an event, got an error - at `$.error`"),
    ],
)
def test_a_stream_without_a_beginning_gives_nothing(events, error):
    with pytest.raises(BrokenStreamError) as caught:
        anthropic.accumulate(events)
    assert str(caught.value) == error
    assert caught.value.reply is None


def test_a_stream_nested_too_deeply_is_broken():
    deep = '{"a":' * TOO_DEEP + "1" + "}" * TOO_DEEP
    accumulator = anthropic.Accumulator()
    accumulator.feed(start())
    block = f'{{"type":"text","text":"a","odd":{deep}}}'
    accumulator.feed(f'{{"type":"content_block_start","index":0,"content_block":{block}}}')
    with pytest.raises(BrokenStreamError, match="nested"):
        accumulator.reply()
    with pytest.raises(BrokenStreamError, match="overloaded") as caught:
        accumulator.feed({"type": "error", "error": {"type": "overloaded_error"}})
    assert caught.value.reply is None


def test_the_cost_of_a_stream_is_linear_in_its_length():
    def seconds(count):
        stream = [*SAID, begin(1, call()), *pieces(1, '{"a":"', *["b"] * count, '"}')]
        stream += [add(0, "text_delta", text="lo")] * count + end()
        began = time.process_time()
        anthropic.accumulate(stream)
        return time.process_time() - began

    assert seconds(20_000) < 10 * 8 * min(seconds(2_500) for _ in range(3))


# --- Laws -----------------------------------------------------------------------------------------

_values = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        0.5,
        "",
        "a",
        "I think.",
        [],
        {},
        "UE5H",
        ["a"],
        {"type": "ephemeral"},
    ]
)
_keys = st.sampled_from(["cache_control", "citations", "caller", "type", "text", "id", "signature"])
_blocks = st.builds(
    lambda block, odd: {**block, **odd},
    st.sampled_from(
        [
            *[text("Hello, world, this is a text."), text("a"), text(""), THINKING, MORE, REDACTED],
            *[call("c1"), call("c2", {"a": {"b": [1, 0.5]}}), SEARCH, FOUND, UPLOAD, result()],
            *[result(["a"]), result([text("a"), text("b"), {"type": "image", "source": PNG}])],
            *[{"type": "image", "source": PNG}, {"type": "document", "source": PDF}],
            *[{"type": "document", "source": WORDS, "title": "a"}, {"type": "image"}],
        ]
    ),
    st.dictionaries(_keys, _values, max_size=1),
)
_contents = st.lists(_blocks | _values, max_size=5) | _values
_objects = st.builds(
    lambda role, content, odd: {"role": role, **content, **odd},
    st.sampled_from(["user", "user", "assistant", "system"]),
    st.fixed_dictionaries({}, optional={"content": _contents}),
    st.dictionaries(st.sampled_from(["id", "name"]), _values, max_size=1),
)
_bodies = st.fixed_dictionaries(
    {"messages": st.lists(_objects, max_size=5)}, optional={"system": _contents}
)


@given(_contents)
def test_an_answer_is_the_same_message_when_it_goes_back(content):
    wire = {"role": "assistant", "content": content}
    history = anthropic.from_request(json.dumps([wire])).history
    assert [anthropic.from_response(json.dumps(wire)).message] == history


@pytest.mark.parametrize(
    "blocks",
    [
        [{**thinking("t", "QUFB"), **CACHED}, text("a")],
        [{**CACHED, **thinking("t", "QUFB")}, text("a")],
        [thinking("t", "QUFBQkJCQ0ND"), call("c1", {"s": "QUFBQkJCQ0ND"})],
    ],
)
def test_signed_thinking_is_the_same_message_in_an_answer_and_a_request(blocks):
    wire = {"role": "assistant", "content": blocks}
    assert [anthropic.from_response(wire).message] == anthropic.from_request([wire]).history
    assert told(read_with_care([wire])) == told(anthropic.from_request([wire]).history)


@given(_bodies)
def test_any_conversation_comes_back_key_for_key(body):
    for request in (body, json.dumps(body)):
        read = anthropic.from_request(request)
        history = molo.json.decode(molo.json.encode(read.history))
        assert is_same(written(history, envelope=read.envelope), body)


@given(st.lists(_objects, max_size=5))
def test_all_ways_read_any_messages_the_same(messages):
    careful = told(read_with_care(messages))
    for read in (strict.read_json, strict.read_open_json):
        history = read(compact(messages))
        assert history is None or told(history) == careful
    assert told(reading.read_carefully(compact(messages)).history) == careful


@given(st.lists(_bodies, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_any_message_is_written_the_same_whatever_stands_next_to_it(bodies, chance):
    read = [message for body in bodies for message in anthropic.from_request(body).history]
    alone = [block for message in read for block in bare(blocks_of(written([message])))]
    chance.shuffle(read)
    assert sorted(bare(blocks_of(written(read)))) == sorted(alone)


@given(_contents)
def test_any_answer_comes_back_key_for_key(content):
    reply = anthropic.from_response({"content": content})
    assert is_same(reply_content(reply.message), content)


@given(histories)
def test_any_history_is_written_and_what_is_written_is_read(history):
    written_request = anthropic.to_request(history).request
    read = anthropic.from_request(written_request)
    assert is_same(written(read.history, envelope=read.envelope), written_request)


@given(histories)
def test_both_ways_of_writing_say_the_same(history):
    data = anthropic.to_request_json(history)
    assert is_same(json.loads(data), anthropic.to_request(history).request)


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_anything_else_gives_an_error_of_molo(data):
    for read in (anthropic.from_request, anthropic.from_response, anthropic.Accumulator().feed):
        try:
            read(data)
        except molo.MoloError as error:
            assert error.text.startswith("Expected")
