"""The dialect of OpenAI's Responses: without loss, or with its name."""

import json
import sys
import time
from itertools import groupby
from pathlib import Path

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
from molo.dialects import openai_responses
from molo.dialects.loss import Reply
from molo.dialects.openai_responses import STATELESS, strict
from molo.dialects.openai_responses.items import kind_of
from molo.dialects.openai_responses.reading import read_run
from molo.dialects.wire import spelling_parsed
from molo.history import rules
from molo.history.text import map_text
from molo.history.window import trim

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
CASES = Path(__file__).parents[2] / "shared" / "cases"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recordings are not here")
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the handed cases are not here")


@pytest.fixture(scope="module")
def records():
    files = ("openai_responses.jsonl", "openai_responses__response_only.jsonl")
    return [
        json.loads(line) for name in files for line in (CORPUS / name).read_bytes().splitlines()
    ]


@pytest.fixture(scope="module")
def requests(records):
    return [
        {key: record[key] for key in ("instructions", "input") if key in record}
        for record in records
        if "input" in record
    ]


@pytest.fixture(scope="module")
def answers(records):
    return [record["response"] for record in records if "output" in record.get("response", ())]


@pytest.fixture(scope="module")
def streams(records):
    return [record["stream_events"] for record in records if record.get("stream_events")]


def written(history, **options):
    """Write a history that must lose nothing."""
    result = openai_responses.to_request(history, **options)
    assert result.losses == ()
    return result.request


def read_one(*items):
    (message,) = openai_responses.from_request([*items]).history
    return message


def exact(value):
    """Tell `true` from `1`, which Python's equality does not."""
    return json.dumps(value, sort_keys=True)


def spelled(data):
    """Parse JSON with its numbers as they are spelled."""
    return json.loads(data, parse_float=str, parse_int=str)


# --- The recordings -------------------------------------------------------------------------------


@needs_corpus
def test_recorded_requests_come_back_key_for_key(requests, capsys):
    read = []
    for body in requests:
        data = json.dumps({"model": "m", **body, "tools": []}, indent=1).encode()
        for request in (body, {"model": "m", **body}, data, json.dumps(body)):
            read.append(openai_responses.from_request(request))
            assert read[-1].losses == ()
            assert exact(written(read[-1].history, envelope=read[-1].envelope)) == exact(body)
        again = openai_responses.to_request_json(read[-1].history, envelope=read[-1].envelope)
        assert spelled(again) == spelled(json.dumps(body))
    messages = [message for one in read[::4] for message in one.history]
    deltas = [message.provider_data.delta for message in messages if message.provider_data]
    canonical = sum(strict.read_json(json.dumps(body)) is not None for body in requests)
    with capsys.disabled():
        sys.stdout.write(
            f"\nopenai_responses: {len(requests)} requests, {canonical} by the strict path; "
            f"{len(messages)} messages, {len(deltas)} with a delta, "
            f"of {sum(map(len, deltas)) / len(deltas):.0f} characters on average\n"
        )
    assert len(requests) == 794


@needs_corpus
def test_recorded_answers_come_back_as_input_key_for_key(answers):
    assert len(answers) > 600
    for answer in answers:
        for response in (answer, json.dumps(answer)):
            reply = openai_responses.from_response(response)
            assert exact(written([reply.message])["input"]) == exact(answer["output"])
            rest = {key: value for key, value in answer.items() if key != "output"}
            assert exact(json.loads(reply.rest)) == exact(rest)


@needs_corpus
def test_answers_put_into_a_history_are_read_again_as_what_they_said(answers):
    for answer in answers:
        message = openai_responses.from_response(answer).message
        again = openai_responses.from_request(written([message])).history
        replies = [message for message in again if isinstance(message, Assistant)]
        assert "".join(reply.content for reply in replies) == message.content
        calls = tuple(call for reply in replies for call in reply.tool_calls)
        assert calls == message.tool_calls


@needs_corpus
def test_histories_survive_the_native_codecs_with_their_deltas(requests):
    for body in requests:
        read = openai_responses.from_request(body)
        for codec in (molo.json, molo.msgpack):
            history = codec.decode(codec.encode(read.history))
            assert written(history, envelope=read.envelope) == body


@needs_corpus
def test_a_message_is_written_the_same_whatever_stands_next_to_it(requests):
    other = molo.user("Another message.")
    for body in requests:
        history = openai_responses.from_request(body).history
        alone = [units(written([message])) for message in history]
        assert units(written(history)) == merged(alone)
        backwards = openai_responses.to_request(history[::-1])
        assert units(backwards.request) == merged(alone[::-1])
        assert {loss.code for loss in backwards.losses} <= {"moved"}
        between = written([item for message in history for item in (message, other)])
        said = [{"role": "user", "content": "Another message."}]
        assert units(between) == merged([x for one in alone for x in (one, (None, said))])


def units(request):
    return request.get("instructions"), request["input"]


def merged(parts):
    instructions = [said for said, _ in parts if said is not None]
    return instructions[0] if instructions else None, [x for _, items in parts for x in items]


def edited(message):
    """Change what a message says, as a careless editor would: its delta stays where it is."""
    match message:
        case User():
            return replace(message, content=(Text("new"), Text("words")))
        case System() | Assistant() | ToolResult():
            return replace(message, content="new words")


@needs_corpus
def test_a_delta_of_an_edited_message_is_named_and_brings_nothing_back(requests, answers):
    read = [openai_responses.from_request(body).history for body in requests]
    read += [[openai_responses.from_response(answer).message] for answer in answers]
    kept = [message for history in read for message in history if message.provider_data]
    assert len(kept) > 1500
    for message in kept:
        changed = edited(message)
        result = openai_responses.to_request([changed])
        bare = openai_responses.to_request([replace(changed, provider_data=None)])
        assert result.request == bare.request
        assert [loss.code for loss in result.losses][:1] == ["stale"]
        assert result.losses[1:] == bare.losses


@needs_corpus
def test_reasoning_without_its_delta_is_never_sent(requests, answers):
    read = [openai_responses.from_request(body).history for body in requests]
    read += [[openai_responses.from_response(answer).message] for answer in answers]
    thinking = [
        replace(message, provider_data=None)
        for history in read
        for message in history
        if isinstance(message, Assistant) and message.reasoning is not None
    ]
    assert len(thinking) > 300
    for message in thinking:
        result = openai_responses.to_request([message])
        assert all(item.get("type") in (None, "function_call") for item in result.request["input"])
        assert ("reasoning" in [loss.code for loss in result.losses]) is bool(message.reasoning)


@needs_corpus
def test_deltas_repeat_no_text_of_the_message(requests):
    for body in requests:
        for message in openai_responses.from_request(body).history:
            texts = [getattr(message, "reasoning", None), message.content]
            delta = message.provider_data.delta if message.provider_data else ""
            for text in texts:
                long = isinstance(text, str) and len(text) >= 12
                assert not (long and json.dumps(text, ensure_ascii=False)[1:-1] in delta)


@needs_corpus
def test_a_delta_that_an_editor_left_without_sense_harms_nothing(requests):
    for body in requests:
        for message in openai_responses.from_request(body).history:
            data = message.provider_data or ProviderData(
                dialect="openai_responses", delta="", digest=""
            )
            for delta in (data.delta.replace("content", "c"), data.delta.upper(), data.delta[:-1]):
                changed = replace(message, provider_data=replace(data, delta=delta))
                assert openai_responses.to_request([changed]).request["input"] is not None


