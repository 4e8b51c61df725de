"""The dialect of OpenAI's Chat Completions: without loss, or with its name."""

import copy
import json
import sys
import time
from collections import UserList
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import molo
from molo import (
    Assistant,
    Audio,
    DecodeError,
    EncodeError,
    File,
    Image,
    MoloError,
    ProviderData,
    StreamError,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)
from molo.dialects import openai_chat
from molo.dialects.loss import Reply
from molo.dialects.openai_chat import strict
from molo.dialects.openai_chat.reading import read_message
from molo.dialects.openai_chat.spelling import SPELLINGS
from molo.dialects.wire import spelling_parsed
from molo.history import rules
from molo.history.text import map_text

VENDORS = [
    value
    for value in vars(rules).values()
    if isinstance(value, rules.Rules) and value.dialect == "openai_chat"
]
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
CASES = Path(__file__).parents[2] / "shared" / "cases"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recordings are not here")


@pytest.fixture(scope="module")
def records():
    files = ("openai_chat.jsonl", "openai_chat__response_only.jsonl")
    return [
        json.loads(line) for name in files for line in (CORPUS / name).read_bytes().splitlines()
    ]


@pytest.fixture(scope="module")
def requests(records):
    return [record["messages"] for record in records if "messages" in record]


@pytest.fixture(scope="module")
def answers(records):
    return [
        {
            **record.get("response_extra", {}),
            "choices": [
                {
                    **record.get("choice_extra", {}),
                    "finish_reason": record.get("finish_reason"),
                    "message": record["response_message"],
                }
            ],
        }
        for record in records
        if "response_message" in record
    ]


def written(history, **options):
    """Write a history that must lose nothing."""
    result = openai_chat.to_request(history, **options)
    assert result.losses == ()
    return result.request["messages"]


def read_one(message):
    return openai_chat.from_request([message]).history[0]


# --- The recordings -------------------------------------------------------------------------------


@needs_corpus
def test_recorded_requests_come_back_key_for_key(requests, capsys):
    for messages in requests:
        body = {"model": "m", "messages": messages}
        for request in (body, messages, json.dumps(body), json.dumps(body, indent=1).encode()):
            read = openai_chat.from_request(request)
            assert (read.losses, read.envelope) == ((), None)
            assert written(read.history, envelope=read.envelope) == messages
            assert json.loads(openai_chat.to_request_json(read.history)) == {"messages": messages}
    deltas = [
        message.provider_data.delta
        for messages in requests
        for message in openai_chat.from_request(messages).history
        if message.provider_data is not None
    ]
    with capsys.disabled():
        sys.stdout.write(
            f"\nopenai_chat: {len(requests)} requests, "
            f"{sum(strict.read_json(json.dumps(one)) is not None for one in requests)} by types; "
            f"{sum(map(len, requests))} messages, {len(deltas)} with a delta, "
            f"of {sum(map(len, deltas)) / len(deltas):.0f} characters on average\n"
        )


@needs_corpus
def test_recorded_answers_come_back_key_for_key(answers):
    for answer in answers:
        for response in (answer, json.dumps(answer)):
            reply = openai_chat.from_response(response)
            assert written([reply.message]) == [answer["choices"][0]["message"]]
            rest = copy.deepcopy(answer)
            del rest["choices"][0]["message"]
            assert json.loads(reply.rest) == rest


@needs_corpus
def test_histories_survive_the_native_codecs_with_their_deltas(requests):
    for messages in requests:
        history = openai_chat.from_request(messages).history
        assert written(molo.json.decode(molo.json.encode(history))) == messages
        assert written(molo.msgpack.decode(molo.msgpack.encode(history))) == messages


@needs_corpus
def test_a_message_is_written_the_same_whatever_stands_next_to_it(requests):
    other = molo.user("Another message.")
    for messages in requests:
        history = openai_chat.from_request(messages).history
        assert written(history[::-1]) == messages[::-1]
        assert written(history[::2]) == messages[::2]
        between = [item for message in history for item in (message, other)]
        assert written(between)[::2] == messages


def edited(message):
    """Change what a message says, as a careless editor would: its delta stays where it is."""
    match message:
        case User():
            return replace(message, content=(Text("new"), Text("words")))
        case System() | Assistant() | ToolResult():
            return replace(message, content="new words")


@needs_corpus
def test_a_delta_of_an_edited_message_is_named_and_brings_nothing_back(requests, answers):
    histories = [openai_chat.from_request(messages).history for messages in requests]
    histories += [[openai_chat.from_response(answer).message] for answer in answers]
    kept = [message for history in histories for message in history if message.provider_data]
    assert len(kept) > 1500
    for message in kept:
        changed = edited(message)
        result = openai_chat.to_request([changed])
        assert [(loss.code, loss.at) for loss in result.losses] == [("stale", 0)]
        assert result.request["messages"] == written([replace(changed, provider_data=None)])


@needs_corpus
def test_deltas_repeat_no_text_of_the_message(requests):
    for messages in requests:
        for message in openai_chat.from_request(messages).history:
            texts = [getattr(message, "reasoning", None), message.content]
            delta = message.provider_data.delta if message.provider_data else ""
            for text in texts:
                long = isinstance(text, str) and len(text) >= 12
                assert not (long and json.dumps(text, ensure_ascii=False)[1:-1] in delta)


@needs_corpus
def test_every_recorded_stream_gives_a_reply_or_the_recorded_error(records):
    streams = [record["stream_chunks"] for record in records if record.get("stream_chunks")]
    assert len(streams) > 450
    for chunks in streams:
        failed = any(chunk.get("error") for chunk in chunks)
        try:
            reply = openai_chat.accumulate(chunks)
        except StreamError as error:
            assert failed and error.path == "$.error" and isinstance(error.reply, Reply)
        else:
            assert not failed
            assert reply == plain(openai_chat.accumulate(map(json.dumps, chunks)), reply)
            assert_says_what_came(reply.message, chunks)


def plain(reply, like):
    """Spell the numbers of a reply as another does that was read from dicts."""
    assert json.loads(reply.rest) == json.loads(like.rest)
    return replace(reply, rest=like.rest)


def assert_says_what_came(message, chunks):
    """Compare with an oracle that adds up strings and knows no calls."""
    deltas = [
        choice.get("delta") or {}
        for chunk in chunks
        for choice in chunk.get("choices") or []
        if choice.get("index", 0) == 0
    ]
    words = "".join(words_of(delta.get("content")) for delta in deltas)
    refusal = "".join(delta.get("refusal") or "" for delta in deltas)
    assert message.content == (words or refusal)
    pieces = [call["function"] for delta in deltas for call in delta.get("tool_calls") or []]
    arguments = "".join(piece.get("arguments") or "" for piece in pieces)
    assert "".join(call.arguments for call in message.tool_calls) == arguments
    assert all(call.id and call.name for call in message.tool_calls)


