"""Text that is rewritten wherever it stands, and the digest of a history."""

import json
import re
from hashlib import blake2b

import pytest
from hostile import histories
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import molo
from molo import (
    Assistant,
    Audio,
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
    assistant,
    system,
    tool_result,
    user,
    user_blocks,
)
from molo.history.text import digest, map_text


def data(delta, *, sealed=False):
    return ProviderData(dialect="Ada", delta=delta, digest="Ada", sealed=sealed)


def redact(text):
    return text.replace("Ada", "***")


def calls(arguments):
    return Assistant("", tool_calls=(ToolCall("Ada", "Ada", arguments),))


EVERYWHERE = [
    System("s Ada"),
    User(
        (Text("u1"), Image(url="https://example.org/Ada"), File(url="a:Ada", name="n"), Text("u2"))
    ),
    Assistant(
        "a",
        "r",
        (ToolCall("Ada", "Ada", '{"k":["v",1]}'), ToolCall("2", "f", '"w"')),
        attachments=(Wire("Ada", '{"d":null}'), Audio(data=b"Ada", mime_type="Ada")),
        provider_data=data('{"x":["y"]}'),
    ),
    ToolResult("Ada", "t", attachments=(Text("b"),)),
]
SEEN = ["s Ada", "u1", "n", "u2", "a", "r", "k", "v", "w", "d", "x", "y", "t", "b"]


def test_the_function_sees_every_text_and_nothing_else():
    seen = []

    def see(text):
        seen.append(text)
        return text

    mapped = map_text(EVERYWHERE, see)
    assert sorted(seen) == sorted(SEEN)
    assert all(map(lambda a, b: a is b, mapped, EVERYWHERE))


@pytest.mark.parametrize(
    ("mime_type", "data"),
    [("application/pdf", b"Ada"), ("", b"Ada"), ("text/plain", b"Ada \xff"), ("text/css", b"x")],
)
def test_files_without_text_to_change_stay_as_they_are(mime_type, data):
    (message,) = history = [user_blocks([File(data=data, mime_type=mime_type)])]
    assert map_text(history, redact) == history
    assert map_text(history, redact)[0] is message


def test_what_is_absent_is_not_seen():
    history = [calls(""), calls(" \n"), user_blocks([File(url="a:b")])]
    assert map_text(history, lambda text: text + "!") == [
        replace(calls(""), content="!"),
        replace(calls(" \n"), content="!"),
        history[2],
    ]


CHANGED = {
    "System": (System("I am Ada."), System("I am ***.")),
    "User": (user("I am Ada."), user("I am ***.")),
    "reply": (assistant("Hi Ada"), assistant("Hi ***")),
    "reasoning": (Assistant("", "Ada?"), Assistant("", "***?")),
    "result": (tool_result("1", "Ada"), tool_result("1", "***")),
    "file name": (
        user_blocks([File(url="https://example.org/Ada", name="Ada.pdf")]),
        user_blocks([File(url="https://example.org/Ada", name="***.pdf")]),
    ),
    "file of text": (
        user_blocks([File(data="Für Ada".encode(), mime_type="text/plain")]),
        user_blocks([File(data="Für ***".encode(), mime_type="text/plain")]),
    ),
    "attachment": (
        ToolResult("1", "", attachments=(Text("Ada"),)),
        ToolResult("1", "", attachments=(Text("***"),)),
    ),
    "Wire": (
        user_blocks([Wire("Ada", '{"to":"Ada"}')]),
        user_blocks([Wire("Ada", '{"to":"***"}')]),
    ),
    "arguments": (calls('{"to":"Ada"}'), calls('{"to":"***"}')),
    "a message with provider_data": (System("Ada", provider_data=data("{}")), System("***")),
    "the delta alone": (System("Hi", provider_data=data('{"n":"Ada"}')), System("Hi")),
    "a delta that is cut": (System("Hi", provider_data=data('{"n":"\\u0041da')), System("Hi")),
    "a sealed delta": (System("Hi", provider_data=data('["Ada"]', sealed=True)), System("Hi")),
}


