"""How everything here is timed: interleaved rounds, and ratios within a round.

A machine that is shared or changes its clock is slower in one second than in the next. Each round
therefore times every subject once, one right after the other, and a ratio is taken between two
times of the same round; what slows the round slows both.
"""

import gc
import os
from collections.abc import Callable, Iterable, Mapping
from statistics import median, quantiles
from time import perf_counter
from typing import TypeVar

import msgspec

T = TypeVar("T")

Subject = Callable[[], float]
"""Does its work once and returns the seconds it took."""


class Ratio(msgspec.Struct, frozen=True):
    """The median of the rounds' ratios, and the quartiles around it."""

    median: float
    low: float
    high: float


def pin() -> int | None:
    """Keep this process and its children on one CPU; say which, or None where that cannot be."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    cpu = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    return cpu


def timed(function: Callable[[T], object], values: Iterable[T]) -> float:
    """Return the seconds that a function takes for all values, one after the other."""
    gc.collect()
    start = perf_counter()
    for value in values:
        function(value)
    return perf_counter() - start


def interleaved(subjects: Mapping[str, Subject], rounds: int) -> dict[str, list[float]]:
    """Time every subject once a round, in turns forwards and backwards."""
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for subject in subjects.values():
        subject()  # warms caches; not counted
    for number in range(rounds):
        for name in list(subjects)[:: 1 if number % 2 else -1]:
            times[name].append(subjects[name]())
    return times


def ratio(times: list[float], units: list[float]) -> Ratio:
    """Compare two subjects round by round."""
    low, middle, high = quantiles(map(lambda a, b: a / b, times, units), n=4, method="inclusive")
    return Ratio(middle, low, high)


def per_second(amount: float, times: list[float]) -> float:
    """Turn an amount handled in each round into a median rate."""
    return amount / median(times)