def words_of(content):
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(part.get("text") or "" for part in parts)


@needs_corpus
def test_a_delta_that_an_editor_left_without_sense_harms_nothing(requests):
    for messages in requests:
        for message in openai_chat.from_request(messages).history:
            data = message.provider_data or ProviderData(dialect="openai_chat", delta="", digest="")
            for damaged in (
                data.delta.replace("content", "c"),
                data.delta.upper(),
                data.delta[:-1],
            ):
                changed = replace(message, provider_data=replace(data, delta=damaged))
                assert len(openai_chat.to_request([changed]).request["messages"]) == 1


# Keys whose strings are no text: protocol words, ids, names of tools, and where media are.
NO_TEXT = frozenset(
    (
        *("role", "type", "id", "tool_call_id", "name", "format"),
        *("url", "image_url", "document_url", "file_data", "data"),
    )
)


def marked(value, key=None):
    """Put a word into every text of a wire message."""
    if isinstance(value, dict):
        return {name: marked(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [marked(item, key) for item in value]
    if key == "arguments" and value[:1] == "{" and value[-1:] == "}":
        return json.dumps(marked(json.loads(value)))
    return f"Ada {value} Ada" if isinstance(value, str) and key not in NO_TEXT else value


@needs_corpus
def test_redaction_reaches_all_that_is_written(requests):
    for messages in requests:
        history = openai_chat.from_request(marked(messages)).history
        assert b"Ada" in openai_chat.to_request_json(history)
        redacted = map_text(history, lambda text: text.replace("Ada", "[name]"))
        assert b"Ada" not in openai_chat.to_request_json(redacted)


@pytest.mark.skipif(not CASES.is_dir(), reason="the handed cases are not here")
def test_handed_cases_come_back_key_for_key():
    rows = map(json.loads, (CASES / "index.jsonl").read_bytes().splitlines())
    files = [CASES / row["file"] for row in rows if row["format"] == "openai_chat"]
    assert len(files) > 20
    for file in files:
        history = openai_chat.from_request(file.read_bytes()).history
        assert {"messages": written(history)} == json.loads(file.read_bytes())
        assert json.loads(openai_chat.to_request_json(history)) == json.loads(file.read_bytes())


# --- Shapes ---------------------------------------------------------------------------------------

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ONE = (ToolCall("c1", "f", "{}"),)

CANONICAL = [
    ({"role": "system", "content": "Be brief."}, System("Be brief.")),
    ({"role": "user", "content": "Hi"}, User((Text("Hi"),))),
    ({"role": "user", "content": ""}, User((Text(""),))),
    ({"role": "user", "content": []}, User(())),
    (
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        User((Text("a"), Text("b"))),
    ),
    (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b"}}]},
        User((Image(url="https://a/b"),)),
    ),
    ({"role": "assistant", "content": "Hi"}, Assistant("Hi")),
    ({"role": "assistant", "content": ""}, Assistant("")),
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, Assistant("", None, ONE)),
    ({"role": "assistant", "content": "x", "tool_calls": [CALL]}, Assistant("x", None, ONE)),
    ({"role": "assistant", "content": "x", "reasoning_content": ""}, Assistant("x", "")),
    ({"role": "assistant", "content": "x", "reasoning_content": "r"}, Assistant("x", "r")),
    ({"role": "tool", "tool_call_id": "c1", "content": "ok"}, ToolResult("c1", "ok")),
]


@pytest.mark.parametrize(("wire", "message"), CANONICAL)
def test_canonical_shapes_take_the_strict_path_and_have_no_delta(wire, message):
    assert strict.read_json(json.dumps([wire])) == [message]
    assert strict.read_open_message(wire) == message
    assert written([message]) == [wire]


AUDIO = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
MP3 = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "mp3"}}
PDF = {
    "type": "file",
    "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a"},
}

LISTED = [{"type": "text", "text": "Hi"}]
WITH_SMALL_DELTA = [
    ({"role": "system", "content": LISTED}, System("Hi")),
    ({"role": "developer", "content": "Hi"}, System("Hi")),
    ({"role": "developer", "content": LISTED}, System("Hi")),
    ({"role": "user", "content": LISTED}, User((Text("Hi"),))),
    ({"role": "assistant", "content": LISTED}, Assistant("Hi")),
    ({"role": "assistant", "content": LISTED, "tool_calls": [CALL]}, Assistant("Hi", None, ONE)),
    (
        {"role": "assistant", "content": [{"type": "text", "text": ""}], "tool_calls": [CALL]},
        Assistant("", None, ONE),
    ),
    ({"role": "assistant", "tool_calls": [CALL]}, Assistant("", None, ONE)),
    ({"role": "assistant", "content": "", "tool_calls": [CALL]}, Assistant("", None, ONE)),
    ({"role": "assistant", "content": None}, Assistant("")),
    ({"role": "assistant"}, Assistant("")),
    ({"role": "assistant", "content": "x", "refusal": None, "annotations": []}, Assistant("x")),
    (
        {"role": "assistant", "content": "x", "reasoning": "r", "tool_calls": None},
        Assistant("x", "r"),
    ),
    (
        {"role": "assistant", "content": "", "reasoning_content": None, "tool_calls": []},
        Assistant(""),
    ),
    (
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, "index": 0}]},
        Assistant("", None, ONE),
    ),
]
SHAPES = [wire for wire, _ in CANONICAL + WITH_SMALL_DELTA]


@pytest.mark.parametrize(("wire", "message"), WITH_SMALL_DELTA)
def test_usual_shapes_take_the_strict_path_and_have_a_small_delta(wire, message):
    (read,) = strict.read_json(json.dumps([wire])) or ()
    assert read == strict.read_open_message(wire)
    assert replace(read, provider_data=None) == message
    assert read.provider_data is not None and len(read.provider_data.delta) < 100
    assert written([read]) == [wire]


@pytest.mark.parametrize(("wire", "message"), CANONICAL + WITH_SMALL_DELTA)
def test_a_shape_with_other_keys_is_read_by_its_type(wire, message):
    odd = {"trace": "span", "refusal": None, **wire}
    read = strict.read_open_message(odd)
    assert read is not None and replace(read, provider_data=None) == message
    assert written([read]) == [odd]