# Keys whose strings are no text: protocol words, ids, names of tools, and where media are.
NO_TEXT = frozenset(
    (
        *("role", "type", "id", "call_id", "name", "namespace", "status", "execution", "phase"),
        *("image_url", "file_url", "file_data", "result", "output_format"),
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
    said = 0
    for body in requests:
        read = openai_responses.from_request(marked(body))
        said += openai_responses.to_request_json(read.history).count(b"Ada")
        redacted = map_text(read.history, lambda text: text.replace("Ada", "[name]"))
        assert b"Ada" not in openai_responses.to_request_json(redacted, envelope=read.envelope)
    assert said > 4000


@needs_corpus
def test_every_recorded_stream_gives_a_reply_or_the_recorded_error(streams):
    assert len(streams) > 200
    for events in streams:
        failed = any(event["type"] == "error" for event in events)
        try:
            reply = openai_responses.accumulate(events)
        except StreamError as error:
            assert failed and error.path == "$.error" and isinstance(error.reply, Reply)
        else:
            assert not failed
            assert_same(openai_responses.accumulate(map(json.dumps, events)), reply)
            assert_same(openai_responses.from_response(whole(events)), reply)


def whole(events):
    """Put the answer of a stream together from what the vendor says to be done."""
    starts = [at for at, event in enumerate(events) if event["type"] == "response.created"]
    start = max(starts, default=0)
    done = [e for e in events[start:] if e["type"] == "response.output_item.done"]
    response = events[-1]["response"]
    return {**response, "output": response["output"] or [event["item"] for event in done]}


def assert_same(reply, other):
    assert written([reply.message]) == written([other.message])
    assert replace(reply.message, provider_data=None) == replace(other.message, provider_data=None)
    assert (reply.stop, json.loads(reply.rest)) == (other.stop, json.loads(other.rest))


@needs_corpus
def test_a_recorded_stream_that_breaks_off_carries_all_text_and_calls(records):
    ends = {"response.output_item.done", "response.completed", "response.incomplete"}
    for record in records:
        events = record.get("stream_events") or []
        if record.get("truncated") or not events or events[-1]["type"] == "response.failed":
            continue
        reply = openai_responses.accumulate(events)
        accumulator = openai_responses.Accumulator()
        for event in events:
            if event["type"] not in ends:
                accumulator.feed(event)
        with pytest.raises(StreamError) as caught:
            accumulator.reply()
        broken = caught.value.reply.message
        assert (broken.content, broken.tool_calls) == (
            reply.message.content,
            reply.message.tool_calls,
        )
        assert "encrypted_content" not in (broken.provider_data.delta if broken.reasoning else "")


@needs_cases
def test_handed_cases_come_back_key_for_key():
    rows = map(json.loads, (CASES / "index.jsonl").read_bytes().splitlines())
    files = [CASES / row["file"] for row in rows if row["format"] == "responses"]
    assert len(files) == 5
    for file in files:
        read = openai_responses.from_request(file.read_bytes())
        assert written(read.history, envelope=read.envelope) == json.loads(file.read_bytes())


# --- Shapes ---------------------------------------------------------------------------------------

CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
ONE = (ToolCall("c1", "f", "{}"),)
TEXT = {"type": "input_text", "text": "a"}
OUTPUT_TEXT = {"type": "output_text", "text": "a"}
IMAGE = {"type": "input_image", "image_url": "https://a/b", "detail": "auto"}
PDF = {"type": "input_file", "filename": "a", "file_data": "data:application/pdf;base64,JVBERi0="}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAA"}
SAID = {"role": "assistant", "content": "x"}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed"}

CANONICAL = [
    ([{"role": "system", "content": "Be brief."}], System("Be brief.")),
    ([{"role": "user", "content": "Hi"}], User((Text("Hi"),))),
    ([{"role": "user", "content": ""}], User((Text(""),))),
    ([{"role": "user", "content": []}], User(())),
    ([{"role": "user", "content": [TEXT, TEXT]}], User((Text("a"), Text("a")))),
    ([{"role": "user", "content": [IMAGE]}], User((Image(url="https://a/b"),))),
    ([SAID], Assistant("x")),
    ([{"role": "assistant", "content": ""}], Assistant("")),
    ([CALL], Assistant("", None, ONE)),
    (
        [SAID, CALL, {**CALL, "call_id": "c2"}],
        Assistant("x", None, (*ONE, ToolCall("c2", "f", "{}"))),
    ),
    ([{"type": "function_call_output", "call_id": "c1", "output": "ok"}], ToolResult("c1", "ok")),
]


@pytest.mark.parametrize(("wire", "message"), CANONICAL)
def test_canonical_shapes_take_the_strict_path_and_have_no_delta(wire, message):
    body = strict.read_json(json.dumps(wire))
    assert body is not None and body.input == [message]
    assert read_one(*wire) == message
    assert written([message]) == {"input": wire}


@pytest.mark.parametrize("type_", [{}, {"type": "message"}])
@pytest.mark.parametrize("text", ["a", "", "A text of some length."])
@pytest.mark.parametrize(
    ("role", "part"),
    [("system", "input_text"), ("user", "input_text"), ("assistant", "output_text")],
)
def test_messages_with_a_type_or_with_one_part_take_the_strict_path(role, part, text, type_):
    for content in (text, [{"type": part, "text": text}]):
        wire = [{**type_, "role": role, "content": content}]
        body = strict.read_json(json.dumps(wire))
        assert body is not None and written(body.input) == {"input": wire}
        assert bare(body.input[0]) in (System(text), molo.user(text), Assistant(text))
        canonical = content == text and not type_
        assert (body.input[0].provider_data is None) is canonical


def summary(*texts):
    return {"summary": [{"type": "summary_text", "text": text} for text in texts]}


DONE = {"id": "msg_1", "status": "completed"}
LONG = "A text that is not repeated."
LONGER = "Thoughts that are repeated neither."
ANSWERED = {**OUTPUT_TEXT, "text": LONG, "annotations": [], "logprobs": []}


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        ([THOUGHT, SAID], Assistant("x", "")),
        ([{"type": "reasoning", "encrypted_content": "gAAAAA"}, CALL], Assistant("", "", ONE)),
        ([{**THOUGHT, **summary(LONG)}, CALL], Assistant("", LONG, ONE)),
        (
            [{**THOUGHT, **summary(LONG, "", "b", LONG)}, SAID],
            Assistant("x", f"{LONG}\n\nb\n\n{LONG}"),
        ),
        (
            [
                {**THOUGHT, **summary(LONGER), "status": None, "content": None},
                {"type": "message", **SAID, **DONE, "content": [ANSWERED]},
                {**CALL, **DONE},
            ],
            Assistant(LONG, LONGER, ONE),
        ),
        ([{"type": "message", **SAID, **DONE, "content": [ANSWERED]}], Assistant(LONG)),
        ([{"role": "user", "content": "Hi", **DONE}], User((Text("Hi"),))),
        (
            [{"type": "function_call_output", "call_id": "c1", "output": "ok", **DONE}],
            ToolResult("c1", "ok"),
        ),
    ],
)
def test_what_an_answer_holds_takes_the_strict_path_when_it_goes_back(wire, message):
    body = strict.read_json(json.dumps(wire))
    assert body is not None and [bare(read) for read in body.input] == [message]
    assert body.input == openai_responses.from_request(wire).history == [strict.read_open_run(wire)]
    assert_all_ways_read_the_same(wire)
    (read,) = body.input
    assert read.provider_data.sealed is (wire[0].get("type") == "reasoning")
    assert not any(text in read.provider_data.delta for text in (LONG, LONGER))
    assert written([read]) == {"input": wire}
    if isinstance(message, Assistant):
        assert openai_responses.from_response({"output": wire}).message == read


