"""Logs as others recorded or broke them: the handed cases, and the recordings.

Each kind of case has a test with an input of its own in the other tests of ingest and of the
dialects.
"""

import json as stdlib_json
import sys
from pathlib import Path

import pytest
from case_reader import CASES, case_rows

from molo import DecodeError, json, msgpack, parse_arguments
from molo.dialects import anthropic, openai_chat
from molo.framing import encode_frame
from molo.history import ANTHROPIC, check
from molo.ingest import FORMATS, Fault, Record, encode, open_log, read, salvage

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
without_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the handed cases are not here")
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recordings are not here")

# A log that is not of one vendor alone is read as the one that the case is about.
DIALECTS = {"anthropic": "anthropic"}
LOGS = [row for row in case_rows("ingest") if row["format"] == "jsonl"]


def ingested(row, **options):
    format = DIALECTS.get(row["params"].get("dialect"), "openai-chat")
    with open_log(CASES / row["file"]) as log:
        return list(read(log, format, **options))


def with_fact(fact):
    rows = [row for row in LOGS if fact in row["check"]]
    return pytest.mark.parametrize("row", rows, ids=lambda row: row["file"])


def faults_of(items):
    return [item for item in items if isinstance(item, Fault)]


@without_cases
@with_fact("good")
def test_a_case_has_as_many_good_records_as_it_says(row):
    items = ingested(row)
    assert len(items) - len(faults_of(items)) == row["check"]["good"]


@without_cases
@with_fact("bad_lines")
def test_the_bad_lines_of_a_case_are_told_by_number(row):
    assert [fault.line for fault in faults_of(ingested(row))] == row["check"]["bad_lines"]


@without_cases
@with_fact("torn_tail")
def test_the_torn_tail_of_a_case_is_told_with_its_offset(row):
    fault = faults_of(ingested(row))[-1]
    assert fault.code == "torn"
    assert fault.offset == (CASES / row["file"]).read_bytes().rindex(b"\n") + 1


@without_cases
@with_fact("salvageable")
def test_a_record_behind_a_fragment_can_be_salvaged(row):
    faults = {fault.line: fault for fault in faults_of(ingested(row))}
    for line in row["check"]["salvageable"]:
        [record] = salvage(faults[line], "openai-chat")
        assert record.messages[0].content == "this is whole"


@without_cases
@with_fact("concatenated")
def test_records_on_one_line_can_be_salvaged(row):
    faults = {str(fault.line): fault for fault in faults_of(ingested(row))}
    for line, number in row["check"]["concatenated"].items():
        assert faults[line].code == "extra"
        assert len(salvage(faults[line], "openai-chat")) == number


@without_cases
@with_fact("record_lines")
def test_the_lines_of_a_case_are_counted_as_it_says(row):
    assert [item.line for item in ingested(row)] == row["check"]["record_lines"]


@without_cases
@with_fact("line1_tail_codepoint")
def test_a_pair_of_escapes_is_one_character(row):
    content = ingested(row)[0].messages[0].content
    assert f"{ord(content[-1]):X}" == row["check"]["line1_tail_codepoint"]


@without_cases
@with_fact("diagnosis")
def test_a_document_instead_of_lines_is_told_once(row):
    [fault] = ingested(row)
    assert fault.code == "multiline"


@without_cases
@with_fact("min_good")
def test_a_truncated_gzip_stream_gives_what_it_has(row):
    items = ingested(row)
    assert len(items) - 1 >= row["check"]["min_good"]
    assert [fault.code for fault in faults_of(items)] == ["compressed"]


@without_cases
@with_fact("unanswered")
def test_a_log_of_another_shape_is_checked_as_far_as_it_is_read(row):
    history = [m for item in ingested(row) if isinstance(item, Record) for m in item.messages]
    dangling = [p for p in check(history, ANTHROPIC) if p.code == "dangling_call"]
    calls = [history[problem.at].tool_calls[problem.part].id for problem in dangling]
    assert calls == row["check"]["unanswered"]


@without_cases
def test_nan_in_arguments_is_seen_when_they_are_parsed():
    [row] = [row for row in LOGS if row["n"] == 63]
    [call] = ingested(row)[0].messages[0].tool_calls
    with pytest.raises(DecodeError):
        parse_arguments(call)


# --- Cases of decoding ----------------------------------------------------------------------------

DECODED = case_rows("decode")
CHAT = [row for row in DECODED if row["format"] == "openai_chat"]
by_file = {"ids": lambda row: row["file"]}


