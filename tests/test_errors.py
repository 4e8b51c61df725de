"""Errors: the exact text, path and offset of every kind of bad data, and what they never show.

Expected values follow from the grammar ("Expected …, got …"), the path from the document, the
offset from counting bytes.
"""

import copy
import json as stdlib_json
import pickle
import time
import tracemalloc
from collections.abc import Callable

import msgspec
import pytest
from documents import Pairs, to_json, to_msgpack
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st

from molo import (
    DecodeError,
    EncodeError,
    FrameError,
    HistoryError,
    MessageError,
    MoloError,
    StreamError,
    System,
    Text,
    ToolCall,
    errors,
    json,
    msgpack,
    parse_arguments,
)
from molo.errors import translation

# Three readers of one document: from JSON, from MessagePack, from dicts and lists.
READERS = {
    "json": lambda document: json.decode(to_json(document)),
    "msgpack": lambda document: msgpack.decode(to_msgpack(document)),
    "builtins": lambda document: json.from_builtins(document),
}
all_readers = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


def decode_error(read: Callable[[object], object], data: object) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        read(data)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    return caught.value


# --- The tree -------------------------------------------------------------------------------------

TREE = [
    (MoloError, ValueError),
    (DecodeError, MoloError),
    (StreamError, DecodeError),
    (EncodeError, MoloError),
    (MessageError, MoloError),
    (HistoryError, MoloError),
    (FrameError, MoloError),
]


@pytest.mark.parametrize(("kind", "parent"), TREE)
def test_the_tree(kind, parent):
    assert kind.__bases__ == (parent,)
    assert kind.__doc__


@pytest.mark.parametrize(
    ("path", "offset", "shown"),
    [
        ("", None, "Expected a, got b"),
        ("$[2].content", None, "Expected a, got b - at `$[2].content`"),
        ("$", 0, "Expected a, got b - at `$` (byte 0)"),
        ("", 17, "Expected a, got b - at byte 17"),
    ],
)
def test_an_error_says_where_as_far_as_it_is_known(path, offset, shown):
    assert str(MoloError("Expected a, got b", path=path, offset=offset)) == shown


@pytest.mark.parametrize("kind", [kind for kind, _ in TREE])
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_an_error_can_be_pickled_and_copied_with_its_place(kind, again):
    twin = again(kind("Expected a, got b", path="$[0]", offset=3))
    assert type(twin) is kind
    assert (twin.text, twin.path, twin.offset) == ("Expected a, got b", "$[0]", 3)
    assert str(twin) == "Expected a, got b - at `$[0]` (byte 3)"


def test_a_decode_error_can_be_pickled_as_it_is_raised():
    error = decode_error(json.decode, b'[{"role":"system","content":"\\ud83d"}]')
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), vars(twin), twin.args) == (str(error), vars(error), error.args)


# --- Shape ----------------------------------------------------------------------------------------

NEWER = "; written by a newer molo?"
ROLES = "Expected `system`, `user`, `assistant` or `tool`, got "
TYPES = "Expected `text`, `image`, `audio`, `file` or `wire`, got "
ONE_SOURCE = "Expected exactly one of `data` and `url`, got "


def system(**fields: object) -> dict[str, object]:
    return {"role": "system", "content": "a", **fields}


def user(*content: object) -> dict[str, object]:
    return {"role": "user", "content": list(content)}


def assistant(**fields: object) -> dict[str, object]:
    return {"role": "assistant", "content": "a", **fields}


def tool(**fields: object) -> dict[str, object]:
    return {"role": "tool", "id": "1", "content": "a", **fields}