@pytest.mark.parametrize("odd", [[0], [1], [2], [0, 2]])
def test_some_items_of_a_reply_have_other_keys(odd):
    wire = [SAID, CALL, {**CALL, "call_id": "c2"}]
    wire = [{**item, "trace": "a"} if at in odd else item for at, item in enumerate(wire)]
    read = strict.read_open_run(wire)
    assert told([read]) == told([read_run(wire, "reply", spelling_parsed(wire), 0)])
    assert written([read]) == {"input": wire}


@pytest.mark.parametrize(("wire", "message"), CANONICAL)
def test_items_of_usual_shapes_with_other_keys_are_read_by_their_types(wire, message):
    odd = [{"id": f"item_{index}", "trace": None, **item} for index, item in enumerate(wire)]
    read = strict.read_open_run(odd)
    assert read is not None and bare(read) == message
    assert written([read]) == {"input": odd}
    assert strict.read_open_run(wire) == message


@pytest.mark.parametrize(
    "wire",
    [
        [{**CALL, "output": "x"}],
        [{**CALL, "role": "user"}],
        [{"type": "function_call", "call_id": "c1", "name": "f"}],
        [{"type": "function_call_output", "call_id": "c1"}],
        [{"type": "function_call_output", "call_id": "c1", "output": "x", "name": "f"}],
        [{"type": "function_call_output", "call_id": "c1", "output": "x", "role": "user"}],
        [{"role": "user", "content": "x", "call_id": "c1"}],
        [{"role": "user", "content": "x", "output": "x"}],
        [{"role": "user"}],
        [{"type": "message", "content": "x"}],
        [{"role": "system", "content": [TEXT, TEXT]}],
        [{"role": "system", "content": [OUTPUT_TEXT]}],
        [{"role": "user", "content": [OUTPUT_TEXT]}],
        [{"role": "assistant", "content": [TEXT]}],
        [{"role": "assistant", "content": [TEXT, TEXT]}],
        [{"role": "assistant", "content": ""}, CALL],
        [CALL, SAID],
        [SAID, SAID],
        [{**THOUGHT, "summary": [{"text": "a"}]}, SAID],
        [{**THOUGHT, "trace": 1}, SAID],
        [{"type": "function_call_output", "call_id": "c1", "output": "x", "summary": []}],
        [THOUGHT],
        [SAID, THOUGHT],
        [THOUGHT, THOUGHT, SAID],
        [{**THOUGHT, "name": "f"}, SAID],
        [{**THOUGHT, "arguments": "{}"}, SAID],
        [{**THOUGHT, "content": [OUTPUT_TEXT]}, SAID],
        [{**CALL, **summary("a")}],
        [{**SAID, "encrypted_content": None}],
        [{"role": "user", "content": None}],
    ],
)
def test_what_the_writer_would_write_in_another_way_takes_the_careful_path(wire):
    assert strict.read_json(json.dumps(wire)) is None
    assert written([read_one(*wire)]) == {"input": wire}
    assert read_one(*wire).provider_data is not None


