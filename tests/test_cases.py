"""The handed cases of validate, pair and repair, and one of the project's own for each kind.

Cases 32 and 43 are about what only a dialect sees (an item without its follower, a signature that
is no base64), so they are tested with the dialects.
"""

import pytest
from case_reader import case_rows, read_case

from molo import Assistant, System, ToolResult, User
from molo.history import (
    ANTHROPIC,
    COMMON,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    check,
    pair,
    repair,
)

OF_DIALECTS = {32, 43}
ROWS = [row for row in case_rows("validate", "pair", "repair") if row["n"] not in OF_DIALECTS]
RULES = {"openai_chat": OPENAI_CHAT, "anthropic": ANTHROPIC, "responses": OPENAI_RESPONSES}
ROLES = {System: "system", User: "user", Assistant: "assistant", ToolResult: "tool"}

without_cases = pytest.mark.skipif(not ROWS, reason="the shared cases are not here")


def with_fact(fact):
    rows = [row for row in ROWS if fact in row["check"]]
    return pytest.mark.parametrize("row", rows, ids=lambda row: row["file"])


def call_of(history, problem):
    return history[problem.at].tool_calls[problem.part].id


def found(history, row, *codes):
    problems = check(history, RULES[row["format"]])
    return [problem for problem in problems if problem.code in codes]


@without_cases
@with_fact("valid")
def test_a_case_is_valid_or_not_as_it_says(row):
    assert (check(read_case(row), RULES[row["format"]]) == ()) is row["check"]["valid"]


@without_cases
@with_fact("unanswered")
def test_the_unanswered_calls_of_a_case_are_found_and_answered(row):
    history = read_case(row)
    dangling = found(history, row, "dangling_call")
    assert [call_of(history, problem) for problem in dangling] == row["check"]["unanswered"]
    mended = repair(history, RULES[row["format"]]).history
    assert pair(mended).dangling == ()


@without_cases
@with_fact("orphans")
def test_the_orphans_of_a_case_are_found(row):
    orphans = found(read_case(row), row, "orphaned_result")
    assert [problem.at for problem in orphans] == row["check"]["orphans"]


@without_cases
@with_fact("duplicates")
def test_the_duplicates_of_a_case_are_found_and_the_first_stays(row):
    history = read_case(row)
    duplicates = found(history, row, "duplicate_result")
    assert [problem.at for problem in duplicates] == row["check"]["duplicates"]
    repaired = repair(history)
    gone = [change for change in repaired.changes if change.code == "duplicate_result"]
    assert [change.before for change in gone] == [history[at] for at in row["check"]["duplicates"]]
    assert repaired.history == [m for m in history if m not in [c.before for c in gone]]


@without_cases
@with_fact("pairs")
def test_the_pairs_of_a_case_are_found(row):
    pairs = [[p.at, p.part, p.result_at] for p in pair(read_case(row)).pairs]
    assert pairs == row["check"]["pairs"]


@without_cases
@with_fact("warn")
def test_the_empty_ids_of_a_case_are_found(row):
    assert row["check"]["warn"] == ["empty_call_id"]
    problems = check(read_case(row), COMMON)
    assert [(problem.code, problem.part) for problem in problems] == [
        ("id_empty", 0),
        ("id_empty", 1),
    ]


@without_cases
@with_fact("bad_arguments")
def test_the_bad_arguments_of_a_case_are_found_and_their_text_is_kept(row):
    history = read_case(row)
    problems = found(history, row, "arguments_invalid", "arguments_not_object")
    assert [call_of(history, problem) for problem in problems] == row["check"]["bad_arguments"]
    mended = repair(history, RULES[row["format"]])
    kept = [(c.before.id, c.before.arguments) for c in mended.changes]
    assert kept == [
        (call.id, call.arguments)
        for message in history
        if isinstance(message, Assistant)
        for call in message.tool_calls
    ]


@without_cases
@with_fact("after_repair_roles")
def test_a_case_is_repaired_to_the_roles_it_says_and_loses_nothing_else(row):
    history = read_case(row)
    repaired = repair(history, RULES[row["format"]])
    assert [ROLES[type(message)] for message in repaired.history] == row["check"][
        "after_repair_roles"
    ]
    assert repaired.remaining == ()
    removed = [change.before for change in repaired.changes if change.to is None]
    added = [change.after for change in repaired.changes if change.before is None]
    assert [m for m in repaired.history if m not in added] == sorted(
        (m for m in history if m not in removed), key=repaired.history.index
    )
