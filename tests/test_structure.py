"""Turns, steps and pairs, against examples and against slow readings of their definitions."""

import pytest
from hostile import histories
from hypothesis import given
from oracles import slow_pair, slow_steps

from molo import Assistant, ToolCall, assistant, system, tool_result, user
from molo.history import Step, Turn, pair, steps, turns


def asks(*ids):
    return Assistant("", tool_calls=tuple(ToolCall(id, "f", "{}") for id in ids))


def answers(id):
    return tool_result(id, "done")


U, A, S = user("Hi"), assistant("Hello"), system("Be brief.")

TURNS = [
    ([], []),
    ([S, A], []),
    ([S, U, A, answers("a"), U, U, A], [(1, 4), (4, 5), (5, 7)]),
]


@pytest.mark.parametrize(("history", "expected"), TURNS)
def test_a_turn_reaches_from_a_user_to_the_next(history, expected):
    assert turns(history) == tuple(Turn(*span) for span in expected)


STEPS = [
    ([], []),
    ([answers("a"), U, answers("b")], []),
    ([U, A, U], [(1, 2)]),
    ([asks("a"), asks("b"), answers("a"), answers("b"), A, S, A], [(0, 4), (4, 5), (6, 7)]),
    ([A, answers("a"), S, answers("b")], [(0, 2)]),
]


@pytest.mark.parametrize(("history", "expected"), STEPS)
def test_a_step_is_a_run_of_replies_and_the_results_behind_it(history, expected):
    assert steps(history) == tuple(Step(*span) for span in expected)


# The history, the place of the result of each call, and what is orphaned, misplaced, duplicate.
PAIRS = {
    "results in another order": (
        [asks("a", "b"), answers("b"), answers("a")],
        [2, 1],
        ([], [], []),
    ),
    "equal ids pair in order": (
        [asks("a", "a"), answers("a"), answers("a"), answers("a")],
        [1, 2],
        ([], [], [3]),
    ),
    "empty ids pair within the block": (
        [asks("", ""), answers(""), answers("")],
        [1, 2],
        ([], [], []),
    ),
    "an empty id pairs nowhere else": (
        [asks(""), U, answers("")],
        [None],
        ([2], [], []),
    ),
    "ids restart in every turn": (
        [U, asks("a"), answers("a"), U, asks("a"), answers("a")],
        [2, 5],
        ([], [], []),
    ),
    "a late result goes to the nearest step that waits for it": (
        [asks("a"), U, asks("a"), U, answers("a"), answers("a")],
        [5, 4],
        ([], [4, 5], []),
    ),
    "a late result may stand in the block of another step": (
        [asks("a"), U, asks("b"), answers("a"), answers("b")],
        [3, 4],
        ([], [3], []),
    ),
    "in a block, an answered call makes a second result a duplicate": (
        [asks("a"), U, asks("a"), answers("a"), answers("a")],
        [None, 3],
        ([], [], [4]),
    ),
    "a second result outside of the block is orphaned": (
        [asks("a"), answers("a"), U, answers("a")],
        [1],
        ([3], [], []),
    ),
    "no result answers a call behind it": (
        [answers("a"), asks("a")],
        [None],
        ([0], [], []),
    ),
    "a result ends a run of replies": (
        [asks("a"), answers("b"), asks("a"), answers("a")],
        [None, 3],
        ([1], [], []),
    ),
    "a split reply is one step": (
        [asks("a"), asks("b"), answers("a"), answers("b")],
        [2, 3],
        ([], [], []),
    ),
}


@pytest.mark.parametrize(("history", "results", "strays"), PAIRS.values(), ids=PAIRS.keys())
def test_each_result_is_paired_by_the_first_rule_that_fits(history, results, strays):
    pairing = pair(history)
    assert [found.result_at for found in pairing.pairs] == results
    assert (list(pairing.orphaned), list(pairing.misplaced), list(pairing.duplicate)) == strays


@given(histories)
def test_pair_and_steps_do_what_their_definitions_say(history):
    pairing = pair(history)
    strays = [list(pairing.orphaned), list(pairing.misplaced), list(pairing.duplicate)]
    places = [(found.at, found.part, found.result_at) for found in pairing.pairs]
    assert (places, *strays) == slow_pair(history)
    assert [(step.start, step.stop) for step in steps(history)] == [
        (start, stop) for start, _, stop in slow_steps(history)
    ]


@given(histories)
def test_a_pair_holds_the_very_call_and_result_of_its_places(history):
    pairing = pair(history)
    assert all(found.call is history[found.at].tool_calls[found.part] for found in pairing.pairs)
    answered = [found for found in pairing.pairs if found.result_at is not None]
    assert all(found.result is history[found.result_at] for found in answered)
    assert set(pairing.dangling) == {found for found in pairing.pairs if found.result is None}