CAREFUL = [
    # canonical, but not for the strict path
    ({"role": "user", "content": [PDF]}, User((File(url=PDF["file_data"], name="a"),))),
    (
        {"role": "user", "content": [{"type": "input_file", "file_url": "https://a"}]},
        User((File(url="https://a"),)),
    ),
    (
        {"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]},
        User((Wire("openai_responses", '{"type":"input_image","file_id":"file-1"}'),)),
    ),
    (
        {"type": "function_call_output", "call_id": "c1", "output": [TEXT, IMAGE]},
        ToolResult("c1", "a", attachments=(Image(url="https://a/b"),)),
    ),
    (
        {"type": "function_call_output", "call_id": "c1", "output": [PDF]},
        ToolResult("c1", "", attachments=(File(url=PDF["file_data"], name="a"),)),
    ),
]


@pytest.mark.parametrize(("wire", "message"), CAREFUL)
def test_shapes_without_a_departure_have_no_delta(wire, message):
    assert read_one(wire) == message
    assert written([message]) == {"input": [wire]}


def output_message(*parts, **keys):
    return {"type": "message", "id": "m", "role": "assistant", "content": [*parts], **keys}


def output_text(text, **keys):
    return {"type": "output_text", "text": text, "annotations": [], **keys}


def call(type, **keys):
    return {"type": type, "id": "x", "call_id": "c1", "status": "completed", **keys}


RUNS = [
    # text
    ([output_message(output_text("a"), output_text("b", logprobs=[]))], Assistant("ab")),
    ([output_message({"type": "refusal", "refusal": "No."})], Assistant("No.")),
    ([output_message(), SAID], Assistant("x")),
    ([output_message({"type": "output_audio", "data": "UklG"}, None)], Assistant("")),
    (
        [
            output_message(output_text("Let me look."), phase="commentary"),
            CALL,
            output_message(output_text("Sunny."), phase="final_answer"),
        ],
        Assistant("Let me look.\n\nSunny.", None, ONE),
    ),
    ([{"role": "assistant", "content": None}], Assistant("")),
    ([{"role": "assistant", "content": ""}, CALL], Assistant("", None, ONE)),
    ([{"role": "assistant", "content": {"age": 1.5}}], Assistant('{"age":1.5}')),
    # reasoning
    ([THOUGHT], Assistant("", "")),
    ([THOUGHT, SAID], Assistant("x", "")),
    (
        [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, SAID],
        Assistant("x", "hm"),
    ),
    (
        [
            {
                "type": "reasoning",
                "id": "rs",
                "summary": [{"type": "summary_text", "text": "short"}],
                "content": [
                    {"type": "reasoning_text", "text": "a"},
                    {"type": "reasoning_text", "text": "b"},
                ],
            }
        ],
        Assistant("", "a\n\nb"),
    ),
    (
        [THOUGHT, CALL, {**THOUGHT, "id": "rs_2"}, {**CALL, "call_id": "c2"}],
        Assistant("", "", (*ONE, ToolCall("c2", "f", "{}"))),
    ),
    ([CALL, THOUGHT, SAID], Assistant("x", "", ONE)),
    # calls of a client
    ([{**CALL, "id": "fc_1", "status": None, "namespace": "n"}], Assistant("", None, ONE)),
    ([{**CALL, "arguments": None}], Assistant("", None, (ToolCall("c1", "f", ""),))),
    (
        [{"type": "function_call", "name": "f", "arguments": "["}],
        Assistant("", None, (ToolCall("", "f", "["),)),
    ),
    (
        [call("custom_tool_call", name="sql", input="SELECT 1")],
        Assistant("", None, (ToolCall("c1", "sql", '{"input":"SELECT 1"}'),)),
    ),
    (
        [call("local_shell_call", action={"type": "exec", "command": ["ls"]})],
        Assistant("", None, (ToolCall("c1", "local_shell", '{"type":"exec","command":["ls"]}'),)),
    ),
    (
        [call("shell_call", action={"commands": ["ls"]})],
        Assistant("", None, (ToolCall("c1", "shell", '{"commands":["ls"]}'),)),
    ),
    (
        [call("computer_call", action={"type": "screenshot"})],
        Assistant("", None, (ToolCall("c1", "computer", '{"type":"screenshot"}'),)),
    ),
    (
        [call("computer_call", actions=[{"type": "screenshot"}])],
        Assistant("", None, (ToolCall("c1", "computer", '[{"type":"screenshot"}]'),)),
    ),
    ([call("computer_call")], Assistant("", None, (ToolCall("c1", "computer", ""),))),
    (
        [call("apply_patch_call", operation={"type": "delete_file"})],
        Assistant("", None, (ToolCall("c1", "apply_patch", '{"type":"delete_file"}'),)),
    ),
    (
        [call("tool_search_call", execution="client", arguments={"queries": ["a"]})],
        Assistant("", None, (ToolCall("c1", "tool_search", '{"queries":["a"]}'),)),
    ),
    # what the vendor ran, and what nobody knows
    ([SEARCH, output_message(output_text("x"))], Assistant("x")),
    ([THOUGHT, SEARCH, THOUGHT, SAID], Assistant("x", "")),
    ([{**call("tool_search_call", arguments={}), "execution": "server"}], Assistant("")),
    (
        [
            {"type": "tool_search_call", "call_id": None, "arguments": {}},
            {"type": "tool_search_output", "call_id": None, "tools": []},
            CALL,
        ],
        Assistant("", None, ONE),
    ),
    ([{"type": "program", "call_id": "c1", "code": "1"}, CALL], Assistant("", None, ONE)),
    ([{"type": "from_the_future", "odd": [1, 0.5, True, None]}, SAID], Assistant("x")),
    ([{"type": "item_reference", "id": "msg_0"}], Assistant("")),
    ([{"id": "msg_0"}, {"id": "msg_1", "type": None}], Assistant("")),
    ([{"type": "message", "content": "who?"}], Assistant("")),
    # media that the model made
    (
        [{"type": "image_generation_call", "id": "ig", "result": "UE5H", "output_format": "webp"}],
        Assistant("", attachments=(Image(url="data:image/webp;base64,UE5H"),)),
    ),
    (
        [{"type": "image_generation_call", "id": "ig", "result": "UE5H"}, SAID],
        Assistant("x", attachments=(Image(url="data:image/png;base64,UE5H"),)),
    ),
    ([{"type": "image_generation_call", "id": "ig"}, SAID], Assistant("x")),
]


@pytest.mark.parametrize(("wire", "message"), RUNS)
def test_a_run_of_items_is_one_reply_and_comes_back(wire, message):
    for request in (wire, json.dumps(wire, separators=(",", ":"))):
        (read,) = openai_responses.from_request(request).history
        assert replace(read, provider_data=None) == message
        assert read.provider_data is not None
        assert exact(written([read])) == exact({"input": wire})
    reply = openai_responses.from_response({"output": wire})
    assert reply.message == read


ODD = [
    ({"role": "developer", "content": "Be brief."}, System("Be brief.")),
    ({"type": "message", "role": "system", "content": [TEXT, TEXT]}, System("a\na")),
    ({"role": "developer", "type": "additional_tools", "tools": [{"name": "f"}]}, System("")),
    ({"type": "compaction", "id": "cmp", "encrypted_content": "gAAAAA"}, System("")),
    ({"type": "message", "role": "user", "content": "Hi"}, User((Text("Hi"),))),
    ({"role": "user", "content": [TEXT]}, User((Text("a"),))),
    ({"role": "user", "content": "Hi", "odd": {"a": [1, 0.5]}}, User((Text("Hi"),))),
    ({"role": "user"}, User(())),
    ({"role": "critic", "content": "Hm."}, User((Text("Hm."),))),
    (
        {"role": "user", "content": [{**TEXT, "odd": 1}, {**IMAGE, "detail": "high"}]},
        User((Text("a"), Image(url="https://a/b"))),
    ),
    (
        {"role": "user", "content": [{"type": "input_file", "file_data": "data:,x"}]},
        User((File(url="data:,x"),)),
    ),
    (
        {"role": "user", "content": [{"type": "input_file", "file_data": "eA=="}, TEXT]},
        User((Wire("openai_responses", '{"type":"input_file","file_data":"eA=="}'), Text("a"))),
    ),
    (
        {"role": "user", "content": [None, "text"]},
        User((Wire("openai_responses", "null"), Wire("openai_responses", '"text"'))),
    ),
    (
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        User(()),
    ),
    ({"type": "function_call_output", "role": "user", "content": "x"}, User((Text("x"),))),
    ({"type": "function_call_output", "role": "assistant", "content": "x"}, Assistant("x")),
    (call("function_call_output", output="ok"), ToolResult("c1", "ok")),
    (call("function_call_output", output=None), ToolResult("c1", "")),
    (call("function_call_output", output={"n": 1}), ToolResult("c1", '{"n":1}')),
    (call("custom_tool_call_output", output="ok"), ToolResult("c1", "ok")),
    ({"type": "local_shell_call_output", "id": "c1", "output": "ok"}, ToolResult("c1", "ok")),
    (
        call("shell_call_output", output=[{"stdout": "out", "stderr": "", "outcome": {}}]),
        ToolResult("c1", "out"),
    ),
    (
        call(
            "computer_call_output",
            output={"type": "computer_screenshot", "image_url": "data:image/png;base64,UE5H"},
        ),
        ToolResult("c1", "", attachments=(Image(url="data:image/png;base64,UE5H"),)),
    ),
    (call("apply_patch_call_output"), ToolResult("c1", "")),
    (
        call("tool_search_output", execution="client", tools=[{"name": "f"}]),
        ToolResult("c1", '[{"name":"f"}]'),
    ),
]


@pytest.mark.parametrize(("wire", "message"), ODD)
def test_odd_shapes_are_understood_and_come_back(wire, message):
    for request in ([wire], json.dumps([wire])):
        (read,) = openai_responses.from_request(request).history
        assert replace(read, provider_data=None) == message
        assert exact(written([read])) == exact({"input": [wire]})


def test_items_of_a_turn_stand_as_its_messages():
    items = [{"role": "user", "content": "a"}, THOUGHT, CALL, call("function_call_output"), SAID]
    history = openai_responses.from_request(items).history
    assert [type(message) for message in history] == [User, Assistant, ToolResult, Assistant]
    (pair,) = molo.history.pair(history).pairs
    assert (pair.at, pair.result_at) == (1, 2)


def test_a_call_that_the_vendor_answered_itself_is_none():
    shell = call("shell_call", action={"commands": ["ls"]})
    output = [shell, {**call("shell_call_output"), "output": []}, CALL]
    message = openai_responses.from_response({"output": output}).message
    assert message.tool_calls == ONE or message.tool_calls == ()
    assert written([message]) == {"input": output}


@pytest.mark.parametrize(
    ("items", "sealed"),
    [
        ([THOUGHT, SAID], True),
        ([{"type": "reasoning", "id": "rs_1", "summary": []}, SEARCH], True),
        ([THOUGHT], False),
        ([SAID, THOUGHT], False),
        ([SEARCH, SAID], False),
        ([{"type": "compaction", "encrypted_content": "gAAAAA"}], False),
    ],
)
def test_a_delta_that_holds_reasoning_items_with_what_follows_is_sealed(items, sealed):
    assert read_one(*items).provider_data.sealed is sealed


# --- The two keys ---------------------------------------------------------------------------------

HI = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("body", "history"),
    [
        ({"input": "Hi"}, [molo.user("Hi")]),
        ({"input": ""}, [molo.user("")]),
        ({"input": []}, []),
        ({"input": None, "instructions": "x"}, [System("x")]),
        ({"instructions": "x"}, [System("x")]),
        ({"instructions": "x", "input": "Hi"}, [System("x"), molo.user("Hi")]),
        ({"instructions": None, "input": "Hi"}, [molo.user("Hi")]),
        ({"instructions": "", "input": [HI]}, [molo.user("Hi")]),
        ({"instructions": None}, []),
        ({"instructions": ["odd", 1.5], "input": [HI]}, [System('["odd",1.5]'), molo.user("Hi")]),
    ],
)
def test_both_keys_come_back_as_they_were(body, history):
    for request in (body, json.dumps(body)):
        read = openai_responses.from_request(request)
        assert [replace(message, provider_data=None) for message in read.history] == history
        assert written(read.history, envelope=read.envelope) == body
        data = openai_responses.to_request_json(read.history, envelope=read.envelope)
        assert json.loads(data) == body


