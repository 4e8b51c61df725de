"""The Rust crate's form, held against data that the crate wrote and verdicts that it gave.

`rust_golden.jsonl` holds values as the crate writes them, `rust_accept.jsonl` input with what the
crate made of it. The copies in tests/data lack the rows of more than 20 kB.
"""

import json
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from molo import (
    Assistant,
    Audio,
    DecodeError,
    EncodeError,
    File,
    Image,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    user,
)
from molo.dialects import rust_molo

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "shared" / "golden"
SOURCE = SHARED if SHARED.is_dir() else HERE / "data"


def rows(name):
    return [json.loads(line) for line in (SOURCE / name).read_text("utf-8").splitlines()]


def ident(row):
    return f"{row.get('format', 'golden')}-{row['target']}-{row['name']}"


GOLDEN = rows("rust_golden.jsonl")
ACCEPT = rows("rust_accept.jsonl")
REFUSED_BY_CRATE = [row for row in ACCEPT if not row["ok"]]
WRITTEN_BY_CRATE = [row for row in ACCEPT if row["ok"] and row["roundtrip_identical"]]
TOLERATED_BY_CRATE = [row for row in ACCEPT if row["ok"] and not row["roundtrip_identical"]]

DECODE = {
    ("json", "history"): rust_molo.decode_json,
    ("json", "message"): rust_molo.decode_json_message,
    ("msgpack", "history"): rust_molo.decode_msgpack,
    ("msgpack", "message"): rust_molo.decode_msgpack_message,
}
ENCODE_JSON = {
    "history": rust_molo.encode_json,
    "message": rust_molo.encode_json_message,
}
ENCODE_MSGPACK = {
    ("compact", "history"): rust_molo.encode_msgpack,
    ("compact", "message"): rust_molo.encode_msgpack_message,
    ("named", "history"): rust_molo.encode_msgpack_named,
    ("named", "message"): rust_molo.encode_msgpack_named_message,
}
HISTORY_ENCODERS = [rust_molo.encode_json, rust_molo.encode_msgpack, rust_molo.encode_msgpack_named]
MESSAGE_ENCODERS = [
    rust_molo.encode_json_message,
    rust_molo.encode_msgpack_message,
    rust_molo.encode_msgpack_named_message,
]

# --- An independent reading of the crate's JSON ---------------------------------------------------

BUILD = {
    "System": System,
    "User": lambda blocks: User(tuple(Text(block["Text"]) for block in blocks)),
    "Assistant": lambda fields: Assistant(
        fields["content"],
        fields["reasoning"],
        tuple(ToolCall(**call) for call in fields["tool_calls"]),
    ),
    "ToolResult": lambda fields: ToolResult(**fields),
}


def message_of(obj):
    [(kind, value)] = obj.items()
    return BUILD[kind](value)


VALUE_OF = {"history": lambda obj: [message_of(item) for item in obj], "message": message_of}


def expected(target, crate_json):
    return VALUE_OF[target](json.loads(crate_json))


# --- What the crate wrote -------------------------------------------------------------------------


@pytest.mark.parametrize("row", GOLDEN, ids=ident)
def test_all_that_the_crate_writes_is_read(row):
    target = row["target"]
    value = expected(target, row["json"])
    assert DECODE["json", target](row["json"]) == value
    assert DECODE["json", target](row["json_pretty"].encode()) == value
    assert DECODE["msgpack", target](bytes.fromhex(row["msgpack_compact_hex"])) == value
    assert DECODE["msgpack", target](bytes.fromhex(row["msgpack_named_hex"])) == value


@pytest.mark.parametrize("row", GOLDEN, ids=ident)
def test_what_is_written_is_what_the_crate_writes(row):
    target = row["target"]
    value = expected(target, row["json"])
    assert ENCODE_JSON[target](value) == row["json"].encode()
    assert ENCODE_MSGPACK["compact", target](value).hex() == row["msgpack_compact_hex"]
    assert ENCODE_MSGPACK["named", target](value).hex() == row["msgpack_named_hex"]


# --- What the crate accepts -----------------------------------------------------------------------


@pytest.mark.parametrize("row", REFUSED_BY_CRATE, ids=ident)
def test_what_the_crate_refuses_is_refused(row):
    with pytest.raises(DecodeError):
        DECODE[row["format"], row["target"]](bytes.fromhex(row["input_hex"]))


