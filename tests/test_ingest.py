"""Lines, frames and documents: what becomes of them, wherever the chunks are cut."""

import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories, messages

from molo import System, assistant, json, msgpack, system, user
from molo.ingest import (
    BrokenLogError,
    Fault,
    Record,
    encode,
    encode_with_losses,
    read,
    salvage,
    write,
)

BOM = b"\xef\xbb\xbf"
PRIVATE = "my secret diary"
GOOD = b'{"role":"system","content":"Be brief."}'
BRIEF = [system("Be brief.")]


def pieces(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


def outcome(item):
    """Say in short what became of a stretch: the messages or the code, and the place."""
    what = item.code if isinstance(item, Fault) else item.messages
    return what, item.line, item.offset


def log_of(parts):
    return b"".join(data for data, _ in parts)


def outcomes(parts):
    """Say what is to become of each part of a log that has an outcome."""
    before = [log_of(parts[:at]) for at in range(len(parts))]
    places = [(log.count(b"\n") + 1, len(log)) for log in before]
    return [
        (what, *place) for (_, what), place in zip(parts, places, strict=True) if what is not None
    ]


# --- What becomes of a line -----------------------------------------------------------------------

# name: the parts of a log, each with what becomes of it: messages, the code of a Fault, or nothing
LINES = {
    "nothing": [],
    "blank lines alone": [(b"\n  \n\r\n\t", None)],
    "no line end at the end": [(GOOD, BRIEF)],
    "two lines": [(GOOD + b"\n", BRIEF), (GOOD + b"\n", BRIEF)],
    "CRLF": [(GOOD + b"\r\n", BRIEF), (GOOD + b"\r\n", BRIEF)],
    "blank lines between": [
        (b"\n", None),
        (GOOD + b"\n", BRIEF),
        (b" \r\n\n", None),
        (GOOD, BRIEF),
    ],
    "white space around": [(b"  " + GOOD + b" \t\n", BRIEF)],
    "a carriage return ends no line": [(GOOD + b"\r" + GOOD + b"\n", "extra")],
    "U+2028 and U+0085 end no line": [
        ('{"role":"system","content":"a\u2028b\u0085c"}\n'.encode(), [system("a\u2028b\u0085c")])
    ],
    "a mark at the start": [(BOM, None), (GOOD + b"\n", BRIEF), (GOOD, BRIEF)],
    "a mark alone": [(BOM, None)],
    "a mark, one line": [(BOM, None), (GOOD, BRIEF)],
    "a mark further on": [(GOOD + b"\n", BRIEF), (BOM + GOOD + b"\n", "json")],
    "NUL bytes": [(b"\0" * 9 + b"\n", "nul"), (GOOD, BRIEF)],
    "NUL bytes in front of a record": [(b"\0" * 9 + GOOD + b"\n", "nul"), (GOOD, BRIEF)],
    "NUL bytes at the end": [(GOOD + b"\n", BRIEF), (b"\0\0\0", "nul")],
    "two records on a line": [(GOOD + GOOD + b"\n", "extra"), (GOOD, BRIEF)],
    "a torn last line": [(GOOD + b"\n", BRIEF), (GOOD[:20], "torn")],
    "torn within a character": [(b'{"role":"system","content":"\xc3', "torn")],
    "torn within an escape": [(b'{"role":"system","content":"\\ud8', "torn")],
    "a torn line with its end": [(GOOD[:20] + b"\n", "json"), (GOOD, BRIEF)],
    "a torn line glued to a record": [(GOOD[:30] + GOOD + b"\n", "json"), (GOOD, BRIEF)],
    "whole JSON, but no record, at the end": [(b'{"role":"pirate"}', "record")],
    "a number": [(b"5\n", "record"), (GOOD, BRIEF)],
    "text": [(b"hello\n", "json"), (GOOD, BRIEF)],
    "not UTF-8": [(b'{"role":"system","content":"K\xfcche"}\n', "json"), (GOOD, BRIEF)],
    "NaN": [(b'{"role":"system","content":NaN}\n', "json"), (GOOD, BRIEF)],
    "a lone surrogate": [(b'{"role":"system","content":"\\ud83d"}\n', "json"), (GOOD, BRIEF)],
    "a history": [(b"[" + GOOD + b"," + GOOD + b"]\n", BRIEF * 2)],
    "a history of nothing": [(b"[]\n", [])],
    "a history and messages": [
        (b"[" + GOOD + b"]\n", BRIEF),
        (GOOD + b"\n", BRIEF),
        (b"[" + GOOD + b"]", BRIEF),
    ],
    "an object": [(b'{"id":1,"messages":[' + GOOD + b"]}\n", BRIEF)],
    "a pretty array": [
        (b'[\n  {\n    "role": "user"\n  }\n]\n', "multiline"),
        (GOOD, BRIEF),
    ],
    "a pretty object": [
        (GOOD + b"\n", BRIEF),
        (b'{\r\n\t"messages": [\r\n\t\t{}\r\n\t]\r\n}\r\n', "multiline"),
        (GOOD + b"\n", BRIEF),
    ],
    "pretty objects": [
        (b'{\n "a": 1\n}\n', "multiline"),
        (b'{\n "a": 1\n}\n', "multiline"),
    ],
    "pretty without indentation": [
        (b'{\n"role": "user",\n"content": [\n{\n"type": "text"\n}\n]\n}\n', "multiline"),
        (GOOD, BRIEF),
    ],
    "an array with an item a line": [
        (b"[\n" + GOOD + b",\n\n" + GOOD + b"\n]\n", "multiline"),
        (GOOD, BRIEF),
    ],
    "brackets opened together": [
        (b'[ {\n "a": 1\n},\n{\n}]\n', "multiline"),
        (GOOD, BRIEF),
    ],
    "brackets closed together, indented": [
        (b'{\n "a": {\n  "b": 1 }\n}\n', "multiline"),
        (GOOD, BRIEF),
    ],
    "a pretty object that breaks off": [(b'{\n  "messages": [\n', "multiline")],
    "a pretty object that breaks off before a record": [
        (b'{\n  "messages": [\n', "multiline"),
        (GOOD, BRIEF),
    ],
    "an opening bracket, then a record": [(b"{\n", "json"), (GOOD + b"\n", BRIEF)],
    "an opening bracket at the end": [(GOOD + b"\n", BRIEF), (b"[", "torn")],
    "two opening brackets": [
        (b"{\n", "json"),
        (b"hello\n", "json"),
        (b"{\n", "json"),
        (GOOD, BRIEF),
    ],
}


@pytest.mark.parametrize("size", [1, 2, 7, 2**20])
@pytest.mark.parametrize("name", LINES)
def test_a_line_gives_a_record_or_one_fault(name, size):
    parts = LINES[name]
    found = [outcome(item) for item in read(pieces(log_of(parts), size), "molo")]
    assert found == outcomes(parts)


def test_a_fault_tells_where_how_long_and_why_and_holds_the_bytes():
    bad = b'{"role":"system","content":null}\r\n'
    _, fault = read([GOOD + b"\n" + bad], "molo", source="calls.jsonl")
    reason = "Expected `str`, got `null` - at `$.content`"
    assert fault == Fault("calls.jsonl", 2, 40, len(bad), reason, bad, "record")


@pytest.mark.parametrize("size", [1, 7, 2**20])
@pytest.mark.parametrize("name", LINES)
def test_a_record_keeps_its_bytes_where_that_is_asked(name, size):
    parts = LINES[name]
    items = list(read(pieces(log_of(parts), size), "molo", keep_raw=True))
    assert list(map(outcome, items)) == outcomes(parts)
    assert [item.raw for item in items] == [data for data, what in parts if what is not None]


def test_where_it_is_not_asked_a_record_keeps_no_bytes():
    records = [*read([GOOD + b"\n"], "molo"), *read([b"[" + GOOD + b"]"], "openai-chat")]
    assert [record.raw for record in records] == [b"", b""]


def test_a_frame_or_a_document_keeps_its_bytes_where_that_is_asked():
    frames = [frame(ONE), frame(HI)]
    kept = read([b"".join(frames)], "molo-msgpack", keep_raw=True)
    assert [record.raw for record in kept] == frames
    [document] = read([PRETTY], "molo", layout="document", keep_raw=True)
    assert document.raw == PRETTY


REASONS = {
    "extra": (GOOD + b"{}\n", "Expected one record a line, got more behind it - at byte 39"),
    "torn": (GOOD[:9], "Expected a whole last line, got 9 bytes of one that breaks off"),
    "nul": (b"\0\0\n", "Expected JSON, got 2 NUL bytes"),
    "multiline": (b"{\n \n", "Expected one record a line, got JSON over several lines"),
    "json": (b"{\n", "Expected more JSON, got the end of the line - at byte 2"),
}


@pytest.mark.parametrize("code", REASONS)
def test_a_reason_is_one_sentence(code):
    log, reason = REASONS[code]
    [fault] = read([log], "molo")
    assert (fault.code, fault.reason) == (code, reason)


@pytest.mark.parametrize("line", [b'{"role":"us', b'{"role":"user",', b'[{"role":"user"'])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_that_was_cut_short_is_told_as_such(line, end):
    faults = [item for item in read([line + end, GOOD + b"\n"], "molo") if isinstance(item, Fault)]
    [reason] = [fault.reason for fault in faults]
    assert reason.startswith("Expected more JSON, got the end of the line - at byte ")


NO_FORMAT = "Expected a format, one of `molo`, .* got `openai_chat`"


def test_the_name_of_no_format_is_a_value_error(tmp_path):
    record, fault = read([GOOD + b"\n", b"[\n"], "molo")
    for write_one in (encode, encode_with_losses):
        with pytest.raises(ValueError, match=NO_FORMAT):
            write_one(record, "openai_chat")
    with pytest.raises(ValueError, match=NO_FORMAT):
        salvage(fault, "openai_chat")
    with pytest.raises(ValueError, match=NO_FORMAT):
        write([record], tmp_path / "log.jsonl", "openai_chat")
    for named in ({"sink": tmp_path / "log.parquet"}, {"sink": "-", "format": "parquet"}):
        with pytest.raises(ValueError, match=r"Parquet is molo\.arrow's"):
            write([record], **named)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "format", ["molo", "openai-chat", "anthropic", "gemini", "openai-responses"]
)
@pytest.mark.parametrize(
    "line",
    [
        '{"role":"%s"}',
        '{"%s":1}',
        '{"messages":[{"role":"%s","content":1}]}',
        '{"request":{"messages":"%s","contents":"%s","input":{"%s":1}}}',
        '["%s"]',
        '"%s"',
        '{"role":"user","content":"%s',
        '{"role":"user","content":"%s"}{}',
        '{"role":"user","content":"%s \\ud83d"}',
        "%s",
    ],
)
def test_a_reason_holds_no_text_of_the_conversation(format, line):
    log = line.replace("%s", PRIVATE).encode() + b"\n"
    faults = [item for item in read([log], format) if isinstance(item, Fault)]
    assert not [fault.reason for fault in faults if PRIVATE in fault.reason]


