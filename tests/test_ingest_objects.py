"""Objects that hold a conversation: read, written back, and carried through molo's own forms."""

import json as stdlib_json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import histories

from molo import (
    Assistant,
    EncodeError,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    assistant,
    msgpack,
    system,
    user,
)
from molo.dialects.loss import Loss, Read
from molo.history import (
    ANTHROPIC,
    COMMON,
    DEEPSEEK,
    GEMINI,
    MISTRAL,
    OPENAI_CHAT,
    Repaired,
    check,
    pair,
    repair,
)
from molo.ingest import (
    FORMATS,
    Fault,
    Guess,
    Origin,
    Record,
    check_record,
    dangling_calls,
    encode,
    encode_with_losses,
    guess,
    read,
    repair_record,
)
from molo.ingest.forms import Form
from molo.ingest.objects import read_value

DATA = Path(__file__).parent / "data" / "ingest"
FILES = {
    "molo": "molo.jsonl",
    "rust-molo": "rust.jsonl",
    "openai-chat": "chat.jsonl",
    "openai-responses": "responses.jsonl",
    "anthropic": "anthropic.jsonl",
    "gemini": "gemini.jsonl",
}
LINES = [
    (format, line)
    for format, name in FILES.items()
    for line in (DATA / name).read_bytes().splitlines()
]
LINE_IDS = [f"{format}-{number}" for number, (format, _) in enumerate(LINES)]


def read_one(line, format):
    [record] = read([line], format)
    assert isinstance(record, Record)
    return record


def is_same(one, other):
    """Compare as JSON, numbers as they are spelled."""

    def parse(text):
        return stdlib_json.loads(text, parse_float=str, parse_int=str)

    return parse(one) == parse(other)


# --- There and back -------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "line"), LINES, ids=LINE_IDS)
def test_a_line_comes_back_as_it_was(format, line):
    assert is_same(encode(read_one(line, format), format), line)


@pytest.mark.parametrize("between", ["molo", "molo-msgpack"])
@pytest.mark.parametrize(("format", "line"), LINES, ids=LINE_IDS)
def test_a_line_comes_back_through_forms_of_molos_own(format, line, between):
    record = read_one(line, format)
    carried = encode(record, between)
    back = read_one(carried, between)
    assert (back.messages, back.origin) == (record.messages, record.origin)
    assert encode(back, between) == carried
    assert is_same(encode(back, format), line)


@pytest.mark.parametrize("format", FILES)
def test_auto_finds_the_format(format):
    data = (DATA / FILES[format]).read_bytes()
    found = list(read([data], "auto"))
    assert found == list(read([data], format))
    assert not [item for item in found if isinstance(item, Fault)]