SHAPES = [
    # The history itself, and what stands in it.
    (None, "Expected `array`, got `null`", "$"),
    (system(), "Expected `array`, got `object`", "$"),
    ("x", "Expected `array`, got `str`", "$"),
    (5, "Expected `array`, got `int`", "$"),
    (1.5, "Expected `array`, got `float`", "$"),
    (True, "Expected `array`, got `bool`", "$"),
    ([None], "Expected `object`, got `null`", "$[0]"),
    ([system(), "Be brief."], "Expected `object`, got `str`", "$[1]"),
    ([system(), [system()]], "Expected `object`, got `array`", "$[1]"),
    ([5], "Expected `object`, got `int`", "$[0]"),
    # Tags: missing, wrong, of a wrong type.
    ([{}], "Expected field `role`, got an object without it", "$[0]"),
    ([{"content": "a"}], "Expected field `role`, got an object without it", "$[0]"),
    ([system(role="developer")], ROLES + "`developer`", "$[0].role"),
    ([system(role="")], ROLES + "`str` of 0 characters", "$[0].role"),
    ([system(role="tell my wife")], ROLES + "`str` of 12 characters", "$[0].role"),
    ([system(role="it's\n\"é\\")], ROLES + "`str` of 8 characters", "$[0].role"),
    ([system(role="x" * 40)], ROLES + f"`{'x' * 40}`", "$[0].role"),
    ([system(role="x" * 41)], ROLES + "`str` of 41 characters", "$[0].role"),
    ([system(role="System")], ROLES + "`System`", "$[0].role"),
    ([system(role=None)], "Expected `str`, got `null`", "$[0].role"),
    ([system(role=5)], "Expected `str`, got `int`", "$[0].role"),
    ([system(role=1.5)], "Expected `str`, got `float`", "$[0].role"),
    ([system(role=False)], "Expected `str`, got `bool`", "$[0].role"),
    ([system(role=["system"])], "Expected `str`, got `array`", "$[0].role"),
    ([system(role={"system": 1})], "Expected `str`, got `object`", "$[0].role"),
    ([user({"text": "a"})], "Expected field `type`, got an object without it", "$[0].content[0]"),
    ([user({"type": "video"})], TYPES + "`video`", "$[0].content[0].type"),
    ([user({"type": "a b"})], TYPES + "`str` of 3 characters", "$[0].content[0].type"),
    ([user({"type": None})], "Expected `str`, got `null`", "$[0].content[0].type"),
    ([user({"type": "system"})], TYPES + "`system`", "$[0].content[0].type"),
    # Fields: missing.
    ([{"role": "system"}], "Expected field `content`, got an object without it", "$[0]"),
    ([{"role": "user"}], "Expected field `content`, got an object without it", "$[0]"),
    ([{"role": "assistant", "reasoning": "r"}],
     "Expected field `content`, got an object without it", "$[0]"),
    ([{"role": "tool", "content": "a"}], "Expected field `id`, got an object without it", "$[0]"),
    ([assistant(tool_calls=[{"id": "1", "name": "f"}])],
     "Expected field `arguments`, got an object without it", "$[0].tool_calls[0]"),
    ([system(provider_data={"dialect": "d", "digest": ""})],
     "Expected field `delta`, got an object without it", "$[0].provider_data"),
    ([user({"type": "text"})],
     "Expected field `text`, got an object without it", "$[0].content[0]"),
    ([user({"type": "wire", "dialect": "d"})],
     "Expected field `data`, got an object without it", "$[0].content[0]"),
    # Fields: unknown.
    ([system(summary="a")],
     f"Expected known fields only, got unknown field `summary`{NEWER}", "$[0]"),
    ([system(**{"my diagnosis": "a"})],
     f"Expected known fields only, got unknown field `str` of 12 characters{NEWER}", "$[0]"),
    ([system(**{"": "a"})],
     f"Expected known fields only, got unknown field `str` of 0 characters{NEWER}", "$[0]"),
    ([system(**{"x" * 41: "a"})],
     f"Expected known fields only, got unknown field `str` of 41 characters{NEWER}", "$[0]"),
    ([system(naïve="a")],
     f"Expected known fields only, got unknown field `str` of 5 characters{NEWER}", "$[0]"),
    ([system(**{"a` - at `$.b": 1})],
     f"Expected known fields only, got unknown field `str` of 12 characters{NEWER}", "$[0]"),
    ([system(reasoning="r")],
     f"Expected known fields only, got unknown field `reasoning`{NEWER}", "$[0]"),
    ([user({"type": "text", "text": "", "annotations": []})],
     f"Expected known fields only, got unknown field `annotations`{NEWER}", "$[0].content[0]"),
    ([assistant(tool_calls=[{"id": "", "name": "", "arguments": "", "index": 0}])],
     f"Expected known fields only, got unknown field `index`{NEWER}", "$[0].tool_calls[0]"),
    # Fields: of a wrong type.
    ([system(content=None)], "Expected `str`, got `null`", "$[0].content"),
    ([system(content=5)], "Expected `str`, got `int`", "$[0].content"),
    ([system(content=-0.5)], "Expected `str`, got `float`", "$[0].content"),
    ([system(content=["a"])], "Expected `str`, got `array`", "$[0].content"),
    ([system(content={})], "Expected `str`, got `object`", "$[0].content"),
    ([{"role": "user", "content": "Hi"}], "Expected `array`, got `str`", "$[0].content"),
    ([{"role": "user", "content": None}], "Expected `array`, got `null`", "$[0].content"),
    ([user("Hi")], "Expected `object`, got `str`", "$[0].content[0]"),
    ([user({"type": "text", "text": "a"}, None)],
     "Expected `object`, got `null`", "$[0].content[1]"),
    ([user({"type": "text", "text": None})], "Expected `str`, got `null`", "$[0].content[0].text"),
    ([assistant(reasoning=False)], "Expected `str | null`, got `bool`", "$[0].reasoning"),
    ([assistant(tool_calls=None)], "Expected `array`, got `null`", "$[0].tool_calls"),
    ([assistant(tool_calls=[{"id": "1", "name": "f", "arguments": {}}])],
     "Expected `str`, got `object`", "$[0].tool_calls[0].arguments"),
    ([tool(is_error=1)], "Expected `bool`, got `int`", "$[0].is_error"),
    ([tool(is_error="true")], "Expected `bool`, got `str`", "$[0].is_error"),
    ([tool(is_error=None)], "Expected `bool`, got `null`", "$[0].is_error"),
    ([tool(attachments="x")], "Expected `array`, got `str`", "$[0].attachments"),
    ([tool(attachments=[{"type": "image", "url": 5}])],
     "Expected `str | null`, got `int`", "$[0].attachments[0].url"),
    ([system(provider_data="x")], "Expected `object | null`, got `str`", "$[0].provider_data"),
    ([system(provider_data={"dialect": "", "delta": "", "digest": "", "sealed": 0})],
     "Expected `bool`, got `int`", "$[0].provider_data.sealed"),
    # Numbers: the largest that MessagePack has is no text either.
    ([system(content=2**63 - 1)], "Expected `str`, got `int`", "$[0].content"),
    # Media.
    ([user({"type": "image"})], ONE_SOURCE + "none", "$[0].content[0]"),
    ([user({"type": "image", "data": None, "url": None})], ONE_SOURCE + "none", "$[0].content[0]"),
    ([user({"type": "file", "name": "a.pdf"})], ONE_SOURCE + "none", "$[0].content[0]"),
    ([tool(attachments=[{"type": "text", "text": ""}, {"type": "audio"}])],
     ONE_SOURCE + "none", "$[0].attachments[1]"),
]  # fmt: skip