def test_a_format_that_is_not_known_is_a_value_error():
    with pytest.raises(ValueError, match="Expected a format, one of `auto`, `molo`"):
        read([], "yaml")


@pytest.mark.parametrize("format", ["molo", "openai-chat"])
def test_records_that_differ_in_nothing_but_their_place_know_it(format):
    log = b'{"role":"system","content":"a"}\n' * 1000
    places = [(item.line, item.offset, item.messages) for item in read([log], format)]
    assert places == [(number + 1, number * 32, [system("a")]) for number in range(1000)]


# --- Laws -----------------------------------------------------------------------------------------

rows = st.one_of(
    messages.map(json.encode_message),
    histories.map(json.encode),
    histories.map(lambda history: b'{"messages":%b,"id":0.10}' % json.encode(history)),
    st.sampled_from(
        [b"", b" ", b"{", b"[", b"}", b'{"a":', b"\0", GOOD + GOOD, b'"messages"', b"{},"]
    ),
    st.binary(max_size=9).map(lambda data: data.replace(b"\n", b"")),
)
logs = st.tuples(st.lists(rows, max_size=8).map(b"\n".join), st.sampled_from([b"", b"\n"])).map(
    b"".join
)


def cut(log, at):
    places = sorted({min(place, len(log)) for place in at})
    return [log[a:b] for a, b in zip([0, *places], [*places, len(log)], strict=True)]


