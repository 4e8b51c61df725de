"""What only `molo.json` has: dicts and lists in and out, and the schema."""

import json as stdlib_json
from enum import StrEnum

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import histories

from molo import DecodeError, EncodeError, Image, System, Text, User, json

# --- Dicts and lists ------------------------------------------------------------------------------


@given(histories)
def test_builtins_are_what_a_json_parser_makes_of_the_encoded_history(history):
    assert json.to_builtins(history) == stdlib_json.loads(json.encode(history))


@given(histories)
def test_a_history_comes_back_from_builtins(history):
    assert json.from_builtins(json.to_builtins(history)) == history


def test_to_builtins_refuses_what_encode_refuses():
    with pytest.raises(EncodeError, match=r"^Expected a message, got `int` - at `\$\[0\]`$"):
        json.to_builtins([5])
    with pytest.raises(EncodeError, match=r"lone surrogate - at `\$\[0\]\.content`$"):
        json.to_builtins([System("\ud83d")])


def test_tuples_are_read_as_lists_and_bytes_as_themselves():
    block = {"type": "image", "data": b"\x00"}
    assert json.from_builtins(({"role": "user", "content": (block,)},)) == [
        User((Image(data=b"\x00"),))
    ]


class Role(StrEnum):
    SYSTEM = "system"


def test_messages_among_builtins_are_read_anew():
    """So that what comes out has fields of their types, whatever the messages that came held."""
    image = Image(data=b"a")
    block = {"type": "text", "text": Role.SYSTEM}
    [message] = json.from_builtins([User([image, block])])
    assert message == User((image, Text("system")))
    assert type(message.content) is tuple
    assert type(message.content[1].text) is str


def test_from_builtins_leaves_its_input_as_it_was():
    obj = [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    before = stdlib_json.dumps(obj)
    json.from_builtins(obj)
    assert stdlib_json.dumps(obj) == before


# Documents near the valid form: the right names and tags, with anything as a value.

plain_text = st.text(max_size=4) | st.sampled_from(["it's\n", '"', "\\", "AA==", "a.b"])
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | plain_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_text, inner, max_size=3),
    max_leaves=4,
)


def usually(strategy):
    """Draw what is right nineteen times out of twenty."""
    return st.integers(0, 19).flatmap(lambda n: strategy if n < 19 else anything)


def near(required, optional, tag):
    """An object of a type: its fields mostly there and right, sometimes one that is unknown."""
    fields = {name: usually(value) for name, value in {**required, **optional}.items()}
    stray = st.dictionaries(
        st.sampled_from(["summary", "type", "role", "a b"]), plain_text, max_size=1
    )
    whole = st.fixed_dictionaries(
        {name: fields[name] for name in required},
        optional={name: fields[name] for name in optional},
    )
    cut = st.fixed_dictionaries({}, optional=fields)
    odds = st.sampled_from([*[(whole, st.just({}))] * 8, (cut, st.just({})), (whole, stray)])
    return odds.flatmap(lambda pair: st.tuples(tag, *pair)).map(
        lambda parts: {name: value for part in parts for name, value in part.items()}
    )


def tagged(field, *names):
    right = st.sampled_from(names).map(lambda name: {field: name})
    wrong = anything.map(lambda value: {field: value}) | st.just({})
    return st.integers(0, 19).flatmap(lambda n: right if n < 19 else wrong)


text = plain_text
data = st.sampled_from(["", "AA==", "AAA=", "AAAA"]) | st.text("AQ+/= \n-", max_size=9)
media = {"data": data, "url": text, "mime_type": text}
near_blocks = st.one_of(
    near({"text": text}, {}, tagged("type", "text")),
    near({}, media, tagged("type", "image", "audio")),
    near({"url": text}, {"mime_type": text}, tagged("type", "image", "audio", "file")),
    near({"data": data}, {"name": text, "url": st.none()}, tagged("type", "file")),
    near({"dialect": text, "data": text}, {}, tagged("type", "wire")),
)
near_calls = near({"id": text, "name": text, "arguments": text}, {}, st.just({}))
near_data = near(
    {"dialect": text, "delta": text, "digest": text}, {"sealed": st.booleans()}, st.just({})
)
extras = {"provider_data": st.none() | near_data}
attached = {"attachments": st.lists(near_blocks, max_size=2), **extras}
near_messages = st.one_of(
    near({"content": text}, extras, tagged("role", "system")),
    near({"content": st.lists(near_blocks, max_size=3)}, extras, tagged("role", "user")),
    near(
        {"content": text},
        {"reasoning": st.none() | text, "tool_calls": st.lists(near_calls, max_size=2), **attached},
        tagged("role", "assistant"),
    ),
    near(
        {"id": text, "content": text},
        {"is_error": st.booleans(), **attached},
        tagged("role", "tool"),
    ),
)
near_histories = st.lists(usually(near_messages), max_size=3) | anything


