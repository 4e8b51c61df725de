"""The dialect of Google's generateContent: without loss, or with its name."""

import contextlib
import json
import random
import sys
import time
from pathlib import Path

import pytest
from hypothesis import example, given
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
from molo.dialects import gemini
from molo.dialects.delta import would_join
from molo.dialects.gemini import contents, reading, strict
from molo.dialects.gemini.args import args_of
from molo.dialects.gemini.ids import Ids
from molo.dialects.loss import BrokenStreamError
from molo.dialects.wire import parse, text
from molo.history import rules
from molo.history.text import map_text

# Levels of nesting that msgspec reads, and Python code does not; from 3.12 on, C goes deeper.
TOO_DEEP = 600 if sys.version_info < (3, 12) else 2_000

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
CASES = Path(__file__).parents[2] / "shared" / "cases"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recordings are not here")


@pytest.fixture(scope="module")
def records():
    files = ("gemini.jsonl", "gemini__response_only.jsonl")
    return [
        json.loads(line) for name in files for line in (CORPUS / name).read_bytes().splitlines()
    ]


@pytest.fixture(scope="module")
def requests(records):
    """The conversation part of every recorded request."""
    keys = ("systemInstruction", "contents")
    return [
        {key: record[key] for key in keys if key in record}
        for record in records
        if "contents" in record
    ]


@pytest.fixture(scope="module")
def answers(records):
    """Every recorded answer in one piece; one record's is an error."""
    return [
        record["response"]
        for record in records
        if "response" in record and "error" not in record["response"]
    ]


@pytest.fixture(scope="module")
def streams(records):
    return [record["stream_chunks"] for record in records if "stream_chunks" in record]


def written(history, **options):
    """Write a history that must lose nothing."""
    result = gemini.to_request(history, **options)
    assert result.losses == ()
    assert json.loads(gemini.to_request_json(history, **options)) == result.request
    return result.request