@all_readers
@pytest.mark.parametrize(("document", "text", "path"), SHAPES)
def test_valid_data_that_is_no_history(read, document, text, path):
    error = decode_error(read, document)
    assert (error.text, error.path, error.offset) == (text, path, None)
    assert str(error) == f"{text} - at `{path}`"


IN_ONE_MESSAGE = [row for row in SHAPES if isinstance(row[0], list) and row[2].startswith("$[0]")]


@pytest.mark.parametrize(("document", "text", "path"), IN_ONE_MESSAGE)
@pytest.mark.parametrize(
    ("decode", "write"),
    [(json.decode_message, to_json), (msgpack.decode_message, to_msgpack)],
    ids=["json", "msgpack"],
)
def test_the_place_in_one_message_starts_at_the_message(decode, write, document, text, path):
    error = decode_error(decode, write(document[0]))
    assert (error.text, error.path) == (text, "$" + path.removeprefix("$[0]"))


BOTH_SOURCES = [
    {"type": "image", "data": "AA==", "url": "u"},
    {"type": "image", "data": b"\0", "url": "u"},
]


def test_both_data_and_url():
    in_json, in_msgpack = ([user(block)] for block in BOTH_SOURCES)
    for read, document in [
        (json.from_builtins, in_json),
        (json.decode, to_json(in_json)),
        (msgpack.decode, to_msgpack(in_msgpack)),
    ]:
        error = decode_error(read, document)
        assert (error.text, error.path) == (ONE_SOURCE + "both", "$[0].content[0]")


@pytest.mark.parametrize("text", ["!", "AA=", "AAAAA", "A\nA=", "AA==AA=="])
@pytest.mark.parametrize("read", [READERS["json"], READERS["builtins"]], ids=["json", "builtins"])
def test_data_that_is_no_base64(read, text):
    error = decode_error(read, [user({"type": "image", "data": text})])
    assert error.text == "Expected a valid base64 encoded string, got another value"
    assert error.path == "$[0].content[0].data"


TWO_TAGS = [
    (Pairs([("role", "system"), ("content", "a"), ("role", "user")]), "role", "user", "$"),
    (Pairs([("role", "tool"), ("role", "system"), ("content", "a")]), "role", "system", "$"),
    (user(Pairs([("type", "text"), ("text", "a"), ("type", "image")])),
     "type", "image", "$.content[0]"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "field", "second", "path"), TWO_TAGS)
@pytest.mark.parametrize(
    ("decode", "write"),
    [(json.decode_message, to_json), (msgpack.decode_message, to_msgpack)],
    ids=["json", "msgpack"],
)
def test_a_second_tag_that_contradicts_the_first(decode, write, document, field, second, path):
    error = decode_error(decode, write(document))
    assert error.text == f"Expected one `{field}`, got a second one, `{second}`"
    assert error.path == f"{path}.{field}"


@pytest.mark.parametrize(
    ("in_json", "text"),
    [
        ("18446744073709551616", "Expected `str`, got `int`"),  # 2**64
        ("-9223372036854775809", "Expected `str`, got `int`"),
        ("9" * 5000, "Expected a number in range, got one beyond it"),
        ("1e400", "Expected a number in range, got one beyond it"),
        ("-1E+400", "Expected a number in range, got one beyond it"),
        ("1e4", "Expected `str`, got `float`"),
        ("1.0", "Expected `str`, got `float`"),
    ],
)
def test_numbers_in_json_that_no_64_bits_hold(in_json, text):
    error = decode_error(json.decode, f'[{{"role":"system","content":{in_json}}}]')
    assert (error.text, error.path) == (text, "$[0].content")


MSGPACK_TYPES = [
    (b"\xc4\x01a", "bytes"),
    (b"\xca\x7f\xc0\x00\x00", "float"),  # NaN
    (b"\xcb\x7f\xf0" + bytes(6), "float"),  # Infinity
    (b"\xcf" + b"\xff" * 8, "int"),
    (b"\xd3\x80" + bytes(7), "int"),
    (b"\xd4\x05a", "ext"),
    (b"\xd6\xff\x00\x00\x00\x00", "ext"),  # a timestamp
    (b"\xc7\x00\x05", "ext"),
    (b"\xc3", "bool"),
]


@pytest.mark.parametrize(("packed", "got"), MSGPACK_TYPES)
def test_what_only_messagepack_has_is_no_text(packed, got):
    document = b"\x91\x82\xa4role\xa6system\xa7content" + packed
    error = decode_error(msgpack.decode, document)
    assert (error.text, error.path) == (f"Expected `str`, got `{got}`", "$[0].content")