@pytest.mark.parametrize(("before", "after"), CHANGED.values(), ids=CHANGED)
def test_a_message_that_changes_loses_its_provider_data(before, after):
    assert map_text([before], redact) == [after]


def test_blocks_and_calls_that_do_not_change_are_the_same_objects():
    blocks = (Text("Hi"), Wire("d", "{}"), File(url="a:b", name="n"), Text("Ada"))
    asked = (ToolCall("1", "f", "{}"), ToolCall("2", "f", '"Ada"'))
    ((new),) = map_text([Assistant("", tool_calls=asked, attachments=blocks)], redact)
    assert [a is b for a, b in zip(new.attachments, blocks, strict=True)] == [True] * 3 + [False]
    assert [a is b for a, b in zip(new.tool_calls, asked, strict=True)] == [True, False]


# JSON text before and after; what is no part of a changed string keeps its spelling.
SPELLINGS = {
    "numbers, order, repeated keys, white space": (
        '{ "z": 0.10, "a":1E2,\n"Ada": -0, "k": "Ada", "k": 1e400 }',
        '{ "z": 0.10, "a":1E2,\n"***": -0, "k": "***", "k": 1e400 }',
    ),
    "a long integer": (f'["Ada",{"7" * 400}]', f'["***",{"7" * 400}]'),
    "a very long integer": (f'["Ada",{"7" * 5000}]', f'["***",{"7" * 5000}]'),
    "a letter escape": (r'["\u0041d\u0061"]', '["***"]'),
    "other escapes beside it": (r'["\u0041da","\u0042\/\n"]', r'["***","\u0042\/\n"]'),
    "escapes in a changed string": (r'"\u0041da \"\\\n\u0001\/é"', r'"*** \"\\\n\u0001/é"'),
    "a surrogate pair": (r'"\ud83d\ude00 Ada"', '"😀 ***"'),
    "an escape that is escaped": (r'"\\u0041da"', '"***"'),
    "JSON in JSON": (r'"{\"n\":\"\\u0041da\"}"', r'"{\"n\":\"***\"}"'),
    "JSON in JSON in JSON": (
        json.dumps(json.dumps(json.dumps("Ada").replace("A", r"\u0041"))),
        json.dumps(json.dumps('"***"')),
    ),
    "a number is no text": ("[1815]", "[1815]"),
}


@pytest.mark.parametrize(("before", "after"), SPELLINGS.values(), ids=SPELLINGS)
def test_json_is_written_anew_only_where_a_string_changed(before, after):
    assert map_text([calls(before)], redact) == [calls(after)]


# Arguments that are no JSON.
TORN = {
    "cut in a string": ('{"to":"Ada","x":"Ad', '{"to":"***","x":"Ad'),
    "cut in an escape": (r'{"to":"\u0041da","x":"\u00', r'{"to":"***","x":"\u00'),
    "cut behind a backslash": ('{"to":"Ada\\', '{"to":"***\\'),
    "cut behind a string": (r'{"to":"\u0041da"', '{"to":"***"'),
    "no quotes": ("{to: Ada}", "{to: ***}"),
    "an escape outside of strings": (r"to \u0041da", "to ***"),
    "NaN": (r'{"x":NaN,"to":"\u0041da"}', '{"x":NaN,"to":"***"}'),
    "half a surrogate pair": (r'["\ud83d \u0041da"]', r'["\ud83d ***"]'),
    "a lone surrogate": ('["\ud83d Ada"]', '["\ud83d ***"]'),
    "two values": (r'"\u0041da" "Ada"', '"***" "***"'),
    "quotes out of step": (r'""" \u0041da "Ada', '""" *** "***'),
    "deep": ("[" * 2000 + '"Ada"', "[" * 2000 + '"***"'),
}


@pytest.mark.parametrize(("before", "after"), TORN.values(), ids=TORN)
def test_text_that_is_no_json_is_mapped_too(before, after):
    assert map_text([calls(before)], redact) == [calls(after)]