def is_same(one, other):
    """Compare as JSON: `true` is not `1`."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def content_of(message):
    """Write a message alone and give its content."""
    (content,) = written([message])["contents"]
    return content


def read_with_care(items):
    """Read contents one by one, without the strict path."""
    ids = Ids()
    history = []
    for item in items:
        if item.get("role") == "model":
            args = args_of(item, text(item.get("parts")))
            history.append(contents.read_reply(item, args, ids))
            continue
        ids.end_replies()
        history += contents.read_user(item, ids, joins=would_join(history))
    return history


# --- The recordings -------------------------------------------------------------------------------


@needs_corpus
def test_recorded_requests_come_back_key_for_key(requests, capsys):
    assert len(requests) == 750
    for body in requests:
        whole = {"model": "m", "tools": [{}], **body}
        for request in (body, whole, json.dumps(whole), json.dumps(body, indent=1).encode()):
            read = gemini.from_request(request)
            assert read.losses == ()
            assert is_same(written(read.history, envelope=read.envelope), body)
    histories = [gemini.from_request(body).history for body in requests]
    messages = [message for history in histories for message in history]
    deltas = [message.provider_data.delta for message in messages if message.provider_data]
    by_types = sum(strict.read_json(json.dumps(body)) is not None for body in requests)
    with capsys.disabled():
        sys.stdout.write(
            f"\ngemini: {len(requests)} requests, {by_types} by the strict path; "
            f"{len(messages)} messages, {len(deltas)} with a delta, "
            f"of {sum(map(len, deltas)) / len(deltas):.0f} characters on average\n"
        )


@needs_corpus
def test_recorded_answers_come_back_key_for_key(answers):
    assert len(answers) == 604
    for answer in answers:
        for response in (answer, json.dumps(answer), json.dumps(answer, indent=1).encode()):
            reply = gemini.from_response(response)
            for candidate in answer.get("candidates", [])[:1]:
                content = candidate.get("content", {"parts": [{"text": ""}]})
                assert is_same(content_of(reply.message), {"role": "model", **content})
            left = json.loads(json.dumps(answer))
            for candidate in left.get("candidates", [])[:1]:
                candidate.pop("content", None)
            assert is_same(json.loads(reply.rest), left)


@needs_corpus
def test_recorded_reasons_have_a_word(answers):
    stops = [(gemini.from_response(answer), reason_of(answer)) for answer in answers]
    ends = [reply for reply, reason in stops if reason in ("STOP", 1)]
    assert len(ends) > 500
    for reply in ends:
        assert reply.stop == ("tool_calls" if reply.message.tool_calls else "end")
    assert {(reason, reply.stop) for reply, reason in stops if reason not in ("STOP", 1)} == {
        ("MAX_TOKENS", "length"),
        (2, "length"),
        ("SAFETY", "filter"),
        ("MODEL_ARMOR", "filter"),
        ("UNEXPECTED_TOOL_CALL", "other"),
        (None, "filter"),
    }


def reason_of(answer):
    return answer.get("candidates", [{}])[0].get("finishReason")


@needs_corpus
def test_all_ways_read_the_same(requests):
    for body in requests:
        items = body["contents"]
        data = compact(items)
        careful = told(read_with_care(parse(data)))
        assert told(reading.read_carefully(data).history) == careful
        for read in (strict.read_json, strict.read_open_json):
            history = read(data)
            assert history is None or told(history) == careful


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
def test_histories_survive_the_native_codecs_with_their_deltas(requests):
    for body in requests:
        read = gemini.from_request(body)
        for codec in (molo.json, molo.msgpack):
            history = codec.decode(codec.encode(read.history))
            assert is_same(written(history, envelope=read.envelope), body)


@needs_corpus
def test_calls_and_results_are_paired_as_in_the_recordings(requests):
    for body in requests:
        history = gemini.from_request(body).history
        pairing = molo.history.pair(history)
        calls, results = [], []
        for item in body["contents"]:
            for part in item["parts"]:
                calls += [part[key] for key in ("functionCall", "function_call") if key in part]
                results += [
                    part[key] for key in ("functionResponse", "function_response") if key in part
                ]
        assert len(pairing.pairs) == len(calls)
        assert sum(pair.result is not None for pair in pairing.pairs) == min(
            len(calls), len(results)
        )
        for pair, call in zip(pairing.pairs, calls, strict=True):
            assert pair.call.name == call["name"]
            assert json.loads(pair.call.arguments) == call["args"]


def parts_of(request):
    """List the parts of a request, each with who says it; where a content begins is no matter."""
    instruction = request.get("systemInstruction") or request.get("system_instruction") or {}
    items = [{**instruction, "role": "instruction"}, *request["contents"]]
    return [
        (SPEAKERS.get(item.get("role"), "user"), json.dumps(part, sort_keys=True))
        for item in items
        for part in listed(item.get("parts", []))
    ]


SPEAKERS = {"model": "model", "system": "system", "instruction": "instruction"}


def listed(parts):
    return parts if isinstance(parts, list) else [parts]


@needs_corpus
def test_a_message_is_written_the_same_whatever_stands_next_to_it(requests):
    read = [gemini.from_request(body).history for body in requests]
    known = [message for history in read for message in history]
    known += [molo.user("Another message."), molo.tool_result("f_7", "Another result.")]
    alone = {id(message): parts_of(written([message])) for message in known}
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
            expected = [part for message in changed for part in alone[id(message)]]
            assert sorted(parts_of(gemini.to_request(changed).request)) == sorted(expected)


def edited(message):
    """Change what a message says, as a careless editor would: its delta stays where it is."""
    match message:
        case User():
            return replace(message, content=(Text("new"), Text("words")))
        case System() | Assistant() | ToolResult():
            return replace(message, content="new words")


@needs_corpus
def test_a_delta_of_an_edited_message_is_named_and_brings_nothing_back(requests, answers):
    read = [gemini.from_request(body).history for body in requests]
    read += [[gemini.from_response(answer).message] for answer in answers]
    kept = [message for history in read for message in history if message.provider_data]
    assert len(kept) > 1300
    for message in kept:
        changed = edited(message)
        result = gemini.to_request([changed])
        afresh = gemini.to_request([replace(changed, provider_data=None)])
        assert "stale" in [loss.code for loss in result.losses]
        others = tuple(loss for loss in result.losses if loss.code != "stale")
        assert (others, result.request) == (afresh.losses, afresh.request)


@needs_corpus
def test_deltas_repeat_no_text_of_the_message(requests):
    for body in requests:
        for message in gemini.from_request(body).history:
            texts = [getattr(message, "reasoning", None), message.content]
            delta = message.provider_data.delta if message.provider_data else ""
            for said in texts:
                long = isinstance(said, str) and len(said) >= 12
                assert not (long and json.dumps(said, ensure_ascii=False)[1:-1] in delta)


@needs_corpus
def test_a_delta_that_an_editor_left_without_sense_harms_nothing(requests):
    for body in requests:
        for message in gemini.from_request(body).history:
            data = message.provider_data or ProviderData(dialect="gemini", delta="", digest="")
            for damaged in (data.delta.replace("t", "c"), data.delta.upper(), data.delta[:-1]):
                changed = replace(message, provider_data=replace(data, delta=damaged))
                gemini.to_request([changed])


@needs_corpus
def test_signatures_are_sealed_and_nothing_else(requests, answers):
    read = [gemini.from_request(body).history for body in requests]
    read += [[gemini.from_response(answer).message] for answer in answers]
    sealed = 0
    for message in [message for history in read for message in history]:
        body = gemini.to_request_json([message])
        signed = b'"thoughtSignature":"' in body or b'"thought_signature":"' in body
        assert signed == (message.provider_data is not None and message.provider_data.sealed)
        sealed += signed
        assert b"ignature" not in molo.json.encode([replace(message, provider_data=None)])
    assert sealed > 500


@needs_corpus
def test_every_recorded_stream_gives_what_an_oracle_adds_up(streams):
    assert len(streams) == 140
    for chunks in streams:
        reply = gemini.accumulate(chunks)
        assert is_same(content_of(reply.message), {"role": "model", "parts": added_up(chunks)})
        assert gemini.accumulate(map(compact, chunks)) == reply
        at_once = gemini.from_response(as_one(chunks))
        assert (at_once.message, at_once.stop) == (reply.message, reply.stop)
        assert is_same(json.loads(at_once.rest), json.loads(reply.rest))


def added_up(chunks):
    """Put the parts of a stream together: texts and thoughts joined, all else as it is."""
    found = []
    for chunk in chunks:
        for candidate in chunk["candidates"]:
            for part in candidate["content"].get("parts", []):
                plain = {key: value for key, value in part.items() if key != "text"}
                joins = found and "text" in part and "thoughtSignature" not in part
                if joins and {k: v for k, v in found[-1].items() if k != "text"} == plain:
                    found[-1]["text"] += part["text"]
                elif part != {"text": ""}:
                    found.append(dict(part))
    return found


def as_one(chunks):
    """Make the answer that would have come at once."""
    answer, candidate = {}, {}
    for chunk in chunks:
        answer |= chunk
        for item in chunk["candidates"]:
            candidate |= item
    content = {"role": "model", "parts": added_up(chunks)}
    return {**answer, "candidates": [{**candidate, "content": content}]}


@needs_corpus
def test_a_stream_cut_anywhere_gives_what_had_come(streams):
    for chunks in streams[::3]:
        whole = gemini.accumulate(chunks).message
        for stop in range(1, len(chunks), max(1, len(chunks) // 7)):
            accumulator = gemini.Accumulator()
            for chunk in chunks[:stop]:
                accumulator.feed(chunk)
            had_come = accumulator.reply()
            assert whole.content.startswith(had_come.message.content)
            with pytest.raises(BrokenStreamError) as caught:
                accumulator.feed({"error": {"code": 500, "status": "INTERNAL"}})
            assert caught.value.reply == had_come


@needs_corpus
def test_recorded_errors_are_no_answers(records):
    errors = [record["error"] for record in records if "error" in record]
    assert len(errors) == 11
    for error in errors:
        for read in (gemini.from_response, gemini.Accumulator().feed):
            with pytest.raises(DecodeError) as caught:
                read(error)
            assert caught.value.path == "$.error"


# Keys whose strings are no text: protocol words, ids, names of tools, media, URLs, signatures.
NO_TEXT = frozenset(
    [
        *("role", "id", "name", "thoughtSignature", "thought_signature", "data", "mimeType"),
        *("mime_type", "fileUri", "file_uri", "toolType", "tool_type", "language", "outcome"),
    ]
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
    replies = [content_of(gemini.from_response(answer).message) for answer in answers[::2]]
    for body in [*requests, *({"contents": [reply]} for reply in replies)]:
        history = gemini.from_request(json.dumps(marked(body))).history
        redacted = map_text(history, lambda text: text.replace("Ada", "[name]"))
        assert b"Ada" not in gemini.to_request_json(redacted)


@pytest.mark.skipif(not CASES.is_dir(), reason="the handed cases are not here")
def test_handed_case_39_comes_back_with_its_signature_on_the_first_call_alone():
    file = CASES / "39-gemini-signature-first-parallel-call.json"
    read = gemini.from_request(file.read_bytes())
    body = written(read.history)
    assert is_same(body, json.loads(file.read_bytes()))
    signed = ["thoughtSignature" in part for part in body["contents"][1]["parts"]]
    assert signed == [False, True, False]


# --- Canonical shapes -----------------------------------------------------------------------------

PNG = {"mimeType": "image/png", "data": "UE5H"}
WAV = {"mimeType": "audio/wav", "data": "UklGRg=="}
PDF = {"mimeType": "application/pdf", "fileUri": "gs://bucket/a.pdf"}
VIDEO = {"fileUri": "https://youtu.be/x"}


def say(words, **members):
    return {"text": words, **members}


def think(words, **members):
    return {"text": words, "thought": True, **members}


def call(name="f", args=None, **members):
    return {"functionCall": {"name": name, "args": args or {}, **members}}


def respond(response, name="f", **members):
    return {"functionResponse": {"name": name, "response": response, **members}}


def user(*parts, **members):
    return {"role": "user", "parts": [*parts], **members}


def model(*parts, **members):
    return {"role": "model", "parts": [*parts], **members}


def instruct(*parts, **members):
    return {"role": "user", "parts": [*parts], **members}


ONE = (ToolCall("f_0", "f", "{}"),)
GIVEN = (ToolCall("c1", "f", "{}"),)

CANONICAL = [
    ({"contents": []}, []),
    (
        {"systemInstruction": instruct(say("a"), say("b")), "contents": []},
        [System("a"), System("b")],
    ),
    ({"contents": [user(say("Hi"))]}, [User((Text("Hi"),))]),
    ({"contents": [user(say(""))]}, [User((Text(""),))]),
    ({"contents": [user()]}, [User(())]),
    ({"contents": [user(say("a")), user(say("b"))]}, [User((Text("a"),)), User((Text("b"),))]),
    (
        {"contents": [user(say("a"), {"inlineData": PNG}, {"inlineData": WAV})]},
        [
            User(
                (
                    Text("a"),
                    Image(data=b"PNG", mime_type="image/png"),
                    Audio(data=b"RIFF", mime_type="audio/wav"),
                )
            )
        ],
    ),
    (
        {"contents": [user({"fileData": PDF}, {"fileData": VIDEO})]},
        [
            User(
                (
                    File(url="gs://bucket/a.pdf", mime_type="application/pdf"),
                    File(url="https://youtu.be/x"),
                )
            )
        ],
    ),
    ({"contents": [model(say("Hi"))]}, [Assistant("Hi")]),
    ({"contents": [model(say(""))]}, [Assistant("")]),
    ({"contents": [model(think("Hm."), say("Hi"))]}, [Assistant("Hi", "Hm.")]),
    ({"contents": [model(think(""))]}, [Assistant("", "")]),
    ({"contents": [model(say("a")), model(say("b"))]}, [Assistant("a"), Assistant("b")]),
    (
        {"contents": [model(say("Hi"), call(), call("g", {"a": [1, None]}, id="c1"), call())]},
        [
            Assistant(
                "Hi",
                None,
                (
                    ToolCall("f_0", "f", "{}"),
                    ToolCall("c1", "g", '{"a":[1,null]}'),
                    ToolCall("f_1", "f", "{}"),
                ),
            )
        ],
    ),
    # Results: text, objects, errors; the user's parts behind them
    (
        {"contents": [model(call(), call()), user(respond({"result": "a"}), respond({}))]},
        [
            Assistant("", None, (*ONE, ToolCall("f_1", "f", "{}"))),
            ToolResult("f_0", "a"),
            ToolResult("f_1", "{}"),
        ],
    ),
    ({"contents": [user(respond({"result": ""}))]}, [ToolResult("f_0", "")]),
    ({"contents": [user(respond({"result": 5}))]}, [ToolResult("f_0", '{"result":5}')]),
    ({"contents": [user(respond({"result": "{}", "a": 1}))]}, None),
    ({"contents": [user(respond({"result": '{"a": 1}'}))]}, [ToolResult("f_0", '{"a": 1}')]),
    ({"contents": [user(respond({"result": "{no}"}))]}, [ToolResult("f_0", "{no}")]),
    ({"contents": [user(respond({"result": '{"a":no}'}))]}, [ToolResult("f_0", '{"a":no}')]),
    (
        {"contents": [user(respond({"error": "x"}), say("Hi"))]},
        [ToolResult("f_0", "x", is_error=True), User((Text("Hi"),))],
    ),
    (
        {"contents": [user(respond({"error": {"code": 5}}))]},
        [ToolResult("f_0", '{"code":5}', is_error=True)],
    ),
    ({"contents": [user(respond({"error": 5}))]}, [ToolResult("f_0", '{"error":5}')]),
    ({"contents": [user(respond({"error": None}))]}, [ToolResult("f_0", '{"error":null}')]),
    ({"contents": [user(respond({"output": 5.5}))]}, [ToolResult("f_0", '{"output":5.5}')]),
    ({"contents": [user(respond({"a": "b", "c": []}))]}, [ToolResult("f_0", '{"a":"b","c":[]}')]),
]


@pytest.mark.parametrize(("wire", "history"), CANONICAL)
def test_canonical_shapes_take_the_strict_path_and_have_no_delta(wire, history):
    read = strict.read_json(compact(wire))
    assert read is not None
    assert history is None or read == history
    assert read == reading.read_carefully(compact(wire)).history
    said = [message for message in read if not isinstance(message, System)]
    assert read_with_care(parse(compact(wire["contents"]))) == said
    assert strict.read_json(compact(wire["contents"])) == said
    assert all(message.provider_data is None for message in read)
    assert is_same(written(read), wire)


UNTHOUGHT = {"thought": False}
SIGNED = {"thoughtSignature": "c2lnbmF0dXJl"}

KNOWN = [
    (
        [model(call(id="c1")), user(respond({"result": "a"}, id="c1"))],
        [Assistant("", None, GIVEN), ToolResult("c1", "a")],
    ),
    (
        [user({"functionResponse": {"id": "call_7", "name": "f", "response": {"a": 1}}})],
        [ToolResult("call_7", '{"a":1}')],
    ),
    (
        [model({**call(), **SIGNED}, call())],
        [Assistant("", None, (*ONE, ToolCall("f_1", "f", "{}")))],
    ),
    ([model(think("Hm.", **SIGNED), say("Hi", **SIGNED))], [Assistant("Hi", "Hm.")]),
    ([model(say("", **SIGNED))], [Assistant("")]),
    (
        [user(say("Hi", **UNTHOUGHT), say("a")), model(say("Hi", **UNTHOUGHT))],
        [User((Text("Hi"), Text("a"))), Assistant("Hi")],
    ),
    (
        [model({**call(), **SIGNED, **UNTHOUGHT}), user({**respond({}), **UNTHOUGHT})],
        [Assistant("", None, ONE), ToolResult("f_0", "{}")],
    ),
    (
        [user({"inlineData": PNG, **UNTHOUGHT})],
        [User((Image(data=b"PNG", mime_type="image/png"),))],
    ),
    (
        [user(respond({}), respond({})), user(respond({})), user(say("Hi"))],
        [
            ToolResult("f_0", "{}"),
            ToolResult("f_1", "{}"),
            ToolResult("f_2", "{}"),
            molo.user("Hi"),
        ],
    ),
    (
        [user(respond({}, id="c1")), user(respond({}))],
        [ToolResult("c1", "{}"), ToolResult("f_0", "{}")],
    ),
]


@pytest.mark.parametrize(("wire", "history"), KNOWN)
def test_what_is_usual_takes_the_strict_path_and_has_a_small_delta(wire, history):
    read = strict.read_json(compact(wire))
    assert read == read_with_care(parse(compact(wire)))
    assert [replace(message, provider_data=None) for message in read] == history
    assert (
        0 < sum(len(message.provider_data.delta) for message in read if message.provider_data) < 150
    )
    assert is_same(written(read), {"contents": wire})


@pytest.mark.parametrize("role", [{}, {"role": "model"}, {"role": "user"}])
def test_a_usual_instruction_takes_the_strict_path(role):
    parts = [say("Be brief."), say("Be kind.", **UNTHOUGHT)]
    body = {"systemInstruction": {**role, "parts": parts}, "contents": []}
    read = strict.read_json(compact(body))
    assert told(read) == told(reading.read_carefully(compact(body)).history)
    assert [message.content for message in read] == ["Be brief.", "Be kind."]
    assert is_same(written(read), body)


@pytest.mark.parametrize(
    "wire", [wire["contents"] for wire, _ in CANONICAL] + [wire for wire, _ in KNOWN]
)
def test_contents_with_other_keys_are_read_by_their_types(wire):
    odd = [{"trace": {"$": 1}, **content} for content in wire]
    read = strict.read_open_json(compact(odd))
    assert told(read) == told(read_with_care(parse(compact(odd))))
    assert is_same(written(read), {"contents": odd})


def test_a_part_that_is_no_block_is_kept_whole():
    part = {"inlineData": {"mimeType": "image/png", "data": "A-=="}, "thought": True}
    (message,) = gemini.from_request({"contents": [user(part)]}).history
    assert message == User((Wire("gemini", compact(part)),))


@pytest.mark.parametrize("content", [user(say("Hi", **SIGNED)), user(call()), model(respond({}))])
def test_parts_of_another_role_take_the_careful_path(content):
    body = {"contents": [{**content, "trace": 1}]}
    assert strict.read_open_json(compact(body)) is None
    assert is_same(written(gemini.from_request(compact(body)).history), body)


@pytest.mark.parametrize("odd", [1.5, [{"text": "a"}], []])
def test_keys_whose_spelling_or_shape_would_be_lost_take_the_careful_path(odd):
    body = compact({"contents": [{**user(say("Hi")), "trace": odd}]})
    assert strict.read_open_json(body) is None
    assert json.loads(gemini.to_request_json(gemini.from_request(body).history)) == json.loads(body)


# --- Other shapes ---------------------------------------------------------------------------------

CODE = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
OUTCOME = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
SEARCH = {"toolCall": {"toolType": "FILE_SEARCH", "id": "s1", "args": {}}}


def wire(part):
    """Give the block that carries a part verbatim."""
    return Wire("gemini", compact(part))


CAREFUL = [
    # Replies: order, pieces, signatures in both spellings, what is not known
    (model(say("a"), say("b")), Assistant("ab")),
    (model(call(), say("a")), Assistant("a", None, ONE)),
    (model(say("a"), call(), say("b"), think("c")), Assistant("ab", "c", ONE)),
    (model(think("a"), say("b"), think("c"), say("d")), Assistant("bd", "ac")),
    (model(think("a"), think("", **SIGNED), say("d")), Assistant("d", "a")),
    (model(say("a"), say("", **SIGNED)), Assistant("a")),
    (model(say("", thought_signature="c2ln"), call()), Assistant("", None, ONE)),
    (model(say("a", **SIGNED), say("b")), Assistant("ab")),
    (model(say(""), call()), Assistant("", None, ONE)),
    (model(say(""), say("")), Assistant("")),
    (model(), Assistant("")),
    ({"role": "model"}, Assistant("")),
    ({"role": "model", "parts": None}, Assistant("")),
    ({"role": "model", "parts": say("Hi")}, Assistant("Hi")),
    ({"role": "model", "parts": call()}, Assistant("", None, ONE)),
    ({"role": "model", "parts": "Hi"}, Assistant("Hi")),
    ({"role": "model", "parts": 5}, Assistant("", attachments=(wire(5),))),
    (model(say("Hi", thought=False)), Assistant("Hi")),
    (model(say("Hi", thought=1)), Assistant("Hi")),
    (model(say("Hi", thought=None, partMetadata={"a": 1})), Assistant("Hi")),
    (model(CODE, OUTCOME, say("a")), Assistant("a", attachments=(wire(CODE), wire(OUTCOME)))),
    (model({**CODE, **SIGNED}), Assistant("", attachments=(wire(CODE),))),
    (model({**SEARCH, "thought_signature": "c2ln"}), Assistant("", attachments=(wire(SEARCH),))),
    (model(say("a"), {"inlineData": PNG, **SIGNED}), None),
    (model(SIGNED), Assistant("", attachments=(wire({}),))),
    (model({"thought": True}), None),
    (model({"text": 5}, {"text": None}, {}, [], 5, None, True, "words"), None),
    (model(respond({})), Assistant("", attachments=(wire(respond({})),))),
    (model(say("Hi"), id="m1"), Assistant("Hi")),
    # Calls
    (model({"function_call": {"name": "f", "args": {}}}), Assistant("", None, ONE)),
    (
        model({"function_call": {"name": "f", "id": "c1", "args": {}}, **SIGNED}),
        Assistant("", None, GIVEN),
    ),
    (
        model({**call(), "functionCall": {"name": "f"}}),
        Assistant("", None, (ToolCall("f_0", "f", ""),)),
    ),
    (
        model({"functionCall": {"name": "f", "args": None}}),
        Assistant("", None, (ToolCall("f_0", "f", ""),)),
    ),
    (
        model({"functionCall": {"name": "f", "args": [1]}}),
        Assistant("", None, (ToolCall("f_0", "f", "[1]"),)),
    ),
    (
        model({"functionCall": {"name": "f", "args": "x"}}),
        Assistant("", None, (ToolCall("f_0", "f", '"x"'),)),
    ),
    (model(call(id="f_0")), Assistant("", None, ONE)),
    (model(call(id="")), Assistant("", None, ONE)),
    (model(call(id=None)), Assistant("", None, ONE)),
    (model(call(id=5)), Assistant("", None, ONE)),
    (model(call(id="f_1"), call()), Assistant("", None, (ToolCall("f_1", "f", "{}"), *ONE))),
    (model(call(id="f_0"), call()), Assistant("", None, (*ONE, ToolCall("f_1", "f", "{}")))),
    (
        model(
            {"functionCall": {"args": {}}}, {"functionCall": None}, {"functionCall": {"name": 5}}
        ),
        None,
    ),
    (model({**call(), "function_call": {"name": "g"}, "text": "a"}), Assistant("", None, ONE)),
    (
        model({"functionCall": 5, "function_call": {"name": "f", "args": {}}}),
        Assistant("", None, ONE),
    ),
    (model(call(), [1], "a", 5, None), None),
    # Users
    (user(say("Hi", thought=False)), User((Text("Hi"),))),
    (user(say("Hi"), id=None), User((Text("Hi"),))),
    ({"parts": [say("Hi")]}, User((Text("Hi"),))),
    ({"role": None, "parts": [say("Hi")]}, User((Text("Hi"),))),
    ({"role": "other", "parts": [say("Hi")]}, User((Text("Hi"),))),
    ({"role": "user", "parts": say("Hi")}, User((Text("Hi"),))),
    ({"role": "user", "parts": None}, User(())),
    ({"role": "user"}, User(())),
    (user("a", say("b")), User((Text("a"), Text("b")))),
    (
        user({"inline_data": {"mime_type": "image/png", "data": "UE5H"}}),
        User((Image(data=b"PNG", mime_type="image/png"),)),
    ),
    (
        user({"inlineData": {"mimeType": "image/png", "data": "-_-_-_-_-_-_-_-_"}}),
        User((Image(data=b"\xfb\xff\xbf" * 4, mime_type="image/png"),)),
    ),
    (
        user({"inline_data": {"mime_type": "image/png", "data": "-_8="}}),
        User((Image(data=b"\xfb\xff", mime_type="image/png"),)),
    ),
    (
        user({"file_data": {"file_uri": "gs://a", "mime_type": "audio/mp3"}, "thought": False}),
        User((Audio(url="gs://a", mime_type="audio/mp3"),)),
    ),
    (
        user({"fileData": {"fileUri": "gs://a"}, "videoMetadata": {"fps": 0.2}}),
        User((File(url="gs://a"),)),
    ),
    (user({"inlineData": {"data": "UE5H"}}), User((File(data=b"PNG", mime_type=""),))),
    (
        user({"inlineData": {**PNG, "displayName": "a.png"}}),
        User((Image(data=b"PNG", mime_type="image/png"),)),
    ),
    (
        user({"inlineData": {**PNG, "data": "UE5"}}),
        User((wire({"inlineData": {**PNG, "data": "UE5"}}),)),
    ),
    (user({"inlineData": {**PNG, "data": "QR=="}}), None),
    (user({"inlineData": {**PNG, "data": "UE5\n"}}), None),
    (user({"inlineData": {**PNG, "data": "UÖ5H"}}), None),
    (user({"inlineData": {"mimeType": "image/png"}}), None),
    (user({"inlineData": None}, {"fileData": {}}, {"fileData": 5}, {"videoMetadata": {}}), None),
    (user({"inlineData": PNG, "text": "a"}), User((Image(data=b"PNG", mime_type="image/png"),))),
    (user(call(), think("a"), say("b", **SIGNED)), None),
    (user({"text": 5}, {"text": None}, {}, [], 5, None, True), None),
    # Results
    (user(respond({"output": "a"})), ToolResult("f_0", "a")),
    (user(respond({"result": '{"a":1}'})), ToolResult("f_0", '{"a":1}')),
    (user(respond({"error": '{"a":1}'})), ToolResult("f_0", '{"a":1}', is_error=True)),
    (user(respond(None)), ToolResult("f_0", "")),
    (user(respond("words")), ToolResult("f_0", '"words"')),
    (user(respond([1])), ToolResult("f_0", "[1]")),
    (user({"functionResponse": {"name": "f"}}), ToolResult("f_0", "")),
    (user(respond({"result": "a"}, id="f_0")), ToolResult("f_0", "a")),
    (user(respond({"result": "a"}, id="")), ToolResult("f_0", "a")),
    (user(respond({"result": "a"}, id=None)), ToolResult("f_0", "a")),
    (user({**respond({"result": "a"}), "thought": False}), ToolResult("f_0", "a")),
    (
        user({"function_response": {"name": "f", "id": "c1", "response": {"a": 1}}}),
        ToolResult("c1", '{"a":1}'),
    ),
    (
        user(respond({"result": "a"}, scheduling="SILENT", willContinue=False)),
        ToolResult("f_0", "a"),
    ),
    (
        user(
            respond(
                {"result": "a"}, parts=[{"inline_data": {"mime_type": "image/png", "data": "UE5H"}}]
            )
        ),
        ToolResult("f_0", "a", attachments=(Image(data=b"PNG", mime_type="image/png"),)),
    ),
    (
        user(respond({}, parts=[{"fileData": PDF}, say("a"), {}])),
        ToolResult(
            "f_0",
            "{}",
            attachments=(File(url="gs://bucket/a.pdf", mime_type="application/pdf"), wire({})),
        ),
    ),
    (user(respond({}, parts=None)), ToolResult("f_0", "{}")),
    ({"role": "function", "parts": [respond({"result": "a"})]}, ToolResult("f_0", "a")),
    ({"role": "user", "parts": respond({"result": "a"})}, ToolResult("f_0", "a")),
    (user({"functionResponse": {"response": {}}}), None),
    # Systems among the contents
    ({"role": "system", "parts": [say("a"), {"inlineData": PNG}, say("b")]}, System("a\nb")),
    ({"role": "system"}, System("")),
]


@pytest.mark.parametrize(("wire", "message"), CAREFUL)
def test_other_shapes_come_back_too(wire, message):
    for request in ({"contents": [wire]}, [wire], json.dumps({"contents": [wire]}, indent=1)):
        (read,) = gemini.from_request(request).history
        assert message is None or unkept(read) == message
        for codec in (molo.json, molo.msgpack):
            assert is_same(written(codec.decode(codec.encode([read]))), {"contents": [wire]})


def unkept(message):
    """Take what the wire said beyond the message off it; and the white space of arguments."""
    message = replace(message, provider_data=None)
    if not isinstance(message, Assistant):
        return message
    calls = [
        replace(call, arguments=call.arguments and compact(json.loads(call.arguments)))
        for call in message.tool_calls
    ]
    return replace(message, tool_calls=tuple(calls))


@pytest.mark.parametrize(
    ("body", "history"),
    [
        ({"systemInstruction": None, "contents": []}, []),
        ({"systemInstruction": "", "contents": []}, []),
        ({"systemInstruction": {}, "contents": []}, []),
        ({"system_instruction": {"role": "user", "parts": []}, "contents": []}, []),
        (
            {"systemInstruction": None, "system_instruction": instruct(say("a")), "contents": []},
            [System("a")],
        ),
        ({"systemInstruction": "Be brief.", "contents": []}, [System("Be brief.")]),
        ({"systemInstruction": {"parts": [say("a")]}, "contents": []}, [System("a")]),
        ({"systemInstruction": {"parts": say("")}, "contents": []}, [System("")]),
        (
            {
                "systemInstruction": {"role": "x", "parts": say("Be brief, be kind.")},
                "contents": [],
            },
            [System("Be brief, be kind.")],
        ),
        (
            {
                "system_instruction": {
                    "role": "model",
                    "parts": [say("a", thought=False), say("b"), {"inlineData": PNG}, "c"],
                },
                "contents": [],
            },
            [System("a"), System("b"), System(""), System("c")],
        ),
        ({"contents": "Hi"}, [molo.user("Hi")]),
        ({"contents": user(say("Hi"))}, [molo.user("Hi")]),
        ({"contents": {"parts": say("Hi")}}, [molo.user("Hi")]),
        ({"contents": {**model(call()), "odd": 1}}, [Assistant("", None, ONE)]),
        (
            {"contents": [user(say("a"), respond({}), say("b"), respond({}))]},
            [molo.user("a"), ToolResult("f_0", "{}"), molo.user("b"), ToolResult("f_1", "{}")],
        ),
        (
            {
                "contents": [
                    user(respond({}), odd=1),
                    user(respond({})),
                    user(say("a"), odd=2),
                    user(),
                ]
            },
            [ToolResult("f_0", "{}"), ToolResult("f_1", "{}"), molo.user("a"), User(())],
        ),
        (
            {
                "contents": [
                    {"role": "function", "parts": [respond({}), respond({})]},
                    user(say("a")),
                ]
            },
            [ToolResult("f_0", "{}"), ToolResult("f_1", "{}"), molo.user("a")],
        ),
        (
            {"contents": [{"role": "user", "parts": respond({})}, user(say("a"))]},
            [ToolResult("f_0", "{}"), molo.user("a")],
        ),
        (
            {"contents": [{"role": "system", "parts": [say("a")]}, user(), {"role": "system"}]},
            [System("a"), User(()), System("")],
        ),
    ],
)
def test_how_messages_stand_together_comes_back(body, history):
    for request in (body, json.dumps(body, indent=1)):
        read = gemini.from_request(request)
        assert [unkept(message) for message in read.history] == history
        assert is_same(written(read.history, envelope=read.envelope), body)


@pytest.mark.parametrize(
    ("contents", "pairs"),
    [
        # By name, in order
        (
            [model(call("f"), call("g"), call("f")), user(*(respond({}, name) for name in "ffg"))],
            [("f_0", 1), ("g_0", 3), ("f_1", 2)],
        ),
        # Steps do not mix: an unanswered call of an earlier one stays so
        (
            [model(call()), user(say("No.")), model(call()), user(respond({}))],
            [("f_0", None), ("f_1", 3)],
        ),
        # Two replies that are answered together are one step
        ([model(call()), model(call()), user(respond({}), respond({}))], [("f_0", 2), ("f_1", 3)]),
        # Results in contents of their own
        (
            [model(call(), call()), user(respond({})), user(respond({}))],
            [("f_0", 1), ("f_1", 2)],
        ),
        # Ids where only one side has them
        ([model(call(id="c1")), user(respond({}))], [("c1", 1)]),
        ([model(call()), user(respond({}, id="c1"))], [("f_0", 1)]),
        ([model(call(id="c1")), user(respond({}, id="c2"))], [("c1", None)]),
        # Ids in another order
        (
            [model(call(id="a"), call(id="b")), user(respond({}, id="b"), respond({}, id="a"))],
            [("a", 2), ("b", 1)],
        ),
        ([model(call(id="c1")), user(respond({}, id=""))], [("c1", 1)]),
        ([model(call("f")), user(respond({}, "g"))], [("f_0", None)]),
    ],
)
def test_results_without_ids_answer_the_calls_of_their_name(contents, pairs):
    history = gemini.from_request(contents).history
    found = molo.history.pair(history).pairs
    assert [(pair.call.id, pair.result_at) for pair in found] == pairs
    assert is_same(written(history), {"contents": contents})


# --- Histories of other origin --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "request_"),
    [
        (
            [ToolResult("f_0", "{}"), molo.user("a"), molo.user("b")],
            {"contents": [user(respond({}), say("a")), user(say("b"))]},
        ),
        ([User(()), ToolResult("f_0", "")], {"contents": [user(), user(respond({"result": ""}))]}),
        (
            [Assistant("", None, GIVEN), ToolResult("c1", "Sunny")],
            {"contents": [model(call(id="c1")), user(respond({"result": "Sunny"}, id="c1"))]},
        ),
        (
            [Assistant("", None, GIVEN), ToolResult("c1", '{"a": 1}')],
            {"contents": [model(call(id="c1")), user(respond({"result": '{"a": 1}'}, id="c1"))]},
        ),
        (
            [Assistant("", None, GIVEN), ToolResult("c1", '{"a":0.10}', is_error=True)],
            {"contents": [model(call(id="c1")), user(respond({"error": {"a": 0.1}}, id="c1"))]},
        ),
        (
            [Assistant("", None, GIVEN), ToolResult("c1", '{"result":"a"}')],
            {
                "contents": [
                    model(call(id="c1")),
                    user(respond({"result": '{"result":"a"}'}, id="c1")),
                ]
            },
        ),
        (
            [Assistant("a", "b", (ToolCall("c1", "f", " "),), attachments=(Text("c"), wire(CODE)))],
            {"contents": [model(think("b"), say("a"), say("c"), CODE, call(id="c1"))]},
        ),
        (
            [
                Assistant("", None, GIVEN),
                ToolResult("c1", "a", attachments=(Image(data=b"PNG", mime_type="image/png"),)),
            ],
            {
                "contents": [
                    model(call(id="c1")),
                    user(respond({"result": "a"}, id="c1", parts=[{"inlineData": PNG}])),
                ]
            },
        ),
        (
            [User((Image(url="data:image/png;base64,UE5H"), File(url="data:text/plain,a%20b")))],
            {
                "contents": [
                    user(
                        {"inlineData": PNG},
                        {"inlineData": {"mimeType": "text/plain", "data": "YSBi"}},
                    )
                ]
            },
        ),
    ],
)
def test_histories_of_other_origin_are_written_in_canonical_form(history, request_):
    assert is_same(written(history), request_)


def test_the_name_of_a_result_is_that_of_its_call():
    # As in https://github.com/langchain-ai/langchainjs/issues/10299, the handed case 18.
    history = [
        Assistant("", None, (ToolCall("n1", "lookup", '{"k":1}'), ToolCall("n2", "find", "{}"))),
        ToolResult("n2", "b"),
        ToolResult("n1", "a"),
    ]
    results = written(history)["contents"][1]["parts"]
    assert [part["functionResponse"]["name"] for part in results] == ["find", "lookup"]


AT = "https://example.org/a"


@pytest.mark.parametrize(
    ("message", "losses", "wire"),
    [
        (User((Wire("anthropic", "{}"), Text("a"))), [("block", 0)], user(say("a"))),
        (User((Wire("gemini", "{"),)), [("block", 0)], user()),
        (
            User((File(data=b"a", mime_type="text/plain", name="a.txt"),)),
            [("name", 0)],
            user({"inlineData": {"mimeType": "text/plain", "data": "YQ=="}}),
        ),
        (User((Image(url=AT),)), [("media_type", 0)], user({"fileData": {"fileUri": AT}})),
        (
            User((Audio(data=b"a", mime_type="video/mp4"),)),
            [("media_type", 0)],
            user({"inlineData": {"mimeType": "video/mp4", "data": "YQ=="}}),
        ),
        (
            Assistant("", None, (ToolCall("c1", "f", "{"),)),
            [("arguments", 0)],
            model(call(id="c1")),
        ),
        (Assistant("a", attachments=(Wire("x", "{}"),)), [("block", 0)], model(say("a"))),
        (ToolResult("c1", "a"), [("id", None)], user(respond({"result": "a"}, "c1", id="c1"))),
        (
            ToolResult("f_0", "a", attachments=(Text("b"), Wire("x", "{}"))),
            [("block", 1), ("moved", 0)],
            user(respond({"result": "a"}), say("b")),
        ),
    ],
)
def test_what_has_no_place_is_named(message, losses, wire):
    result = gemini.to_request([message])
    assert [(loss.code, loss.part) for loss in result.losses] == losses
    assert all(loss.at == 0 for loss in result.losses)
    assert is_same(result.request, {"contents": [wire]})


def test_blocks_that_the_rules_keep_out_of_results_follow_all_results_of_their_step():
    text_only = replace(rules.GEMINI, result_blocks=("text",))
    image = Image(data=b"PNG", mime_type="image/png")
    read = gemini.from_request([user(respond({}, parts=[{"inlineData": PNG}], odd=1))]).history
    history = [
        *read,
        ToolResult("f_1", "a", attachments=(image,)),
        molo.user("Hi"),
        ToolResult("f_2", "", attachments=(image,)),
    ]
    result = gemini.to_request(history, rules=text_only)
    assert [(loss.code, loss.at, loss.part) for loss in result.losses] == [
        ("moved", 0, 0),
        ("stale", 0, None),  # the odd key was one of the result with its image
        ("moved", 1, 0),
        ("moved", 3, 0),
    ]
    image_part = {"inlineData": PNG}
    first = user(respond({}), respond({"result": "a"}), image_part, image_part, say("Hi"))
    second = user(respond({"result": ""}), image_part)
    assert is_same(result.request, {"contents": [first, second]})


def test_systems_move_to_the_front_and_are_named():
    result = gemini.to_request([System("a"), molo.user("Hi"), System("b")])
    assert [(loss.code, loss.at) for loss in result.losses] == [("moved", 2)]
    assert result.request["systemInstruction"] == instruct(say("a"), say("b"))


@pytest.mark.parametrize(
    ("instruction", "written_"),
    [
        ("Be brief.", instruct(say("Be brief."), say("New."))),
        ({"parts": say("a", odd=1)}, {"parts": [say("a", odd=1), say("New.")]}),
        ({"parts": [say("a")], "role": "x"}, {"parts": [say("a"), say("New.")], "role": "x"}),
    ],
)
def test_an_instruction_takes_in_another_system(instruction, written_):
    read = gemini.from_request({"systemInstruction": instruction, "contents": []})
    body = written([*read.history, System("New.")], envelope=read.envelope)
    assert is_same(body["systemInstruction"], written_)


def test_the_envelope_gives_way_to_messages():
    read = gemini.from_request({"systemInstruction": None, "contents": "Hi"})
    body = written([System("a"), *read.history, Assistant("b")], envelope=read.envelope)
    assert body == {
        "systemInstruction": instruct(say("a")),
        "contents": [user(say("Hi")), model(say("b"))],
    }


@pytest.mark.parametrize(
    ("envelope", "code"),
    [
        (ProviderData(dialect="anthropic", delta="{}", digest="0"), "foreign"),
        (ProviderData(dialect="gemini", delta="{}", digest="0"), "stale"),
    ],
)
def test_an_envelope_that_does_not_fit_is_named(envelope, code):
    result = gemini.to_request([molo.user("Hi")], envelope=envelope)
    assert [(loss.code, loss.at) for loss in result.losses] == [(code, None)]
    assert result.request == {"contents": [user(say("Hi"))]}


def test_a_signature_of_another_vendor_is_never_sent():
    sealed = ProviderData(dialect="anthropic", delta='{"unit":{"0":1}}', digest="0", sealed=True)
    result = gemini.to_request([Assistant("Hi", "Hm.", provider_data=sealed)])
    assert [loss.code for loss in result.losses] == ["sealed"]
    assert result.request == {"contents": [model(think("Hm."), say("Hi"))]}


@pytest.mark.parametrize(
    "delta", ['{"unit":[5]}', '{"unit":["a"]}', '{"unit":[null]}', '{"shell":[5]}', "{"]
)
def test_a_delta_without_sense_is_stale(delta):
    (read,) = gemini.from_request([user(say("Hi"), odd=1)]).history
    damaged = replace(read, provider_data=replace(read.provider_data, delta=delta))
    result = gemini.to_request([damaged])
    assert [loss.code for loss in result.losses] == ["stale"]
    assert result.request == {"contents": [user(say("Hi"))]}


def test_a_stand_in_signs_the_first_call_of_each_reply_that_has_none():
    contents = [
        model(say("Hi"), call(), call()),
        model({**call(), **SIGNED}, call()),
        model({"function_call": {"name": "f"}, "thought_signature": "c2ln"}),
        model(say("Bye")),
        {"role": "model", "parts": call()},
    ]
    stand_in = {"thoughtSignature": gemini.STAND_IN_SIGNATURE}
    history = gemini.from_request(contents).history
    contents[0] = model(say("Hi"), {**call(), **stand_in}, call())
    assert is_same(written(history, stand_in=gemini.STAND_IN_SIGNATURE), {"contents": contents})


# --- Text and numbers to the letter ---------------------------------------------------------------

LETTERS = '{"a": 0.10, "b":1E2,"c" : 1e400, "d":"\\u0041"}'


def conversation(part, role="model", odd=""):
    return f'{{"contents":[{{"role":"{role}",{odd}"parts":[{part}]}}]}}'


@pytest.mark.parametrize("odd", ["", '"odd":1,'])
@pytest.mark.parametrize("key", ["functionCall", "function_call"])
def test_args_keep_their_text_and_numbers_their_spelling(key, odd):
    body = conversation(f'{{"{key}":{{"name":"f","args":{LETTERS}}}}}', odd=odd)
    read = gemini.from_request(body)
    assert read.history[0].tool_calls[0].arguments == LETTERS
    spelled = '{"a":0.10,"b":1E2,"c":1e400,"d":"A"}'
    assert gemini.to_request_json(read.history).decode() == body.replace(LETTERS, spelled)


def test_args_of_a_single_content_and_of_answers_keep_their_text():
    content = f'{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{LETTERS}}}}}]}}'
    read = gemini.from_request(f'{{"contents":{content}}}')
    reply = gemini.from_response(f'{{"candidates":[{{"content":{content}}}]}}')
    streamed = gemini.accumulate([f'{{"candidates":[{{"content":{content}}}]}}'])
    for message in (read.history[0], reply.message, streamed.message):
        assert message.tool_calls == (ToolCall("f_0", "f", LETTERS),)


def test_odd_numbers_keep_their_spelling():
    body = conversation('{"text":"a","n":0.10}', "user", '"m":1e400,')
    assert gemini.to_request_json(gemini.from_request(body).history).decode() == body
    body = conversation('{"functionResponse":{"name":"f","response":{"a":0.10}}}', "user")
    read = gemini.from_request(body).history
    assert read == [ToolResult("f_0", '{"a":0.10}')]
    assert gemini.to_request_json(read).decode() == body


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ("", "Expected more JSON, got the end of the data - at byte 0"),
        ({}, "Expected field `contents`, got an object without it - at `$`"),
        ({"contents": None}, "Expected `str | object | array`, got `null` - at `$.contents`"),
        ({"contents": ["Hi"]}, "Expected `object`, got `str` - at `$.contents[0]`"),
        ([user(), 5], "Expected `object`, got `int` - at `$[1]`"),
        (
            {"contents": [{}]},
            "Expected field `parts`, got an object without it - at `$.contents[0]`",
        ),
        (
            {"contents": {"role": "user", "content": "Hi"}},
            "Expected field `parts`, got an object without it - at `$.contents`",
        ),
        (
            {"contents": [{"role": 5, "parts": []}]},
            "Expected `str`, got `int` - at `$.contents[0].role`",
        ),
        (
            {"systemInstruction": [], "contents": []},
            "Expected `object`, got `array` - at `$.systemInstruction`",
        ),
        (
            {"systemInstruction": {"text": "a"}, "contents": []},
            "Expected field `parts`, got an object without it - at `$.systemInstruction`",
        ),
        (
            {"systemInstruction": "a", "system_instruction": "b", "contents": []},
            "Expected one system instruction, got two - at `$.system_instruction`",
        ),
        (b'"Hi"', "Expected `object | array`, got `str` - at `$`"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(request_, error):
    with pytest.raises(DecodeError) as caught:
        gemini.from_request(request_)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    "part",
    [
        '{"text":"\\ud83d"}',
        '{"text":"a","odd":"\\ud83d"}',
        '{"functionCall":{"name":"f","args":{"a":"\\ud83d"}}}',
        '{"functionResponse":{"name":"f","response":{"a":"\\ud83d"}}}',
    ],
)
def test_a_lone_surrogate_is_refused_with_its_place_in_the_whole(part):
    body = conversation(part)
    with pytest.raises(DecodeError) as caught:
        gemini.from_request(body)
    assert caught.value.offset == body.index("\\ud83d")
    with pytest.raises(DecodeError):
        gemini.from_request([user(say("\ud83d"))])


def test_bytes_that_are_no_utf8_are_refused_in_args_too():
    body = conversation('{"functionCall":{"name":"f","args":{"a":"~"}}}').encode()
    body = body.replace(b"~", b"\xff")
    with pytest.raises(DecodeError) as caught:
        gemini.from_request(body)
    assert caught.value.offset == body.index(b"\xff")


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def test_what_is_nested_too_deeply_is_refused():
    deep = '{"odd":' * 50_000 + "1" + "}" * 50_000
    for part in (
        f'{{"text":"a","odd":{deep}}}',
        f'{{"functionCall":{{"name":"f","args":{deep}}}}}',
    ):
        with pytest.raises(DecodeError):
            gemini.from_request(conversation(part))
        with pytest.raises(DecodeError):
            gemini.from_response(f'{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}')
    with pytest.raises(DecodeError):
        gemini.from_request([user(say("a", odd=nested(5_000)))])


def test_what_is_nested_too_deeply_for_a_delta_is_refused():
    deep = '{"odd":' * TOO_DEEP + "1" + "}" * TOO_DEEP
    part = f'{{"text":"a","odd":{deep}}}'
    with pytest.raises(DecodeError, match=r"nested less deeply - at `\$\.contents\[0\]`"):
        gemini.from_request(conversation(part))
    chunk = f'{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}'
    with pytest.raises(DecodeError, match="nested less deeply"):
        gemini.from_response(chunk)
    accumulator = gemini.Accumulator()
    accumulator.feed(chunk)
    with pytest.raises(BrokenStreamError, match="nested less deeply"):
        accumulator.reply()
    with pytest.raises(BrokenStreamError) as caught:
        accumulator.feed({"error": {}})
    assert caught.value.reply is None


@pytest.mark.parametrize("request_", [5, None, 1.5])
def test_what_is_no_request_at_all_is_refused(request_):
    with pytest.raises(DecodeError, match="Expected `object") as caught:
        gemini.from_request(request_)
    assert caught.value.path == "$"


@pytest.mark.parametrize("write", [gemini.to_request, gemini.to_request_json])
def test_what_is_no_message_is_refused(write):
    with pytest.raises(EncodeError):
        write([5])
    with pytest.raises(TypeError):
        write(5)


def test_text_that_json_cannot_hold_is_refused():
    with pytest.raises(EncodeError):
        gemini.to_request_json([molo.user("\ud83d")])


# --- Answers --------------------------------------------------------------------------------------


def answer(content, **members):
    return {"candidates": [{"content": content, **members}]}


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("STOP", "end"),
        (1, "end"),
        ("MAX_TOKENS", "length"),
        (2, "length"),
        ("SAFETY", "filter"),
        ("RECITATION", "filter"),
        ("LANGUAGE", "filter"),
        ("BLOCKLIST", "filter"),
        ("PROHIBITED_CONTENT", "filter"),
        ("SPII", "filter"),
        ("IMAGE_SAFETY", "filter"),
        ("IMAGE_PROHIBITED_CONTENT", "filter"),
        ("IMAGE_RECITATION", "filter"),
        ("MODEL_ARMOR", "filter"),
        (3, "filter"),
        (4, "filter"),
        (7, "filter"),
        (8, "filter"),
        ("OTHER", "other"),
        ("MALFORMED_FUNCTION_CALL", "other"),
        (9, "other"),
        ("NEW_REASON", "other"),
        ([], "other"),
        ("FINISH_REASON_UNSPECIFIED", None),
        (0, None),
        (None, None),
    ],
)
def test_reasons_have_a_word(reason, stop):
    assert gemini.from_response(answer(model(say("Hi")), finishReason=reason)).stop == stop


def test_a_reply_that_ends_in_calls_stops_for_them():
    assert gemini.from_response(answer(model(call()), finishReason="STOP")).stop == "tool_calls"
    assert gemini.from_response(answer(model(call()), finishReason="MAX_TOKENS")).stop == "length"


@pytest.mark.parametrize(
    "content",
    [
        model(think("Hm."), say("Hi", **SIGNED), {**call(id="c1"), **SIGNED}),
        model(say("Hi"), odd=1),
        model(),
        {"role": "model"},
        {"parts": [say("Hi")]},
        {},
    ],
)
def test_an_answer_goes_back_as_a_content_of_the_model(content):
    message = gemini.from_response(answer(content)).message
    assert is_same(content_of(message), {**content, "role": "model"})


@pytest.mark.parametrize("candidate", [{"finishReason": "SAFETY"}, {"content": None}])
def test_an_answer_without_content_says_nothing(candidate):
    assert gemini.from_response({"candidates": [candidate]}).message == Assistant("")


def test_further_candidates_stand_in_the_rest():
    second = {"content": model(say("b")), "index": 1}
    reply = gemini.from_response({"candidates": [{"content": model(say("a"))}, second]})
    assert reply.message == Assistant("a")
    assert json.loads(reply.rest) == {"candidates": [{}, second]}


@pytest.mark.parametrize("candidates", [{}, {"candidates": None}, {"candidates": []}])
def test_a_blocked_prompt_gives_a_reply_that_was_filtered(candidates):
    body = {"promptFeedback": {"blockReason": "SAFETY"}, **candidates}
    for reply in (gemini.from_response(body), gemini.accumulate([body])):
        assert (reply.message, reply.stop) == (Assistant(""), "filter")
        assert json.loads(reply.rest)["promptFeedback"] == {"blockReason": "SAFETY"}


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ("", "Expected more JSON, got the end of the data - at byte 0"),
        ("[]", "Expected `object`, got `array` - at `$`"),
        ({}, "Expected field `candidates`, got an object without it - at `$`"),
        ({"promptFeedback": {}}, "Expected field `candidates`, got an object without it - at `$`"),
        ({"candidates": {}}, "Expected field `candidates`, got an object without it - at `$`"),
        ({"candidates": 5}, "Expected `array`, got `int` - at `$.candidates`"),
        ({"candidates": [5]}, "Expected `object`, got `int` - at `$.candidates[0]`"),
        (answer("Hi"), "Expected `object`, got `str` - at `$.candidates[0].content`"),
        ({"error": "x"}, "Expected an answer, got an error - at `$.error`"),
        (
            {"error": {"status": "NOT_FOUND"}},
            "Expected an answer, got an error of status `NOT_FOUND` - at `$.error`",
        ),
        (
            {"odd": float("nan")},
            "Expected numbers that JSON can hold, got NaN or Infinity - at `$`",
        ),
    ],
)
def test_what_is_no_answer_is_refused(response, error):
    with pytest.raises(DecodeError) as caught:
        gemini.from_response(response)
    assert str(caught.value) == error


# --- Streams --------------------------------------------------------------------------------------

STREAMS = [
    ([[say("Hel")], [say("lo")]], [say("Hello")]),
    ([[think("a")], [think("b")], [say("c")], [say("d")]], [think("ab"), say("cd")]),
    ([[say("a")], [think("b")], [say("c")]], [say("a"), think("b"), say("c")]),
    ([[say("a")], [say("", **SIGNED)]], [say("a"), say("", **SIGNED)]),
    ([[say("a", **SIGNED)], [say("b")], [say("c")]], [say("a", **SIGNED), say("bc")]),
    ([[call()], [{**call(id="c1"), **SIGNED}], [say("")]], [call(), {**call(id="c1"), **SIGNED}]),
    ([[say("a")], [CODE], [OUTCOME], [say("b")]], [say("a"), CODE, OUTCOME, say("b")]),
    ([[say("a")], [{"inlineData": PNG}], [say("b")]], [say("a"), {"inlineData": PNG}, say("b")]),
    ([[say("")], [say("a"), say("b")], []], [say("ab")]),
    ([[say("a", thought=False)], [say("b", thought=False)]], [say("ab", thought=False)]),
    ([[say("a", odd=1)], [say("b", odd=1)]], [say("a", odd=1), say("b", odd=1)]),
    ([[{"text": None}, "a", 5]], [{"text": None}, "a", 5]),
    ([[say("")], [say("")]], [say("")]),
]


@pytest.mark.parametrize(("pieces", "parts"), STREAMS)
def test_a_stream_gives_what_would_have_come_at_once(pieces, parts):
    chunks = [answer(model(*piece), index=0) for piece in pieces]
    for given_ in (chunks, map(json.dumps, chunks)):
        reply = gemini.accumulate(given_)
        assert is_same(content_of(reply.message), model(*parts))
        assert reply.message.content == gemini.from_response(answer(model(*parts))).message.content


def test_the_rest_of_a_stream_is_what_was_said_last_of_the_whole():
    reply = gemini.accumulate(
        [
            {"candidates": [{"content": model(say("a")), "safetyRatings": [1]}], "responseId": "r"},
            {"usageMetadata": {"totalTokenCount": 1}},
            {"candidates": [{"content": None, "safetyRatings": None}], "responseId": None},
            {
                "candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}],
                "usageMetadata": {"totalTokenCount": 2},
            },
        ]
    )
    assert (reply.message, reply.stop) == (Assistant("a"), "length")
    assert json.loads(reply.rest) == {
        "responseId": "r",
        "usageMetadata": {"totalTokenCount": 2},
        "candidates": [{"safetyRatings": [1], "finishReason": "MAX_TOKENS"}],
    }


def test_candidates_of_a_stream_do_not_mix():
    def chunk(index, words):
        return {"candidates": [{"content": model(say(words)), "index": index}]}

    reply = gemini.accumulate([chunk(1, "x"), chunk(0, "a"), chunk(1, "y"), chunk(0, "b")])
    assert reply.message == Assistant("ab")
    assert json.loads(reply.rest) == {
        "candidates": [{"index": 0}, {"content": model(say("xy")), "index": 1}]
    }


@pytest.mark.parametrize("chunks", [[], [{}], [{"usageMetadata": {}}], [{"candidates": []}]])
def test_a_stream_without_a_candidate_is_broken(chunks):
    with pytest.raises(BrokenStreamError) as caught:
        gemini.accumulate(chunks)
    assert caught.value.reply is None


@pytest.mark.parametrize(
    "chunk", ["{", "[]", {"error": {}}, {"candidates": [5]}, {"candidates": 5}]
)
def test_a_stream_that_breaks_gives_what_had_come(chunk):
    accumulator = gemini.Accumulator()
    with pytest.raises(StreamError) as caught:
        accumulator.feed(chunk)
    assert caught.value.reply is None
    accumulator.feed(answer(model(say("a"), call())))
    with pytest.raises(StreamError) as caught:
        accumulator.feed(chunk)
    assert caught.value.reply.message == Assistant("a", None, ONE)


def test_the_cost_of_a_stream_is_linear_in_its_length():
    def seconds(count):
        chunks = [json.dumps(answer(model(say("word ")))) for _ in range(count)]
        start = time.process_time()
        gemini.accumulate(chunks)
        return time.process_time() - start

    seconds(500)
    assert min(seconds(8_000) for _ in range(3)) < 8 * 3 * min(seconds(1_000) for _ in range(3))


# --- Laws -----------------------------------------------------------------------------------------

_WORDS = ["", "a", "text", "A text of more than twelve characters.", '{"a":1}', "f_0", "null"]
_scalars = st.sampled_from([*_WORDS, None, True, False, 0, 1, 0.5, -1])
_names = st.sampled_from(["f", "g"])
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=5,
)
_ids = st.sampled_from(["f_0", "g_1", "c1", "c2", "", None])
_args = st.dictionaries(st.sampled_from("abc"), _values, max_size=2)
_said = st.dictionaries(st.sampled_from(["result", "output", "error", "a"]), _values, max_size=2)


def _one_of(*keys):
    return st.sampled_from(keys)


def _held(camel, snake, members):
    return st.builds(lambda key, value: {key: value}, _one_of(camel, snake), members)


def _odd(required, **optional):
    return st.fixed_dictionaries(required, optional={**optional, "odd": _values})


_blobs = _odd(
    {"data": st.sampled_from(["UE5H", "-_8=", "-_-_-_-_-_-_-_-_", "no"])}, mimeType=_scalars
)
_files = _odd(
    {"fileUri": st.sampled_from(_WORDS)}, mimeType=st.just("image/png"), file_uri=_scalars
)
_media = _held("inlineData", "inline_data", _blobs) | _held("fileData", "file_data", _files)
_called = _held(
    "functionCall", "function_call", _odd({"name": _names}, args=_args | _values, id=_ids)
)
_responses = _odd(
    {"name": _names},
    response=_said | _values,
    id=_ids,
    parts=st.lists(_media | _values, max_size=2),
)
_answered = _held("functionResponse", "function_response", _responses)
_texts = st.fixed_dictionaries({"text": st.sampled_from(_WORDS)})
_about = st.fixed_dictionaries(
    {},
    optional={
        "thought": st.sampled_from([True, True, False, None, 1]),
        "thoughtSignature": st.sampled_from(["c2ln", "A longer signature than twelve.", "", None]),
        "thought_signature": st.just("c2ln"),
        "odd": _values,
    },
)
_plain_parts = _texts | _called | _answered | _media
_parts = st.builds(dict.__or__, _about, _plain_parts) | _plain_parts | _values
_contents = st.builds(
    dict.__or__,
    st.fixed_dictionaries({}, optional={"odd": _values}),
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "model", "user", "model", "function", "system", None]),
            "parts": st.lists(_parts, max_size=4),
        }
    )
    | st.fixed_dictionaries({"parts": _parts}),
)
_instructions = st.none() | st.builds(
    lambda parts, role: {**role, "parts": parts},
    st.lists(_texts | _parts, max_size=3) | _texts,
    st.fixed_dictionaries({}, optional={"role": st.sampled_from(["user", "model"])}),
)
_bodies = st.fixed_dictionaries(
    {"contents": st.lists(_contents, max_size=5) | _contents | st.sampled_from(_WORDS)},
    optional={"systemInstruction": _instructions},
) | st.fixed_dictionaries(
    {"contents": st.lists(_contents, max_size=2), "system_instruction": _instructions}
)


@given(_bodies)
def test_any_conversation_comes_back_key_for_key(body):
    for request in (body, json.dumps(body)):
        read = gemini.from_request(request)
        assert is_same(written(read.history, envelope=read.envelope), body)


@given(st.lists(_contents, max_size=5))
def test_all_ways_read_any_contents_the_same(items):
    data = compact(items)
    careful = told(reading.read_carefully(data).history)
    for read in (strict.read_json, strict.read_open_json):
        history = read(data)
        assert history is None or told(history) == careful
    users = [item for item in items if item.get("role") != "system"]
    data = compact(users)
    by_types = reading.read_carefully(data).history
    with_care = read_with_care(parse(data))
    assert [unsaid(message) for message in by_types] == [unsaid(message) for message in with_care]


def unsaid(message):
    return replace(message, provider_data=None)


@given(_bodies, _bodies, st.integers(0, 9))
def test_any_message_is_written_the_same_whatever_stands_next_to_it(body, other_body, cut):
    messages = gemini.from_request(body).history
    messages = [*messages[cut:], *gemini.from_request(other_body).history, *messages[:cut]]
    alone = [
        part for message in messages for part in parts_of(gemini.to_request([message]).request)
    ]
    assert sorted(parts_of(gemini.to_request(messages).request)) == sorted(alone)


def test_a_signature_that_also_stands_in_the_args_is_copied_in_an_answer_as_in_a_request():
    seal = "QUFBQkJCQ0ND"
    part = {"functionCall": {"name": "f", "args": {"s": seal}}, "thoughtSignature": seal}
    message = gemini.from_response(answer(model(part))).message
    assert gemini.from_request({"contents": [model(part)]}).history == [message]
    assert seal not in message.provider_data.delta
    assert is_same(content_of(message), model(part))


@given(st.lists(_parts, max_size=4))
def test_any_answer_comes_back_key_for_key(parts):
    reply = gemini.from_response(answer(model(*parts)))
    assert is_same(content_of(reply.message), model(*parts))


@given(st.lists(_parts, max_size=6))
def test_a_stream_of_any_parts_gives_all_of_them(parts):
    reply = gemini.accumulate([answer(model(part)) for part in parts] or [answer(model())])
    once = gemini.from_response(answer(model(*parts)))
    assert unsaid(reply.message) == unsaid(once.message)


@given(histories)
@example(
    [
        Assistant("", tool_calls=(ToolCall("f_0", "", ""), ToolCall("", "", ""))),
        ToolResult("", ""),
        ToolResult("f_1", ""),
    ]
)
@example(
    [
        Assistant("", tool_calls=tuple(ToolCall(id, "", "") for id in ("f_0", "", "f_0"))),
        ToolResult("", ""),
        ToolResult("f_1", ""),
    ]
)
def test_any_history_is_written_and_what_is_written_is_read(history):
    result = gemini.to_request(history)
    read = gemini.from_request(result.request)
    assert is_same(written(read.history, envelope=read.envelope), result.request)


@given(histories)
def test_both_ways_of_writing_say_the_same(history):
    assert is_same(json.loads(gemini.to_request_json(history)), gemini.to_request(history).request)


@given(
    st.lists(
        st.builds(
            ToolResult, st.just("c1"), st.sampled_from(_WORDS) | st.text(), is_error=st.booleans()
        )
    )
)
def test_results_say_the_same_when_they_are_read_again(results):
    history = [Assistant("", None, (ToolCall("c1", "f", "{}"),)), *results]
    read = gemini.from_request(gemini.to_request_json(history)).history
    assert [(item.content, item.is_error) for item in read[1:]] == [
        (item.content, item.is_error) for item in results
    ]


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_anything_else_gives_an_error_of_molo(data):
    for read in (gemini.from_request, gemini.from_response, gemini.Accumulator().feed):
        with contextlib.suppress(molo.MoloError):
            read(data)
