"""What `check` finds: an example of every code, and an oracle for everything else."""

import pickle
from typing import get_args

import msgspec
import pytest
from hostile import histories, rules
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import slow_arguments_fault, slow_check

from molo import (
    Assistant,
    Audio,
    EncodeError,
    File,
    HistoryError,
    Image,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    assistant,
    assistant_with_reasoning,
    system,
    tool_result,
    user,
    user_blocks,
)
from molo.history import COMMON, Code, Problem, Rules, check, ensure, repair
from molo.history import rules as rules_of
from molo.history.arguments import arguments_fault
from molo.history.problems import CHECKERS
from molo.history.problems import TEXTS as SENTENCES

U, A, S = user("Hi"), assistant("Hello"), system("Be brief.")


def asks(*ids, name="f", arguments="{}", **fields):
    return Assistant("", tool_calls=tuple(ToolCall(id, name, arguments) for id in ids), **fields)


def answers(*ids):
    return [tool_result(id, "done") for id in ids]


def sealed(dialect):
    return ProviderData(dialect=dialect, delta="{}", digest="0", sealed=True)


# Code, rules, a history that they refuse, and the places.
REFUSED = [
    ("empty_history", Rules(), [], [(None, None)]),
    ("no_user", Rules(needs_user=True), [S, A], [(None, None)]),
    ("first_role", Rules(first_roles=("user",)), [S, A, U], [(1, None)]),
    ("last_role", Rules(last_roles=("user", "tool")), [U, A], [(1, None)]),
    ("alternation", Rules(alternation=True), [S, S, U, U, A, A], [(3, None), (5, None)]),
    ("system_place", Rules(system="leading"), [S, S, U, S, A, S], [(3, None), (5, None)]),
    ("system_refused", Rules(system="refused"), [S, U, S], [(0, None), (2, None)]),
    ("split_reply", Rules(split_replies=False), [A, asks("a"), A, *answers("a")], [(2, None)]),
    ("dangling_call", Rules(), [asks("a", "b", "c"), *answers("b")], [(0, 0), (0, 2)]),
    ("orphaned_result", Rules(), [U, *answers("a"), A], [(1, None)]),
    ("misplaced_result", Rules(), [asks("a"), U, *answers("a")], [(2, None)]),
    ("duplicate_result", Rules(), [asks("a"), *answers("a", "a")], [(2, None)]),
    (
        "results_order",
        Rules(results_in_call_order=True),
        [asks("a", "b", "c"), *answers("c", "a", "b")],
        [(2, None), (3, None)],
    ),
    ("id_empty", Rules(), [asks("", "a"), *answers("", "a")], [(0, 0)]),
    (
        "id_length",
        Rules(id_min=2, id_max=3),
        [asks("a", "bcde"), *answers("a", "bcde")],
        [(0, 0), (0, 1)],
    ),
    ("id_chars", Rules(id_chars="word"), [asks("f:0", "a"), *answers("f:0", "a")], [(0, 0)]),
    ("id_repeated", Rules(), [asks("a", "a"), *answers("a", "a")], [(0, 1)]),
    (
        "id_repeated",
        Rules(id_scope="history"),
        [asks("a"), *answers("a"), asks("a"), *answers("a")],
        [(2, 0)],
    ),
    ("id_space", Rules(id_min=3, id_max=2), [asks("a"), *answers("a")], [(0, 0)]),
    ("tool_name", Rules(name_chars="word"), [asks("a", name="two words"), *answers("a")], [(0, 0)]),
    ("tool_name", Rules(name_chars="dotted"), [asks("a", name=""), *answers("a")], [(0, 0)]),
    ("tool_name", Rules(name_max=2), [asks("a", name="abc"), *answers("a")], [(0, 0)]),
    ("arguments_invalid", Rules(), [asks("a", arguments='{"x":'), *answers("a")], [(0, 0)]),
    (
        "arguments_not_object",
        Rules(arguments="object"),
        [asks("a", arguments="[1]"), *answers("a")],
        [(0, 0)],
    ),
    (
        "arguments_not_finite",
        Rules(arguments="parsed"),
        [asks("a", arguments='{"x":-Infinity}'), *answers("a")],
        [(0, 0)],
    ),
    (
        "arguments_repeated_key",
        Rules(arguments="parsed"),
        [asks("a", arguments='{"x":[{"y":1,"\\u0079":2}]}'), *answers("a")],
        [(0, 0)],
    ),
    (
        "arguments_too_long",
        Rules(arguments_max=6),
        [asks("a", arguments='{"x":1}'), *answers("a")],
        [(0, 0)],
    ),
    ("content_empty", Rules(text="not_empty"), [User((Image(url="x:"), Text("")))], [(0, 1)]),
    ("content_empty", Rules(text="not_empty"), [User(()), Assistant("")], [(0, None), (1, None)]),
    (
        "content_empty",
        Rules(result_text="not_empty"),
        [asks("a"), tool_result("a", "")],
        [(1, None)],
    ),
    ("content_blank", Rules(text="not_blank"), [user(" "), assistant("\n")], [(0, 0), (1, None)]),
    (
        "content_trailing_blank",
        Rules(final_trailing_blank=False),
        [U, assistant("So ")],
        [(1, None)],
    ),
    ("reasoning_required", Rules(reasoning="required"), [U, A], [(1, None)]),
    (
        "reasoning_required",
        Rules(reasoning="required", reasoning_in="tool_turns"),
        [U, A, U, asks("a"), *answers("a"), A],
        [(3, None), (5, None)],
    ),
    (
        "reasoning_required",
        Rules(reasoning="required", reasoning_in="calls"),
        [U, asks("a"), *answers("a"), A],
        [(1, None)],
    ),
    (
        "reasoning_required",
        Rules(reasoning="required", reasoning_in="current_turn", empty_reasoning=False),
        [U, A, U, assistant_with_reasoning("Hello", "")],
        [(3, None)],
    ),
    (
        "reasoning_required",
        Rules(reasoning="required", sealed_reasoning=True),
        [
            assistant_with_reasoning("Hello", "So"),
            Assistant("Hello", provider_data=sealed("x")),
        ],
        [(0, None)],
    ),
    (
        "reasoning_required",
        Rules(reasoning="required", reads_sealed=False),
        [assistant_with_reasoning("Hello", "So"), Assistant("Hello", provider_data=sealed("x"))],
        [(1, None)],
    ),
    (
        "reasoning_refused",
        Rules(reasoning="refused", dialect="x"),
        [
            assistant_with_reasoning("Hello", ""),
            Assistant("Hello", provider_data=sealed("x")),
            Assistant("Hello", provider_data=sealed("y")),
        ],
        [(0, None), (1, None)],
    ),
    (
        "reasoning_unsealed",
        Rules(sealed_reasoning=True, dialect="x"),
        [
            assistant_with_reasoning("Hello", "So"),
            Assistant("Hello", "So", provider_data=sealed("x")),
            Assistant("Hello", "So", provider_data=sealed("y")),
        ],
        [(0, None), (2, None)],
    ),
    (
        "block_kind",
        Rules(user_blocks=("text", "wire"), dialect="x"),
        [User((Image(url="x:"), Text("Hi"), Wire("y", "{}"), Wire("x", "{}")))],
        [(0, 0), (0, 2)],
    ),
    (
        "block_kind",
        Rules(result_blocks=()),
        [asks("a"), ToolResult("a", "", attachments=(Text("x"),))],
        [(1, 0)],
    ),
    ("text_not_utf8", Rules(), [U, user("cut \ud83d"), asks("a"), *answers("a")], [(1, None)]),
]