CAREFUL = [
    # messages that are canonical, but not for the strict path
    ({"role": "user", "content": [AUDIO]}, User((Audio(url="data:audio/wav;base64,UklGRg=="),))),
    ({"role": "user", "content": [MP3]}, User((Audio(url="data:audio/mpeg;base64,UklGRg=="),))),
    (
        {"role": "user", "content": [PDF]},
        User((File(url="data:application/pdf;base64,JVBERi0=", name="a"),)),
    ),
    (
        {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "u"}}]},
        User((Wire("openai_chat", '{"type":"video_url","video_url":{"url":"u"}}'),)),
    ),
    (
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [
                {"type": "text", "text": "ok"},
                {"type": "image_url", "image_url": {"url": "u"}},
            ],
        },
        ToolResult("c1", "ok", attachments=(Image(url="u"),)),
    ),
]


@pytest.mark.parametrize(("wire", "message"), CAREFUL)
def test_shapes_without_a_departure_have_no_delta(wire, message):
    assert read_one(wire) == message
    assert openai_chat.from_request(json.dumps([wire])).history == [message]
    assert written([message]) == [wire]


ODD = [
    # content of an assistant: null, absent, "" and [] are four things, and the model has one
    ({"role": "assistant", "content": None}, Assistant("")),
    ({"role": "assistant"}, Assistant("")),
    ({"role": "assistant", "content": []}, Assistant("")),
    ({"role": "assistant", "content": "", "tool_calls": [CALL]}, Assistant("", None, ONE)),
    ({"role": "assistant", "tool_calls": [CALL]}, Assistant("", None, ONE)),
    ({"role": "assistant", "content": "x", "tool_calls": []}, Assistant("x")),
    ({"role": "assistant", "content": "x", "tool_calls": None}, Assistant("x")),
    ({"role": "assistant", "content": "x", "tool_calls": ["odd", CALL]}, Assistant("x", None, ONE)),
    ({"role": "assistant", "content": {"age": 1.50}}, Assistant('{"age":1.5}')),
    # reasoning, in all spellings
    ({"role": "assistant", "content": "x", "reasoning_content": None}, Assistant("x")),
    ({"role": "assistant", "content": "x", "reasoning": "r"}, Assistant("x", "r")),
    ({"role": "assistant", "content": "x", "reasoning": ""}, Assistant("x", "")),
    (
        {"role": "assistant", "content": "x", "reasoning": "r", "reasoning_content": "r"},
        Assistant("x", "r"),
    ),
    (
        {"role": "assistant", "content": "x", "reasoning": "r", "reasoning_content": ""},
        Assistant("x", "r"),
    ),
    (
        {
            "role": "assistant",
            "content": "x",
            "reasoning_details": [{"type": "reasoning.summary", "summary": "a"}, {"text": "b"}, {}],
        },
        Assistant("x", "a\nb"),
    ),
    (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True},
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b"},
            ],
        },
        Assistant("ab", "hm"),
    ),
    (
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
        Assistant("", "hm"),
    ),
    # refusals and sound
    ({"role": "assistant", "content": None, "refusal": "No."}, Assistant("No.")),
    ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, Assistant("No.")),
    ({"role": "assistant", "content": None, "audio": {"transcript": "Hi"}}, Assistant("Hi")),
    # media that the model made
    (
        {
            "role": "assistant",
            "content": "x",
            "images": [{"type": "image_url", "image_url": {"url": "u"}}],
        },
        Assistant("x", attachments=(Image(url="u"),)),
    ),
    # calls
    (
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, "index": 0}]},
        Assistant("", None, ONE),
    ),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        },
        Assistant("", None, ONE),
    ),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": None, "type": "function", "function": {"name": "f", "arguments": None}}
            ],
        },
        Assistant("", None, (ToolCall("", "f", ""),)),
    ),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "custom", "custom": {"name": "f", "input": "4 + 4"}}
            ],
        },
        Assistant("", None, (ToolCall("c1", "f", '{"input":"4 + 4"}'),)),
    ),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{**CALL, "custom": {"name": "", "input": ""}}],
            "function_call": {"name": "", "arguments": ""},
        },
        Assistant("", None, ONE),
    ),
    (
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{ }"}},
        Assistant("", None, (ToolCall("f", "f", "{ }"),)),
    ),
    ({"role": "function", "name": "f", "content": "ok"}, ToolResult("f", "ok")),
    ({"role": "tool", "content": "ok"}, ToolResult("", "ok")),
    ({"role": "tool", "tool_call_id": None, "content": None}, ToolResult("", "")),
    (
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "text", "text": "line one"}, {"type": "text", "text": "line two"}],
        },
        ToolResult("c1", "line one\nline two"),
    ),
    # other roles, other keys
    ({"role": "developer", "content": "Be brief."}, System("Be brief.")),
    ({"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, System("Be brief.")),
    ({"role": "user_system", "content": "You are Ann."}, User((Text("You are Ann."),))),
    ({"role": "user", "content": "Hi", "name": None, "odd": {"a": [1, 0.5]}}, User((Text("Hi"),))),
    ({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, User((Text("Hi"),))),
    ({"role": "user"}, User(())),
    (
        {"role": "user", "content": [{"type": "document_url", "document_url": "u"}]},
        User((File(url="u"),)),
    ),
    (
        {"role": "user", "content": [{"type": "file", "file": {"file_data": "u", "odd": 1}}]},
        User((File(url="u"),)),
    ),
    (
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": "u"}, {"type": "text", "text": ""}],
        },
        User((Image(url="u"), Text(""))),
    ),
    (
        {
            "role": "user",
            "content": [{"type": "document_url", "document_url": "u", "document_name": "n"}],
        },
        User((File(url="u", name="n"),)),
    ),
    (
        {
            "role": "user",
            "content": [
                {"type": "input_audio", "input_audio": {"data": "https://a", "format": "mp3"}}
            ],
        },
        User((Audio(url="https://a", mime_type="audio/mpeg"),)),
    ),
    (
        {"role": "user", "content": [None, "text"]},
        User((Wire("openai_chat", "null"), Wire("openai_chat", '"text"'))),
    ),
]


@pytest.mark.parametrize(("wire", "message"), ODD)
def test_odd_shapes_are_understood_and_come_back(wire, message):
    for request in ([wire], json.dumps([wire])):
        (read,) = openai_chat.from_request(request).history
        assert replace(read, provider_data=None) == message
        assert openai_chat.to_request([read]).request == {"messages": [wire]}
    answer = openai_chat.from_response({"choices": [{"message": {**wire, "role": "assistant"}}]})
    assert openai_chat.to_request([answer.message]).request["messages"] == [
        {**wire, "role": "assistant"}
    ]


@pytest.mark.parametrize(
    ("extra", "sealed"),
    [
        ({"name": "Ann"}, False),
        ({"reasoning": "r"}, False),
        ({"reasoning_details": []}, False),
        ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}, True),
        ({"reasoning_encrypted": False}, False),
        ({"extra_content": {"google": {"thought_signature": "x"}}}, True),
        ({"tool_calls": [{**CALL, "extra_content": {"google": {"thought_signature": "x"}}}]}, True),
        ({"content": [{"type": "thinking", "thinking": "", "signature": "x"}]}, True),
    ],
)
def test_a_delta_that_holds_reasoning_state_is_sealed(extra, sealed):
    read = read_one({"role": "assistant", "content": "x", **extra})
    assert read.provider_data.sealed is sealed