def test_what_else_a_body_holds_is_not_looked_at():
    read = openai_responses.from_request(
        {"input": [HI], "tools": object(), "timeout": float("inf")}
    )
    assert written(read.history) == {"input": [HI]}


def test_an_envelope_counts_where_the_messages_leave_room_for_it():
    bare = openai_responses.from_request({"input": "Hi", "instructions": None})
    two = [*bare.history, molo.user("more")]
    assert written(two, envelope=bare.envelope) == {
        "instructions": None,
        "input": [HI, {"role": "user", "content": "more"}],
    }
    absent = openai_responses.from_request({"instructions": "x"})
    assert written([molo.user("Hi")], envelope=absent.envelope) == {"input": [HI]}
    nothing = openai_responses.from_request({"input": None})
    assert written([molo.user("Hi")], envelope=nothing.envelope) == {"input": [HI]}
    odd = openai_responses.from_request([{**HI, "odd": 1}])
    assert written(odd.history, envelope=bare.envelope)["input"] == [{**HI, "odd": 1}]


@pytest.mark.parametrize(
    "envelope",
    [
        ProviderData(dialect="gemini", delta="{}", digest=""),
        ProviderData(dialect="openai_responses", delta="{", digest=""),
        ProviderData(dialect="openai_responses", delta="[]", digest=""),
    ],
)
def test_an_envelope_of_another_dialect_or_without_sense_is_a_loss(envelope):
    result = openai_responses.to_request([molo.user("Hi")], envelope=envelope)
    assert result.request == {"input": [HI]}
    assert [(loss.code, loss.at) for loss in result.losses] == [("foreign", None)]


def test_instructions_go_to_their_key_wherever_they_stand_and_join():
    (said,) = openai_responses.from_request({"instructions": "a"}).history
    (more,) = openai_responses.from_request({"instructions": "b"}).history
    result = openai_responses.to_request([said, molo.user("Hi"), more])
    assert result.request == {"instructions": "a\n\nb", "input": [HI]}
    assert [(loss.code, loss.at) for loss in result.losses] == [("moved", 2)]


def test_instructions_that_were_edited_become_an_item():
    (said,) = openai_responses.from_request({"instructions": "a"}).history
    changed = replace(said, content="b", provider_data=None)
    assert written([changed]) == {"input": [{"role": "system", "content": "b"}]}


# --- Spelling -------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ['{"n": 0.10, "m":1E2,\n "o":1e400}', '{"a":1,"a":2}', "[ ]"])
def test_arguments_that_are_objects_keep_their_text_to_the_letter(arguments):
    item = f'{{"type":"tool_search_call","call_id":"c1","arguments":{arguments}}}'
    before = '{"role":"assistant","content":"x"}'
    found = (ToolCall("c1", "tool_search", arguments),)
    for body in (f"[{before},{item}]", f'{{"input":[{before},{item}]}}'):
        read = openai_responses.from_request(body)
        assert read.history[0].tool_calls == found
        again = openai_responses.to_request_json(read.history)
        assert spelled(again)["input"] == spelled(f"[{before},{item}]")
    reply = openai_responses.from_response(f'{{"output":[{before},{item},{item}]}}')
    assert reply.message.tool_calls == found * 2


def test_numbers_keep_their_spelling_in_json_and_are_floats_in_dicts():
    big = 123456789012345678901234567890
    body = f'{{"input":[{{"role":"user","content":"Hi","odd":[0.10,1E2,1e400,{big}]}}]}}'
    history = openai_responses.from_request(body).history
    assert openai_responses.to_request_json(history).decode() == body
    assert written(history)["input"][0]["odd"] == [0.1, 100.0, float("inf"), big]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('[{"role":"user","content":"a","content":"b"}]', User((Text("b"),))),
        ('[{"role":"user","role":"system","content":"a"}]', System("a")),
        ('[{"role":"user","content":"a","odd":1,"odd":2,"content":"b"}]', User((Text("b"),))),
    ],
)
def test_of_a_repeated_key_the_last_value_counts(body, message):
    (read,) = openai_responses.from_request(body).history
    assert replace(read, provider_data=None) == message
    assert written([read])["input"] == json.loads(body)


# --- What is no conversation ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "path", "text"),
    [
        ("5", "$", "Expected `object | array`, got `int`"),
        ("{}", "$", "Expected field `input`, got an object without it"),
        ('{"input":5}', "$.input", "Expected `array`, got `int`"),
        ('{"input":{}}', "$.input", "Expected `array`, got `object`"),
        ('{"input":["Hi"]}', "$.input[0]", "Expected `object`, got `str`"),
        ('[{"role":"user","content":"Hi"},[]]', "$[1]", "Expected `object`, got `array`"),
        (
            '[{"content":"Hi"}]',
            "$[0]",
            "Expected field `role` or `type`, got an object without them",
        ),
        ('[{"role":5}]', "$[0].role", "Expected `str`, got `int`"),
        ('{"input":[{"type":0.5}]}', "$.input[0].type", "Expected `str`, got `float`"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(request_, path, text):
    for request in (request_, request_.encode(), json.loads(request_)):
        with pytest.raises(DecodeError) as caught:
            openai_responses.from_request(request)
        assert (caught.value.path, caught.value.text) == (path, text)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([{"role": "user", "content": "\ud83d"}], "$[0]"),
        ({"input": [HI, {"role": "user", "content": "\ud83d"}]}, "$.input[1]"),
        ({"input": [{**HI, "odd": float("nan")}]}, "$"),
        ([{**HI, "odd": object()}], "$[0]"),
    ],
)
def test_builtins_that_json_cannot_hold_are_refused(value, path):
    with pytest.raises(DecodeError) as caught:
        openai_responses.from_request(value)
    assert caught.value.path.startswith(path)