@pytest.mark.parametrize(("code", "some_rules", "history", "places"), REFUSED)
def test_each_problem_is_found_in_its_places_and_is_the_only_one(code, some_rules, history, places):
    found = check(history, some_rules)
    assert [(problem.code, problem.at, problem.part) for problem in found] == [
        (code, *place) for place in places
    ]


def test_the_examples_show_every_code():
    assert {code for code, *_ in REFUSED} == set(get_args(Code))


def test_every_code_has_one_checker_and_a_sentence():
    checked = [code for checker in CHECKERS for code in checker.codes]
    assert sorted(checked) == sorted(get_args(Code)) == sorted(SENTENCES)


# What is accepted without rules to the contrary.
ACCEPTED = {
    "no user": [S],
    "a reply first and last": [A, U, A],
    "a system in the middle": [U, S, A],
    "neighbours of one role": [U, U, A, A],
    "a reply in pieces": [asks("a"), asks("b"), *answers("b", "a")],
    "ids that restart": [asks("a"), *answers("a"), asks("a"), *answers("a")],
    "empty arguments": [asks("a", "b", arguments=""), *answers("a", "b")],
    "blank arguments": [asks("a", arguments=" \n"), *answers("a")],
    "arguments of any shape": [asks("a", arguments="null"), *answers("a")],
    "NaN in arguments that stay text": [asks("a", arguments='{"x":NaN}'), *answers("a")],
    "repeated keys in arguments that stay text": [
        asks("a", arguments='{"x":1,"x":2}'),
        *answers("a"),
    ],
    "no text anywhere": [User(()), user(""), Assistant(""), assistant(" ")],
    "empty reasoning": [assistant_with_reasoning("", "")],
    "foreign blocks": [User((Wire("x", "{}"), Wire("y", "{}")))],
}