@pytest.mark.parametrize("arguments", ['{"n": 0.10, "m":1E2,\n "o":1e400}', '{"a":1,"a":2}', "[ ]"])
def test_arguments_that_are_objects_keep_their_text_to_the_letter(arguments):
    body = '{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1",'
    body += f'"type":"function","function":{{"name":"f","arguments":{arguments}}}}}]}}]}}'
    read = openai_chat.from_request(body)
    assert read.history[0].tool_calls == (ToolCall("c1", "f", arguments),)
    compact = body.replace(arguments, json.dumps(json.loads(arguments), separators=(",", ":")))
    again = openai_chat.to_request_json(read.history)
    assert json.loads(again) == json.loads(compact)


def test_numbers_keep_their_spelling_in_json_and_are_floats_in_dicts():
    big = 123456789012345678901234567890
    body = f'{{"messages":[{{"role":"user","content":"Hi","odd":[0.10,1E2,1e400,{big}]}}]}}'
    history = openai_chat.from_request(body).history
    assert openai_chat.to_request_json(history).decode() == body
    assert written(history)[0]["odd"] == [0.1, 100.0, float("inf"), big]


def test_a_call_and_its_result_pair_in_the_legacy_form():
    history = openai_chat.from_request(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}},
            {"role": "function", "name": "f", "content": "ok"},
        ]
    ).history
    (pair,) = molo.history.pair(history).pairs
    assert (pair.call.name, pair.result_at) == ("f", 1)


# --- What is no conversation ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "path", "text"),
    [
        ("5", "$", "Expected `object`, got `int`"),
        ("{}", "$", "Expected field `messages`, got an object without it"),
        ('{"messages":null}', "$.messages", "Expected `array`, got `null`"),
        ('{"messages":["Hi"]}', "$.messages[0]", "Expected `object`, got `str`"),
        ('[{"role":"user","content":"Hi"},[]]', "$[1]", "Expected `object`, got `array`"),
        ('[{"content":"Hi"}]', "$[0]", "Expected field `role`, got an object without it"),
        ('[{"role":5}]', "$[0].role", "Expected `str`, got `int`"),
        ('[{"role":0.5}]', "$[0].role", "Expected `str`, got `float`"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(request_, path, text):
    for request in (request_, request_.encode(), json.loads(request_)):
        with pytest.raises(DecodeError) as caught:
            openai_chat.from_request(request)
        assert (caught.value.path, caught.value.text) == (path, text)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([{"role": "user", "content": "\ud83d"}], "$[0]"),
        (
            {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "\ud83d"}]},
            "$.messages[1]",
        ),
        ([{"role": "user", "content": "a", "odd": "\ud83d"}], "$[0]"),
        ([{"role": "user", "content": "a", "odd": float("nan")}], "$[0]"),
        ([{"role": "user", "content": "a", "odd": object()}], "$[0]"),
    ],
)
def test_builtins_that_json_cannot_hold_are_refused(value, path):
    with pytest.raises(DecodeError) as caught:
        openai_chat.from_request(value)
    assert caught.value.path.startswith(path)


class Odd:
    """What msgspec takes for a mapping, and asks for its items."""

    def __getitem__(self, key):
        raise IndexError


@pytest.mark.parametrize("odd", [UserList([1]), range(2), Odd()])
def test_sequences_that_json_cannot_hold_are_refused(odd):
    message = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "function": odd}]}
    with pytest.raises(DecodeError):
        openai_chat.from_request([message])
    with pytest.raises(DecodeError):
        openai_chat.from_response({"choices": [{"message": message}]})


def test_arguments_that_are_an_object_keep_their_text_in_answers_as_in_requests():
    message = (
        b'{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a": 0.10}}}]}'
    )
    reply = openai_chat.from_response(b'{"choices":[{"message":%s}]}' % message)
    assert reply.message.tool_calls[0].arguments == '{"a": 0.10}'
    assert openai_chat.from_request(b"[%s]" % message).history == [reply.message]


def tupled(value):
    if isinstance(value, dict):
        return {key: tupled(item) for key, item in value.items()}
    return tuple(map(tupled, value)) if isinstance(value, list) else value


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": LISTED},
        {"role": "user", "content": [{**LISTED[0], "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "odd": [1]}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"text": "Hmm."}]}]},
    ],
)
def test_tuples_are_read_as_the_arrays_they_become(message):
    read = openai_chat.from_request([message]).history
    for request in ({"messages": tupled([message])}, tupled([message])):
        assert openai_chat.from_request(request).history == read
    assert written(read) == [message]
    answer = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "odd": [1]}], **message}
    replies = [
        openai_chat.from_response({"choices": [{"message": wire}]})
        for wire in (answer, tupled(answer))
    ]
    assert replies[0] == replies[1]


@pytest.mark.parametrize("depth", [300, 600, 900, 2_000, 100_000])
def test_deep_nesting_is_read_or_refused(depth):
    body = '[{"role":"user","content":"a","odd":' + "[" * depth + "]" * depth + "}]"
    try:
        history = openai_chat.from_request(body).history
    except DecodeError:
        return
    assert openai_chat.to_request_json(history).decode() == f'{{"messages":{body}}}'


# --- Any shape ------------------------------------------------------------------------------------

WORDS = st.sampled_from(["", "Hi", "A text of some length.", "{}", '{"a":1}', "data:,x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


def objects(*keys, **fixed):
    """Objects that may have each of these keys, with any value, and a right value now and then."""
    return st.fixed_dictionaries(
        {}, optional={**dict.fromkeys(keys, VALUES), **{k: v | VALUES for k, v in fixed.items()}}
    )


PARTS = objects(
    "cache_control",
    type=st.sampled_from(
        ["text", "image_url", "input_audio", "file", "thinking", "refusal", "odd"]
    ),
    text=WORDS,
    image_url=objects("detail", url=WORDS),
    input_audio=objects(data=WORDS, format=WORDS),
    file=objects("file_id", file_data=WORDS, filename=WORDS),
    thinking=st.lists(objects(text=WORDS), max_size=2),
    refusal=WORDS,
)
FUNCTIONS = objects(name=WORDS, arguments=WORDS, input=WORDS)
CALLS = objects("index", id=WORDS, type=WORDS, function=FUNCTIONS, custom=FUNCTIONS)
MESSAGES = st.builds(
    lambda role, rest: {**rest, "role": role},
    st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "odd"]),
    objects(
        "name",
        "prefix",
        content=WORDS | st.lists(PARTS | VALUES, max_size=3),
        reasoning=WORDS,
        reasoning_content=WORDS,
        reasoning_details=st.lists(objects("index", "data", text=WORDS, summary=WORDS), max_size=2),
        refusal=WORDS,
        audio=objects(transcript=WORDS),
        images=st.lists(PARTS, max_size=2),
        tool_calls=st.lists(CALLS, max_size=2),
        function_call=FUNCTIONS,
        tool_call_id=WORDS,
    ),
)