@pytest.mark.parametrize("word", ['a"b', "a/b", "a\\b", "a\nb", "a\x01b", "é", "😀"])
@pytest.mark.parametrize("rest", ["}", ""], ids=["whole", "cut"])
def test_a_word_is_found_whatever_escape_it_needs(word, rest):
    text = '{"k":' + json.dumps(f"<{word}>").replace("/", r"\/") + rest
    mapped = map_text([calls(text)], lambda text: text.replace(word, "***"))
    assert mapped == [calls('{"k":"<***>"' + rest)]


HIDDEN = {
    "a result that is JSON": (r'{"n": "Zo\u00eb"}', '{"n": "***"}'),
    "a result that was cut": (r'{"n": "Zo\u00eb", "b": "', '{"n": "***", "b": "'),
    "a word behind a line end": (r'{"n": "x\nZoë"}', r'{"n": "x\n***"}'),
    "what is not hidden keeps its escapes": (
        r'\d "\n" "\u00e9" "Zo\u00eb"',
        r'\d "\n" "\u00e9" "***"',
    ),
}


@pytest.mark.parametrize(("before", "after"), HIDDEN.values(), ids=HIDDEN)
def test_escapes_in_plain_text_hide_nothing(before, after):
    mapped = map_text([tool_result("1", before)], lambda text: re.sub(r"\bZoë\b", "***", text))
    assert mapped == [tool_result("1", after)]


class Marked(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("result", "name"), [(None, "NoneType"), (b"", "bytes"), (Marked(), "Marked")]
)
def test_a_function_that_returns_no_str_is_refused(result, name):
    with pytest.raises(TypeError, match=f"Expected `str` from the function, got {name}"):
        map_text([user("Hi")], lambda text: result)


# --- Laws -----------------------------------------------------------------------------------------

WORDS = ["Ada", "ZOË", "X😀Y"]
FILLERS = ["", " ", "x", "\\", '"', "\n", "/", "é", "\\u0041da", '{"n":"Z\\u004fË"}']


def redact_words(text):
    return re.sub("|".join(WORDS), "***", text)


def spellings(character):
    """The ways in which JSON can spell a character."""
    code = character.encode("utf-16-be").hex()
    units = "".join(f"\\u{code[at : at + 4]}" for at in range(0, len(code), 4))
    plain = json.dumps(character, ensure_ascii=False)[1:-1]
    return [plain, units, units.upper().replace("U", "u")]


@st.composite
def json_strings(draw, fillers=FILLERS):
    text = "".join(draw(st.lists(st.sampled_from(WORDS + fillers), max_size=4)))
    return '"' + "".join(draw(st.sampled_from(spellings(character))) for character in text) + '"'


def json_texts(strings):
    """JSON with white space, repeated keys and numbers of every spelling."""
    scalars = strings | st.sampled_from(["null", "true", "0.10", "-0", "1E2", "1e400", "7" * 40])
    gaps = st.sampled_from([",", " , ", ",\n"])
    return st.recursive(
        scalars,
        lambda values: st.one_of(
            st.builds(
                lambda gap, items: f"[{gap.join(items)}]", gaps, st.lists(values, max_size=3)
            ),
            st.builds(
                lambda gap, members: "{" + gap.join(map(": ".join, members)) + "}",
                gaps,
                st.lists(st.tuples(strings, values), max_size=3),
            ),
        ),
        max_leaves=6,
    )


whole = json_texts(json_strings())
torn = st.builds(lambda text, at: text[: at % (len(text) + 1)], whole, st.integers(0, 99))
texts = whole | torn
blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(File, url=st.just("a:b"), name=texts),
    st.builds(Wire, st.just("anthropic"), texts),
).map(lambda block: (block,))
deltas = st.none() | st.builds(
    ProviderData, dialect=st.just("openai_chat"), delta=texts, digest=st.just("0")
)
marked = st.one_of(
    st.builds(System, texts, provider_data=deltas),
    st.builds(User, blocks),
    st.builds(
        Assistant,
        texts,
        st.none() | texts,
        st.builds(ToolCall, st.just("1"), st.just("f"), texts).map(lambda call: (call,)),
        attachments=blocks,
    ),
    st.builds(ToolResult, st.just("1"), texts, attachments=blocks),
)