@pytest.mark.parametrize("row", WRITTEN_BY_CRATE, ids=ident)
def test_what_the_crate_reads_and_writes_unchanged_is_read_to_the_same_value(row):
    value = DECODE[row["format"], row["target"]](bytes.fromhex(row["input_hex"]))
    assert value == expected(row["target"], row["reencoded"])


# The rows of the table in the module's docstring, and the inputs of rust_accept.jsonl that belong
# to each. `ignored` in a name means that the crate skips an unknown field.
READ = {
    "JSON: white space between tokens": ["inner_whitespace", "inner_whitespace_msg"],
    "JSON: escapes where none are needed": [
        "escaped_variant_key",
        "escaped_field_key",
        "escaped_block_key",
        "str_escape_slash",
        "str_u_ascii",
        "str_u_upper_hex",
        "str_u_mixed_hex",
        "str_surrogate_pair_upper",
        "str_nonchar_fffe",
    ],
    "JSON: fields of a struct in another order": [
        "assistant_fields_reordered",
        "tool_result_reordered",
    ],
    "JSON: Assistant without reasoning": ["assistant_missing_reasoning"],
}
REFUSED = {
    "JSON: structs as arrays": [
        "assistant_array_form",
        "assistant_array_form_reasoning",
        "assistant_array_form_with_call_object",
        "assistant_array_form_with_call_array",
        "toolcall_array_form",
    ],
    "any: unknown fields in a struct": [
        "assistant_unknown_field_scalar",
        "assistant_unknown_field_object",
        "assistant_unknown_field_case_differs",
        "tool_result_unknown_field",
        "toolcall_ignored_deep_200",
        "ignored_overlong_string",
        "ignored_lone_surrogate_escape",
        "ignored_int_huge",
        "ignored_float_1e400",
        "ignored_float_neg_1e99999",
        "ignored_float_many_digits",
        "mp_ignored_ext",
        "mp_ignored_timestamp",
        "mp_ignored_bin",
        "mp_ignored_nested_map",
        "mp_ignored_deep_200",
        "mp_ignored_float_nan",
    ],
    "MessagePack: another order of fields": ["mp_named_reordered"],
    "MessagePack: Assistant without reasoning": ["mp_named_missing_reasoning"],
    "MessagePack: structs as arrays and maps": [
        "mp_compact_outer_named_call",
        "mp_named_outer_compact_call",
        "mp_calls_mixed",
    ],
    "MessagePack: numbers for names": [
        "mp_named_int_keys",
        "mp_named_int_key_out_of_range",
        "mp_user_block_index",
    ],
    "MessagePack: bin for text": [
        "mp_system_bin_utf8",
        "mp_system_bin16",
        "mp_tool_result_bin_content",
        "mp_reasoning_bin",
    ],
    "MessagePack: headers longer than needed": [
        "mp_system_str8_nonminimal",
        "mp_system_str32_nonminimal",
        "mp_key_str32_nonminimal",
        "mp_map16_envelope",
    ],
    "MessagePack: bytes behind the value": [
        "mp_trailing_c1",
        "mp_trailing_second_doc",
        "mp_history_count_too_small",
    ],
}
NAMES_READ = {name for names in READ.values() for name in names}
NAMES_REFUSED = {name for names in REFUSED.values() for name in names}


def test_every_tolerated_input_has_its_row_in_the_table():
    assert {row["name"] for row in TOLERATED_BY_CRATE} == NAMES_READ | NAMES_REFUSED
    assert not NAMES_READ & NAMES_REFUSED


@pytest.mark.parametrize(
    "line",
    [f"{row:<41}  reads " for row in READ] + [f"{row:<41}  refuses " for row in REFUSED],
)
def test_the_docstring_has_the_row(line):
    assert line in rust_molo.__doc__


@pytest.mark.parametrize(
    "row", [row for row in TOLERATED_BY_CRATE if row["name"] in NAMES_READ], ids=ident
)
def test_what_molo_reads_of_the_tolerated_has_the_crates_value(row):
    value = DECODE[row["format"], row["target"]](bytes.fromhex(row["input_hex"]))
    assert value == expected(row["target"], row["reencoded"])