@given(logs, st.lists(st.integers(0, 400), max_size=5), st.sampled_from(["molo", "openai-chat"]))
def test_it_does_not_matter_where_chunks_are_cut(log, at, format):
    assert list(read(cut(log, at), format)) == list(read([log], format))


@given(logs | st.binary(max_size=60), st.sampled_from(["molo", "gemini", "molo-msgpack", "auto"]))
def test_every_byte_is_in_one_record_or_one_fault_or_blank(log, format):
    items = list(read([log], format))
    stretches = [(item.offset, item.length) for item in items if isinstance(item, Fault)]
    assert [log[at : at + length] for at, length in stretches] == [
        item.raw for item in items if isinstance(item, Fault)
    ]
    places = [item.offset for item in items]
    assert places == sorted(places)
    faulty = [set(range(at, at + length)) for at, length in stretches]
    assert sum(map(len, faulty)) == len(set().union(*faulty))


@given(st.lists(messages.map(json.encode_message) | histories.map(json.encode), max_size=6))
def test_good_lines_are_read_as_the_codec_reads_them(encoded):
    whole = b"".join(line + b"\n" for line in encoded)
    read_back = [item.messages for item in read([whole], "molo")]
    assert read_back == [
        json.decode(line) if line.startswith(b"[") else [json.decode_message(line)]
        for line in encoded
    ]