@pytest.mark.parametrize(
    ("line", "format", "messages", "rest", "origin"),
    [
        (
            b'{"id":7,"messages":[{"role":"user","content":"Hi"}],"response":'
            b'{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}],'
            b'"usage":{"cost":0.10}}}',
            "openai-chat",
            [user("Hi"), assistant("Hello")],
            '{"id":7,"response":{"choices":[{"finish_reason":"stop"}],"usage":{"cost":0.10}}}',
            Origin("openai-chat", reply="response"),
        ),
        (
            b'{"request":{"model":"m","messages":[{"role":"user","content":"Hi"}]},"at":1}',
            "openai-chat",
            [user("Hi")],
            '{"request":{"model":"m"},"at":1}',
            Origin("openai-chat", within="request"),
        ),
        (
            b'{"response_message":{"role":"assistant","content":"Hello"},"at":1}',
            "openai-chat",
            [assistant("Hello")],
            '{"at":1}',
            Origin("openai-chat", within=None, reply="response_message"),
        ),
        (
            b'{"messages":[{"role":"user","content":"Hi"}],"response":{"error":{"code":529}}}',
            "openai-chat",
            [user("Hi")],
            '{"response":{"error":{"code":529}}}',
            None,
        ),
        (
            b'{"messages":[{"role":"user","content":"Hi"}],"response":{"choices":[{"message":5}]}}',
            "openai-chat",
            [user("Hi")],
            '{"response":{"choices":[{"message":5}]}}',
            None,
        ),
        (
            b'{"messages":[],"stream_chunks":[{"choices":[]}]}',
            "openai-chat",
            [],
            '{"stream_chunks":[{"choices":[]}]}',
            None,
        ),
        (b'{"messages":[]}', "openai-chat", [], "{}", None),
        (b"[]", "openai-chat", [], "", None),
        (
            b'{"input":"Hi","response":{"output":[]}}',
            "openai-responses",
            [user("Hi")],
            '{"response":{"output":[]}}',
            "envelope",
        ),
        (
            b'{"contents":[],"response":{"candidates":[{"content":{"role":"model","parts":'
            b'[{"text":"Hello"}]},"index":0}]}}',
            "gemini",
            [assistant("Hello")],
            '{"response":{"candidates":[{"content":{"role":"model"},"index":0}]}}',
            Origin("gemini", reply="response"),
        ),
        (
            b'{"messages":[{"role":"system","content":"a"}],"molo":5}',
            "molo",
            [system("a")],
            '{"molo":5}',
            None,
        ),
    ],
)
def test_what_a_line_holds(line, format, messages, rest, origin):
    record = read_one(line, format)
    assert (record.messages, record.rest) == (messages, rest)
    assert record.origin == origin or (origin == "envelope" and record.origin.envelope)


# --- Objects --------------------------------------------------------------------------------------


def test_one_message_of_a_vendor_may_be_several_of_molos():
    line = (
        b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"Rain"},'
        b'{"type":"text","text":"And then?"}]}'
    )
    record = read_one(line, "anthropic")
    assert [type(message) for message in record.messages] == [ToolResult, User]
    assert record.origin == Origin("anthropic", single=True)
    assert is_same(encode(record, "anthropic"), line)


def test_members_whose_name_is_taken_are_carried_along():
    line = b'{"contents":[],"messages":"all read","molo":{"rest":{}}}'
    record = read_one(line, "gemini")
    native = encode(record, "molo")
    taken = {"messages": "all read", "molo": {"rest": {}}}
    assert stdlib_json.loads(native) == {"messages": [], "molo": {"rest": taken}}
    assert is_same(encode(read_one(native, "molo"), "gemini"), line)
    chat = encode(record, "openai-chat")
    assert stdlib_json.loads(chat) == {"messages": [], "molo": {"rest": taken}}


def test_an_answer_that_is_no_longer_the_last_stays_in_the_conversation():
    line = (
        b'{"messages":[],"response":{"choices":[{"message":{"role":"assistant","content":"a"}}]}}'
    )
    record = read_one(line, "openai-chat")
    edited = Record([*record.messages, user("b")], rest=record.rest, origin=record.origin)
    assert stdlib_json.loads(encode(edited, "openai-chat")) == {
        "messages": [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}],
        "response": {"choices": [{}]},
    }


def test_an_answer_comes_back_where_the_rest_of_it_is_gone():
    origin = Origin("openai-chat", within=None, reply="response")
    record = Record([assistant("a")], rest="{}", origin=origin)
    message = {"role": "assistant", "content": "a"}
    assert stdlib_json.loads(encode(record, "openai-chat")) == {
        "response": {"choices": [{"message": message}]}
    }


def test_in_the_form_of_another_vendor_the_answer_is_a_message_as_all_others():
    line = (
        b'{"messages":[],"response":{"choices":[{"message":{"role":"assistant","content":"a"}}]}}'
    )
    written = stdlib_json.loads(encode(read_one(line, "openai-chat"), "gemini"))
    assert written["contents"] == [{"role": "model", "parts": [{"text": "a"}]}]
    assert written["response"] == {"choices": [{}]}