@pytest.mark.parametrize(
    "row", [row for row in TOLERATED_BY_CRATE if row["name"] in NAMES_REFUSED], ids=ident
)
def test_what_molo_refuses_of_the_tolerated_is_a_decode_error(row):
    with pytest.raises(DecodeError):
        DECODE[row["format"], row["target"]](bytes.fromhex(row["input_hex"]))


# --- Repeated keys --------------------------------------------------------------------------------

SAMPLE = [
    System("s"),
    User((Text("u"), Text("v"))),
    Assistant("c", "r", (ToolCall("i", "n", "{}"), ToolCall("j", "m", "[]"))),
    ToolResult("i", "Sunny, 23°C"),
]


def objects_repeating(value):
    """Every form of a JSON value in which one object has one of its members twice.

    Objects come out as tuples of pairs.
    """
    members = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for place, (key, member) in enumerate(members):
        inner = objects_repeating(member) if isinstance(member, dict | list) else []
        for changed in inner:
            yield paired(value, {key: changed})
        for again in range(len(members) + 1) if isinstance(value, dict) else []:
            pairs = [(name, plain(item)) for name, item in members]
            yield (*pairs[:again], pairs[place], *pairs[again:])


def paired(value, changes):
    if isinstance(value, dict):
        return tuple((key, changes.get(key, plain(item))) for key, item in value.items())
    return [changes.get(index, plain(item)) for index, item in enumerate(value)]


def plain(value):
    return paired(value, {}) if isinstance(value, dict | list) else value


def to_json(value):
    if isinstance(value, tuple):
        return "{" + ",".join(f"{json.dumps(k)}:{to_json(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(to_json, value)) + "]"
    return json.dumps(value)


def to_msgpack(value):
    """Write short values as MessagePack, maps from tuples of pairs."""
    if isinstance(value, tuple):
        head = bytes([0x80 + len(value)])
        return head + b"".join(to_msgpack(k) + to_msgpack(v) for k, v in value)
    if isinstance(value, list):
        return bytes([0x90 + len(value)]) + b"".join(map(to_msgpack, value))
    return msgspec.msgpack.encode(value)


SAMPLE_TREE = json.loads(rust_molo.encode_json(SAMPLE))
REPEATING = list(objects_repeating(SAMPLE_TREE))


def test_the_writers_of_the_repeated_keys_write_what_the_crate_reads():
    assert rust_molo.decode_json(to_json(plain(SAMPLE_TREE))) == SAMPLE
    assert rust_molo.decode_msgpack(to_msgpack(plain(SAMPLE_TREE))) == SAMPLE
    assert len(REPEATING) == 4 * 2 + 2 * 2 + 3 * 4 + 2 * 3 * 4 + 2 * 3


@pytest.mark.parametrize("value", REPEATING)
def test_a_repeated_key_is_refused_wherever_it_stands(value):
    with pytest.raises(DecodeError, match="Expected each key once") as caught:
        rust_molo.decode_json(to_json(value))
    assert caught.value.path.startswith("$[")
    with pytest.raises(DecodeError):
        rust_molo.decode_msgpack(to_msgpack(value))


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ('{"System":"a","\\u0053ystem":"a"}', "$.System"),
        ('{"User":[{"Text":"a"},{"Text":"b" , "Te\\u0078t":"b"}]}', "$.User[1].Text"),
        (
            '{"Assistant":{"content":"c","reasoning":null,"tool_calls":[],"reasonin\\u0067":null}}',
            "$.Assistant.reasoning",
        ),
        ('{"ToolResult": {"id": "i", "id": "i", "content": "c"}}', "$.ToolResult.id"),
    ],
)
def test_a_repeated_key_is_found_under_another_spelling(data, path):
    with pytest.raises(DecodeError) as caught:
        rust_molo.decode_json_message(data)
    assert caught.value.path == path


@pytest.mark.parametrize("kinds", list(combinations([tuple(m.items()) for m in SAMPLE_TREE], 2)))
def test_a_message_of_two_kinds_is_refused(kinds):
    both = dict(sum(kinds, ()))
    text = "Expected exactly one of `System`, `User`, `Assistant` or `ToolResult`, got 2 of them"
    for data, decode in [
        (msgspec.json.encode(both), rust_molo.decode_json_message),
        (msgspec.msgpack.encode(both), rust_molo.decode_msgpack_message),
    ]:
        with pytest.raises(DecodeError) as caught:
            decode(data)
        assert str(caught.value) == f"{text} - at `$`"