# --- The limit ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 10, 1000])
def test_a_line_over_the_limit_comes_in_parts_and_the_log_goes_on(size):
    long = b"x" * 100 + b"\n"
    log = GOOD + b"\n" + long + b"\n" + GOOD + b"\n" + long[:-1]
    items = list(read(pieces(log, size), "molo", limit=40))
    faults = [item for item in items if isinstance(item, Fault)]
    assert [outcome(item) for item in items if isinstance(item, Record)] == [
        (BRIEF, 1, 0),
        (BRIEF, 4, 142),
    ]
    assert b"".join(fault.raw for fault in faults) == long + long[:-1]
    assert {(fault.code, fault.line) for fault in faults} == {("too_long", 2), ("too_long", 5)}
    assert max(fault.length for fault in faults) <= 40
    assert [fault.reason for fault in faults if fault.line == 2][:2] == [
        "Expected a line of at most 40 bytes, got a longer one",
        "Expected a line of at most 40 bytes, got more of a longer one",
    ]


def test_the_limit_counts_the_line_end():
    assert [outcome(item)[0] for item in read([GOOD + b"\n"], "molo", limit=40)] == [BRIEF]
    assert {outcome(item)[0] for item in read([GOOD + b"\n"], "molo", limit=39)} == {"too_long"}