@pytest.mark.parametrize("history", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_the_common_rules_ask_for_nothing_more(history):
    assert check(history) == ()


@given(histories, rules)
def test_check_does_what_the_definitions_say(history, some_rules):
    found = [(problem.code, problem.at, problem.part) for problem in check(history, some_rules)]
    assert sorted(found, key=str) == slow_check(history, some_rules)


@given(histories, rules)
def test_problems_are_sorted_by_place(history, some_rules):
    places = [(p.at, p.part) for p in check(history, some_rules)]
    as_numbers = [(-1 if at is None else at, -1 if part is None else part) for at, part in places]
    assert as_numbers == sorted(as_numbers)


HARMLESS = {"a", "a_2", "a_3", "b", "call_0", "9", "x" * 9, "functions.f:0"}


@given(histories, rules)
def test_a_problem_says_one_sentence_without_conversation_text(history, some_rules):
    for problem in check(history, some_rules):
        sentence = SENTENCES[problem.code].format(id="{}")
        before, _, after = sentence.partition("{}")
        assert problem.text.startswith(before)
        assert problem.text.endswith(after)
        shown = problem.text[len(before) : len(problem.text) - len(after)]
        assert shown.strip("`") in HARMLESS | {""} or shown.startswith("`str` of ")


JSON_PIECES = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"a"',
    '"',
    "\\",
    "1",
    "-",
    "NaN",
    "Infinity",
    "null",
    " ",
    "\\ud83d",
    "\ud83d",
]


class MyUser(User, frozen=True):
    pass


@pytest.mark.parametrize("rules_", [Rules(), rules_of.ANTHROPIC, rules_of.OPENAI_CHAT])
@pytest.mark.parametrize("item", [{"role": "user"}, None, "Hi", Text("Hi"), MyUser((Text("Hi"),))])
@pytest.mark.parametrize("function", [check, ensure, repair])
def test_what_is_no_message_is_refused_with_its_place(function, item, rules_):
    for first in (U, user("cut \ud83d")):
        with pytest.raises(EncodeError) as caught:
            function([first, item, U], rules_)
        assert caught.value.path == "$[1]"


def test_rules_that_cannot_be_hashed_are_taken_as_well():
    listed = msgspec.structs.replace(rules_of.MISTRAL, last_roles=["user", "tool"])
    assert [problem.code for problem in check([U, A], listed)] == ["last_role"]
    assert check([U], listed) == ()


@given(
    st.lists(st.sampled_from(JSON_PIECES), max_size=9).map("".join),
    st.sampled_from(["json", "object", "parsed"]),
)
@example('{"a":1,"a":2}', "parsed")
@example("1NaN", "json")
@example('{"a":"NaN"', "json")
@example('"' + "x" * 600 + '"', "json")
@example("[" * 256 + "]" * 256, "json")
@example("[" * 257 + "]" * 257, "json")
@example('{"' + "[" * 300 + '":[' + '"' + "{" * 300 + '"]}', "parsed")
@example('{"a":1,"a":"\\u003a"}', "parsed")
@example('{"a":1e400,"b":{"a":1,"a":2}}', "parsed")
@example('{"a":"\\ud800","b":1}', "parsed")
@example('{"x":[{"x":1},{"x":2,"y":{"x":":"}}],"y":0}', "parsed")
@example('{"x":[{"y":1},{"x":2,"y":{"x":":"}}],"x":0}', "parsed")
def test_arguments_are_judged_as_a_json_parser_would(text, shape):
    assert arguments_fault(text, shape) == slow_arguments_fault(text, shape)


LEVELS = {"{": ('{"":', "}"), "[": ("[", "]"), "member": ('{"k":1,"":', "}")}


