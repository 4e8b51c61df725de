"""The codec twins: the same cases run over `molo.json` and `molo.msgpack`.

`data/native.jsonl` holds the wire forms, written by hand and not by molo; the values that they
stand for are here. `data/releases` holds what each release wrote, which every later one must read.
"""

import json as stdlib_json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from documents import Pairs, to_json, to_msgpack
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import histories, messages, texts

from molo import (
    Assistant,
    Audio,
    DecodeError,
    EncodeError,
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
    json,
    msgpack,
)
from molo.message import require_messages

DATA = Path(__file__).parent / "data"

both_codecs = pytest.mark.parametrize("codec", [json, msgpack], ids=["json", "msgpack"])
both_forms = pytest.mark.parametrize(
    ("codec", "write"), [(json, to_json), (msgpack, to_msgpack)], ids=["json", "msgpack"]
)

VALUES: dict[str, Message] = {
    "design_system": System("…"),
    "design_user": User((Text("…"),)),
    "design_assistant": Assistant("", "…", (ToolCall("call_1", "weather", '{"city":"Beijing"}'),)),
    "design_tool": ToolResult("call_1", "Sunny, 23°C"),
    "system_empty": System(""),
    "system_provider_data": System(
        "Be brief.",
        provider_data=ProviderData(dialect="openai_chat", delta='{"name":"root"}', digest="9d1f"),
    ),
    "user_empty": User(()),
    "user_image_data": User((Image(data=b"\x89PNG", mime_type="image/png"),)),
    "user_image_data_empty": User((Image(data=b""),)),
    "user_image_url": User((Image(url="https://example.org/chart.png"),)),
    "user_audio": User((Audio(data=b"RIFF", mime_type="audio/wav"),)),
    "user_audio_url": User((Audio(url="https://example.org/a.mp3", mime_type="audio/mpeg"),)),
    "user_file": User((File(data=b"%PDF-", mime_type="application/pdf", name="report.pdf"),)),
    "user_file_url": User((File(url="gs://bucket/report.pdf"),)),
    "user_wire": User((Wire("anthropic", '{"type":"search_result"}'),)),
    "user_blocks": User(
        (Text("Which is it?"), Image(url="https://example.org/1.png"), Text("")),
        provider_data=ProviderData(dialect="gemini", delta="{}", digest="0", sealed=True),
    ),
    "assistant_text": Assistant("Sunny."),
    "assistant_reasoning_empty": Assistant("Sunny.", ""),
    "assistant_reasoning_text": Assistant("Sunny.", "It is."),
    "assistant_full": Assistant(
        "Two calls.",
        "Both.",
        (ToolCall("call_0", "f", ""), ToolCall("call_0", "g", "{")),
        attachments=(Audio(data=b"\x00\x01", mime_type="audio/wav"),),
        provider_data=ProviderData(
            dialect="anthropic", delta='{"signature":"EqQB"}', digest="ab12", sealed=True
        ),
    ),
    "tool_error": ToolResult("call_1", "No such city.", is_error=True),
    "tool_full": ToolResult(
        "",
        "",
        is_error=True,
        attachments=(
            Image(data=b"\x00", mime_type="image/png"),
            File(url="https://example.org/r.pdf", mime_type="application/pdf", name="r.pdf"),
        ),
        provider_data=ProviderData(dialect="openai_responses", delta="[]", digest="7"),
    ),
    "escapes": System('"\\\n\x00\x7f é 😀 </script>'),
}

WIRE = [
    (VALUES[row["name"]], row["json"].encode(), bytes.fromhex(row["msgpack_hex"]))
    for row in map(stdlib_json.loads, (DATA / "native.jsonl").read_text("utf-8").splitlines())
]
NAMES = list(VALUES)

RELEASED: dict[str, list[str]] = {
    "0.1.0": [
        "design_assistant",
        "design_tool",
        "system_provider_data",
        "user_image_data",
        "user_audio_url",
        "user_file",
        "user_wire",
        "user_blocks",
        "assistant_text",
        "assistant_reasoning_empty",
        "assistant_full",
        "tool_error",
        "tool_full",
        "escapes",
    ]
}
RELEASES = sorted({path.stem for path in (DATA / "releases").iterdir()})


