"""The data model: every value is frozen, hashable, comparable, picklable and replaceable."""

import copy
import datetime
import pickle
import sys
import uuid
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import blocks, messages, provider_data, texts, tool_calls

import molo
from molo import (
    Assistant,
    Audio,
    DecodeError,
    File,
    Image,
    MessageError,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    parse_arguments,
)

values = st.one_of(messages, blocks, tool_calls, provider_data)

TYPES = [
    System, User, Assistant, ToolResult, ToolCall, ProviderData, Text, Image, Audio, File, Wire,
]  # fmt: skip

# The table of the data model: positional fields, keyword-only fields.
FIELDS = {
    ToolCall: (["id", "name", "arguments"], []),
    Text: (["text"], []),
    Image: ([], ["data", "url", "mime_type"]),
    Audio: ([], ["data", "url", "mime_type"]),
    File: ([], ["data", "url", "mime_type", "name"]),
    Wire: (["dialect", "data"], []),
    ProviderData: ([], ["dialect", "delta", "digest", "sealed"]),
    System: (["content"], ["provider_data"]),
    User: (["content"], ["provider_data"]),
    Assistant: (["content", "reasoning", "tool_calls"], ["attachments", "provider_data"]),
    ToolResult: (["id", "content"], ["is_error", "attachments", "provider_data"]),
}


# --- Values ---------------------------------------------------------------------------------------


@given(values)
def test_equal_values_have_equal_hashes(value):
    twin = pickle.loads(pickle.dumps(value))
    assert twin is not value
    assert twin == value
    assert hash(twin) == hash(value)
    assert len({value, twin}) == 1


@given(values, values)
def test_values_are_equal_just_when_their_type_and_fields_are(one, other):
    same = type(one) is type(other) and msgspec.structs.astuple(one) == msgspec.structs.astuple(
        other
    )
    assert (one == other) is same


@given(texts)
def test_values_of_different_types_differ(text):
    assert len({System(text), Assistant(text), Text(text), User((Text(text),))}) == 4
    assert Image(url=text) != Audio(url=text) != File(url=text)
    assert Assistant(text) != Assistant(text, "")


@given(values, st.sampled_from([0, pickle.HIGHEST_PROTOCOL]))
def test_every_value_can_be_pickled_and_copied(value, protocol):
    assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.copy(value) == copy.deepcopy(value) == value


@given(values)
def test_no_field_can_be_assigned_or_deleted(value):
    for name in value.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(value, name, None)
        with pytest.raises(AttributeError):
            delattr(value, name)


@given(values)
def test_replacing_nothing_gives_an_equal_value(value):
    assert msgspec.structs.replace(value) == value


def test_replace_gives_a_new_value_and_leaves_the_old_one():
    old = Assistant("a", "r", provider_data=ProviderData(dialect="d", delta="", digest=""))
    new = msgspec.structs.replace(old, content="b", provider_data=None)
    assert new == Assistant("b", "r")
    assert old.content == "a"


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is new in Python 3.13")
@given(values)
def test_copy_replace_does_the_same(value):
    assert copy.replace(value) == value
    assert copy.replace(System("a"), content="b") == System("b")


def test_replace_checks_media_as_construction_does():
    with pytest.raises(MessageError):
        msgspec.structs.replace(Image(url="u"), data=b"")


@pytest.mark.parametrize("kind", TYPES)
def test_fields_are_positional_and_keyword_only_as_the_data_model_says(kind):
    positional, keyword_only = FIELDS[kind]
    assert list(kind.__match_args__) == positional
    assert list(kind.__struct_fields__) == positional + keyword_only


@pytest.mark.parametrize("kind", TYPES)
def test_one_positional_argument_too_many_is_a_type_error(kind):
    positional, _ = FIELDS[kind]
    with pytest.raises(TypeError):
        kind(*["x"] * (len(positional) + 1))


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_frozen_and_untracked_and_refuses_unknown_fields(kind):
    config = kind.__struct_config__
    assert (config.frozen, config.gc) == (True, False)
    assert (config.forbid_unknown_fields, config.omit_defaults) == (True, True)


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_says_what_it_means(kind):
    assert kind.__doc__.strip()


def test_a_repr_leaves_out_what_has_its_default():
    assert repr(Assistant("a")) == "Assistant(content='a')"
    assert repr(Image(url="u")) == "Image(url='u')"


# --- Media ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Image, Audio, File])
@pytest.mark.parametrize(
    ("given", "got"),
    [({}, "none"), ({"data": b"", "url": ""}, "both"), ({"mime_type": "a/b"}, "none")],
)
def test_media_has_exactly_one_of_data_and_url(kind, given, got):
    with pytest.raises(MessageError) as caught:
        kind(**given)
    assert str(caught.value) == f"Expected exactly one of `data` and `url`, got {got}"