@given(
    st.lists(st.sampled_from(list(LEVELS)), min_size=254, max_size=259),
    st.sampled_from(["{}", "[]", "1", '{"a":[]}', '"' + "[{" * 300 + '"']),
    st.text(" \n", max_size=300),
)
@example(["{"] * 255, "{}", "")
@example(["{"] * 256, "{}", "")
@example(["["] * 255, "[]", " " * 300)
@example(["["] * 256, "[]", "")
@example(["["] * 256, "1", " " * 300)
@example(["[", "{"] * 128, "[]", "")
def test_levels_are_counted_however_they_are_written(levels, innermost, blank):
    opened = "".join(LEVELS[level][0] for level in levels)
    closed = "".join(LEVELS[level][1] for level in reversed(levels))
    nested = opened + innermost + closed
    for text in (nested, nested + blank, blank + nested, f'["{"[{" * 300}",{nested}]'):
        assert arguments_fault(text, "json") == slow_arguments_fault(text, "json")


@pytest.mark.parametrize("begun", ['{"code":"' + "[{" * 150, '{"code":"NaN '])
@pytest.mark.parametrize("end", ["", "\\", '"', '"}'])
def test_arguments_that_are_cut_in_a_long_string_are_judged_in_one_pass(begun, end):
    text = begun + '\\"' * 300_000 + end  # hours, if each quotation mark began a string anew
    valid = end == '"}'
    assert arguments_fault(text, "parsed") == (None if valid else "arguments_invalid")


CUT = "cut \ud83d"
DATA = {"dialect": "a", "delta": "{}", "digest": "0"}
UNENCODABLE = [
    System(CUT),
    user(CUT),
    user_blocks([Text(""), Text(CUT)]),
    user_blocks([Image(url=CUT)]),
    user_blocks([File(data=b"", name=CUT)]),
    user_blocks([Wire("a", CUT)]),
    Assistant(CUT),
    Assistant("", CUT),
    Assistant("", tool_calls=(ToolCall("a", "f", "{}"), ToolCall(CUT, "f", "{}"))),
    Assistant("", tool_calls=(ToolCall("a", CUT, "{}"),)),
    Assistant("", tool_calls=(ToolCall("a", "f", CUT),)),
    Assistant("", attachments=(Text(CUT),)),
    ToolResult(CUT, ""),
    ToolResult("a", CUT),
    ToolResult("a", "", attachments=(Audio(data=b"", mime_type=CUT),)),
    *[System("", provider_data=ProviderData(**{**DATA, field: CUT})) for field in DATA],
]


@pytest.mark.parametrize("message", UNENCODABLE, ids=ascii)
def test_a_lone_surrogate_is_found_wherever_it_stands(message):
    history = [user("é"), message, assistant("好🎉")]
    found = [problem.at for problem in check(history) if problem.code == "text_not_utf8"]
    assert found == [1]


def test_ids_of_a_tiny_space_run_out():
    ids = [str(n % 10) * 2 for n in range(70)]  # none of one character
    history = [asks(*ids), *answers(*ids)]
    shortest = Rules(id_chars="alnum", id_max=1)
    assert {p.code for p in check(history, shortest)} == {"id_length"}
    letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    full = [asks(*letters, "a", "aa"), *answers(*letters, "a", "aa")]
    assert [(p.code, p.part) for p in check(full, shortest)] == [("id_space", 62), ("id_space", 63)]


def test_ensure_raises_all_problems_at_the_place_of_the_first():
    history = [U, asks("a", arguments="{"), U]
    with pytest.raises(HistoryError) as caught:
        ensure(history)
    assert caught.value.problems == check(history)
    assert str(caught.value) == (
        "Expected a history without problems, got 2 problems, "
        "first: Call `a` has no result. - at `$[1]`"
    )


def test_ensure_is_silent_on_a_good_history():
    assert ensure([U, A]) is None


def test_a_history_error_can_be_pickled():
    with pytest.raises(HistoryError) as caught:
        ensure([])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)
    assert copy.problems == (Problem("empty_history", None, None, "The history has no messages."),)


def test_any_sequence_of_messages_can_be_checked():
    class Log(tuple):
        __slots__ = ()

    assert check(Log([U, A])) == check((U, A)) == check([U, A]) == ()


def test_common_is_what_check_asks_for_by_default():
    history = [asks("a"), U]
    assert check(history) == check(history, COMMON)