# --- What the crate cannot hold -------------------------------------------------------------------

DATA = ProviderData(dialect="anthropic", delta="{}", digest="0")
BEYOND = [
    (User((Text("a"), Image(url="https://example.org/a.png"))), "content[1]"),
    (User((Audio(data=b"\0", mime_type="audio/wav"),)), "content[0]"),
    (User((File(url="https://example.org/a.pdf"), Text("a"))), "content[0]"),
    (User((Wire("anthropic", "{}"),)), "content[0]"),
    (Assistant("a", attachments=(Image(url="https://example.org/a.png"),)), "attachments"),
    (ToolResult("i", "a", attachments=(Text("b"),)), "attachments"),
    (ToolResult("i", "a", is_error=True), "is_error"),
    (System("a", provider_data=DATA), "provider_data"),
    (User((), provider_data=DATA), "provider_data"),
    (Assistant("a", provider_data=DATA), "provider_data"),
    (ToolResult("i", "a", provider_data=DATA), "provider_data"),
]


@pytest.mark.parametrize(("message", "place"), BEYOND)
@pytest.mark.parametrize("which", range(3))
def test_what_the_crate_cannot_hold_is_an_error_that_names_the_message(message, place, which):
    with pytest.raises(EncodeError, match="Expected what the Rust crate can hold") as caught:
        HISTORY_ENCODERS[which]([System("s"), user("u"), Assistant("a"), message])
    assert caught.value.path == f"$[3].{place}"
    with pytest.raises(EncodeError, match="Expected what the Rust crate can hold") as caught:
        MESSAGE_ENCODERS[which](message)
    assert caught.value.path == f"$.{place}"


@pytest.mark.parametrize("message", [m for m, place in BEYOND if place == "provider_data"])
@pytest.mark.parametrize("which", range(3))
def test_provider_data_is_left_out_on_demand(message, which):
    without = msgspec.structs.replace(message, provider_data=None)
    encode, encode_message = HISTORY_ENCODERS[which], MESSAGE_ENCODERS[which]
    assert encode([message], drop_provider_data=True) == encode([without])
    assert encode_message(message, drop_provider_data=True) == encode_message(without)


@pytest.mark.parametrize("message", [m for m, place in BEYOND if place != "provider_data"])
def test_dropping_provider_data_drops_nothing_else(message):
    with pytest.raises(EncodeError):
        rust_molo.encode_json([message], drop_provider_data=True)


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (System("\ud83d"), "content"),
        (User((Text("a"), Text("\udc00"))), "content[1].text"),
        (Assistant("\ud83d"), "content"),
        (Assistant("", "\ud83d"), "reasoning"),
        (Assistant("", None, (ToolCall("i", "n", "\ud83d"),)), "tool_calls[0].arguments"),
        (ToolResult("\ud83d", ""), "id"),
    ],
)
@pytest.mark.parametrize("which", range(3))
def test_a_lone_surrogate_is_an_encode_error_with_its_place(message, place, which):
    text = "Expected Unicode text, got a lone surrogate"
    with pytest.raises(EncodeError, match=text) as caught:
        HISTORY_ENCODERS[which]([System("s"), message])
    assert caught.value.path == f"$[1].{place}"
    assert caught.value.__context__ is None
    with pytest.raises(EncodeError, match=text) as caught:
        MESSAGE_ENCODERS[which](message)
    assert caught.value.path == f"$.{place}"


@pytest.mark.parametrize("which", range(3))
def test_what_is_no_message_is_not_encoded(which):
    with pytest.raises(EncodeError, match="Expected a message, got `str`"):
        HISTORY_ENCODERS[which]([System("s"), "text"])
    with pytest.raises(EncodeError, match="Expected a message, got `str`"):
        MESSAGE_ENCODERS[which]("text")
    with pytest.raises(TypeError):
        HISTORY_ENCODERS[which](iter([System("s")]))