def test_json_over_several_lines_comes_in_parts_that_keep_to_the_limit():
    log = b"{\n" + b' "a": 1,\n' * 20 + b"}\n" + GOOD
    *faults, last = read([log], "molo", limit=50)
    assert outcome(last) == (BRIEF, 23, len(log) - len(GOOD))
    assert {fault.code for fault in faults} == {"multiline"}
    assert b"".join(fault.raw for fault in faults) == log[: -len(GOOD)]
    assert max(fault.length for fault in faults) <= 50


def test_a_long_line_ends_json_over_several_lines():
    log = b"{\n \n" + b"x" * 60 + b"\n" + GOOD
    assert [outcome(item) for item in read([log], "molo", limit=50)] == [
        ("multiline", 1, 0),
        ("too_long", 3, 4),
        ("too_long", 3, 50),
        (BRIEF, 4, 65),
    ]


def test_what_is_kept_of_a_line_keeps_nothing_else_of_it():
    line = b'{"role":"assistant","content":"%b","tool_calls":[%b]}\n' % (
        b"x" * 100_000,
        b'{"id":"1","name":"f","arguments":"{}"}',
    )
    tracemalloc.start()
    kept = [record.messages[0].tool_calls for record in read(iter([line * 3]), "molo")]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [calls[0].arguments for calls in kept] == ["{}"] * 3
    assert size < 20_000


# --- Streams that break off -----------------------------------------------------------------------


def breaking(data):
    yield data
    raise BrokenLogError("Expected more gzip, got the end of the data")