@pytest.mark.parametrize(
    ("packed", "got"), [(b"\x01", "int"), (b"\xc0", "null"), (b"\xc4\x01a", "bytes")]
)
def test_a_key_that_is_no_text(packed, got):
    error = decode_error(msgpack.decode, b"\x91\x82\xa4role\xa6system" + packed + b"\xa1a")
    assert (error.text, error.path) == (f"Expected `str`, got `{got}` as a key", "$[0]")


# --- Syntax ---------------------------------------------------------------------------------------

HEAD = b'[{"role":"system","content":'
CUT = "Expected more JSON, got the end of the data"
MARK = "Expected JSON, got a UTF-8 byte order mark in front of it; remove its three bytes first"
MALFORMED = "Expected JSON, got malformed JSON: "


def place_of(marker: bytes, data: bytes) -> int:
    assert data.count(marker) == 1
    return data.index(marker)


# What is wrong is the byte at the second column's first occurrence, behind HEAD.
MALFORMED_JSON = [
    (b"NaN}]", b"NaN", "invalid character"),
    (b"-Infinity}]", b"Infinity", "invalid character"),
    (b"Infinity}]", b"Infinity", "invalid character"),
    (b"nan}]  ", b"an}", "invalid character"),
    (b"None}]", b"None", "invalid character"),
    (b"tru}]  ", b"}", "invalid character"),
    (b"falsy}]", b"y}", "invalid character"),
    (b"undefined}]", b"undefined", "invalid character"),
    (b"'a'}]", b"'a'", "invalid character"),
    (b'"a\nb"}]', b"\nb", "invalid character"),
    (b'"a\x00b"}]', b"\x00", "invalid character"),
    (b'"\\x"}]', b"x", "invalid escape character in string"),
    (b'"\\u12_4"}]', b"_", "invalid character in unicode escape"),
    (b'"a";}]', b";", "expected ',' or '}'"),
    (b'"a",}]', b"}]", "trailing comma in object"),
    (b'"a",1:2}]', b"1:", "object keys must be strings"),
    (b'"a","b"}]', b"}]", "expected ':'"),
    (b'"a"}}]', b"}]", "expected ',' or ']'"),
    (b'"a"},]', b"]", "trailing comma in array"),
    (b'"a"}]]', None, "trailing characters"),
    (b'"a"}] \n[]', b"[]", "trailing characters"),
    (b'"a"}]\x00', b"\x00", "trailing characters"),
    (b"01}]", b"1}", "invalid number"),
    (b"1.}]", b"}", "invalid number"),
    (b"1e}]", b"}", "invalid number"),
]


@pytest.mark.parametrize(("rest", "wrong", "said"), MALFORMED_JSON)
def test_malformed_json_is_wrong_at_its_first_wrong_byte(rest, wrong, said):
    offset = len(HEAD) + (len(rest) - 1 if wrong is None else rest.index(wrong))
    error = decode_error(json.decode, HEAD + rest)
    assert (error.text, error.path, error.offset) == (MALFORMED + said, "", offset)
    assert str(error) == f"{MALFORMED}{said} - at byte {offset}"


def test_malformed_json_in_front_of_the_tag_is_wrong_at_its_first_wrong_byte():
    """The decoder looks for the tag first and skips what stands in front of it."""
    for rest, wrong in [(b"nan", b"an"), (b"tru", b","), (b"NaN", b"N"), (b'"\\q"', b"q")]:
        data = b'{"content":' + rest + b',"role":"system"}'
        assert decode_error(json.decode_message, data).offset == data.index(
            wrong, len(b'{"content":')
        )


@pytest.mark.parametrize("data", [b"", b" \n", b"[", HEAD, HEAD + b'"a', HEAD + b'"\\u00'])
def test_truncated_json(data):
    error = decode_error(json.decode, data)
    assert (error.text, error.path, error.offset) == (CUT, "", len(data))


@pytest.mark.parametrize("rest", [b"[]", b"", b"x", b'"\\ud83d"', b"\xff"])
def test_a_byte_order_mark_is_called_that(rest):
    error = decode_error(json.decode, b"\xef\xbb\xbf" + rest)
    assert (error.text, error.offset) == (MARK, 0)
    assert decode_error(json.decode_message, b"\xef\xbb\xbf" + rest).text == MARK


def test_a_byte_order_mark_in_a_str():
    assert decode_error(json.decode, "\ufeff[]").text == MARK


@pytest.mark.parametrize("data", [b"\xff\xfe[\x00]\x00", b"\xfe\xff\x00[\x00]", b"\x00[\x00]"])
def test_utf_16_is_no_json(data):
    error = decode_error(json.decode, data)
    assert (error.text, error.offset) == (MALFORMED + "invalid character", 0)


ARRAY = b"\x91\x82\xa4role\xa6system\xa7content"
MALFORMED_MSGPACK = "Expected MessagePack, got malformed MessagePack: "