@pytest.mark.parametrize("depth", [300, 900, 2_000, 100_000])
@pytest.mark.parametrize("item", ['"role":"user","content":"a"', '"type":"reasoning"'])
def test_deep_nesting_is_read_or_refused(depth, item):
    items = f'[{{{item},"odd":' + "[" * depth + "]" * depth + "}]"
    for read in (
        lambda: openai_responses.from_request(items).history,
        lambda: [openai_responses.from_response(f'{{"output":{items}}}').message],
    ):
        try:
            history = read()
        except DecodeError:
            continue
        assert openai_responses.to_request_json(history).decode() == f'{{"input":{items}}}'


@pytest.mark.parametrize("depth", [100, 480, 900])
def test_deep_nesting_is_written_or_refused(depth):
    nested = '{"type":"odd","odd":' + "[" * depth + "]" * depth + "}"
    history = [User((Text("a"), Wire("openai_responses", nested)))]
    try:
        request = openai_responses.to_request(history).request
    except EncodeError as error:
        assert (error.text, depth > 100) == ("Expected items nested less deeply", True)
    else:
        assert depth > 100 or request["input"][0]["content"][1] == json.loads(nested)


# --- Any shape ------------------------------------------------------------------------------------

WORDS = st.sampled_from(["", "Hi", "A text of some length.", "{}", '{"a":1}', "data:,x", "c1"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)


def objects(*keys, **fixed):
    """Objects that may have each of these keys, with any value, and a right value now and then."""
    return st.fixed_dictionaries(
        {}, optional={**dict.fromkeys(keys, VALUES), **{k: v | VALUES for k, v in fixed.items()}}
    )


PARTS = objects(
    "annotations",
    type=st.sampled_from(
        ["input_text", "output_text", "input_image", "input_file", "refusal", "summary_text"]
    ),
    text=WORDS,
    image_url=WORDS,
    file_data=WORDS,
    file_url=WORDS,
    filename=WORDS,
    refusal=WORDS,
)
FIELDS = objects(
    *("id", "action", "actions", "tools"),
    content=WORDS | st.lists(PARTS | VALUES, max_size=3),
    summary=st.lists(PARTS, max_size=2),
    encrypted_content=WORDS,
    call_id=WORDS,
    name=WORDS,
    arguments=WORDS,
    input=WORDS,
    execution=st.sampled_from(["server", "client"]),
    output=WORDS | st.lists(PARTS, max_size=2),
    result=WORDS,
)
KINDS = [
    *({"role": role} for role in ("system", "developer", "user", "assistant", "odd")),
    *({"type": "message", "role": role} for role in ("system", "user", "assistant")),
    *({"type": kind} for kind in ("reasoning", "item_reference", "compaction", "odd", "message")),
    *({"type": kind} for kind in ("function_call", "custom_tool_call", "tool_search_call")),
    *({"type": kind} for kind in ("shell_call", "computer_call", "image_generation_call")),
    *({"type": kind} for kind in ("function_call_output", "shell_call_output")),
    *({"type": kind} for kind in ("tool_search_output", "web_search_call")),
]
ITEMS = st.builds(lambda kind, rest: {**rest, **kind}, st.sampled_from(KINDS), FIELDS)


@given(st.lists(ITEMS, max_size=4))
def test_whatever_has_a_role_or_a_type_comes_back(items):
    before = exact(items)
    for request in (items, json.dumps(items)):
        history = openai_responses.from_request(request).history
        assert exact(written(history)["input"]) == before
        assert exact(json.loads(openai_responses.to_request_json(history))["input"]) == before
    assert exact(items) == before
    alone = [written([message])["input"] for message in history[::-1]]
    assert written(history[::-1])["input"] == [item for unit in alone for item in unit]
    message = openai_responses.from_response({"output": items}).message
    assert exact(written([message])["input"]) == before


SPOKEN = st.builds(
    lambda kind, content: {**kind, "content": content},
    st.sampled_from([{"role": "user"}, {"type": "message", "role": "system"}]),
    WORDS | st.lists(st.builds(lambda text: {**TEXT, "text": text}, WORDS), max_size=2),
)


SUMMARIES = st.fixed_dictionaries(
    {"text": st.sampled_from(["", "Hmm.", "I should look at that.", "Then I say it."])},
    optional={"type": st.sampled_from(["summary_text", "summary_text", "odd"]), "odd": st.none()},
)
THOUGHTS = st.builds(
    lambda parts, rest: {"type": "reasoning", "summary": parts, **rest},
    st.lists(SUMMARIES, max_size=3),
    objects("id", "status", "encrypted_content", "content", "trace"),
)
ANSWERS = st.builds(
    lambda text, rest: {**SAID, "content": [{**OUTPUT_TEXT, "text": text, **rest}]},
    WORDS,
    st.fixed_dictionaries({}, optional={"annotations": st.just([]), "logprobs": st.just([])}),
)
REPLIES = st.sampled_from(
    [[SAID], [CALL], [SAID, CALL], [{**SAID, "type": "message"}, CALL]]
) | st.tuples(THOUGHTS, ANSWERS | st.just(CALL)).map(list)
ODD_KEYS = objects("id", "status", "phase")


@given(
    st.lists(SPOKEN | ITEMS, max_size=2) | st.sampled_from([wire for wire, _ in CANONICAL]),
    REPLIES,
    st.lists(ODD_KEYS, min_size=4, max_size=4),
)
def test_all_ways_read_the_same(items, reply, odd):
    assert_all_ways_read_the_same(items)
    assert_all_ways_read_the_same(
        [{**keys, **item} for keys, item in zip(odd, items + reply, strict=False)]
    )


def assert_all_ways_read_the_same(items):
    runs = runs_of(items)
    spell = spelling_parsed(items)
    careful = [read_run(run, kind_of(run[0]), spell, start) for start, run in runs]
    fast = strict.read_json(json.dumps(items))
    assert fast is None or told(fast.input) == told(careful)
    for (_, run), message in zip(runs, careful, strict=True):
        opened = strict.read_open_run(run)
        assert opened is None or told([opened]) == told([message])


def runs_of(items):
    """Split items into those of one message each, with the index of the first."""
    keys = ["reply" if kind_of(item) == "reply" else at for at, item in enumerate(items)]
    groups = groupby(enumerate(items), key=lambda numbered: keys[numbered[0]])
    runs = [list(group) for _, group in groups]
    return [(run[0][0], [item for _, item in run]) for run in runs]


def told(history):
    """Tell what messages say, whatever the order of keys in their deltas."""
    return [(bare(message), message.provider_data and delta_of(message)) for message in history]


def delta_of(message):
    data = message.provider_data
    return exact(json.loads(data.delta)), data.digest, data.sealed


def bare(message):
    return replace(message, provider_data=None)


@needs_corpus
def test_all_ways_read_the_recordings_the_same(requests):
    for body in requests:
        if isinstance(body.get("input"), list):
            assert_all_ways_read_the_same(body["input"])


@given(histories)
def test_what_is_written_is_read_again_and_says_what_was_kept(history):
    result = openai_responses.to_request(history)
    read = openai_responses.from_request(result.request)
    assert written(read.history, envelope=read.envelope) == result.request
    said = "".join(m.content for m in read.history if isinstance(m, System | ToolResult))
    for message in history:
        text = message.content if isinstance(message, System | ToolResult) else ""
        assert text in said


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_bytes_give_a_value_or_a_decode_error(data):
    for read in (openai_responses.from_request, openai_responses.from_response):
        try:
            read(data)
        except DecodeError as error:
            assert error.__cause__ is None and error.__context__ is None


# --- Losses ---------------------------------------------------------------------------------------


def foreign(message, **keys):
    data = ProviderData(dialect="gemini", delta="{}", digest="", **keys)
    return replace(message, provider_data=data)


@pytest.mark.parametrize(
    ("message", "losses", "items"),
    [
        (
            ToolResult("c1", "no", is_error=True),
            [("error_flag", None)],
            [{"type": "function_call_output", "call_id": "c1", "output": "no"}],
        ),
        (
            User((Text("a"), Wire("gemini", "{}"), Wire("openai_responses", "{"))),
            [("block", 1), ("block", 2)],
            [{"role": "user", "content": [TEXT]}],
        ),
        (
            User((Audio(url="data:audio/wav;base64,UklGRg=="),)),
            [("block", 0)],
            [{"role": "user", "content": []}],
        ),
        (
            User((Image(url="https://a/b", mime_type="image/png"),)),
            [("media_type", 0)],
            [{"role": "user", "content": [IMAGE]}],
        ),
        (
            User((File(url="https://a", name="a.pdf"), File(data=b"x", mime_type="text/plain"))),
            [("name", 0)],
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_file", "file_url": "https://a"},
                        {
                            "type": "input_file",
                            "filename": "file",
                            "file_data": "data:text/plain;base64,eA==",
                        },
                    ],
                }
            ],
        ),
        (foreign(System("x")), [("foreign", None)], [{"role": "system", "content": "x"}]),
        (
            foreign(Assistant("x", "hm"), sealed=True),
            [("sealed", None), ("reasoning", None)],
            [SAID],
        ),
        (Assistant("x", ""), [], [SAID]),
        (Assistant("", "hm", ONE), [("reasoning", None)], [CALL]),
        (
            Assistant(
                "x",
                attachments=(
                    Image(data=b"PNG", mime_type="image/png"),
                    Wire("gemini", "{}"),
                    Wire("openai_responses", json.dumps(SEARCH)),
                ),
            ),
            [("block", 0), ("block", 1)],
            [SEARCH, SAID],
        ),
        (
            Assistant("x", attachments=(Text("y"),)),
            [],
            [{"role": "assistant", "content": "x\n\ny"}],
        ),
    ],
)
def test_a_loss_says_what_and_where(message, losses, items):
    result = openai_responses.to_request([molo.user("Hi"), message])
    assert [(loss.code, loss.at, loss.part) for loss in result.losses] == [
        (code, 1, part) for code, part in losses
    ]
    assert result.request["input"][1:] == items