# --- Errors of decoding ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (
            b"[{}]",
            "Expected exactly one of `System`, `User`, `Assistant` or `ToolResult`, got 0",
        ),
        (b'[{"System":"","User":[]}]', "`ToolResult`, got 2 of them - at `$[0]`"),
        (
            b'[{"Developer":"x"}]',
            "got unknown field `Developer`; written by a newer release of the",
        ),
        (b'[{"User":[{"Image":{}}]}]', "got unknown field `Image`; written by a newer release of"),
        (b'[{"User":[{}]}]', "Expected field `Text`, got an object without it - at `$[0].User[0]`"),
        (b'[{"Assistant":{"content":null}}]', "got `null` - at `$[0].Assistant.content`"),
        (b'[{"ToolResult":["i","c"]}]', "Expected `object`, got `array` - at `$[0].ToolResult`"),
        (b'[{"System":"\\ud83d"}]', "got a lone surrogate - at `$[0].System` (byte 12)"),
        (b"\xef\xbb\xbf[]", "got a UTF-8 byte order mark in front of it"),
    ],
)
def test_errors_of_json_name_the_place_on_the_wire(data, error):
    with pytest.raises(DecodeError) as caught:
        rust_molo.decode_json(data)
    assert error in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\x91\x80", "Expected exactly one of `System`, `User`, `Assistant` or `ToolResult`"),
        (
            b"\x91\x81\xaaToolResult\x92\xa1i\xc0",
            "Expected `str`, got `null` - at `$[0].ToolResult[1]`",
        ),
        (b"\x91\x81\xa6System\xd9\x01s", "Expected MessagePack as the crate writes it"),
        (b"\x91\x81\xa6System\xd9\x01s", "at byte 9"),
        (
            b"\x92\x81\xaaToolResult\x92\xa1i\xa1c"
            b"\x81\xaaToolResult\x82\xa2id\xa1i\xa7content\xa1c",
            "Expected structs all as arrays or all as maps, got both - at `$`",
        ),
        (
            b"\x91\x81\xa6System\xa1",
            "Expected more MessagePack, got the end of the data - at byte 10",
        ),
        (b"\xdd\xff\xff\xff\xff", "Expected more MessagePack"),
        (b"\x91\x81\xa4User\xdd\xff\xff\xff\xff", "Expected more MessagePack"),
    ],
)
def test_errors_of_msgpack_name_the_place_on_the_wire(data, error):
    with pytest.raises(DecodeError) as caught:
        rust_molo.decode_msgpack(data)
    assert error in str(caught.value)
    assert caught.value.__context__ is None


PRIVATE = "call me at home"


@pytest.mark.parametrize(
    "value",
    [
        [{PRIVATE: PRIVATE}],
        [{"User": [{PRIVATE: PRIVATE}]}],
        [{"Assistant": {"content": PRIVATE, "reasoning": 5, "tool_calls": [], PRIVATE: PRIVATE}}],
        [{"Assistant": PRIVATE}],
        [PRIVATE],
        [{"ToolResult": {PRIVATE: {PRIVATE: PRIVATE}}}],
        [{"System": PRIVATE, "User": [{"Text": PRIVATE}]}],
    ],
)
def test_errors_never_quote_the_input(value):
    for data, decode in [
        (msgspec.json.encode(value), rust_molo.decode_json),
        (msgspec.msgpack.encode(value), rust_molo.decode_msgpack),
    ]:
        with pytest.raises(DecodeError) as caught:
            decode(data)
        assert PRIVATE not in str(caught.value)


# --- Laws -----------------------------------------------------------------------------------------

texts = st.text()
messages = st.one_of(
    st.builds(System, texts),
    st.builds(User, st.lists(st.builds(Text, texts), max_size=3).map(tuple)),
    st.builds(
        Assistant,
        texts,
        st.none() | texts,
        st.lists(st.builds(ToolCall, texts, texts, texts), max_size=3).map(tuple),
    ),
    st.builds(ToolResult, texts, texts),
)
histories = st.lists(messages, max_size=6)


@given(histories)
def test_what_is_written_is_read_back(history):
    assert rust_molo.decode_json(rust_molo.encode_json(history)) == history
    assert rust_molo.decode_msgpack(rust_molo.encode_msgpack(history)) == history
    assert rust_molo.decode_msgpack(rust_molo.encode_msgpack_named(history)) == history