@given(st.lists(MESSAGES, max_size=3))
def test_whatever_has_a_role_comes_back(messages):
    before = copy.deepcopy(messages)
    for request in (messages, json.dumps(messages)):
        history = openai_chat.from_request(request).history
        assert exact(openai_chat.to_request(history).request["messages"]) == exact(messages)
        assert exact(json.loads(openai_chat.to_request_json(history))["messages"]) == exact(
            messages
        )
    assert exact(messages) == exact(before)


def read_with_care(messages):
    """Read messages one by one, in the way that knows no shape."""
    return [read_message(message, spelling_parsed(message)) for message in messages]


def told(history):
    """Tell what messages say, whatever the order of keys in their deltas."""
    return [
        (replace(message, provider_data=None), message.provider_data and delta_of(message))
        for message in history
    ]


def delta_of(message):
    data = message.provider_data
    return exact(json.loads(data.delta)), data.digest, data.sealed


ODD_KEYS = objects("name", "trace", refusal=st.none(), audio=st.none())
USUAL = st.builds(lambda odd, message: {**odd, **message}, ODD_KEYS, st.sampled_from(SHAPES))


@given(st.lists(MESSAGES | USUAL, max_size=2) | st.lists(st.sampled_from(SHAPES)))
def test_all_ways_read_the_same(messages):
    careful = read_with_care(messages)
    fast = strict.read_json(json.dumps(messages))
    assert fast is None or told(fast) == told(careful)
    for wire, message in zip(messages, careful, strict=True):
        opened = strict.read_open_message(wire)
        assert opened is None or told([opened]) == told([message])


THOUGHTS = st.sampled_from([None, "", "Hmm.", "I should look at that."])
ANSWERS = st.fixed_dictionaries(
    {"role": st.just("assistant")},
    optional={
        "content": WORDS | st.sampled_from([None, LISTED]),
        "reasoning_content": THOUGHTS,
        "reasoning": THOUGHTS,
        "tool_calls": st.sampled_from([None, [], [CALL], [CALL, {**CALL, "index": 1}]]),
        "refusal": st.none(),
        "annotations": st.sampled_from([None, []]),
        "audio": st.none(),
        "function_call": st.none(),
    },
)


@given(ANSWERS)
def test_what_an_answer_holds_takes_the_strict_path_when_it_goes_back(wire):
    careful = read_with_care([wire])
    fast = strict.read_json(json.dumps([wire]))
    thoughts = {wire.get("reasoning"), wire.get("reasoning_content")} - {None}
    assert (fast is None) is (len(thoughts) > 1)
    assert fast is None or told(fast) == told(careful)
    history = openai_chat.from_request(json.dumps([wire])).history
    assert history == openai_chat.from_request([wire]).history
    assert [openai_chat.from_response({"choices": [{"message": wire}]}).message] == history
    assert written(history) == [wire]


@needs_corpus
def test_all_ways_read_the_recordings_the_same(requests):
    for messages in requests:
        careful = told(read_with_care(messages))
        fast = strict.read_json(json.dumps(messages))
        assert fast is None or told(fast) == careful
        assert told(openai_chat.from_request(messages).history) == careful


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('[{"role":"user","content":"a","content":"b"}]', User((Text("b"),))),
        ('[{"role":"user","role":"system","content":"a"}]', System("a")),
        ('[{"role":"user","content":"a","odd":1,"odd":2,"content":"b"}]', User((Text("b"),))),
    ],
)
def test_of_a_repeated_key_the_last_value_counts(body, message):
    (read,) = openai_chat.from_request(body).history
    assert replace(read, provider_data=None) == message
    assert written([read]) == json.loads(body)


def exact(value):
    """Tell `true` from `1`, which Python's equality does not."""
    return json.dumps(value, sort_keys=True)


@given(st.lists(MESSAGES, max_size=3), st.sampled_from(VENDORS))
def test_any_vendor_gets_a_request_whatever_was_read(messages, vendor):
    history = openai_chat.from_request(messages).history
    result = openai_chat.to_request(history, rules=vendor)
    again = openai_chat.to_request(openai_chat.from_request(result.request).history, rules=vendor)
    assert again.request == result.request


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_bytes_give_a_value_or_a_decode_error(data):
    for read in (openai_chat.from_request, openai_chat.from_response):
        try:
            read(data)
        except DecodeError as error:
            assert error.__cause__ is None and error.__context__ is None


# --- Losses ---------------------------------------------------------------------------------------


def test_a_loss_says_what_and_where():
    history = [
        ToolResult("c1", "no", is_error=True),
        User((Text("see"), Wire("gemini", "{}"), Wire("openai_chat", "{"))),
        User((Image(url="https://a", mime_type="image/png"),)),
        System("x", provider_data=ProviderData(dialect="gemini", delta="{}", digest="")),
        Assistant(
            "x", provider_data=ProviderData(dialect="gemini", delta="", digest="", sealed=True)
        ),
    ]
    envelope = ProviderData(dialect="gemini", delta="{}", digest="")
    result = openai_chat.to_request(history, envelope=envelope)
    assert [(loss.code, loss.at, loss.part) for loss in result.losses] == [
        ("foreign", None, None),
        ("error_flag", 0, None),
        ("block", 1, 1),
        ("block", 1, 2),
        ("media_type", 2, 0),
        ("foreign", 3, None),
        ("sealed", 4, None),
    ]
    assert result.request["messages"][1] == {
        "role": "user",
        "content": [{"type": "text", "text": "see"}],
    }


def test_images_of_results_follow_the_results_of_their_step():
    history = [
        Assistant("", None, (ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}"))),
        ToolResult("a", "one", attachments=(Image(data=b"PNG", mime_type="image/png"),)),
        ToolResult("b", "two"),
        Assistant("Done."),
    ]
    result = openai_chat.to_request(history, rules=rules.OPENAI_CHAT)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}}
    assert result.request["messages"][1:4] == [
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "two"},
        {"role": "user", "content": [image]},
    ]
    assert [(loss.code, loss.at, loss.part) for loss in result.losses] == [("moved", 1, 0)]
    taken = written(history, rules=rules.OPENROUTER)
    assert taken[1]["content"] == [{"type": "text", "text": "one"}, image]