def test_a_delta_that_makes_no_items_is_stale():
    read = read_one({**HI, "odd": 1})
    data = replace(read.provider_data, delta='{"unit":["Hi"]}')
    result = openai_responses.to_request([replace(read, provider_data=data)])
    assert result.request == {"input": [HI]}
    assert [loss.code for loss in result.losses] == ["stale"]


TWO = Assistant("", None, (ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}")))
NO_IMAGES = replace(rules.OPENAI_RESPONSES, result_blocks=("text",))


def test_images_of_results_stand_in_them_where_the_vendor_takes_them():
    result = ToolResult("a", "one", attachments=(Image(url="https://a/b"),))
    items = written([TWO, result])["input"]
    assert items[2]["output"] == [{"type": "input_text", "text": "one"}, IMAGE]


def test_images_of_results_follow_the_results_of_their_step_elsewhere():
    image = Image(url="https://a/b")
    history = [
        TWO,
        ToolResult("a", "one", attachments=(image, Text("more"))),
        ToolResult("b", "two"),
        Assistant("Done."),
        ToolResult("c", "", attachments=(image,)),
    ]
    result = openai_responses.to_request(history, rules=NO_IMAGES)
    moved = {"role": "user", "content": [IMAGE]}
    assert [item.get("output", item) for item in result.request["input"][2:]] == [
        [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "more"}],
        "two",
        moved,
        {"role": "assistant", "content": "Done."},
        "",
        moved,
    ]
    assert [(loss.code, loss.at, loss.part) for loss in result.losses] == [
        ("moved", 1, 0),
        ("moved", 4, 0),
    ]


@pytest.mark.parametrize(
    ("block", "taken"),
    [(Image(url="https://a/b"), ("text",)), (Audio(url="data:,x"), ("text", "audio"))],
)
def test_what_a_vendor_takes_neither_in_results_nor_from_users_is_a_loss(block, taken):
    nothing = replace(NO_IMAGES, user_blocks=taken)
    result = openai_responses.to_request(
        [ToolResult("a", "x", attachments=(block,))], rules=nothing
    )
    assert result.request["input"] == [
        {"type": "function_call_output", "call_id": "a", "output": "x"}
    ]
    assert [(loss.code, loss.part) for loss in result.losses] == [("block", 0)]


def test_what_is_no_message_is_refused():
    for write in (openai_responses.to_request, openai_responses.to_request_json):
        with pytest.raises(EncodeError) as caught:
            write([molo.user("Hi"), {"role": "user"}])
        assert caught.value.path == "$[1]"


# --- Without a store ------------------------------------------------------------------------------


def test_without_a_store_nothing_points_to_what_the_vendor_kept():
    items = [
        {"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": None},
        output_message(output_text("a")),
        THOUGHT,
        {**CALL, "id": "fc_1", "status": "completed"},
        {"type": "reasoning", "id": "rs_2", "summary": [], "content": [{"text": "hm"}]},
        SEARCH,
        {"type": "item_reference", "id": "msg_0"},
    ]
    history = openai_responses.from_request(items).history
    result = openai_responses.to_request(history, spelling=STATELESS)
    said = output_message(output_text("a"))
    del said["id"]
    assert result.request["input"] == [
        said,
        THOUGHT,
        {**CALL, "status": "completed"},
        items[4],
        SEARCH,
    ]
    assert [(loss.code, loss.at) for loss in result.losses] == [("sealed", 0), ("message", 0)]


def test_without_a_store_what_is_no_object_stays():
    read = read_one({**HI, "odd": 1})
    data = replace(read.provider_data, delta='{"unit":[["odd"]]}')
    result = openai_responses.to_request([replace(read, provider_data=data)], spelling=STATELESS)
    assert result.request["input"] == ["odd"]


# --- The handed cases -----------------------------------------------------------------------------


def case(number):
    (file,) = CASES.glob(f"{number}-*.json")
    return openai_responses.from_request(file.read_bytes()).history


@needs_cases
def test_case_14_calls_with_reasoning_between_them_pair_and_stay_in_order():
    history = case(14)
    assert [type(message) for message in history] == [User, Assistant, ToolResult, ToolResult]
    pairing = molo.history.pair(history)
    assert [(pair.call.id, pair.result_at) for pair in pairing.pairs] == [("k1", 2), ("k2", 3)]
    assert molo.history.check(history, rules.OPENAI_RESPONSES) == ()


@needs_cases
def test_case_16_a_call_without_output_is_found_and_nothing_else():
    (problem,) = molo.history.check(case(16), rules.OPENAI_RESPONSES)
    assert (problem.code, problem.at) == ("dangling_call", 1)


@needs_cases
def test_case_33_a_call_and_its_reasoning_are_one_message():
    trimmed = trim(case(33), max_turns=2)
    kept = written(trimmed.history)["input"]
    assert [item.get("id") for item in kept if "type" in item][:2] == ["rs_b", "fc_b"]