def outcome(read, data):
    try:
        return read(data)
    except DecodeError as error:
        return error.text, error.path


@settings(max_examples=200)
@given(near_histories)
@example([{"role": "it's\n"}])
@example([{"role": None}])
@example([{"role": "system", "content": 2**64}])
@example([{"role": "user", "content": [{"type": "image", "data": "AA==", "url": ""}]}])
def test_from_builtins_gives_what_decode_gives_of_the_same_value_as_json(obj):
    assert outcome(json.from_builtins, obj) == outcome(json.decode, stdlib_json.dumps(obj))


surrogates = st.characters(categories=["Cs"])
positions = st.sampled_from(["content", "reasoning", "role", "id", "name", "summary"])


@given(near_histories, surrogates, st.data())
def test_from_builtins_refuses_lone_surrogates_where_decode_does(obj, surrogate, data):
    """Where there are several faults, either may be told."""
    planted = [*obj, {data.draw(positions): surrogate}] if isinstance(obj, list) else [surrogate]
    with pytest.raises(DecodeError):
        json.from_builtins(planted)
    with pytest.raises(DecodeError):
        json.decode(stdlib_json.dumps(planted))


# --- The schema -----------------------------------------------------------------------------------

SCHEMA = json.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_a_valid_one_of_2020_12():
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_is_plain_json_and_new_every_time():
    assert stdlib_json.loads(stdlib_json.dumps(SCHEMA)) == SCHEMA
    changed = json.schema()
    empty(changed)
    assert changed == {}
    assert json.schema() == SCHEMA


def empty(value):
    """Empty all that can be changed, from the inside out."""
    if isinstance(value, dict | list):
        for part in list(value.values() if isinstance(value, dict) else value):
            empty(part)
        value.clear()


def test_every_reference_of_the_schema_leads_somewhere():
    names = {f"#/$defs/{name}" for name in SCHEMA["$defs"]}
    references = set(stdlib_json.dumps(SCHEMA).split('"$ref": "')[1:])
    assert {reference.partition('"')[0] for reference in references} == names


@given(histories)
def test_what_encode_writes_validates(history):
    VALIDATOR.validate(json.to_builtins(history))


@settings(max_examples=200)
@given(near_histories)
def test_the_schema_accepts_what_from_builtins_accepts_and_nothing_else(obj):
    accepted = not isinstance(outcome(json.from_builtins, obj), tuple)
    assert VALIDATOR.is_valid(obj) is accepted


INVALID = [
    None,
    {},
    [None],
    [{}],
    [{"role": "developer", "content": ""}],
    [{"role": 5, "content": ""}],
    [{"content": ""}],
    [{"role": "system"}],
    [{"role": "system", "content": None}],
    [{"role": "system", "content": "", "summary": ""}],
    [{"role": "user", "content": "Hi"}],
    [{"role": "user", "content": [{"text": "Hi"}]}],
    [{"role": "user", "content": [{"type": "video", "url": ""}]}],
    [{"role": "user", "content": [{"type": "text", "text": "", "url": ""}]}],
    [{"role": "user", "content": [{"type": "image"}]}],
    [{"role": "user", "content": [{"type": "image", "data": None}]}],
    [{"role": "user", "content": [{"type": "image", "data": None, "url": None}]}],
    [{"role": "user", "content": [{"type": "image", "data": "", "url": ""}]}],
    [{"role": "user", "content": [{"type": "audio", "data": "AA==", "url": "u"}]}],
    [{"role": "user", "content": [{"type": "file", "name": "n"}]}],
    [{"role": "user", "content": [{"type": "image", "data": "AA="}]}],
    [{"role": "user", "content": [{"type": "image", "data": "-_=="}]}],
    [{"role": "user", "content": [{"type": "image", "data": "AA==\n"}]}],
    [{"role": "user", "content": [{"type": "image", "url": "u", "name": "n"}]}],
    [{"role": "assistant", "content": "", "tool_calls": None}],
    [{"role": "assistant", "content": "", "tool_calls": [{"id": "", "name": ""}]}],
    [{"role": "tool", "content": ""}],
    [{"role": "tool", "id": "", "content": "", "is_error": 0}],
    [{"role": "system", "content": "", "provider_data": {"dialect": "", "delta": ""}}],
]


@pytest.mark.parametrize("obj", INVALID)
def test_what_is_no_history_does_not_validate(obj):
    assert not VALIDATOR.is_valid(obj)
    with pytest.raises(DecodeError):
        json.from_builtins(obj)


VALID = [
    [],
    [{"role": "assistant", "content": "", "reasoning": None, "tool_calls": []}],
    [{"role": "user", "content": [{"type": "image", "data": "", "url": None}]}],
    [{"role": "user", "content": [{"type": "file", "url": "", "data": None, "name": ""}]}],
]


@pytest.mark.parametrize("obj", VALID)
def test_a_default_that_is_written_out_validates(obj):
    VALIDATOR.validate(obj)
    json.from_builtins(obj)