# --- The wire -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "in_json", "in_msgpack"), WIRE, ids=NAMES)
def test_a_message_is_written_in_exactly_its_wire_form(value, in_json, in_msgpack):
    assert json.encode_message(value) == in_json
    assert msgpack.encode_message(value) == in_msgpack


@pytest.mark.parametrize(("value", "in_json", "in_msgpack"), WIRE, ids=NAMES)
def test_a_message_is_read_from_its_wire_form(value, in_json, in_msgpack):
    assert json.decode_message(in_json) == value
    assert msgpack.decode_message(in_msgpack) == value


def test_a_history_is_the_array_of_its_messages():
    history = [value for value, _, _ in WIRE]
    in_json = b"[" + b",".join(row[1] for row in WIRE) + b"]"
    in_msgpack = b"\xdc\x00" + bytes([len(WIRE)]) + b"".join(row[2] for row in WIRE)  # array 16
    assert json.encode(history) == json.encode(tuple(history)) == in_json
    assert msgpack.encode(history) == msgpack.encode(tuple(history)) == in_msgpack
    assert json.decode(in_json) == msgpack.decode(in_msgpack) == history


def test_the_empty_history():
    assert (json.encode([]), json.decode(b"[]")) == (b"[]", [])
    assert (msgpack.encode([]), msgpack.decode(b"\x90")) == (b"\x90", [])


@pytest.mark.parametrize("release", RELEASES)
def test_what_a_release_wrote_is_read_for_ever(release):
    history = [VALUES[name] for name in RELEASED[release]]
    path = DATA / "releases" / release
    assert json.decode(path.with_name(f"{release}.json").read_bytes()) == history
    assert msgpack.decode(path.with_name(f"{release}.msgpack").read_bytes()) == history


def test_this_release_writes_the_same_bytes_as_the_first():
    """The digest of a history is one of its bytes, and is the same in every release."""
    history = [VALUES[name] for name in RELEASED["0.1.0"]]
    assert json.encode(history) == (DATA / "releases" / "0.1.0.json").read_bytes()
    assert msgpack.encode(history) == (DATA / "releases" / "0.1.0.msgpack").read_bytes()


def test_the_release_data_uses_every_type_and_every_field():
    used = set(fields_in_use([VALUES[name] for name in RELEASED["0.1.0"]]))
    every = {(kind, name) for kind in EVERY_TYPE for name in kind.__struct_fields__}
    assert used == every


EVERY_TYPE = [
    System, User, Assistant, ToolResult, ToolCall, ProviderData, Text, Image, Audio, File, Wire,
]  # fmt: skip


def fields_in_use(values: Iterable[object]) -> Iterator[tuple[type, str]]:
    for value in values:
        for name in getattr(value, "__struct_fields__", ()):
            held = getattr(value, name)
            yield from [(type(value), name)] if held not in (None, (), False, "") else []
            yield from fields_in_use(held if isinstance(held, tuple) else (held,))


WRITTEN_OUT = [
    ({"role": "system", "content": "a", "provider_data": None}, System("a")),
    ({"role": "user", "content": [], "provider_data": None}, User(())),
    (
        {
            "role": "assistant",
            "content": "a",
            "reasoning": None,
            "tool_calls": [],
            "attachments": [],
            "provider_data": None,
        },
        Assistant("a"),
    ),
    (
        {
            "role": "tool",
            "id": "1",
            "content": "a",
            "is_error": False,
            "attachments": [],
            "provider_data": None,
        },
        ToolResult("1", "a"),
    ),
    (
        {
            "role": "user",
            "content": [
                {"type": "image", "data": None, "url": "u", "mime_type": ""},
                {"type": "audio", "data": b"a", "url": None, "mime_type": ""},
                {"type": "file", "data": None, "url": "u", "mime_type": "", "name": ""},
            ],
        },
        User((Image(url="u"), Audio(data=b"a"), File(url="u"))),
    ),
    (
        {
            "role": "system",
            "content": "",
            "provider_data": {"dialect": "d", "delta": "", "digest": "", "sealed": False},
        },
        System("", provider_data=ProviderData(dialect="d", delta="", digest="")),
    ),
]