FAILED = Record([ToolResult("1", "no", is_error=True)])
ANSWERED = read_one(
    b'{"messages":[{"role":"user","content":"a"}],"response":{"choices":[{"message":'
    b'{"role":"assistant","content":"b"}}]}}',
    "openai-chat",
)
LOSSES = {
    "a flag": (FAILED, "openai-chat", COMMON, [(0, "error_flag")]),
    "none in molo's own form": (FAILED, "molo", COMMON, []),
    "none in frames": (FAILED, "molo-msgpack", COMMON, []),
    "an envelope of another form": (
        read_one(b'{"input":"Hi"}', "openai-responses"),
        "openai-chat",
        OPENAI_CHAT,
        [(None, "foreign")],
    ),
    "what an answer lacks, at its place in the history": (
        replace(ANSWERED, messages=[user("a"), Assistant("b", attachments=(Wire("x", "{}"),))]),
        "openai-chat",
        COMMON,
        [(1, "block")],
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_written_names_its_losses(name):
    record, format, rules, losses = LOSSES[name]
    written = encode_with_losses(record, format, rules=rules)
    assert [(loss.at, loss.code) for loss in written.losses] == losses
    assert written.data == encode(record, format, rules=rules)


def test_losses_of_reading_are_those_of_the_record(monkeypatch):
    def read_less(data):
        return replace(FORMATS["gemini"].read(data), losses=(UNREAD,))

    monkeypatch.setitem(FORMATS, "less", FORMATS["gemini"]._replace(read=read_less))
    [record] = read([b'{"contents":[]}\n'], "less")
    assert record.losses == (UNREAD,)


UNREAD = Loss("unread", 0, None, "Expected less")
FORM = Form("less", ("messages",), lambda data: Read([user(data.decode())], (UNREAD,)), None)


@pytest.mark.parametrize("line", [b"[5]", b'{"messages":5}', b'{"role":5}'])
def test_losses_of_a_form_are_those_of_its_line(line):
    assert read_value(line, FORM).losses == (UNREAD,)


def test_rules_are_those_of_the_vendor_that_is_written():
    record = Record([user(""), assistant("a")])
    written = encode_with_losses(record, "anthropic")
    assert written == encode_with_losses(record, "anthropic", rules=ANTHROPIC)


WRONG = {
    "no conversation": (b'{"id":1}', "Expected field `role`, got an object without it - at `$`"),
    "messages that are none": (
        b'{"messages":{}}',
        "Expected `array`, got `object` - at `$.messages`",
    ),
    "a wrong message in an object": (
        b'{"id":1,"messages":[{"role":"user","content":5}]}',
        "Expected `array`, got `int` - at `$.messages[0].content`",
    ),
    "a lone surrogate in an object": (
        b'{"id":1,"messages":[{"role":"system","content":"\\ud83d"}]}',
        "Expected Unicode text, got a lone surrogate - at `$.messages[0].content` (byte 48)",
    ),
    "a member that is not UTF-8": (
        b'{"messages":[],"host":"K\xfcche"}',
        "Expected UTF-8 text, got other bytes - at `$.host` (byte 24)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_in_an_object_has_its_place_in_the_line(name):
    line, reason = WRONG[name]
    [fault] = read([line + b"\n"], "molo")
    assert fault.reason == reason


def test_a_fault_in_a_request_has_its_place_in_the_line():
    line = b'{"request":{"system":"a","messages":[{"role":"pirate"}]}}\n'
    [fault] = read([line], "anthropic")
    assert fault.reason.endswith("got `pirate` - at `$.request.messages[0].role`")


@pytest.mark.parametrize("format", ["openai-chat", "anthropic"])
@pytest.mark.parametrize(
    ("line", "path"),
    [
        ('{"role":"user","parts":[{"text":"v5"}]}', "$"),
        ('[{"role":"user","content":"Hi"},{"role":"assistant","parts":[]}]', "$[1]"),
        ('{"id":1,"messages":[{"role":"user","parts":[]}]}', "$.messages[0]"),
        ('{"request":{"messages":[{"role":"user","parts":[]}]}}', "$.request.messages[0]"),
    ],
)
def test_a_message_of_other_software_is_a_fault_and_not_an_empty_message(format, line, path):
    [fault] = read([line.encode() + b"\n"], format)
    assert fault.code == "record"
    assert fault.reason.endswith(f"got one with none of them - at `{path}`")


def test_a_message_that_says_nothing_in_the_keys_of_its_form_is_one():
    line = b'[{"role":"user","content":null},{"role":"assistant","content":"","name":"Ann"}]'
    assert [message.content for message in read_one(line, "openai-chat").messages] == [(), ""]


# --- Laws -----------------------------------------------------------------------------------------

rests = st.dictionaries(
    st.text(max_size=5) | st.sampled_from(["messages", "molo", "request", "response", "origin"]),
    st.none() | st.integers() | st.text(max_size=5) | st.just({"rest": {}}),
    max_size=4,
)
records = st.builds(
    Record,
    histories,
    rest=st.just("") | rests.map(lambda rest: json_text(rest)),
    origin=st.none() | st.sampled_from([Origin("gemini", reply="response"), Origin("molo")]),
) | st.builds(Record, histories.filter(lambda h: len(h) == 1), single=st.just(True))


def json_text(value):
    return stdlib_json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(records, st.sampled_from(["molo", "molo-msgpack"]))
def test_any_record_comes_back_through_forms_of_molos_own(record, format):
    back = read_one(encode(record, format), format)
    assert (back.messages, back.single, back.origin) == (
        record.messages,
        record.single,
        record.origin,
    )
    assert stdlib_json.loads(back.rest or "{}") == stdlib_json.loads(record.rest or "{}")


@given(
    histories, rests, st.sampled_from(["openai-chat", "anthropic", "gemini", "openai-responses"])
)
def test_nothing_beside_a_conversation_is_lost_in_any_form(history, rest, format):
    written = stdlib_json.loads(encode(Record(history, rest=json_text(rest)), format))
    carried = written.get("molo")
    taken = carried["rest"] if isinstance(carried, dict) and "rest" in carried else {}
    assert rest.items() <= {**written, **taken}.items() or rest == {
        key: {**written, **taken}[key] for key in rest
    }


# --- MessagePack ----------------------------------------------------------------------------------


def test_frames_hold_histories_messages_and_records():
    records = [
        Record([user("Hi")]),
        Record([user("Hi")], single=True),
        Record([user("Hi")], rest='{"cost":0.10}'),
    ]
    payloads = [encode(record, "molo-msgpack")[4:] for record in records]
    assert msgpack.decode(payloads[0]) == [user("Hi")]
    assert msgpack.decode_message(payloads[1]) == user("Hi")
    assert payloads[2].startswith(b"\x82\xa8messages\x91")
    assert payloads[2].endswith(b'\xa4rest\xad{"cost":0.10}')


@pytest.mark.parametrize(
    "payload",
    [
        b"\x82\xa8messages\x90\xa4next\x01",
        b"\x81\xa8messages\x05",
        b"\x81\x01\x02",
        b"\xde\x00\x01",
    ],
)
def test_a_map_that_is_no_record_is_a_fault(payload):
    [fault] = read([len(payload).to_bytes(4, "big") + payload], "molo-msgpack")
    assert fault.code in {"record", "json"}


@pytest.mark.parametrize("single", [True, False])
def test_the_rust_crates_messagepack_is_one_document(single):
    record = Record([system("Hi")], single=single)
    data = encode(record, "rust-molo-msgpack")
    assert data == (b"" if single else b"\x91") + b"\x81\xa6System\xa2Hi"
    back = read_one(data, "rust-molo-msgpack")
    assert (back.messages, back.single) == (record.messages, single)
    assert guess(data).format == "rust-molo-msgpack"


def test_the_rust_crates_messagepack_holds_messages_alone():
    with pytest.raises(EncodeError, match="in the record of line 7"):
        encode(Record([], 7, rest='{"id":1}'), "rust-molo-msgpack")


@pytest.mark.parametrize("format", FORMATS)
def test_text_that_is_no_unicode_is_an_error_in_every_format(format):
    with pytest.raises(EncodeError, match=r"in the record of line 7\)"):
        encode(Record([system("\ud83d")], 7), format)


def test_a_record_with_a_rest_that_is_no_unicode_cannot_be_packed():
    with pytest.raises(EncodeError):
        encode(Record([system("\ud83d")], rest="{}"), "molo-msgpack")


# --- Guesses --------------------------------------------------------------------------------------

GUESSES = {
    b"": ("openai-chat", "lines"),
    b"\n\n": ("openai-chat", "lines"),
    b"hello\n": ("openai-chat", "lines"),
    b'{"role":"user","content":"Hi"}\n': ("openai-chat", "lines"),
    b'{"role":"assistant","content":"Hi"}\n': ("molo", "lines"),
    b'\xef\xbb\xbf[{"role":"assistant","content":"Hi"}]': ("molo", "lines"),
    b'{"role":"assistant","content":"Hi"}\n{"role":"ass': ("molo", "lines"),
    b'\0\0\0\0\0\n{"role":"assistant","content":"Hi"}\n': ("molo", "lines"),
    b'{"role":"user","content":[{"type":"wire","dialect":"a","data":"{}"}]}': ("molo", "lines"),
    b'{"role":"user","content":[{"type":"image","url":"a"}]}': ("molo", "lines"),
    b'{"role":"user","content":[{"type":"image","source":{}}]}': ("anthropic", "lines"),
    b'{"role":"assistant","content":[{"type":"thinking","thinking":"a"}]}': ("anthropic", "lines"),
    b'{"role":"user","content":[5,{"type":"other"}]}': ("openai-chat", "lines"),
    b'{"role":"assistant","content":[{"type":"output_text"}]}': ("openai-responses", "lines"),
    b'{"request":{"contents":[]}}': ("gemini", "lines"),
    b'{"request":{"messages":[]},"response":{"content":[]}}': ("anthropic", "lines"),
    b'{"system_instruction":{}}': ("gemini", "lines"),
    b'{"response":{"candidates":[]}}': ("gemini", "lines"),
    b'{"response":{"output":[]}}': ("openai-responses", "lines"),
    b'{"response":5}': ("openai-chat", "lines"),
    b'[{"Assistant":{}}]': ("rust-molo", "lines"),
    b'[{"role":"function"}]': ("openai-chat", "lines"),
    b"5\n": ("openai-chat", "lines"),
    b"\0\0\0\1\x90": ("molo-msgpack", "frames"),
    b"\x90": ("molo-msgpack", "document"),
    b"\x91\x81\xa4User\x90": ("rust-molo-msgpack", "document"),
}


@pytest.mark.parametrize("head", GUESSES)
def test_a_guess_names_format_and_layout(head):
    assert guess(head)[:2] == GUESSES[head]


def test_most_records_decide_and_the_guess_says_why():
    log = b'{"contents":[]}\n{"input":"a"}\n{"contents":[]}\n{"role":"user"}\n'
    assert guess(log) == Guess("gemini", "lines", "2 of 4 records: `contents`")
    assert guess(b"{}").why == "nothing marks another format"
    native = b'{"role":"assistant","content":"Hi"}\n'
    assert guess(native * 2).why == "2 of 2 records are molo's own"


@pytest.mark.parametrize(
    ("head", "layout"),
    [
        (b'{\n "messages": []\n}\n', "document"),
        (b'{"messages":[]}', "document"),
        (b'{"messages":[]}\n\n{"messages":[]}\n', "lines"),
        (b'{"a":\n{"b":1}}', "document"),
    ],
)
def test_what_should_be_a_document_may_be_lines(head, layout):
    assert guess(head, "document").layout == layout


def test_auto_looks_behind_blank_lines_and_at_whole_documents():
    log = b'\n \n{"contents":[]}\n'
    assert [item.line for item in read([log[:3], log[3:]], "auto")] == [3]
    document = b'{\n "contents": [{"parts": [{"text": "Hi"}]}]\n}'
    [record] = read([document[:5], document[5:]], "auto", layout="document")
    assert record.messages[0].content == (Text("Hi"),)


def test_auto_looks_no_further_than_the_limit():
    taken = []

    def chunks():
        for number in range(100):
            taken.append(number)
            yield b"x" * 10

    next(read(chunks(), "auto", limit=50))
    assert len(taken) < 20


def test_a_system_message_alone_is_no_mark():
    assert isinstance(read_one(b'{"role":"system","content":"a"}', "auto").messages[0], System)


# --- Records that end in an answer ----------------------------------------------------------------

ASKED = Assistant("Let me look. ", tool_calls=(ToolCall("c1", "f", "{}"),))
ANSWER = Origin("anthropic", reply="response")
RULES = [COMMON, ANTHROPIC, DEEPSEEK, GEMINI, MISTRAL, OPENAI_CHAT]


@pytest.mark.parametrize("origin", [None, Origin("anthropic")])
def test_a_record_without_an_answer_is_judged_as_its_messages_are(origin):
    record = Record([user("Hi"), ASKED], origin=origin)
    assert not record.has_answer
    assert check_record(record, ANTHROPIC) == check(record.messages, ANTHROPIC)
    assert repair_record(record, ANTHROPIC) == repair(record.messages, ANTHROPIC)
    assert dangling_calls(record) == pair(record.messages).dangling


def test_an_answer_is_still_open_and_all_before_it_is_not():
    record = Record([user("Hi"), ASKED, user("Bye"), ASKED], origin=ANSWER)
    assert record.has_answer
    assert [(one.at, one.code) for one in check_record(record)] == [
        (1, "dangling_call"),
    ]
    assert [pair.at for pair in dangling_calls(record)] == [1]
    done = repair_record(record)
    roles = [type(message) for message in done.history]
    assert roles == [User, Assistant, ToolResult, User, Assistant]
    assert [(change.at, change.code) for change in done.changes] == [(1, "dangling_call")]
    assert done.remaining == ()


ENDINGS = st.sampled_from(
    [
        [user("Hi"), ASKED],
        [user("Hi"), ASKED, ToolResult("c1", "ok"), Assistant("Done. ")],
        [user("Hi"), ASKED, user("Bye"), ASKED],
        [user("Hi"), Assistant("", tool_calls=(ToolCall("c1", "f", '{"city":"Os'),))],
        [user("Hi"), Assistant(" ")],
        [user("Hi"), ASKED, Assistant("Sorry.")],
        [user("Hi"), ASKED, Assistant("", tool_calls=(ToolCall("c2", "f", "{}"),))],
    ]
)


@example([user("Hi"), Assistant("Done. ")], ANTHROPIC)
@example([user("Hi"), Assistant("Done.")], MISTRAL)
@given(ENDINGS | histories.map(lambda log: [*log, ASKED]), st.sampled_from(RULES))
def test_what_check_record_accepts_repair_record_leaves_and_tells_the_rest(messages, rules):
    record = Record(messages, origin=ANSWER)
    done = repair_record(record, rules)
    mended = replace(record, messages=done.history)
    assert done.remaining == check_record(mended, rules)
    assert type(done.history[-1]) is Assistant
    if check_record(record, rules) == ():
        assert done == Repaired(messages, (), ())
    again = repair_record(mended, rules)
    assert (again.history, again.changes) == (done.history, ())


def test_a_record_that_lacks_the_answer_it_tells_of_stays_as_it_is():
    for messages in ([], [user("Hi")]):
        record = Record(messages, origin=ANSWER)
        assert repair_record(record) == Repaired(messages, (), check_record(record))
        assert dangling_calls(record) == ()


def test_an_answer_is_mended_like_any_other_message():
    call = ToolCall("c1", "f", '{"city":"Os')
    record = Record([user("Hi"), Assistant("", tool_calls=(call,))], origin=ANSWER)
    done = repair_record(record)
    assert [change.code for change in done.changes] == ["arguments_invalid"]
    assert repair_record(Record(done.history, origin=ANSWER)).changes == ()
