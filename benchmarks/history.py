"""The functions of molo.history, in units of decoding the same history, and how their cost grows.

A program that reads a history has paid for decoding it; what a function costs on top is what its
user wants to know.

Growth is 1 where a message of a longer or shorter history costs what it costs in one of 1,000. The
histories of all lengths are made of the same messages, so that each pass goes through the same
memory. One history of 1,000 that is read again and again stays in the processor's cache, where a
longer one has no room: the rows "again" show what that is worth. The rows "control" show the
allocator's part: they construct as many messages and do nothing else.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import call

from msgspec.structs import replace

import molo
from benchmarks.data import DATA, load
from benchmarks.generate import history
from benchmarks.measure import interleaved, per_second, ratio, timed
from benchmarks.report import Row, Section
from molo import Assistant, Message, System, ToolCall, ToolResult, User
from molo.history import check, estimate_tokens, pair, repair, strip_reasoning, trim

History = Sequence[Message]
Task = Callable[[History], Callable[[], object]]
"""Prepares what is to be timed for a history."""


def _trim_to_half(log: History) -> Callable[[], object]:
    return partial(trim, log, max_tokens=sum(map(estimate_tokens, log)) // 2)


TASKS: Mapping[str, Task] = {
    "pair": lambda log: partial(pair, log),
    "strip_reasoning": lambda log: partial(strip_reasoning, log),
    "trim": lambda log: partial(trim, log, max_tokens=10**9),  # holds all, so all is counted
    "trim to half": _trim_to_half,
    "check": lambda log: partial(check, log),
    "repair": lambda log: partial(repair, log),
}

# What the project asks for on realistic histories without problems.
LIMITS = {
    "pair": 0.25,
    "strip_reasoning": 0.15,
    "trim": 0.3,
    "trim to half": 0.3,
    "check": 1.0,
    "repair": 1.15,
}

LENGTHS = (10, 100, 1_000, 10_000, 100_000)  # messages in a history
USUAL = 1_000  # messages; what other lengths are compared with
GROWTH_LIMIT = 1.5  # at the greatest length


def cost(share: float, rounds: int) -> Section:
    """Measure every function on the data sets, whose histories have no problems."""
    rows = [row for data in DATA for row in _costs(data, share, rounds)]
    return Section("History functions", "molo.json.decode of the same history", rows)


def _costs(data: str, share: float, rounds: int) -> Iterator[Row]:
    histories = load(data, share)
    wire = [molo.json.encode(log) for log in histories]
    if any(map(check, histories)):
        raise ValueError("a history that should be valid has problems")
    gc.freeze()
    subjects = {
        name: partial(timed, call, list(map(task, histories))) for name, task in TASKS.items()
    }
    times = interleaved({"decode": partial(timed, molo.json.decode, wire), **subjects}, rounds)
    messages = sum(map(len, histories))
    for name in TASKS:
        over, rate = ratio(times[name], times["decode"]), per_second(messages, times[name])
        limit = LIMITS[name] if data == "realistic" else None
        yield Row(data, name, "molo", over, rate, limit=limit)


def growth(share: float, rounds: int) -> Section:
    """Measure the same messages as many short histories and as few long ones."""
    shortest, longest = LENGTHS[0], round(LENGTHS[-1] * share)
    pieces = [history(shortest, seed=seed) for seed in range(longest // shortest)]
    valid = {length: _joined(pieces, length) for length in LENGTHS if length <= longest}
    mangled = {length: list(map(broken, valid[length])) for length in (USUAL, max(valid))}
    rows = [row for name in TASKS for row in _growth("valid", name, TASKS[name], valid, rounds)]
    rows += _growth("broken", "repair", TASKS["repair"], mangled, rounds)
    rows += [_again(name, TASKS[name], valid[USUAL], rounds) for name in TASKS]
    rows += _growth("control", "construct as many messages", _construct, valid, rounds)
    title = f"Growth from {shortest:,} to {max(valid):,} messages"
    return Section(title, f"a message in histories of {USUAL:,}", rows)


def _joined(pieces: Sequence[list[Message]], length: int) -> list[list[Message]]:
    """Join short histories to such of this length."""
    count = length // LENGTHS[0]
    starts = range(0, len(pieces), count)
    return [list(chain.from_iterable(pieces[at : at + count])) for at in starts]


def _construct(log: History) -> Callable[[], object]:
    return lambda: [Assistant("") for _ in log]


def _growth(
    data: str, name: str, task: Task, logs: Mapping[int, list[list[Message]]], rounds: int
) -> Iterator[Row]:
    gc.freeze()
    subjects = {
        _messages(length): partial(timed, call, list(map(task, logs[length]))) for length in logs
    }
    times = interleaved(subjects, rounds)
    for length in logs:
        own, usual = times[_messages(length)], times[_messages(USUAL)]
        rate = per_second(sum(map(len, logs[length])), own)
        limit = GROWTH_LIMIT if length == LENGTHS[-1] and data != "control" else None
        yield Row(data, name, _messages(length), ratio(own, usual), rate, limit=limit)


def _again(name: str, task: Task, logs: list[list[Message]], rounds: int) -> Row:
    """Measure one history again and again, beside as many different ones."""
    gc.freeze()
    calls = list(map(task, logs))
    subjects = {
        "again": partial(timed, call, calls[:1] * len(calls)),
        "once": partial(timed, call, calls),
    }
    times = interleaved(subjects, rounds)
    rate = per_second(sum(map(len, logs)), times["again"])
    return Row("again", name, _messages(USUAL), ratio(times["again"], times["once"]), rate)


def _messages(length: int) -> str:
    return f"{length:,} messages"


def broken(log: History) -> list[Message]:
    """Break what a search could drown in, many times over.

    All results stand behind everything else, last one first; all calls and results have the same
    id; no reply has text, no arguments are whole, and the first message comes last.
    """
    first, *others = [_broken(message) for message in log]
    results = [message for message in others if isinstance(message, ToolResult)]
    spoken = [message for message in others if not isinstance(message, ToolResult)]
    return [*spoken, *reversed(results), first]


def _broken(message: Message) -> Message:
    match message:
        case Assistant(tool_calls=calls):
            return replace(message, content="", tool_calls=tuple(map(_broken_call, calls)))
        case ToolResult():
            return replace(message, id="call_0")
        case System() | User():
            return message


def _broken_call(call: ToolCall) -> ToolCall:
    return replace(call, id="call_0", arguments=call.arguments[: len(call.arguments) // 2])