@both_forms
@pytest.mark.parametrize(("document", "value"), WRITTEN_OUT)
def test_a_default_that_is_written_out_is_accepted_and_not_written_again(
    codec, write, document, value
):
    assert codec.decode_message(write(document)) == value
    assert b"null" not in json.encode_message(value)
    assert b"\xc0" not in msgpack.encode_message(value)


REPEATED = [
    (Pairs([("role", "system"), ("content", "first"), ("content", "last")]), System("last")),
    (Pairs([("content", "first"), ("role", "system"), ("content", "last")]), System("last")),
    (Pairs([("role", "system"), ("role", "system"), ("content", "a")]), System("a")),
    (
        Pairs([("role", "assistant"), ("content", ""), ("reasoning", "r"), ("reasoning", None)]),
        Assistant(""),
    ),
    (
        {"role": "user", "content": [Pairs([("type", "text"), ("text", "a"), ("text", "b")])]},
        User((Text("b"),)),
    ),
]


@both_forms
@pytest.mark.parametrize(("document", "value"), REPEATED)
def test_a_repeated_key_means_its_last_value(codec, write, document, value):
    assert codec.decode_message(write(document)) == value


FULL = [VALUES["assistant_full"], VALUES["tool_full"], VALUES["user_file"], VALUES["user_wire"]]


def shuffled(draw: st.DrawFn, value: object) -> object:
    if isinstance(value, list):
        return [shuffled(draw, item) for item in value]
    if isinstance(value, dict):
        order = draw(st.permutations(list(value)))
        return Pairs((key, shuffled(draw, value[key])) for key in order)
    return value


@given(st.data(), st.sampled_from(FULL))
def test_the_order_of_keys_is_free(data, value):
    plain = stdlib_json.loads(json.encode_message(value))
    assert json.decode_message(to_json(shuffled(data.draw, plain))) == value


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@both_forms
def test_every_kind_of_buffer_is_read(codec, write, kind):
    document = {"role": "system", "content": "é"}
    assert codec.decode_message(kind(write(document))) == System("é")
    assert codec.decode(kind(write([document]))) == [System("é")]


def test_json_is_also_read_from_str_and_with_white_space():
    assert json.decode(' [\n{"role" : "system",\t"content":"é"}\r] ') == [System("é")]
    assert json.decode_message('{"role":"system","content":"\\u00e9"}') == System("é")


def test_messagepack_is_read_with_longer_headers_than_needed():
    longer = b"\xdd\0\0\0\1\xde\0\2\xd9\4role\xda\0\6system\xdb\0\0\0\7content\xd9\1a"
    assert msgpack.decode(longer) == [System("a")]


# --- Laws -----------------------------------------------------------------------------------------


@both_codecs
@given(histories)
def test_decoding_gives_what_was_encoded(codec, history):
    assert codec.decode(codec.encode(history)) == history


@both_codecs
@given(messages)
def test_decoding_a_message_gives_what_was_encoded(codec, message):
    decoded = codec.decode_message(codec.encode_message(message))
    assert decoded == message
    assert type(decoded) is type(message)


@given(histories)
def test_json_through_messagepack_is_the_same_json(history):
    in_json = json.encode(history)
    in_msgpack = msgpack.encode(json.decode(in_json))
    assert json.encode(msgpack.decode(in_msgpack)) == in_json


@both_codecs
@given(texts)
def test_no_reasoning_and_empty_reasoning_and_text_stay_apart(codec, text):
    variants = [Assistant(text), Assistant(text, ""), Assistant(text, text + "!")]
    decoded = codec.decode(codec.encode(variants))
    assert [message.reasoning for message in decoded] == [None, "", text + "!"]


