"""Trimming, against a slow reading of its definition and against `check`; the token estimate."""

from collections import Counter, deque

import pytest
from case_reader import case_rows, read_case
from hostile import histories
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from oracles import slow_pair, slow_steps

import molo.history
from molo import (
    Assistant,
    Audio,
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
from molo.history import Rules, check
from molo.history.window import Trimmed, estimate_tokens, trim

ALL_RULES = [rules for rules in vars(molo.history).values() if isinstance(rules, Rules)]


def asks(*ids):
    return Assistant("", tool_calls=tuple(ToolCall(id, "f", "{}") for id in ids))


def answers(id):
    return tool_result(id, "done")


S, U, A = system("Be brief."), user("Hi"), assistant("Hello")
CALL, RESULT = asks("a"), answers("a")

# Two turns of two steps each.
LONG = [S, U, CALL, RESULT, A, U, CALL, RESULT, A]

# history, budgets, what is kept, over
TRIMMED = {
    "no budget": (LONG, {}, [0, 1, 2, 3, 4, 5, 6, 7, 8], 0),
    "all fits": (LONG, {"max_turns": 2, "max_messages": 9}, [0, 1, 2, 3, 4, 5, 6, 7, 8], 0),
    "one turn": (LONG, {"max_turns": 1}, [0, 5, 6, 7, 8], 0),
    "the newest step": (LONG, {"max_messages": 3}, [0, 5, 8], 0),
    "a step is whole": (LONG, {"max_messages": 4}, [0, 5, 8], 0),
    "a whole turn": (LONG, {"max_messages": 5}, [0, 5, 6, 7, 8], 0),
    "a step of an older turn comes with its User": (LONG, {"max_messages": 6}, [0, 5, 6, 7, 8], 0),
    "... if both fit": (LONG, {"max_messages": 7}, [0, 1, 4, 5, 6, 7, 8], 0),
    "the least budget counts": (LONG, {"max_turns": 1, "max_messages": 3}, [0, 5, 8], 0),
    "over by messages": (LONG, {"max_messages": 1}, [0, 5, 8], 2),
    "over by turns": (LONG, {"max_turns": 0}, [0, 5, 8], 1),
    "over by tokens": (LONG, {"max_tokens": 5}, [0, 5, 8], 25),
    "tokens come first": (LONG, {"max_tokens": 29, "max_messages": 0}, [0, 5, 8], 1),
    "then messages": (LONG, {"max_tokens": 30, "max_messages": 0, "max_turns": 0}, [0, 5, 8], 3),
    "a User that waits for its reply": ([U, A, U], {"max_messages": 1}, [2], 0),
    "... and one step in front": ([U, A, U], {"max_messages": 3}, [0, 1, 2], 0),
    "Users in a row": ([U, U, U, A], {"max_messages": 3}, [1, 2, 3], 0),
    "no User": ([S, A, RESULT, CALL, RESULT], {"max_messages": 3}, [0, 3, 4], 0),
    "no User is one turn": ([S, A, A, RESULT, A], {"max_turns": 1}, [0, 1, 2, 3, 4], 0),
    "... and over no turns by one": ([S, A, RESULT, A], {"max_turns": 0}, [0, 3], 1),
    "what stands before the first User": ([S, A, U, A], {"max_messages": 3}, [0, 2, 3], 0),
    "... is no turn": ([S, A, U, A], {"max_turns": 1}, [0, 1, 2, 3], 0),
    "a System in the middle": ([U, A, S, U, S, A, S], {"max_turns": 1}, [3, 4, 5, 6], 0),
    "... in front of a step": ([U, A, S, U, S, A, S], {"max_messages": 3}, [3, 5, 6], 0),
    "results before any call": ([U, RESULT, A], {"max_messages": 2}, [0, 2], 0),
    "nothing but results": ([RESULT, RESULT], {"max_messages": 0}, [0, 1], 2),
    "a result that comes late": (
        [U, asks("a", "b"), answers("a"), U, answers("b"), A],
        {"max_messages": 3},
        [3, 5],
        0,
    ),
    "... in the last step": ([U, CALL, A, U, A, RESULT], {"max_turns": 1}, [0, 1, 2, 3, 4, 5], 1),
    "... and another one": (
        [U, asks("a"), U, asks("b"), U, A, answers("b"), answers("a")],
        {"max_turns": 1},
        [0, 1, 2, 3, 4, 5, 6, 7],
        2,
    ),
    "a split reply": ([U, A, CALL, A, RESULT], {"max_messages": 1}, [0, 1, 2, 3, 4], 4),
    "System messages alone": ([S, S], {"max_messages": 1}, [0, 1], 1),
    "nothing": ([], {"max_turns": 0, "max_messages": 0, "max_tokens": 0}, [], 0),
}


def ten(_message):
    return 10


@pytest.mark.parametrize(("history", "budgets", "kept", "over"), TRIMMED.values(), ids=TRIMMED)
def test_the_newest_steps_that_fit_are_kept(history, budgets, kept, over):
    trimmed = trim(history, **budgets, count_tokens=ten)
    dropped = tuple(sorted({*range(len(history))} - {*kept}))
    assert trimmed == Trimmed([history[at] for at in kept], dropped, (), over)


@pytest.mark.parametrize("most", [4, 9])
def test_any_sequence_of_messages_can_be_trimmed(most):
    trimmed = trim(LONG, max_messages=most)
    assert trim(tuple(LONG), max_messages=most) == trim(deque(LONG), max_messages=most) == trimmed


@pytest.mark.parametrize("name", ["max_turns", "max_messages", "max_tokens"])
def test_a_negative_budget_is_refused(name):
    with pytest.raises(ValueError, match="Expected budgets of at least 0, got a negative one"):
        trim(LONG, **{name: -1})


# dialect, sealed, unbound
BOUND = [
    ("anthropic", True, True),
    ("anthropic", False, False),
    ("openai_chat", True, True),
    ("somebody_else", True, True),
    ("gemini", True, False),
    ("openai_responses", True, False),
]


@pytest.mark.parametrize(("dialect", "sealed", "unbound"), BOUND)
def test_sealed_data_behind_a_dropped_message_is_named(dialect, sealed, unbound):
    data = ProviderData(dialect=dialect, delta="{}", digest="0", sealed=sealed)
    signed = Assistant("a", "b", provider_data=data)
    assert trim([U, A, U, signed], max_turns=1).unbound == (3,) * unbound
    unsealed = replace(signed, provider_data=None) if unbound else signed
    assert trim([U, A, U, signed], max_turns=1).unsealed == [U, unsealed]
    assert trim([U, signed], max_turns=1).unbound == ()
    assert trim([System("", provider_data=data), U, A, U, A], max_turns=1).unbound == ()


def length(message):
    return len(message.content)


budgets = st.none() | st.integers(0, 12)


@given(histories, budgets, budgets, budgets)
def test_trimming_is_what_its_definition_says(history, max_turns, max_messages, max_tokens):
    before = list(history)
    trimmed = trim(
        tuple(history),
        max_turns=max_turns,
        max_messages=max_messages,
        max_tokens=max_tokens,
        count_tokens=length,
    )
    kept, over = slow_trim(history, (max_tokens, max_messages, max_turns))
    assert history == before
    assert trimmed.over == over
    assert trimmed.dropped == tuple(at for at in range(len(history)) if at not in kept)
    assert [id(message) for message in trimmed.history] == [id(history[at]) for at in kept]
    assert trimmed.unbound == tuple(at for at in kept if is_unbound(history, kept, at))
    assert trimmed.unsealed == [
        replace(history[at], provider_data=None) if at in trimmed.unbound else history[at]
        for at in kept
    ]


def slow_trim(history, limits):
    """Try every place to cut, and take the oldest one that is within the limits."""
    size = len(history)
    leading = next((at for at in range(size) if not isinstance(history[at], System)), size)
    users = {at for at in range(leading, size) if isinstance(history[at], User)}
    answered = [(at, result) for at, _, result in slow_pair(history)[0] if result is not None]
    places = {
        leading,
        *users,
        *(at + 1 for at in users),
        *(step[0] for step in slow_steps(history)),
    }
    cuts = [
        cut
        for cut in sorted(places)
        if cut < size and not any(at < cut <= result for at, result in answered)
    ]

    def kept(cut):
        head = [] if cut in users else sorted(at for at in users if at < cut)[-1:]
        return [*range(leading), *head, *range(cut, size)]

    def excess(cut):
        messages = [history[at] for at in kept(cut)]
        turns = sum(isinstance(message, User) for message in messages) or int(size > 0)
        spent = (sum(map(length, messages)), len(messages), turns)
        over = [s - m for s, m in zip(spent, limits, strict=True) if m is not None and s > m]
        return over[0] if over else 0

    cut = min((cut for cut in cuts if not excess(cut)), default=max(cuts, default=size))
    return kept(cut), excess(cut)


def is_unbound(history, kept, at):
    data = history[at].provider_data
    gap = not set(range(at)) <= set(kept)
    return gap and data is not None and data.sealed  # all dialects drawn here are bound


@given(st.integers(0, 8), st.integers(0, 8))
def test_messages_are_counted_once_and_from_the_newest_on(size, max_tokens):
    counted = []

    def count(message):
        counted.append(message.content[0].text)
        return 1

    history = [user(str(at)) for at in range(size)]
    trim(history, max_tokens=max_tokens, count_tokens=count)
    assert counted == [str(at) for at in range(size)][::-1][: max_tokens + 1]


@given(histories, budgets, budgets, budgets)
def test_no_message_is_counted_twice(history, max_turns, max_messages, max_tokens):
    counted = []

    def count(message):
        counted.append(id(message))
        return length(message)

    trim(
        history,
        max_turns=max_turns,
        max_messages=max_messages,
        max_tokens=max_tokens,
        count_tokens=count,
    )
    assert Counter(counted) <= Counter(map(id, history))


@pytest.mark.parametrize("max_tokens", range(7))
def test_no_message_is_counted_twice_where_a_late_result_forces_the_cut_back(max_tokens):
    first, second = asks(), Assistant("so")
    history = [asks("a"), user("?"), first, tool_result("b", ""), second, tool_result("a", "")]
    counted = []

    def count(message):
        counted.append(history.index(message))
        return 1

    trim(history, max_tokens=max_tokens, count_tokens=count)
    assert max(Counter(counted).values()) == 1


def test_messages_are_not_counted_without_a_budget_of_tokens():
    trim(LONG, max_messages=3, count_tokens=pytest.fail)


@settings(max_examples=300)
@given(st.sampled_from(ALL_RULES), histories, budgets, budgets)
def test_trimming_makes_no_new_kind_of_problem(rules, history, max_turns, max_messages):
    trimmed = trim(history, max_turns=max_turns, max_messages=max_messages)
    assert codes(trimmed.history, rules) <= codes(history, rules)


def codes(history, rules):
    return {problem.code for problem in check(history, rules)}


# --- The estimate ---------------------------------------------------------------------------------

TEXT = "four"  # one token

ESTIMATES = {
    "a message around nothing": (system(""), 4),
    "System": (system(TEXT), 5),
    "a begun token counts": (system("a"), 5),
    "User": (user_blocks([Text(TEXT), Text(TEXT)]), 6),
    "reply": (assistant(TEXT), 5),
    "reasoning": (Assistant(TEXT, TEXT * 2), 7),
    "empty reasoning": (Assistant(TEXT, ""), 5),
    "a call and its frame": (Assistant("", tool_calls=(ToolCall("id", TEXT, TEXT),)), 10),
    "ids do not count": (Assistant("", tool_calls=(ToolCall("i" * 99, "", ""),)), 8),
    "result": (tool_result("id", TEXT), 5),
    "provider_data does not count": (
        System(TEXT, provider_data=ProviderData(dialect="d", delta="{}" * 99, digest="0")),
        5,
    ),
    "Cyrillic: 2 bytes": (system("я" * 2), 5),
    "Han: 3 bytes": (system("完" * 4), 7),
    "emoji: 4 bytes": (system("😀"), 5),
    "a lone surrogate": (system("\ud83d" * 4), 7),
    "Image": (user_blocks([Image(data=b"", mime_type="image/png")]), 1504),
    "Image by URL": (user_blocks([Image(url="https://example.org/a.png")]), 1504),
    "Audio": (user_blocks([Audio(data=bytes(5000), mime_type="audio/mpeg")]), 14),
    "Audio by URL": (user_blocks([Audio(url="https://example.org/a.mp3")]), 1004),
    "PDF": (user_blocks([File(data=bytes(100_000), mime_type="application/pdf")]), 5004),
    "PDF by URL": (user_blocks([File(url="https://example.org/a.pdf")]), 2304),
    "text file": (user_blocks([File(data=bytes(400), mime_type="text/plain")]), 104),
    "Wire": (user_blocks([Wire("anthropic", "{}{}")]), 5),
    "attachment of a reply": (Assistant(TEXT, attachments=(Text(TEXT),)), 6),
    "attachment of a result": (ToolResult("id", TEXT, attachments=(Text(TEXT),)), 6),
}


@pytest.mark.parametrize(("message", "tokens"), ESTIMATES.values(), ids=ESTIMATES)
def test_a_token_is_four_bytes(message, tokens):
    assert estimate_tokens(message) == tokens


# --- The handed cases -----------------------------------------------------------------------------

# Budgets, and what is dropped. 25: the call's 8,000 characters of arguments count. 33: a call goes
# with its result and (in one message, here) its reasoning.
DROPPED = {25: ({"max_tokens": 500}, (0, 1, 2)), 33: ({"max_messages": 3}, (0, 1, 2, 3, 4))}
ROWS = case_rows("trim") or [pytest.param(None, marks=pytest.mark.skip("no cases"))]


@pytest.mark.parametrize("row", ROWS)
def test_the_handed_cases_hold(row):
    limits, dropped = DROPPED[row["n"]]
    assert trim(read_case(row), **limits).dropped == dropped


def test_arguments_of_8000_characters_are_at_least_1900_tokens():
    reply = Assistant("", tool_calls=(ToolCall("w", "write", "y" * 8000),))
    assert estimate_tokens(reply) >= 1900
