"""Histories of a log, checked and repaired as what they are.

A line that holds a request and its answer ends in what the model said last. Nobody has replied to
that yet: calls in it are not dangling, and it may well be the last message.
"""

from msgspec.structs import replace

from molo.cli.sources import has_answer
from molo.history import Pair, Problem, Repaired, Rules, check, pair, repair
from molo.ingest import Record

__all__ = ["dangling_calls", "problems_of", "repaired"]

_OPEN = frozenset({"dangling_call", "last_role", "content_trailing_blank"})
"""Codes of problems that an answer has until somebody replies."""


def problems_of(record: Record, rules: Rules) -> tuple[Problem, ...]:
    """Check the history of a record."""
    problems = check(record.messages, rules)
    if not (problems and has_answer(record)):
        return problems
    last = len(record.messages) - 1
    return tuple(one for one in problems if one.at != last or one.code not in _OPEN)


def repaired(record: Record, rules: Rules) -> Repaired:
    """Repair the history of a record; an answer gets no made-up results."""
    done = repair(record.messages, rules)
    if not (done.changes and has_answer(record)):
        return done
    last = len(record.messages) - 1
    changes = tuple(one for one in done.changes if one.at != last or one.code != "dangling_call")
    if len(changes) == len(done.changes):
        return done
    kept = {id(one) for one in changes}
    made_up = {one.to for one in done.changes if id(one) not in kept}
    messages = [message for at, message in enumerate(done.history) if at not in made_up]
    remaining = problems_of(replace(record, messages=messages), rules)
    return Repaired(messages, changes, remaining)


def dangling_calls(record: Record) -> tuple[Pair, ...]:
    """List the calls that lack a result, but for those of an answer."""
    dangling = pair(record.messages).dangling
    if not (dangling and has_answer(record)):
        return dangling
    last = len(record.messages) - 1
    return tuple(one for one in dangling if one.at != last)