@pytest.mark.parametrize(
    "block",
    [
        Image(url="https://a"),
        Audio(url="data:audio/wav;base64,UklGRg=="),
        File(url="https://a", name="a"),
        Wire("openai_chat", '{"type":"odd"}'),
    ],
)
def test_what_a_vendor_takes_neither_in_results_nor_from_users_is_a_loss(block):
    nothing = replace(rules.OPENAI_CHAT, user_blocks=("text",), result_blocks=("text",))
    result = openai_chat.to_request([ToolResult("a", "x", attachments=(block,))], rules=nothing)
    assert result.request["messages"] == [{"role": "tool", "tool_call_id": "a", "content": "x"}]
    assert [(loss.code, loss.part) for loss in result.losses] == [("block", 0)]


def test_images_that_a_vendor_takes_nowhere_are_a_loss():
    text_only = replace(rules.OPENAI_CHAT, user_blocks=("text",))
    history = [ToolResult("a", "one", attachments=(Image(url="https://a"), Text("more")))]
    result = openai_chat.to_request(history, rules=text_only)
    assert result.request["messages"] == [
        {
            "role": "tool",
            "tool_call_id": "a",
            "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "more"}],
        }
    ]
    assert [loss.code for loss in result.losses] == ["block"]


# --- Spelling -------------------------------------------------------------------------------------

THOUGHT = Assistant("", "hm", ONE)
DETAILED = {
    "role": "assistant",
    "content": "x",
    "reasoning": "hm",
    "reasoning_details": [{"type": "reasoning.text", "text": "hm"}],
}


@pytest.mark.parametrize(
    ("vendor", "fields", "losses"),
    [
        (rules.COMMON, {"content": None, "reasoning_content": "hm"}, []),
        (rules.OPENAI_CHAT, {"content": None}, ["reasoning"]),
        (rules.GROQ, {"content": None}, ["reasoning"]),
        (rules.DEEPSEEK, {"content": "", "reasoning_content": "hm"}, []),
        (rules.KIMI, {"content": None, "reasoning_content": "hm"}, []),
        (rules.CEREBRAS, {"content": None, "reasoning": "hm"}, []),
        (rules.OPENROUTER, {"content": None, "reasoning": "hm"}, []),
        (
            rules.MISTRAL,
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
            [],
        ),
    ],
)
def test_reasoning_and_empty_content_as_each_vendor_spells_them(vendor, fields, losses):
    result = openai_chat.to_request([THOUGHT], rules=vendor)
    assert result.request["messages"] == [{"role": "assistant", "tool_calls": [CALL], **fields}]
    assert [loss.code for loss in result.losses] == losses


@pytest.mark.parametrize(
    ("vendor", "fields", "losses"),
    [
        (rules.COMMON, {**DETAILED}, []),
        (rules.OPENROUTER, {**DETAILED}, []),
        (rules.DEEPSEEK, {"reasoning_content": "hm"}, ["sealed"]),
        (rules.OPENAI_CHAT, {}, ["reasoning", "sealed"]),
        (rules.CEREBRAS, {"reasoning": "hm"}, ["sealed"]),
    ],
)
def test_what_was_read_from_one_vendor_is_spelled_for_another(vendor, fields, losses):
    result = openai_chat.to_request([read_one(DETAILED)], rules=vendor)
    assert result.request["messages"] == [{"role": "assistant", "content": "x", **fields}]
    assert [loss.code for loss in result.losses] == losses


def test_reasoning_that_goes_back_in_details_is_not_said_twice():
    wire = {key: value for key, value in DETAILED.items() if key != "reasoning"}
    assert written([read_one(wire)], rules=rules.OPENROUTER) == [wire]


@needs_corpus
@pytest.mark.parametrize(
    ("vendor", "its_rules"),
    [
        ("openai", rules.OPENAI_CHAT),
        ("azure", rules.OPENAI_CHAT),
        ("openrouter", rules.OPENROUTER),
        ("groq", rules.GROQ),
        ("cerebras", rules.CEREBRAS),
        ("zai", rules.GLM),
    ],
)
def test_a_vendor_gets_back_what_it_was_recorded_to_get(records, vendor, its_rules):
    asked = [one["messages"] for one in records if one["vendor"] == vendor and "messages" in one]
    assert asked
    for messages in asked:
        history = openai_chat.from_request(messages).history
        assert written(history, rules=its_rules) == messages


def test_fields_that_a_vendor_refuses_are_left_out_and_named():
    read = read_one({"role": "user", "content": "Hi", "odd": 1, "refusal": None})
    result = openai_chat.to_request([read], rules=rules.CEREBRAS)
    assert result.request["messages"] == [{"role": "user", "content": "Hi"}]
    assert [(loss.code, loss.at) for loss in result.losses] == [("field", 0)]


def test_mistral_gets_files_as_documents():
    at = "https://example.org/a.pdf"
    history = [User((File(url=at, name="a.pdf"), File(url=at), Text("Read them.")))]
    (message,) = written(history, rules=rules.MISTRAL)
    document = {"type": "document_url", "document_url": at}
    assert message["content"][:2] == [{**document, "document_name": "a.pdf"}, document]
    assert read_one(message).content == history[0].content


def test_mistral_gets_no_key_that_it_forbids():
    read = read_one({"role": "user", "content": "Hi", "name": None, "tool_calls": None})
    assert written([read], rules=rules.MISTRAL) == [{"role": "user", "content": "Hi"}]


def test_wav_has_one_format_whatever_its_type_is_called():
    sounds = [Audio(data=b"RIFF", mime_type=f"audio/{name}") for name in ("wav", "x-wav", "wave")]
    parts = written([User(tuple(sounds))])[0]["content"]
    assert [part["input_audio"]["format"] for part in parts] == ["wav"] * 3


def test_a_name_that_openai_refuses_is_left_out_and_named():
    read = [read_one({"role": "user", "content": "Hi", "name": name}) for name in ("Ann", "Ann B")]
    result = openai_chat.to_request(read, rules=rules.OPENAI_CHAT)
    assert [message.get("name") for message in result.request["messages"]] == ["Ann", None]
    assert [(loss.code, loss.at) for loss in result.losses] == [("field", 1)]
    assert [message["name"] for message in written(read, rules=rules.DEEPSEEK)] == ["Ann", "Ann B"]