@pytest.mark.parametrize("kind", [Image, Audio, File])
def test_empty_data_and_an_empty_url_count_as_given(kind):
    assert kind(data=b"") != kind(url="")


# --- Constructors ---------------------------------------------------------------------------------

CONSTRUCTED = [
    (molo.system("a"), System("a")),
    (molo.user("a"), User((Text("a"),))),
    (molo.user_blocks([]), User(())),
    (molo.user_blocks(iter([Text("a"), Image(url="u")])), User((Text("a"), Image(url="u")))),
    (molo.assistant("a"), Assistant("a", None, ())),
    (molo.assistant_with_reasoning("a", "r"), Assistant("a", "r")),
    (molo.assistant_with_reasoning("a", ""), Assistant("a", "")),
    (molo.tool_result("1", "a"), ToolResult("1", "a", is_error=False)),
]


@pytest.mark.parametrize(("made", "expected"), CONSTRUCTED)
def test_a_constructor_makes_the_message(made, expected):
    assert made == expected


def test_construction_leaves_wrong_types_to_the_type_checker():
    assert System(5).content == 5


# --- Arguments ------------------------------------------------------------------------------------


class Weather(msgspec.Struct):
    city: str
    days: int = 1


class StrictWeather(msgspec.Struct, forbid_unknown_fields=True):
    city: str


@dataclass
class Point:
    x: int
    y: int


class Options(TypedDict, total=False):
    unit: Literal["C", "F"]


class Positive(msgspec.Struct):
    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError(f"{self.value} is negative")


class Circle(msgspec.Struct, tag="circle", tag_field="kind"):
    radius: int


class Square(msgspec.Struct, tag="square", tag_field="kind"):
    side: int


class One(msgspec.Struct, tag=1, tag_field="kind"):
    pass


class Two(msgspec.Struct, tag=2, tag_field="kind"):
    pass


class Pair(msgspec.Struct, array_like=True):
    first: int
    second: int


class Renamed(msgspec.Struct, rename={"first": "first name"}):
    first: int = 0


def call(arguments: str) -> ToolCall:
    return ToolCall("call_1", "f", arguments)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0", "{}", " {} "])
def test_empty_and_blank_arguments_are_no_arguments(text):
    assert parse_arguments(call(text)) == {}
    assert parse_arguments(call(text), Options) == {}


@pytest.mark.parametrize(
    ("text", "type", "value"),
    [
        ('{"a":[1,2.5,null,true,"x"]}', dict[str, object], {"a": [1, 2.5, None, True, "x"]}),
        ('{"a":1,"a":2}', dict[str, object], {"a": 2}),
        ('{"a":18446744073709551616}', dict[str, object], {"a": 18446744073709551616}),
        ('{"a":-9223372036854775809}', dict[str, int], {"a": -9223372036854775809}),
        ('{"city":"Beijing"}', Weather, Weather("Beijing")),
        ('{"city":"Beijing","unasked":0}', Weather, Weather("Beijing")),
        ('{"x":1,"y":2}', Point, Point(1, 2)),
        ('{"unit":"C"}', Options, {"unit": "C"}),
        ("[1,2]", list[int], [1, 2]),
        ('{"kind":"square","side":2}', Circle | Square, Square(2)),
    ],
)  # fmt: skip
def test_arguments_become_a_value_of_the_type(text, type, value):
    assert parse_arguments(call(text), type) == value


LISTED = "Expected one of the values that its type lists, got "

