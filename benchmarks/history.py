"""The functions of molo.history, in units of decoding the same history, and how their cost grows.

A program that reads a history has paid for decoding it; what a function costs on top is what its
user wants to know. Growth is 1 where a history of 100 times the messages takes 100 times as long.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

import molo.history
from benchmarks.data import DATA, load
from benchmarks.generate import history
from benchmarks.measure import interleaved, ratio, timed
from benchmarks.report import Row, Section
from molo import Assistant, Message, System, ToolCall, ToolResult, User

_History = Sequence[Message]

# The arguments besides the history. trim's budget holds everything, so that it counts it all.
ARGUMENTS: dict[str, dict[str, int]] = {
    "pair": {},
    "strip_reasoning": {},
    "trim": {"max_tokens": 10**9},
    "check": {},
    "repair": {},
}
FUNCTIONS: dict[str, Callable[[_History], object]] = {
    name: partial(getattr(molo.history, name), **arguments)
    for name, arguments in ARGUMENTS.items()
    if hasattr(molo.history, name)
}
SKIPPED = {name: f"molo.history.{name}" for name in ARGUMENTS if name not in FUNCTIONS}

# What the project asks for on realistic histories without problems.
LIMITS = {"pair": 0.25, "strip_reasoning": 0.15, "trim": 0.3, "check": 1.0, "repair": 1.15}

SHORT, FACTOR = 1000, 100  # messages, and how many times longer the long history is
GROWTH_LIMIT = 1.5


def cost(share: float, rounds: int) -> Section:
    """Measure every function on the data sets, whose histories have no problems."""
    rows = [row for data in DATA for row in _costs(data, share, rounds)]
    unit = "molo.json.decode of the same history"
    return Section("History functions", unit, rows, skipped=SKIPPED)


def _costs(data: str, share: float, rounds: int) -> Iterator[Row]:
    histories = load(data, share)
    wire = [molo.json.encode(log) for log in histories]
    if "check" in FUNCTIONS and any(map(FUNCTIONS["check"], histories)):
        raise ValueError("a history that should be valid has problems")
    gc.freeze()
    subjects = {name: partial(timed, function, histories) for name, function in FUNCTIONS.items()}
    times = interleaved({"decode": partial(timed, molo.json.decode, wire), **subjects}, rounds)
    for name in FUNCTIONS:
        limit = LIMITS[name] if data == "realistic" else None
        yield Row(data, name, "molo", ratio(times[name], times["decode"]), limit=limit)


def growth(share: float, rounds: int) -> Section:
    """Measure a short and a long history, valid and broken."""
    short = history(round(SHORT * share))
    long = history(round(SHORT * share) * FACTOR)
    cases = [("valid", name, short, long) for name in FUNCTIONS]
    if "repair" in FUNCTIONS:
        cases.append(("broken", "repair", broken(short), broken(long)))
    rows = [_growth(*case, rounds) for case in cases]
    title = f"Growth from {len(short):,} to {len(long):,} messages"
    return Section(title, f"{FACTOR} times the short history's", rows, skipped=SKIPPED)


def _growth(data: str, name: str, short: _History, long: _History, rounds: int) -> Row:
    gc.freeze()
    subjects = {
        "short": partial(timed, FUNCTIONS[name], [short] * FACTOR),
        "long": partial(timed, FUNCTIONS[name], [long]),
    }
    times = interleaved(subjects, rounds)
    return Row(data, name, "molo", ratio(times["long"], times["short"]), limit=GROWTH_LIMIT)


def broken(history: _History) -> list[Message]:
    """Break what a search could drown in, many times over.

    All results stand behind everything else, last one first; all calls and results have the same
    id; no reply has text, no arguments are whole, and the System message comes last.
    """
    first, *others = [_broken(message) for message in history]
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