@without_cases
@pytest.mark.parametrize("row", CHAT, **by_file)
def test_a_case_in_openais_form_is_read_and_comes_back(row):
    data = (CASES / row["file"]).read_bytes()
    [record] = read([data], "openai-chat", layout="document")
    assert stdlib_json.loads(encode(record, "openai-chat")) == stdlib_json.loads(data)


@without_cases
def test_older_versions_are_read():
    """Case 100 has a guessed shape; `tool_calls: null` and `usage` are OpenAI's."""
    [row] = [row for row in DECODED if row["n"] == 100]
    data = (CASES / row["file"]).read_bytes()
    [record] = read([data], "auto", layout="document")
    once = encode(record, "molo", "document")
    [again] = read([once], "molo", layout="document")
    assert encode(again, "molo", "document") == once
    assert stdlib_json.loads(encode(record, "openai-chat")) == stdlib_json.loads(data)


@without_cases
def test_an_object_without_a_role_is_no_message():
    [row] = [row for row in DECODED if row["n"] == 86]
    with pytest.raises(DecodeError, match="Expected field `role`"):
        json.decode_message((CASES / row["file"]).read_bytes())


MSGPACK = [row for row in DECODED if row["format"] == "msgpack"]


@without_cases
@pytest.mark.parametrize("row", MSGPACK, **by_file)
def test_a_case_in_messagepack_that_is_not_molos_is_a_fault(row):
    """They are OpenAI's or Gemini's form in MessagePack, which no vendor writes, nor molo reads."""
    data = (CASES / row["file"]).read_bytes()
    with pytest.raises(DecodeError):
        msgpack.decode_message(data)
    [fault] = read([encode_frame(data)], "molo-msgpack")
    assert fault.raw == encode_frame(data)


@without_cases
def test_messages_behind_each_other_have_frames_in_molo():
    """Case 95 puts MessagePack maps behind each other; molo's streams have frames."""
    [row] = [row for row in case_rows("ingest") if row["n"] == 95]
    data = (CASES / row["file"]).read_bytes()
    first, second, torn = (b"\x82\xa4role" + part for part in data.split(b"\x82\xa4role")[1:])
    whole = encode_frame(first.replace(b"\xa2hi", b"\x91\x82\xa4type\xa4text\xa4text\xa2hi"))
    log = whole + encode_frame(second) + encode_frame(torn + b"and whole")[:-9]
    items = list(read([log], "molo-msgpack"))
    assert len(items) == 1 + row["check"]["good"]
    assert (items[-1].code, items[-1].offset) == ("torn", len(whole) + len(second) + 4)


# --- Recordings -----------------------------------------------------------------------------------

NAMES = {
    "openai_chat": ("openai-chat", 1682),
    "openai_responses": ("openai-responses", 794),
    "anthropic": ("anthropic", 699),
    "gemini": ("gemini", 750),
}

# One request that its vendor refused has no message but a string.
REFUSED = {"anthropic": ["Expected `object`, got `str` - at `$.messages[0]`"]}


@needs_corpus
@pytest.mark.parametrize("name", NAMES)
def test_recordings_are_ingested_and_come_back_from_molos_own_form(name, capsys):
    format, lines = NAMES[name]
    path = CORPUS / f"{name}.jsonl"
    with open_log(path) as log:
        assert log.guess().format == format
        items = list(log.read())
    assert len(items) == lines
    assert [fault.reason for fault in faults_of(items)] == REFUSED.get(name, [])
    records = [item for item in items if isinstance(item, Record)]
    wire = path.read_bytes().split(b"\n")
    for record in records:
        native = encode(record, "molo")
        [back] = read([native], "molo")
        assert stdlib_json.loads(encode(back, format)) == stdlib_json.loads(wire[record.line - 1])
    answered = sum(record.origin is not None and record.origin.reply != "" for record in records)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{name}: {len(records)} of {lines} lines, {answered} with an answer, "
            f"{sum(len(record.messages) for record in records)} messages\n"
        )


@needs_corpus
@pytest.mark.parametrize("name", NAMES)
def test_a_recording_by_itself_is_guessed_or_read_alike(name):
    """Plain text in plain messages is what a guess may take for OpenAI's."""
    format, _ = NAMES[name]
    for line in (CORPUS / f"{name}.jsonl").read_bytes().splitlines()[::25]:
        [guessed] = read([line], "auto")
        [known] = read([line], format)
        assert guessed == known or [type(m) for m in guessed.messages] == [
            type(m) for m in known.messages
        ]


def test_the_dialects_stand_behind_the_formats():
    body = b'{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}'
    for format, dialect in (("openai-chat", openai_chat), ("anthropic", anthropic)):
        [record] = read([body], format)
        assert record.messages == dialect.from_request(body).history
    assert set(FORMATS) >= {format for format, _ in NAMES.values()}