def test_rules_made_from_a_vendors_keep_its_spelling_unless_another_is_given():
    own = replace(rules.DEEPSEEK, id_max=12)
    spelled = openai_chat.to_request([THOUGHT], rules=rules.DEEPSEEK)
    assert openai_chat.to_request([THOUGHT], rules=own) == spelled
    given = openai_chat.to_request([THOUGHT], rules=own, spelling=openai_chat.GROQ)
    assert given == openai_chat.to_request([THOUGHT], rules=rules.GROQ)
    assert given != spelled


@pytest.mark.parametrize(
    ("spelled", "fields"),
    [
        ("recorded", {"content": None}),
        ("null", {"content": None}),
        ("empty", {"content": ""}),
        ("absent", {}),
    ],
)
def test_no_text_beside_calls_is_spelled_in_three_ways(spelled, fields):
    spelling = openai_chat.Spelling(empty_content=spelled, system_role="developer")
    messages = written([Assistant("", None, ONE), Assistant(""), System("x")], spelling=spelling)
    assert messages == [
        {"role": "assistant", "tool_calls": [CALL], **fields},
        {"role": "assistant", "content": ""},
        {"role": "developer", "content": "x"},
    ]


def test_mistral_gets_its_thinking_back_once():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Hi"},
    ]
    wire = {"role": "assistant", "content": parts}
    assert written([read_one(wire)], rules=rules.MISTRAL) == [wire]
    assert written([Assistant("Hi", "hm")], rules=rules.MISTRAL) == [wire]
    assert written([read_one(wire)], rules=rules.OPENROUTER) == [
        {"role": "assistant", "content": parts[1:], "reasoning": "hm"}
    ]


def test_a_developer_is_a_system_where_there_is_no_such_role():
    read = read_one({"role": "developer", "content": "Be brief."})
    assert written([read])[0]["role"] == "developer"
    assert written([read], rules=rules.OPENAI_CHAT)[0]["role"] == "developer"
    assert written([read], rules=rules.DEEPSEEK)[0]["role"] == "system"


@pytest.mark.parametrize("vendor", VENDORS)
def test_all_rules_of_this_dialect_have_a_spelling_and_agree_with_it(vendor):
    assert vendor.reads_sealed is SPELLINGS[vendor.vendor].sealed


def test_the_spellings_have_the_names_of_their_vendors_rules():
    names = {name for name, value in vars(rules).items() if value in VENDORS}
    assert names - {"DEEPSEEK_NON_THINKING"} <= set(openai_chat.__all__)
    assert {vendor.vendor for vendor in VENDORS} == SPELLINGS.keys()


# --- Answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "end"),
        ("eos", "end"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "filter"),
        ("odd", "other"),
        (5, "other"),
        ([], "other"),
        ("", None),
        (None, None),
    ],
)
def test_the_reason_of_an_end(reason, stop):
    choice = {"message": {"content": "Hi"}, "finish_reason": reason}
    reply = openai_chat.from_response({"choices": [choice]})
    assert reply.stop == stop
    assert json.loads(reply.rest) == {"choices": [{"finish_reason": reason}]}


@pytest.mark.parametrize(
    ("response", "path"),
    [
        ("[]", "$"),
        ("{}", "$"),
        ('{"choices":null}', "$.choices"),
        ('{"choices":[]}', "$.choices"),
        ('{"choices":[{}]}', "$.choices[0].message"),
        ('{"choices":[{"message":"Hi"}]}', "$.choices[0].message"),
        ('{"error":{"message":"no"}}', "$.error"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_place(response, path):
    for form in (response, response.encode(), json.loads(response)):
        with pytest.raises(DecodeError) as caught:
            openai_chat.from_response(form)
        assert caught.value.path == path


@pytest.mark.parametrize("odd", ["\ud83d", float("nan"), object()])
@pytest.mark.parametrize("place", ["content", "odd"])
def test_answers_that_json_cannot_hold_are_refused(odd, place):
    for body in (
        {"choices": [{"message": {place: odd}}]},
        {place: odd, "choices": [{"message": {}}]},
    ):
        with pytest.raises(DecodeError) as caught:
            openai_chat.from_response(body)
        assert caught.value.path == "$"


def test_answers_that_are_nested_too_deeply_are_refused():
    odd = nested(50_000)
    with pytest.raises(DecodeError, match="nested"):
        openai_chat.from_response({"choices": [{"message": {"content": "Hi", "odd": odd}}]})


# --- Streams --------------------------------------------------------------------------------------


def chunk(**delta):
    return {"choices": [{"index": 0, "delta": delta}]}


def piece(arguments, **keys):
    name = {"name": keys.pop("name")} if "name" in keys else {}
    return {**keys, "function": {**name, "arguments": arguments}}


TWO = (ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", "{}"))
A, B = {"id": "a", "name": "f"}, {"id": "b", "name": "g"}

CALLS_IN_PIECES = [
    # in order, by index
    [
        [piece("", index=0, **A)],
        [piece('{"x":', index=0)],
        [piece("1}", index=0)],
        [piece("{}", index=1, **B)],
    ],
    # interleaved
    [
        [piece('{"x":', index=0, **A), piece("{", index=1, **B)],
        [piece("}", index=1)],
        [piece("1}", index=0)],
    ],
    # without index
    [[piece('{"x":', **A)], [piece("1}")], [piece("{}", **B)]],
    # whole, in one delta, without index
    [[piece('{"x":1}', **A), piece("{}", **B)]],
    # whole, all with the index 0
    [[piece('{"x":1}', index=0, **A)], [piece("{}", index=0, **B)]],
    # the id repeated, with and without index
    [[piece('{"x":', index=0, **A)], [piece("1}", index=0, id="a")], [piece("{}", index=1, **B)]],
    [[piece('{"x":', **A)], [piece("1}", id="a", name="f")], [piece("{}", **B)]],
    # id, name and arguments null on what follows
    [
        [piece('{"x":', index=0, **A)],
        [piece("1}", index=0, id=None, name=None)],
        [piece(None, index=0)],
        [piece("{}", index=1, **B)],
    ],
    # an id of its own on every piece
    [
        [piece('{"x":', index=0, **A)],
        [piece("1}", index=0, id="other")],
        [piece("{}", index=1, **B)],
    ],
    # an index that does not begin at 0
    [[piece('{"x":1}', index=1, **A)], [piece("{}", index=2, **B)]],
]


@pytest.mark.parametrize("deltas", CALLS_IN_PIECES)
def test_calls_come_in_pieces_and_whole(deltas):
    chunks = [chunk(role="assistant"), *(chunk(tool_calls=calls) for calls in deltas)]
    assert openai_chat.accumulate(chunks).message == Assistant("", None, TWO)


STREAMS = [
    ([chunk(content="Hel"), chunk(content="lo")], Assistant("Hello")),
    ([chunk(role="assistant", content="a"), chunk(role="assistant", content="b")], Assistant("ab")),
    ([chunk(role=None, content=None), chunk(content="")], Assistant("")),
    (
        [{"choices": []}, chunk(content="a"), {"choices": [{"index": 0}]}, {"usage": {}}],
        Assistant("a"),
    ),
    (
        [chunk(reasoning_content="a"), chunk(reasoning_content="b"), chunk(content="c")],
        Assistant("c", "ab"),
    ),
    ([chunk(reasoning_content=""), chunk(content="c")], Assistant("c", "")),
    ([chunk(refusal="N"), chunk(refusal="o.")], Assistant("No.")),
    (
        [
            chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]),
            chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "m"}]}]),
            chunk(content="a"),
            chunk(content=[{"type": "text", "text": "b"}]),
            chunk(content="c"),
        ],
        Assistant("abc", "hm"),
    ),
    ([chunk(content="a"), chunk(content=[{"type": "text", "text": "b"}])], Assistant("ab")),
    (
        [
            chunk(function_call={"name": "f", "arguments": "{"}),
            chunk(function_call={"arguments": "}"}),
        ],
        Assistant("", None, (ToolCall("f", "f", "{}"),)),
    ),
    (
        [chunk(audio={"id": "x", "transcript": "H"}), chunk(audio={"transcript": "i"})],
        Assistant("Hi"),
    ),
]