@given(messages)
def test_a_history_of_one_holds_the_message(message):
    assert rust_molo.encode_json([message]) == b"[" + rust_molo.encode_json_message(message) + b"]"
    for encode, encode_message in zip(HISTORY_ENCODERS[1:], MESSAGE_ENCODERS[1:], strict=True):
        assert encode([message]) == b"\x91" + encode_message(message)
    assert rust_molo.decode_json_message(rust_molo.encode_json_message(message)) == message


@given(histories, st.sampled_from([None, 0, 4]), st.booleans())
def test_json_that_another_writer_spelled_is_read(history, indent, ascii_only):
    tree = json.loads(rust_molo.encode_json(history))
    respelled = json.dumps(tree, indent=indent, ensure_ascii=ascii_only, sort_keys=True)
    assert rust_molo.decode_json(respelled) == history


@given(histories)
def test_every_kind_of_buffer_is_read(history):
    written = rust_molo.encode_json(history)
    packed = rust_molo.encode_msgpack(history)
    assert rust_molo.decode_json(written.decode()) == history
    for kind in (bytearray, memoryview, lambda data: memoryview(data).cast("c")):
        assert rust_molo.decode_json(kind(written)) == history
        assert rust_molo.decode_msgpack(kind(packed)) == history


def test_what_is_no_buffer_is_a_type_error():
    for decode in DECODE.values():
        with pytest.raises(TypeError):
            decode(5)
    with pytest.raises(DecodeError, match="a view with gaps"):
        rust_molo.decode_json(memoryview(b"[.]]")[::2])


def outcome(decode, data):
    """The value, or the error where there is one; any other exception is the test's failure."""
    try:
        return decode(data)
    except DecodeError as error:
        return error


SEEDS = [rust_molo.encode_json(SAMPLE), *(e(SAMPLE) for e in HISTORY_ENCODERS[1:])]
mutations = st.tuples(
    st.sampled_from(SEEDS), st.integers(0, 400), st.integers(0, 9), st.binary(max_size=9)
).map(lambda m: m[0][: m[1]] + m[3] + m[0][m[1] + m[2] :])


@settings(max_examples=400)
@given(st.binary(max_size=40) | mutations)
@example(b"\x81\xa4User\x91\x81\xa4Teol_callslp")  # an unknown field, and cut short behind it
def test_any_bytes_give_a_value_or_a_decode_error(data):
    for target in ("history", "message"):
        assert outcome(DECODE["json", target], data) is not None
        assert outcome(DECODE["msgpack", target], data) is not None


@given(mutations)
def test_msgpack_that_is_read_is_one_of_the_two_exact_forms(data):
    value = outcome(rust_molo.decode_msgpack, data)
    history = SAMPLE if isinstance(value, DecodeError) else value
    forms = [encode(history) for encode in HISTORY_ENCODERS[1:]]
    assert isinstance(value, DecodeError) or data in forms


@pytest.mark.parametrize(
    ("encode", "decode"),
    [
        (rust_molo.encode_json, rust_molo.decode_json),
        (rust_molo.encode_msgpack, rust_molo.decode_msgpack),
        (rust_molo.encode_msgpack_named, rust_molo.decode_msgpack),
    ],
)
def test_a_truncation_is_refused_at_every_position(encode, decode):
    data = encode(SAMPLE)
    for stop in range(len(data)):
        with pytest.raises(DecodeError):
            decode(data[:stop])


@pytest.mark.parametrize(
    ("encode", "decode"),
    [
        (rust_molo.encode_json, rust_molo.decode_json),
        (rust_molo.encode_msgpack, rust_molo.decode_msgpack),
        (rust_molo.encode_msgpack_named, rust_molo.decode_msgpack),
    ],
)
def test_every_change_of_one_byte_gives_another_value_or_a_decode_error(encode, decode):
    sample = [user("u"), Assistant("c", None, (ToolCall("i", "n", "{}"),)), ToolResult("i", "é")]
    data = encode(sample)
    for at in range(len(data)):
        for byte in set(range(256)) - {data[at]}:
            changed = data[:at] + bytes([byte]) + data[at + 1 :]
            assert outcome(decode, changed) != sample