@needs_cases
def test_case_34_without_a_store_only_encrypted_reasoning_is_left():
    result = openai_responses.to_request(case(34), spelling=STATELESS)
    items = result.request["input"]
    thoughts = [item for item in items if item.get("type") == "reasoning"]
    assert [item["encrypted_content"] for item in thoughts] == ["b3BhcXVl"]
    assert [item["content"][0]["text"] for item in items if item.get("role") == "assistant"] == [
        "a",
        "b",
    ]
    assert all("id" not in item for item in items if item not in thoughts)
    assert sorted(loss.code for loss in result.losses) == ["message", "sealed"]


# --- Answers and streams --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "output", "stop"),
    [
        ({"status": "completed"}, [SAID], "end"),
        ({"status": "completed"}, [SAID, CALL], "tool_calls"),
        ({"status": "completed", "error": None}, [SEARCH, SAID], "end"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            [],
            "length",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            [],
            "filter",
        ),
        ({"status": "incomplete", "incomplete_details": {"reason": "new"}}, [], "other"),
        ({"status": "incomplete", "incomplete_details": None}, [], "other"),
        ({"status": "cancelled"}, [], "other"),
        ({"status": "queued"}, [], None),
        ({"status": "in_progress"}, [SAID], None),
        ({}, [HI, {"type": "compaction", "encrypted_content": "gAAAAA"}], None),
    ],
)
def test_an_answer_tells_why_it_ended(keys, output, stop):
    reply = openai_responses.from_response({"id": "resp_1", **keys, "output": output})
    assert reply.stop == stop
    assert json.loads(reply.rest) == {"id": "resp_1", **keys}
    assert written([reply.message]) == {"input": output}


@pytest.mark.parametrize(
    ("response", "path", "text"),
    [
        ("5", "$", "Expected `object`, got `int`"),
        ("{}", "$", "Expected field `output`, got an object without it"),
        ('{"output":null}', "$.output", "Expected `array`, got `null`"),
        ('{"output":[5]}', "$.output[0]", "Expected `object`, got `int`"),
        ('{"error":{"message":"secret"}}', "$.error", "Expected an answer, got an error"),
        ('{"code":"x","error":"secret"}', "$.error", "Expected an answer, got an error"),
        (
            '{"status":"failed","error":{"code":"x"},"output":[]}',
            "$.error",
            "Expected an answer, got an error of code `x`",
        ),
    ],
)
def test_what_is_no_answer_is_refused_with_its_place(response, path, text):
    for given_ in (response, response.encode()):
        with pytest.raises(DecodeError) as caught:
            openai_responses.from_response(given_)
        assert (caught.value.path, caught.value.text) == (path, text)


def added(index, item):
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index, item):
    return {**added(index, item), "type": "response.output_item.done"}


def piece(kind, delta, index=0, **keys):
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": delta, **keys}


CREATED = {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}


def ended(*output, status="completed"):
    return {"type": f"response.{status}", "response": {"status": status, "output": [*output]}}


def test_the_output_of_the_last_event_counts_over_what_was_streamed():
    events = [CREATED, done(0, {**THOUGHT, "id": "other"}), ended(THOUGHT, SAID)]
    assert written([openai_responses.accumulate(events).message]) == {"input": [THOUGHT, SAID]}


def test_what_was_streamed_is_the_output_where_the_last_event_has_none():
    events = [CREATED, done(1, SAID), done(0, THOUGHT), ended()]
    reply = openai_responses.accumulate(map(json.dumps, events))
    assert written([reply.message]) == {"input": [THOUGHT, SAID]}
    assert (reply.stop, reply.rest) == ("end", '{"status":"completed"}')


def test_a_second_answer_in_one_stream_begins_anew():
    events = [CREATED, done(0, THOUGHT), done(1, CALL), ended(), CREATED, done(0, SAID), ended()]
    assert written([openai_responses.accumulate(events).message]) == {"input": [SAID]}


def test_items_of_a_stream_keep_the_spelling_of_their_numbers():
    search = '{"type":"tool_search_call","call_id":"c1","arguments":{"n":0.10}}'
    event = f'{{"type":"response.output_item.done","output_index":0,"item":{search}}}'
    reply = openai_responses.accumulate([event, json.dumps(ended())])
    assert reply.message.tool_calls == (ToolCall("c1", "tool_search", '{"n":0.10}'),)


PIECES = [
    added(0, {"type": "reasoning", "summary": [], "encrypted_content": "cut"}),
    piece("reasoning_summary_text", "on", summary_index=1),
    piece("reasoning_summary_text", "h", summary_index=0),
    piece("reasoning_summary_text", "m", summary_index=0),
    added(1, {"type": "message", "role": "assistant", "content": []}),
    piece("output_text", "He", 1, content_index=0),
    piece("output_text", "llo", 1, content_index=0),
    {"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "Hello"},
    piece("refusal", " no", 1, content_index=1),
    piece("output_text", "lost", 7, content_index=0),
    piece("from_the_future", "lost", 1),
    added(2, {**CALL, "arguments": ""}),
    piece("function_call_arguments", '{"city":', 2),
    piece("function_call_arguments", '"Bei', 2),
    added(3, {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": ""}),
    piece("custom_tool_call_input", "SEL", 3),
    {"type": "keepalive", "sequence_number": 9},
]


@pytest.mark.parametrize("last", [None, {"type": "error", "message": "secret"}, "torn {"])
def test_a_stream_that_breaks_off_carries_what_had_come(last):
    accumulator = openai_responses.Accumulator()
    for event in [CREATED, *PIECES]:
        accumulator.feed(event)
    with pytest.raises(StreamError) as caught:
        accumulator.reply() if last is None else accumulator.feed(last)
    reply = caught.value.reply
    assert replace(reply.message, provider_data=None) == Assistant(
        "Hello no",
        "hm\n\non",
        (ToolCall("c1", "f", '{"city":"Bei'), ToolCall("c2", "g", '{"input":"SEL"}')),
    )
    assert "cut" not in reply.message.provider_data.delta
    assert reply.stop is None
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("events", "path", "had_come"),
    [
        ([], "", False),
        ([{"type": "keepalive"}], "", False),
        ([{"error": {"message": "secret"}}], "$.error", False),
        (["[]"], "$", False),
        ([CREATED], "", True),
        ([done(0, SAID)], "", True),
        ([added(0, SAID), ended(5)], "$.response.output[0]", True),
        (
            [CREATED, {"type": "response.failed", "response": {"error": {"code": "x"}}}],
            "$.response.error",
            True,
        ),
    ],
)
def test_a_stream_without_an_answer_is_an_error(events, path, had_come):
    with pytest.raises(StreamError) as caught:
        openai_responses.accumulate(events)
    assert caught.value.path == path
    broken = caught.value.reply
    assert (broken is not None) is had_come


def test_the_cost_of_a_stream_is_linear():
    def seconds(count):
        accumulator = openai_responses.Accumulator()
        accumulator.feed(PIECES[4])
        event = json.dumps(piece("output_text", "word ", 1, content_index=0))
        start = time.process_time()
        for _ in range(count):
            accumulator.feed(event)
        with pytest.raises(StreamError):
            accumulator.reply()
        return time.process_time() - start

    few = min(seconds(1_000) for _ in range(3))
    assert min(seconds(8_000) for _ in range(3)) < 8 * few * 3