@pytest.mark.parametrize(
    ("data", "said", "offset"),
    [
        (b"\xc1", r"invalid opcode '\xc1'", 0),
        (b"\x91\xc1", r"invalid opcode '\xc1'", 1),
        (ARRAY + b"\xc1", r"invalid opcode '\xc1'", len(ARRAY)),
        (ARRAY + b"\xa1a\xc0", "trailing characters", len(ARRAY) + 2),
        (b"\x90\x90", "trailing characters", 1),
    ],
)
def test_malformed_messagepack(data, said, offset):
    error = decode_error(msgpack.decode, data)
    assert (error.text, error.path, error.offset) == (MALFORMED_MSGPACK + said, "", offset)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x91",
        ARRAY,
        ARRAY + b"\xa2a",
        ARRAY + b"\xd9",
        # Declared lengths of up to 4 GiB.
        b"\xdd\xff\xff\xff\xff",
        b"\x91\xdf\xff\xff\xff\xff\xa4role\xa6system",
        ARRAY + b"\xdb\xff\xff\xff\xff",
        b"\x91\xdb\xff\xff\xff\xff",
        b"\x91\x82\xa4role\xa4user\xa7content\xdd\xff\xff\xff\xff",
        b"\x91\x82\xa4role\xdb\xff\xff\xff\xff",
        b"\x91\x82\xdb\xff\xff\xff\xff",
    ],
)
def test_truncated_messagepack_takes_no_memory_for_what_it_declares(data):
    tracemalloc.start()
    try:
        error = decode_error(msgpack.decode, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert error.text in {
        "Expected more MessagePack, got the end of the data",
        "Expected `object`, got `str`",
    }
    assert error.offset in {len(data), None}
    assert peak < 2**20  # bytes


def test_a_declared_length_beyond_the_data_is_truncated_data():
    error = decode_error(msgpack.decode, b"\xdd\xff\xff\xff\xff")
    assert error.text == "Expected more MessagePack, got the end of the data"
    assert error.offset == 5


NESTED = "nested no deeper than the interpreter's recursion limit, got deeper nesting"
DEPTH = 200_000  # levels


def test_deep_nesting_is_refused_where_it_stands_in_the_place_of_something_else():
    for data, path in [
        (b"[" * DEPTH, "$[0]"),
        (b'[{"role":"user","content":' + b"[" * DEPTH, "$[0].content[0]"),
    ]:
        error = decode_error(json.decode, data)
        assert (error.text, error.path) == ("Expected `object`, got `array`", path)
    error = decode_error(msgpack.decode, b"\x91" * DEPTH)
    assert (error.text, error.path) == ("Expected `object`, got `array`", "$[0]")


def test_deep_nesting_is_called_that_where_the_decoder_has_to_skip_it():
    in_json = b'{"x":' + b"[" * DEPTH + b"]" * DEPTH + b',"role":"system","content":""}'
    assert decode_error(json.decode_message, in_json).text == f"Expected JSON {NESTED}"
    in_msgpack = b"\x82\xa1x" + b"\x91" * DEPTH + b"\xc0\xa4role\xa6system"
    error = decode_error(msgpack.decode_message, in_msgpack)
    assert error.text == f"Expected MessagePack {NESTED}"


def test_deep_and_circular_builtins():
    deep: list[object] = []
    deep.append(deep)
    error = decode_error(json.from_builtins, [system(content=deep)])
    assert error.text == (
        "Expected a value nested no deeper than the recursion limit, got deeper nesting"
    )
    assert error.path.startswith("$[0].content[0][0]")


def test_a_view_with_gaps():
    for decode in (json.decode, msgpack.decode):
        error = decode_error(decode, memoryview(b"[ ] ")[::2])
        assert error.text == "Expected contiguous bytes, got a view with gaps"


def test_a_view_that_was_released():
    view = memoryview(b"[]")
    view.release()
    error = decode_error(json.decode, view)
    assert error.text == "Expected JSON, got data that Python cannot read"


def test_what_msgspec_may_say_one_day_is_not_shown():
    """The texts of its errors are not its promise; an unknown one may quote the input."""
    form = translation.Form("JSON", msgspec.json.decode, msgspec.json.encode)
    for failure, text in [
        (msgspec.DecodeError(f"Bad {SECRET}"), "Expected JSON, got malformed JSON"),
        (
            msgspec.ValidationError(f"Bad {SECRET}"),
            "Expected another value, got one that its type refuses",
        ),
    ]:
        error = translation.decode_error(failure, b"[]", form)
        assert error.text == text
        assert SECRET not in shown_by(error)


def test_what_msgspec_before_0_23_says_of_bytes_that_are_no_utf_8():
    form = translation.Form("JSON", msgspec.json.decode, msgspec.json.encode)
    failure = UnicodeDecodeError("utf-8", SECRET.encode() + b"\xff", 13, 14, "invalid start byte")
    error = translation.decode_error(failure, b'["a\xff"]', form)
    assert (error.text, error.path, error.offset) == (NOT_UTF8, "$[0]", 3)


# --- Text that is none ----------------------------------------------------------------------------

LONE = "Expected Unicode text, got a lone surrogate"
NOT_UTF8 = "Expected UTF-8 text, got other bytes"

LONE_ESCAPES = [
    r"\ud83d",
    r"\uD83D",
    r"\ude00",
    r"\udfff",
    r"\ud83dabcdefgh",
    r"\ud83d\n\n\n\n\n",
    r"\ud83d\ud83d",
    r"\ud83d\u0041",
    r"\ude00\ud83d",
    r"\ud83d \ude00",
    r"\ud83d\\ude00",
    r"\ud83d\\",
]


@pytest.mark.parametrize("escape", LONE_ESCAPES)
@pytest.mark.parametrize("before", ["", "é", r"\ud83d\ude00", r"\\", r"\"", r"\\ud83d"])
@pytest.mark.parametrize(
    "order",
    ['{"role":"system","content":"%s"}', '{"content":"%s","role":"system"}'],
    ids=["tag_first", "tag_last"],
)
def test_half_a_pair_of_escapes_is_called_a_lone_surrogate(order, before, escape):
    message = order % (before + escape)
    offset = message.index(before + escape) + len(before.encode())
    error = decode_error(json.decode_message, message)
    assert (error.text, error.path, error.offset) == (LONE, "$.content", offset)


def test_a_lone_surrogate_behind_other_bytes_that_are_no_text():
    data = HEAD + b'"\xff\xff\\ud83d"}]'
    error = decode_error(json.decode, data)
    assert (error.text, error.offset) == (LONE, len(HEAD) + 3)


def test_the_last_low_half_is_lone_and_the_pair_is_not():
    error = decode_error(json.decode_message, HEAD[1:] + rb'"\ud83d\ude00\ude00"}')
    assert error.offset == len(HEAD[1:]) + 1 + len(r"\ud83d\ude00")
    assert json.decode_message(HEAD[1:] + rb'"\ud83d\uDE00"}') == System("\U0001f600")


PLACES_OF_TEXT = [
    ([system(content="%")], "$[0].content"),
    ([system(), system(content="%")], "$[1].content"),
    ([user({"type": "text", "text": "%"})], "$[0].content[0].text"),
    ([user({"type": "text", "text": ""}, {"type": "image", "url": "%"})], "$[0].content[1].url"),
    ([user({"type": "wire", "dialect": "d", "data": "%"})], "$[0].content[0].data"),
    ([assistant(reasoning="%")], "$[0].reasoning"),
    ([assistant(tool_calls=[{"id": "", "name": "", "arguments": "%"}])],
     "$[0].tool_calls[0].arguments"),
    ([tool(id="%")], "$[0].id"),
    ([tool(attachments=[{"type": "file", "url": "", "name": "%"}])], "$[0].attachments[0].name"),
    ([system(provider_data={"dialect": "", "delta": "%", "digest": ""})],
     "$[0].provider_data.delta"),
    ([{"role": "%", "content": ""}], "$[0].role"),
    ([user({"type": "%"})], "$[0].content[0].type"),
    ([system(**{"%": ""})], "$[0]"),
    ([{"role": "%", "content": "%"}], "$[0].role"),
    ([assistant(content="reasoning", reasoning="%")], "$[0].reasoning"),
]  # fmt: skip

BAD_TEXT = [
    (b"\xff", NOT_UTF8),
    (b"\x80", NOT_UTF8),
    (b"\xc0\xaf", NOT_UTF8),
    (b"\xe2\x82", NOT_UTF8),
    (b"\xf5\x80\x80\x80", NOT_UTF8),
    (b"\xed\xa0\xbd", LONE),
    (b"\xed\xb8\x80", LONE),
]


@pytest.mark.parametrize(("bad", "text"), BAD_TEXT)
@pytest.mark.parametrize(("document", "path"), PLACES_OF_TEXT)
@pytest.mark.parametrize(
    ("decode", "write"),
    [(json.decode, to_json), (msgpack.decode, to_msgpack)],
    ids=["json", "msgpack"],
)
def test_text_that_is_no_utf_8_is_found_where_it_stands(decode, write, document, path, bad, text):
    for before in (b"", b"a\xc3\xa9"):
        marker = b"%" * (len(before) + len(bad))  # keeps the lengths that MessagePack declares
        data = write(filled(document, marker.decode())).replace(marker, before + bad)
        error = decode_error(decode, data)
        assert (error.text, error.path) == (text, path)
        assert error.offset == data.index(before + bad) + len(before)


def filled(document: object, text: str) -> object:
    if isinstance(document, str):
        return text if document == "%" else document
    if isinstance(document, list):
        return [filled(item, text) for item in document]
    return {filled(key, text): filled(value, text) for key, value in document.items()}


SURROGATES = ["\ud83d", "\ude00", "a\udfffb", "\ude00\ud83d"]


@pytest.mark.parametrize("text", SURROGATES)
@pytest.mark.parametrize(("document", "path"), PLACES_OF_TEXT)
@pytest.mark.parametrize(
    "read",
    [
        lambda document: json.decode(to_json(document, escaped=True)),
        lambda document: json.decode(to_json(document)),
        lambda document: json.decode(to_json(document).decode("utf-8", "surrogatepass")),
        lambda document: msgpack.decode(to_msgpack(document)),
        lambda document: json.from_builtins(plain(document)),
    ],
    ids=["escaped", "raw", "str", "msgpack", "builtins"],
)
def test_a_lone_surrogate_is_found_wherever_text_stands(read, document, path, text):
    error = decode_error(read, filled(document, text))
    assert (error.text, error.path) == (LONE, path)


def plain(document: object) -> object:
    return stdlib_json.loads(to_json(document, escaped=True))


def test_the_path_is_told_for_eight_levels_and_the_offset_for_any():
    arguments = "[" * 12 + r'"\ud83d"' + "]" * 12
    with pytest.raises(DecodeError) as caught:
        parse_arguments(ToolCall("1", "f", arguments), object)
    assert (caught.value.path, caught.value.offset) == ("$" + "[0]" * 8, 13)


@given(st.binary(min_size=13, max_size=40))
def test_bad_text_that_looks_like_messagepack_is_found_at_its_first_wrong_byte(bad):
    first = wrong_at(bad)
    error = decode_error(msgpack.decode, ARRAY + b"\xd9" + bytes([len(bad)]) + bad)
    assert error.path == "$[0].content"
    assert error.offset == len(ARRAY) + 2 + first
    short = bad[:31]
    assume(wrong_at(short) == first)
    error = decode_error(msgpack.decode, ARRAY + bytes([0xA0 + len(short)]) + short)
    assert error.offset == len(ARRAY) + 1 + first


def wrong_at(data: bytes) -> int:
    """Find the first byte that is no UTF-8; data that is UTF-8 is no case."""
    try:
        data.decode()
    except UnicodeDecodeError as failure:
        return failure.start
    return reject()


def test_bad_text_whose_key_is_repeated():
    """The later value counts, but the earlier one is read all the same."""
    pairs = Pairs([("role", "system"), ("content", "%"), ("content", "ok")])
    in_json = to_json(pairs).replace(b"%", b"\xff")
    in_msgpack = to_msgpack(pairs).replace(b"%", b"\xff")
    assert decode_error(json.decode_message, in_json).offset == in_json.index(b"\xff")
    error = decode_error(msgpack.decode_message, in_msgpack)
    assert (error.path, error.offset) == ("$.content", in_msgpack.index(b"\xff"))


def test_bad_text_behind_a_repeated_key():
    pairs = Pairs([("content", "a"), ("reasoning", "%"), ("role", "assistant"), ("content", "b")])
    for decode, data in [
        (json.decode_message, to_json(pairs).replace(b"%", b"\xff")),
        (msgpack.decode_message, to_msgpack(pairs).replace(b"%", b"\xff")),
    ]:
        assert decode_error(decode, data).offset == data.index(b"\xff")


def test_bad_text_in_data_that_is_cut_further_on():
    in_json = HEAD + b'"\xff"}'
    error = decode_error(json.decode, in_json)
    assert (error.text, error.path, error.offset) == (NOT_UTF8, "$", in_json.index(b"\xff"))
    error = decode_error(msgpack.decode, b"\x92" + ARRAY[1:] + b"\xa1\xff")
    assert (error.text, error.path, error.offset) == (NOT_UTF8, "$", None)


@pytest.mark.parametrize(
    "tail",
    ["\\", "\\u", "\\ud", "\\ud8", "\\ud83", "\\ud83d", "\\ud83d\\", "\\ud83d\\u", "\\ud83d\\ud",
     "\\ud83d\\ude", "\\ud83d\\ude0", "\\ud83d\\ude00", "\\uD83D\\uDE0"],
)  # fmt: skip
def test_data_cut_inside_a_pair_of_escapes_is_truncated_and_no_lone_surrogate(tail):
    data = HEAD + b'"' + tail.encode()
    error = decode_error(json.decode, data)
    assert (error.text, error.offset) == (CUT, len(data))


@pytest.mark.parametrize(
    "tail", ["\\ude00", "\\ud83d\\n", "\\ud83d\\ud8", "\\ud83d\\u00", "\\ud83d "]
)
def test_data_cut_behind_what_can_be_no_pair_is_a_lone_surrogate(tail):
    data = HEAD + b'"' + tail.encode()
    error = decode_error(json.decode, data)
    assert (error.text, error.offset) == (LONE, len(HEAD) + 1)


def test_messagepack_keys_that_cannot_be_read_do_not_hide_the_place():
    """A map in front of the tag is skipped, whatever its keys are."""
    odd = b"\xde\x00\x02\x01\xc0\xa1a\xc0"  # {1: null, "a": null}
    data = b"\x82\xa7content" + odd + b"\xa4role\xa1\xff"
    error = decode_error(msgpack.decode_message, data)
    assert (error.path, error.offset) == ("$.role", len(data) - 1)


# --- Builtins -------------------------------------------------------------------------------------


class Name(str):
    pass


UNHELD = "Expected a value that JSON can hold, got "


@pytest.mark.parametrize(
    ("obj", "text", "path"),
    [
        ([object()], UNHELD + "`object`", "$[0]"),
        ([system(content=Name())], UNHELD + "`Name`", "$[0].content"),
        ([{"a b": [object()]}], UNHELD + "`object`", "$[0][...][0]"),
        ([{("a",): 1}], UNHELD + "`dict`", "$[0]"),
        (iter([]), UNHELD + "`list_iterator`", "$"),
        ([system(content=b"a")], "Expected `str`, got `bytes`", "$[0].content"),
        ([{1: 2, **system()}], "Expected `str`, got another value as a key", "$[0]"),
        ([System(5)], "Expected `str`, got `int`", "$[0].content"),
        ([user(Text(None))], "Expected `str`, got `null`", "$[0].content[0].text"),
        ([assistant(tool_calls=[ToolCall("", "", 5)])], "Expected `str`, got `int`",
         "$[0].tool_calls[0].arguments"),
    ],
)  # fmt: skip
def test_what_no_json_parser_gives_is_refused(obj, text, path):
    error = decode_error(json.from_builtins, obj)
    assert (error.text, error.path) == (text, path)


# --- Privacy --------------------------------------------------------------------------------------

SECRET = "p-r-i-v-a-t-e"  # no part of it that is longer than a letter is an identifier
HINTS = ["p-r", "r-i", "v-a", "t-e"]


def shown_by(error: BaseException) -> str:
    parts = [str(error), repr(error), error.args, vars(error), error.__cause__, error.__context__]
    return repr(parts)


names = st.sampled_from(
    ["role", "type", "content", "text", "id", "name", "arguments", "tool_calls", "reasoning",
     "data", "url", "mime_type", "dialect", "delta", "digest", "sealed", "is_error",
     "attachments", "provider_data", "summary"]
)  # fmt: skip
tags = st.sampled_from(["system", "user", "assistant", "tool", "text", "image", "file", "wire"])
secrets = st.sampled_from(
    [SECRET, f"{SECRET}\n", f"'{SECRET}'", f'"{SECRET}`', f"` - at `$.{SECRET}`", f"{SECRET}\ud83d",
     f"{SECRET} - at `$", f"\\ud83d{SECRET}", SECRET * 9]
)  # fmt: skip
scalars = secrets | secrets | tags | st.none() | st.booleans() | st.integers(-5, 200)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | secrets, inner, max_size=5),
    max_leaves=15,
)
broken_histories = (
    st.lists(
        st.dictionaries(names | secrets, values, max_size=4).map(
            lambda fields: {**fields, "role": "user"}
        )
        | st.dictionaries(names | secrets, values, max_size=5),
        max_size=2,
    )
    | values
)


