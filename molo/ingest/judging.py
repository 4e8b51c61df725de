"""Histories of a log, checked and repaired as what they are.

A line that holds a request and its answer ends in what the model said last. Nobody has replied to
that yet: calls in it are not dangling, and it may well be the last message.
"""

from msgspec.structs import replace

from molo.history import COMMON, Pair, Problem, Repaired, Rules, check, pair, repair
from molo.ingest.records import Record
from molo.message import Assistant

__all__ = ["check_record", "dangling_calls", "repair_record"]

_OPEN = frozenset({"dangling_call", "last_role", "content_trailing_blank"})
"""Codes of problems that an answer has until somebody replies."""

_OPEN_RULES = {"last_roles": COMMON.last_roles, "final_trailing_blank": True}
"""The rules that ask for what the last two codes say, as they are for an answer."""


def check_record(record: Record, rules: Rules = COMMON) -> tuple[Problem, ...]:
    """Check the messages of a record as `molo.history.check` does, but for what is still open.

    If the record ends in an answer (`has_answer`), nothing has come behind that yet: its calls lack
    results, it is the last message, and it may end in white space.

    Raises:
        EncodeError: an item is no message; `path` says which.

    >>> from molo.ingest import read
    >>> line = (b'{"messages":[{"role":"user","content":"Hi"}],"response_message":'
    ...         b'{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",'
    ...         b'"function":{"name":"f","arguments":"{}"}}]}}\\n')
    >>> [record] = read([line], "openai-chat")
    >>> record.has_answer, check_record(record)
    (True, ())
    >>> [problem.code for problem in check(record.messages)]
    ['dangling_call']
    """
    problems = check(record.messages, rules)
    if not (problems and record.has_answer):
        return problems
    last = len(record.messages) - 1
    return tuple(one for one in problems if one.at != last or one.code not in _OPEN)


def repair_record(record: Record, rules: Rules = COMMON) -> Repaired:
    """Repair the messages of a record as `molo.history.repair` does, but for what is still open.

    If the record ends in an answer, no results are made up for its calls, and it keeps the white
    space at its end. It stays the last message: where results would have to go between it and the
    message in front of it, nothing is mended. `remaining` is what `check_record` says of what comes
    out.

    Raises:
        EncodeError: an item is no message; `path` says which.
    """
    if not record.has_answer:
        return repair(record.messages, rules)
    done = repair(record.messages, replace(rules, **_OPEN_RULES))
    last = len(record.messages) - 1
    made_up = {one.to for one in done.changes if one.at == last and one.code == "dangling_call"}
    changes = tuple(one for one in done.changes if one.to is None or one.to not in made_up)
    messages = [message for at, message in enumerate(done.history) if at not in made_up]
    # Else the request ended in calls without results, or there is no answer at all.
    if not (messages and type(messages[-1]) is Assistant):
        messages, changes = list(record.messages), ()
    return Repaired(messages, changes, check_record(replace(record, messages=messages), rules))


def dangling_calls(record: Record) -> tuple[Pair, ...]:
    """List the calls of a record that lack a result, but for those of an answer."""
    dangling = pair(record.messages).dangling
    if not (dangling and record.has_answer):
        return dangling
    last = len(record.messages) - 1
    return tuple(one for one in dangling if one.at != last)