@both_forms
def test_threads_share_the_codecs(codec, write):
    rows = [[value, System(str(index))] for index, (value, _, _) in enumerate(WIRE * 20)]
    broken = write({"role": "system", "content": None})

    def there_and_back(history: list[Message]) -> list[Message]:
        with pytest.raises(DecodeError, match=r"^Expected `str`, got `null` - at `\$\.content`$"):
            codec.decode_message(broken)
        return codec.decode(codec.encode(history))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(there_and_back, rows)) == rows


# --- Any bytes ------------------------------------------------------------------------------------


Decode = Callable[[bytes], object]
Encode = Callable[[object], bytes]


def outcome(codec: ModuleType, data: bytes) -> None:
    """Both decoders give a value that can be written and read again, or a clean DecodeError."""
    value_or_error(codec.decode, codec.encode, data)
    value_or_error(codec.decode_message, codec.encode_message, data)


def value_or_error(decode: Decode, encode: Encode, data: bytes) -> None:
    try:
        value = decode(data)
    except DecodeError as error:
        assert (error.__cause__, error.__context__) == (None, None)
        assert error.text.startswith("Expected ")
        assert error.offset is None or 0 <= error.offset <= len(data)
    else:
        assert decode(encode(value)) == value


@both_codecs
@given(st.binary(max_size=64))
def test_random_bytes_are_a_value_or_a_decode_error(codec, data):
    outcome(codec, data)


@both_codecs
@given(st.lists(st.sampled_from([b"\x91", b"\x82", b"\xa4role", b"\xa6system", b"\xa7content",
    b"\xc0", b"\xa1\xff", b"\xd9\x02", b"[", b"]", b"{", b"}", b'"role"', b":", b",", b'"system"',
    b'"content"', b'"\\ud83d', b'"', b"null", b"1e999", b"\xed\xa0\x80", b"\xdd\xff\xff\xff\xff",
    b"\xc1", b"\xd6\xff", b"\xc7\x0c\xff", b"tru", b" "]), max_size=12).map(b"".join))  # fmt: skip
def test_tokens_in_any_order_are_a_value_or_a_decode_error(codec, data):
    outcome(codec, data)


@st.composite
def mutated(draw: st.DrawFn, codec: ModuleType) -> bytes:
    data = bytearray(codec.encode(draw(histories)))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 4)))
        data[start:end] = draw(st.binary(max_size=4))
    return bytes(data)


@both_codecs
@settings(max_examples=200)
@given(st.data())
def test_a_changed_document_is_a_value_or_a_decode_error(codec, data):
    outcome(codec, data.draw(mutated(codec)))


SAMPLE = [
    User((Text("é\n"), Image(data=b"\xff")), provider_data=None),
    Assistant("", "r", (ToolCall("0", "f", "{}"),)),
    ToolResult("0", "", is_error=True),
]


@both_codecs
def test_a_sample_with_any_one_byte_changed_is_a_value_or_a_decode_error(codec):
    sample = codec.encode(SAMPLE)
    for position in range(len(sample)):
        for byte in range(256):
            changed = sample[:position] + bytes([byte]) + sample[position + 1 :]
            value_or_error(codec.decode, codec.encode, changed)


@both_codecs
def test_a_document_that_is_cut_anywhere_is_an_error_that_says_so(codec):
    sample = codec.encode([value for value, _, _ in WIRE])
    name = {json: "JSON", msgpack: "MessagePack"}[codec]
    for size in range(len(sample)):
        with pytest.raises(DecodeError) as caught:
            codec.decode(sample[:size])
        assert caught.value.text == f"Expected more {name}, got the end of the data"
        assert caught.value.offset == size


# --- Encoding -------------------------------------------------------------------------------------

NO_MESSAGES = [
    ([5], "Expected a message, got `int`", "$[0]"),
    ([System("a"), None], "Expected a message, got `NoneType`", "$[1]"),
    ((System("a"), [System("b")]), "Expected a message, got `list`", "$[1]"),
    ([{"role": "system", "content": "a"}], "Expected a message, got `dict`", "$[0]"),
    ([Text("a")], "Expected a message, got `Text`", "$[0]"),
    ([ToolCall("1", "f", "")], "Expected a message, got `ToolCall`", "$[0]"),
    ([System], "Expected a message, got `StructMeta`", "$[0]"),
]