BROKEN = {
    "behind a line": [(GOOD + b"\n", BRIEF), (b"", "compressed")],
    "within a line": [(GOOD + b"\n", BRIEF), (GOOD[:9], "compressed")],
    "behind the last record, before its line end": [(GOOD, BRIEF), (b"", "compressed")],
    "within JSON over several lines": [(b"{\n \n", "multiline"), (b"", "compressed")],
    "at once": [(b"", "compressed")],
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_stream_that_breaks_off_gives_what_it_has_and_one_fault(name):
    parts = BROKEN[name]
    items = list(read(breaking(log_of(parts)), "molo"))
    assert [outcome(item) for item in items] == outcomes(parts)
    assert items[-1].reason == "Expected more gzip, got the end of the data"


# --- Frames ---------------------------------------------------------------------------------------


def frame(payload):
    """Frame by the definition of the format, independently of molo."""
    return struct.pack(">I", len(payload)) + payload


HI = msgpack.encode([user("Hi")])
ONE = msgpack.encode_message(system("One"))
JUNK = b"\x00\x00\x00\x01\xc1"

FRAMES = {
    "nothing": [],
    "histories and messages": [(frame(HI), [user("Hi")]), (frame(ONE), [system("One")])],
    "a bad payload": [(frame(b"\xc1"), "json"), (frame(HI), [user("Hi")])],
    "a payload that is cut short": [(frame(ONE[:-1]), "json"), (frame(HI), [user("Hi")])],
    "no record": [(frame(msgpack.encode([])), []), (frame(b"\x05"), "record")],
    "more behind a message": [(frame(ONE + ONE), "extra"), (frame(HI), [user("Hi")])],
    "a torn frame": [(frame(HI), [user("Hi")]), (frame(HI)[:-1], "torn")],
    "a torn header": [(frame(HI), [user("Hi")]), (frame(HI)[:3], "torn")],
    "an empty frame": [(frame(HI), [user("Hi")]), (frame(b"") + frame(HI), "frame")],
    "no frame": [(frame(HI), [user("Hi")]), (b"hello, world", "frame")],
    "a document": [(HI, [user("Hi")])],
    "a document of one message": [(ONE, [system("One")])],
    "a document with more behind it": [(ONE + ONE, "extra")],
}


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_gives_a_record_or_one_fault(name, size):
    parts = FRAMES[name]
    items = list(read(pieces(log_of(parts), size), "molo-msgpack"))
    numbers = range(1, len(parts) + 1)
    assert [outcome(item) for item in items] == [
        (what, number, offset)
        for (what, _, offset), number in zip(outcomes(parts), numbers, strict=True)
    ]
    assert [item.raw for item in items if isinstance(item, Fault)] == [
        data for data, what in parts if isinstance(what, str)
    ]


def test_what_is_no_frame_comes_in_stretches_that_keep_to_the_limit():
    log = frame(ONE) + b"\x7f" * 100
    first, *faults = read(pieces(log, 7), "molo-msgpack", limit=30)
    assert first.messages == [system("One")]
    assert b"".join(fault.raw for fault in faults) == b"\x7f" * 100
    assert max(fault.length for fault in faults) <= 30
    assert faults[0].offset == len(frame(ONE))


@pytest.mark.parametrize(
    ("data", "codes"),
    [(frame(ONE), ["compressed"]), (frame(ONE) + b"\0", ["compressed"])],
)
def test_frames_that_break_off_with_their_stream(data, codes):
    first, *faults = read(breaking(data), "molo-msgpack")
    assert first.messages == [system("One")]
    assert [fault.code for fault in faults] == codes
    assert b"".join(fault.raw for fault in faults) == data[len(frame(ONE)) :]


# --- Documents ------------------------------------------------------------------------------------

PRETTY = b'{\n  "messages": [\n    {"role": "system", "content": "Be brief."}\n  ]\n}\n'
DOCUMENTS = {
    "any layout": (PRETTY, BRIEF),
    "a mark": (BOM + PRETTY, BRIEF),
    "one line": (GOOD, BRIEF),
    "nothing": (b"", "torn"),
    "torn": (PRETTY[:30], "torn"),
    "two": (PRETTY + PRETTY, "extra"),
    "no JSON": (b"hello", "json"),
    "no record": (b"{}", "record"),
}


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_one_record_or_one_fault(name, size):
    data, expected = DOCUMENTS[name]
    [item] = read(pieces(data, size), "molo", layout="document")
    assert outcome(item) == (expected, 1, 0)


def test_a_document_over_the_limit_comes_in_parts():
    faults = list(read([PRETTY], "molo", layout="document", limit=20))
    assert {fault.code for fault in faults} == {"too_long"}
    assert b"".join(fault.raw for fault in faults) == PRETTY
    assert [fault.offset for fault in faults] == [0, 20, 40, 60]


def test_a_document_that_breaks_off_with_its_stream():
    [fault] = read(breaking(PRETTY[:30]), "molo", layout="document")
    assert (fault.code, fault.raw) == ("compressed", PRETTY[:30])


# --- Salvage --------------------------------------------------------------------------------------

HELLO = b'{"role":"assistant","content":"Hello"}'
SALVAGED = {
    "two on a line": (GOOD + HELLO, [0, len(GOOD)]),
    "two with a space": (GOOD + b" " + HELLO, [0, len(GOOD) + 1]),
    "one behind a torn one": (GOOD[:35] + HELLO, [35]),
    "two behind a torn one": (GOOD[:35] + HELLO + HELLO, [35, 35 + len(HELLO)]),
    "one behind NUL bytes": (b"\0\0" + HELLO, [2]),
    "a torn record": (GOOD[:35], []),
    "a torn history, whose messages are no records": (b"[" + GOOD + b"," + HELLO, []),
    "one record and a torn one": (GOOD + HELLO[:20], []),
    "no record": (b'x{"role":"pirate"}', []),
    "brackets without end": (b'{"a":' * 5000, []),
}


@pytest.mark.parametrize("name", SALVAGED)
def test_records_are_salvaged_that_end_a_line(name):
    line, offsets = SALVAGED[name]
    _, fault = read([GOOD + b"\n" + line + b"\n"], "molo")
    records = salvage(fault, "molo")
    assert [(record.line, record.offset - fault.offset) for record in records] == [
        (2, offset) for offset in offsets
    ]
    assert {message for record in records for message in record.messages} <= {
        System("Be brief."),
        assistant("Hello"),
    }