def check_silence(read: Callable[[object], object], data: object) -> None:
    try:
        read(data)
    except MoloError as error:
        shown = shown_by(error)
        assert not [hint for hint in HINTS if hint in shown]


@given(broken_histories)
@example([{"role": "system", "content": "", f"x` - at `$.{SECRET}": 1}])
@example([{"role": SECRET, "content": ""}])
def test_no_error_shows_text_of_a_broken_document(document):
    check_silence(json.from_builtins, document)
    items = document if isinstance(document, list) else [document]
    for in_json in (to_json(document), to_json(document, escaped=True)):
        check_silence(json.decode, in_json)
    check_silence(msgpack.decode, to_msgpack(document))
    for item in items:
        check_silence(json.decode_message, to_json(item, escaped=True))
        check_silence(msgpack.decode_message, to_msgpack(item))


@given(broken_histories, st.data())
def test_no_error_shows_text_of_a_document_with_broken_bytes(document, data):
    for write, decode in ((to_json, json.decode), (to_msgpack, msgpack.decode)):
        whole = bytearray(write(document))
        position = data.draw(st.integers(0, max(0, len(whole) - 1)))
        whole[position : position + 1] = data.draw(
            st.sampled_from([b"", b"\xff", b"\xc1", b'"', b"\\"])
        )
        check_silence(decode, bytes(whole))