@given(st.lists(marked, max_size=3))
def test_no_marked_word_is_left_in_any_field_escape_or_delta(history):
    mapped = map_text(history, redact_words)
    assert not re.search("|".join(WORDS), revealed(molo.json.encode(mapped).decode()))
    assert map_text(mapped, redact_words) == mapped


def revealed(text):
    """Undo all escapes of letters, however often they are escaped themselves."""
    while (shorter := re.sub(r"\\+u([0-9A-Fa-f]{4})", lambda e: chr(int(e[1], 16)), text)) != text:
        text = shorter
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@given(json_texts(json_strings([" ", "é", "\n", '"', "/"])))
def test_json_says_the_same_but_for_its_strings(text):
    (mapped,) = map_text([calls(text)], redact_words)
    assert parsed(mapped.tool_calls[0].arguments) == redacted(parsed(text))


def parsed(text):
    """JSON with its members in order and its numbers as they are spelt."""
    return json.loads(text, object_pairs_hook=tuple, parse_int=Spelt, parse_float=Spelt)


class Spelt(bytes):
    def __new__(cls, text):
        return super().__new__(cls, text, "ascii")


def redacted(value):
    if isinstance(value, str):
        return redact_words(value)
    if isinstance(value, list | tuple):
        return type(value)(map(redacted, value))
    return value


@given(histories)
def test_a_function_that_changes_nothing_gives_the_same_messages(history):
    mapped = map_text(tuple(history), lambda text: text)
    assert all(map(lambda a, b: a is b, mapped, history))


@given(histories)
def test_the_input_is_not_touched_and_what_changed_has_no_provider_data(history):
    before = list(history)
    mapped = map_text(history, lambda text: text.replace("a", "b"))
    assert history == before
    changed = [new for old, new in zip(history, mapped, strict=True) if new is not old]
    assert all(new.provider_data is None for new in changed)
    assert all(new is old or new != old for old, new in zip(history, mapped, strict=True))


# --- Digests --------------------------------------------------------------------------------------

# MessagePack written by hand: 8x a map, 9x an array, ax a string, c4 bytes, c3 true.
DIGESTS = {
    "7a9e3d48316709a334376b83e845f6fb": ([], b"\x90"),
    "95687b986c06b7fd5bb87a989496e18c": (
        [user("Hi")],
        b"\x91\x82\xa4role\xa4user\xa7content\x91\x82\xa4type\xa4text\xa4text\xa2Hi",
    ),
    "6e43abae419aba4d02748440008bf9d4": (
        [
            system("Be brief."),
            user_blocks([Text("Hi"), Image(data=b"\x00\xff", mime_type="image/png")]),
            Assistant("", "why", (ToolCall("a", "f", "{}"),)),
            ToolResult("a", "23°C", is_error=True),
        ],
        b"\x94"
        b"\x82\xa4role\xa6system\xa7content\xa9Be brief."
        b"\x82\xa4role\xa4user\xa7content\x92"
        b"\x82\xa4type\xa4text\xa4text\xa2Hi"
        b"\x83\xa4type\xa5image\xa4data\xc4\x02\x00\xff\xa9mime_type\xa9image/png"
        b"\x84\xa4role\xa9assistant\xa7content\xa0\xa9reasoning\xa3why\xaatool_calls\x91"
        b"\x83\xa2id\xa1a\xa4name\xa1f\xa9arguments\xa2{}"
        b"\x84\xa4role\xa4tool\xa2id\xa1a\xa7content\xa523\xc2\xb0C\xa8is_error\xc3",
    ),
}


@pytest.mark.parametrize(("expected", "row"), DIGESTS.items(), ids=DIGESTS)
def test_a_digest_is_blake2b_of_messagepack(expected, row):
    history, encoded = row
    assert blake2b(encoded, digest_size=16).hexdigest() == expected
    assert digest(history) == digest(tuple(history)) == expected


@pytest.mark.parametrize("history", [[system("\ud83d")], [5]])
def test_a_history_that_cannot_be_encoded_has_no_digest(history):
    with pytest.raises(EncodeError):
        digest(history)