every_check = pytest.mark.parametrize(
    "check", [json.encode, msgpack.encode, require_messages], ids=["json", "msgpack", "other"]
)


@every_check
@pytest.mark.parametrize(("history", "text", "path"), NO_MESSAGES)
def test_a_history_that_holds_something_else_is_an_encode_error(check, history, text, path):
    with pytest.raises(EncodeError) as caught:
        check(history)
    assert (caught.value.text, caught.value.path) == (text, path)


@both_codecs
def test_a_single_message_must_be_one(codec):
    with pytest.raises(EncodeError, match=r"^Expected a message, got `list` - at `\$`$"):
        codec.encode_message([System("a")])


@every_check
@pytest.mark.parametrize("history", [None, "abc", {}, 5, System("a"), iter(())])
def test_a_history_that_is_no_list_or_tuple_is_a_type_error(check, history):
    with pytest.raises(TypeError, match=r"^Expected a list or tuple of messages, got "):
        check(history)


@pytest.mark.parametrize("data", [5, None, [], {}])
@both_codecs
def test_decoding_something_else_than_bytes_is_a_type_error(codec, data):
    with pytest.raises(TypeError):
        codec.decode(data)


def test_messagepack_in_a_str_is_a_type_error():
    with pytest.raises(TypeError):
        msgpack.decode("[]")


nested: list[object] = []
nested.append(nested)
SURROGATE = "Expected Unicode text, got a lone surrogate"
LONG = "Expected an integer of at most 64 bits, got a larger one"
DEEP = "Expected a value nested no deeper than the recursion limit, got deeper nesting"

UNWRITABLE = [
    ([System("\ud83d")], SURROGATE, "$[0].content"),
    ([System(""), User((Text(""), Text("a\udc00b")))], SURROGATE, "$[1].content[1].text"),
    ([Assistant("", "\ud83d\ude00")], SURROGATE, "$[0].reasoning"),
    (
        [Assistant("", None, (ToolCall("", "", "\ud800"),))],
        SURROGATE,
        "$[0].tool_calls[0].arguments",
    ),
    (
        [System("", provider_data=ProviderData(dialect="", delta="\udfff", digest=""))],
        SURROGATE,
        "$[0].provider_data.delta",
    ),
    ([System(nested)], DEEP, "$[0].content" + "[0]" * 6),
]


@both_codecs
@pytest.mark.parametrize(("history", "text", "path"), UNWRITABLE)
def test_what_no_wire_form_can_hold_is_an_encode_error(codec, history, text, path):
    with pytest.raises(EncodeError) as caught:
        codec.encode(history)
    assert (caught.value.text, caught.value.path) == (text, path)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@both_codecs
def test_the_place_in_one_message_starts_at_the_message(codec):
    with pytest.raises(EncodeError) as caught:
        codec.encode_message(User((Text(""), Wire("d", "\ud83d"))))
    assert (caught.value.text, caught.value.path) == (SURROGATE, "$.content[1].data")


@pytest.mark.parametrize(
    ("codec", "value", "text"),
    [
        (json, object(), "Expected a value that JSON can hold, got `object`"),
        (msgpack, object(), "Expected a value that MessagePack can hold, got `object`"),
        (msgpack, 2**64, LONG),
        (msgpack, -(2**63) - 1, LONG),
    ],
)
def test_a_field_of_the_wrong_type_that_cannot_be_written_is_named(codec, value, text):
    with pytest.raises(EncodeError) as caught:
        codec.encode([System("a"), System(value)])
    assert (caught.value.text, caught.value.path) == (text, "$[1].content")


@both_codecs
def test_a_field_of_the_wrong_type_that_can_be_written_is_written_as_given(codec):
    with pytest.raises(DecodeError, match=r"^Expected `str`, got `int` - at `\$\[0\]\.content`$"):
        codec.decode(codec.encode([System(5)]))