@pytest.mark.parametrize("place", ["$", "$.my.private.words", "$[0].my", "$(.my", "$.content.my"])
def test_a_field_name_at_the_root_that_looks_like_a_place_is_not_taken_for_one(place):
    key = f"x` - at `{place}"
    text = f"Expected known fields only, got unknown field `str` of {len(key)} characters{NEWER}"
    for decode, data in [
        (json.decode_message, to_json(system(**{key: 1}))),
        (msgpack.decode_message, to_msgpack(system(**{key: 1}))),
    ]:
        error = decode_error(decode, data)
        assert (error.text, error.path) == (text, "$")
    nested = system(provider_data={"dialect": "", "delta": "", "digest": "", "x": 1})
    assert decode_error(json.decode_message, to_json(nested)).path == "$.provider_data"


@pytest.mark.parametrize("text", SURROGATES)
def test_an_encode_error_shows_no_text(text):
    with pytest.raises(EncodeError) as caught:
        json.encode([System(SECRET + text)])
    assert SECRET not in shown_by(caught.value)


# --- Time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decode", "write"),
    [(json.decode, to_json), (msgpack.decode, to_msgpack)],
    ids=["json", "msgpack"],
)
def test_the_place_is_found_in_linear_time(decode, write):
    """A quadratic search would take minutes."""
    many = [system(content="a" * 50) for _ in range(40_000)]
    data = write([*many, system(content="%")]).replace(b"%", b"\xff")
    start = time.perf_counter()
    assert decode_error(decode, data).path == "$[40000].content"
    assert time.perf_counter() - start < 10  # seconds


def test_many_lone_surrogates_are_found_in_linear_time():
    data = HEAD + b'"' + rb"\ud83d" * 500_000 + b'"}]'
    start = time.perf_counter()
    assert decode_error(json.decode, data).offset == len(HEAD) + 1
    assert time.perf_counter() - start < 10  # seconds


def test_an_error_holds_no_input():
    data = HEAD + b"5" + b" " * 10**6 + b"}]"
    error = decode_error(json.decode, data)
    assert len(pickle.dumps(error)) < 1000  # bytes


def test_the_public_names():
    assert sorted(kind.__name__ for kind, _ in TREE) == sorted(errors.__all__)