@pytest.mark.parametrize(("chunks", "message"), STREAMS)
def test_what_comes_in_pieces_is_put_together(chunks, message):
    for stream in (chunks, map(json.dumps, chunks)):
        reply = openai_chat.accumulate(stream)
        assert replace(reply.message, provider_data=None) == message


def test_reasoning_details_are_put_together_by_type_and_index():
    entry = {"type": "reasoning.text", "index": 0, "format": None}
    chunks = [
        chunk(reasoning="h", reasoning_details=[{**entry, "text": "h"}]),
        chunk(reasoning="m", reasoning_details=[{**entry, "text": "m"}]),
        chunk(reasoning_details=[{**entry, "signature": "s"}]),
        chunk(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "x"}]),
        chunk(content="a"),
    ]
    message = openai_chat.accumulate(chunks).message
    assert message.provider_data.sealed
    assert written([message]) == [
        {
            "role": "assistant",
            "content": "a",
            "reasoning": "hm",
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": "hm", "signature": "s"},
                {"type": "reasoning.encrypted", "index": 1, "data": "x"},
            ],
        }
    ]


def test_the_rest_of_a_stream_holds_usage_reasons_and_other_choices():
    chunks = [
        {"id": "x", "choices": [{"index": 1, "delta": {"content": "b"}}], "usage": None},
        {
            "id": "x",
            "choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [1]}}],
        },
        {"choices": [{"index": 0, "finish_reason": "stop", "logprobs": {"content": [2]}}]},
        {"choices": [], "usage": {"total_tokens": 5}},
    ]
    reply = openai_chat.accumulate(chunks)
    assert (reply.message, reply.stop) == (Assistant("a"), "end")
    assert json.loads(reply.rest) == {
        "id": "x",
        "usage": {"total_tokens": 5},
        "choices": [
            {"index": 0, "finish_reason": "stop", "logprobs": {"content": [1, 2]}},
            {"index": 1, "message": {"role": "assistant", "content": "b"}},
        ],
    }


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"error": {"message": "overloaded", "code": 502}, "choices": []}, "$.error"),
        ({"choices": 5}, "$.choices"),
        ({"choices": [5]}, "$.choices[0]"),
        ("[]", "$"),
        (b"", ""),
    ],
)
def test_a_broken_stream_carries_what_was_complete(broken, path):
    with pytest.raises(StreamError) as caught:
        openai_chat.accumulate([chunk(content="so "), chunk(content="far"), broken])
    assert caught.value.path == path
    assert caught.value.reply.message == Assistant("so far")
    assert "overloaded" not in str(caught.value)
    with pytest.raises(StreamError) as caught:
        openai_chat.accumulate([broken])
    assert caught.value.reply is None


@pytest.mark.parametrize("chunks", [[], [{"choices": []}], [{"usage": {}}]])
def test_a_stream_without_a_choice_is_broken(chunks):
    with pytest.raises(StreamError, match="Expected a choice"):
        openai_chat.accumulate(chunks)


@given(
    st.lists(
        objects(
            "error",
            choices=st.lists(
                objects(
                    "finish_reason",
                    "logprobs",
                    index=st.integers(0, 1),
                    delta=objects(
                        "role",
                        content=WORDS | st.lists(PARTS, max_size=2),
                        reasoning=WORDS,
                        reasoning_details=st.lists(PARTS, max_size=2),
                        tool_calls=st.lists(CALLS, max_size=2),
                    ),
                ),
                max_size=2,
            ),
        ),
        max_size=5,
    )
)
def test_any_chunks_give_a_reply_or_a_stream_error(chunks):
    before = exact(chunks)
    try:
        reply = openai_chat.accumulate(chunks)
    except MoloError as error:
        assert isinstance(error, StreamError)
    else:
        assert written([reply.message]) or reply
    assert exact(chunks) == before


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("odd", ["\ud83d", float("nan"), object(), nested(50_000)])
def test_chunks_that_json_cannot_hold_break_the_stream(odd):
    with pytest.raises(StreamError):
        openai_chat.accumulate([chunk(content="a", odd=odd)] * 2)


@pytest.mark.parametrize("depth", [100, 800, 100_000])
def test_a_wire_block_is_written_or_named_or_refused_however_deep(depth):
    """Where the limit is depends on the version of Python."""
    data = "[" * depth + "]" * depth
    try:
        result = openai_chat.to_request([User((Wire("openai_chat", data),))])
    except EncodeError as error:
        assert "nested" in error.text
    else:
        lost = [loss.code for loss in result.losses]
        assert lost == ["block"] or json.dumps(result.request["messages"][0]["content"][0]) == data


def test_a_long_stream_costs_no_more_a_chunk_than_a_short_one():
    """Twenty times the chunks within sixty times the time: far from the 400 of quadratic cost."""
    kinds = [
        chunk(content="word "),
        chunk(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "hm "}]),
        chunk(tool_calls=[piece("1", index=0, **A)]),
    ]

    def seconds(times):
        start = time.process_time()
        openai_chat.accumulate(kinds * times)
        return time.process_time() - start

    short = min(seconds(500) for _ in range(3))
    assert min(seconds(10_000) for _ in range(2)) < 60 * short


def test_surrogates_in_a_history_are_an_encode_error_in_json_alone():
    history = [molo.user("\ud83d")]
    assert written(history) == [{"role": "user", "content": "\ud83d"}]
    with pytest.raises(EncodeError):
        openai_chat.to_request_json(history)