WRONG_ARGUMENTS = [
    ("{", dict[str, object], "Expected more JSON, got the end of the data", "", 1),
    ("{} x", dict[str, object],
     "Expected JSON, got malformed JSON: trailing characters", "", 3),
    ('{"a":NaN}', dict[str, object],
     "Expected JSON, got malformed JSON: invalid character", "", 5),
    ("\ufeff{}", dict[str, object],
     "Expected JSON, got a UTF-8 byte order mark in front of it; remove its three bytes first",
     "", 0),
    ("[]", dict[str, object], "Expected `object`, got `array`", "$", None),
    ("null", Weather, "Expected `object`, got `null`", "$", None),
    ("", list[int], "Expected `array`, got `object`", "$", None),
    ('{"city":5}', Weather, "Expected `str`, got `int`", "$.city", None),
    ('{"days":1}', Weather, "Expected field `city`, got an object without it", "$", None),
    ('{"city":"","days":1.5}', Weather, "Expected `int`, got `float`", "$.days", None),
    ('{"city":"","town":""}', StrictWeather,
     "Expected known fields only, got unknown field `town`", "$", None),
    ('{"city":"","call me":""}', StrictWeather,
     "Expected known fields only, got unknown field `str` of 7 characters", "$", None),
    ('{"city":"","a` - at `$.b":0}', StrictWeather,
     "Expected known fields only, got unknown field `str` of 12 characters", "$", None),
    ('{"a` - at `$[...].b":0}', StrictWeather,
     "Expected known fields only, got unknown field `a`", "$[...]", None),
    ('{"a b":{"city":"","town":""}}', dict[str, StrictWeather],
     "Expected known fields only, got unknown field `town`", "$[...]", None),
    ('[{"city":"","town":""}]', list[StrictWeather],
     "Expected known fields only, got unknown field `town`", "$[0]", None),
    ('{"a b":{"c":""}}', dict[str, dict[str, int]],
     "Expected `int`, got `str`", "$[...][...]", None),
    ('{"5x":1}', dict[int, int], "Expected `int`, got `str` as a key", "$", None),
    ('{"unit":"Kelvin"}', Options, LISTED + "`str` of 6 characters", "$.unit", None),
    ('{"unit":"\\n\\"\\u00e9"}', Options, LISTED + "`str` of 3 characters", "$.unit", None),
    ('{"a":3}', dict[str, Literal[1, 2]], LISTED + "a number", "$[...]", None),
    ('{"kind":"Beijing"}', Circle | Square, LISTED + "`str` of 7 characters", "$.kind", None),
    ('{"kind":3}', One | Two, LISTED + "a number", "$.kind", None),
    ('{"kind":"x"}', One | Two, "Expected `int`, got `str`", "$.kind", None),
    ('{"kind":5,"kind":"circle"}', Circle | Square,
     "Expected `str`, got another value", "$.kind", None),
    ('{"first name":""}', Renamed, "Expected `int`, got `str`", "$[...]", None),
    ('{"value":-1}', Positive,
     "Expected a value that its type accepts, got ValueError from its check", "$", None),
    ("[1]", tuple[int, int], "Expected `array` of length 2, got another value", "$", None),
    ("[1]", Pair, "Expected `array` of at least length 2, got 1", "$", None),
    ('{"a":true}', dict[str, Literal["x"]], "Expected `str`, got `bool`", "$[...]", None),
    ('{"a":null}', dict[str, uuid.UUID], "Expected `uuid`, got `null`", "$[...]", None),
    ('{"a":"x"}', dict[str, uuid.UUID], "Expected a valid UUID, got another value", "$[...]", None),
    ('{"a":"P9999999999D"}', dict[str, datetime.timedelta],
     "Expected a number in range, got one beyond it", "$[...]", None),
    ('{"a":"P1Y"}', dict[str, datetime.timedelta],
     "Expected another value, got one that its type refuses", "$[...]", None),
    ('{"a":"ab"}', dict[str, Annotated[str, msgspec.Meta(max_length=1)]],
     "Expected `str` of length <= 1, got another value", "$[...]", None),
    ('{"a":1e400}', dict[str, object],
     "Expected a number in range, got one beyond it", "$[...]", None),
    ('{"a":"x"}', dict[str, bytes],
     "Expected a valid base64 encoded string, got another value", "$[...]", None),
    ('{"a":"\\ud83d"}', dict[str, object],
     "Expected Unicode text, got a lone surrogate", "$.a", 6),
    ('{"a":"\ud83d"}', dict[str, object],
     "Expected Unicode text, got a lone surrogate", "$.a", 6),
    ('{"a":' + "[" * 200_000, dict[str, object],
     "Expected JSON nested no deeper than the interpreter's recursion limit, got deeper nesting",
     "", None),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "type", "text", "path", "offset"), WRONG_ARGUMENTS)
def test_wrong_arguments_name_the_call_and_the_place(arguments, type, text, path, offset):
    with pytest.raises(DecodeError) as caught:
        parse_arguments(call(arguments), type)
    assert caught.value.text == f"Arguments of call `call_1`: {text}"
    assert (caught.value.path, caught.value.offset) == (path, offset)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize(
    ("id", "shown"),
    [
        ("functions.f:0", "`functions.f:0`"),
        ("toolu_01A-b|c", "`toolu_01A-b|c`"),
        ("x" * 64, f"`{'x' * 64}`"),
        ("x" * 65, "`str` of 65 characters"),
        ("", "`str` of 0 characters"),
        ("call me at home", "`str` of 15 characters"),
    ],
)
def test_an_id_is_shown_if_it_looks_like_one(id, shown):
    with pytest.raises(DecodeError) as caught:
        parse_arguments(ToolCall(id, "f", "["))
    assert caught.value.text.startswith(f"Arguments of call {shown}: Expected ")


def test_a_type_that_cannot_be_decoded_is_the_programmers_type_error():
    with pytest.raises(TypeError):
        parse_arguments(call("{}"), dict[str, set[int] | list[int]])
