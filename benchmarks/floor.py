"""molo's codecs against the same calls of bare msgspec, in one process.

What molo adds is a few hundredths of the time. That is less than two processes differ by chance
(where their memory lies, how their dicts are laid out), so here both use the same objects in turns.
"""

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.contenders import molo, msgspec
from benchmarks.data import DATA, load
from benchmarks.measure import interleaved, ratio, timed
from benchmarks.report import Row, Section
from benchmarks.worker import FORMS

# What the project asks for: molo's time in units of bare msgspec's. It does not say whether what is
# encoded was encoded before, so both are held to it.
LIMITS = {
    ("realistic", "decode"): 1.05,
    ("realistic", "encode"): 1.05,
    ("small", "decode"): 1.10,
    ("small", "encode"): 1.25,
}

_PART = 0.2  # of the data sets a pass, and so many more rounds: short ones, that nothing falls into


def run(share: float, rounds: int) -> Section:
    """Measure decoding, encoding what was just decoded, and encoding the same objects again."""
    rows = [
        row
        for data in DATA
        for form in FORMS
        for row in _compare(data, form, share * _PART, round(rounds / _PART))
    ]
    return Section("What molo adds to msgspec", "bare msgspec's time in the same process", rows)


def _compare(data: str, form: str, share: float, rounds: int) -> Iterator[Row]:
    encode, decode = getattr(msgspec, f"encode_{form}"), getattr(msgspec, f"decode_{form}")
    histories = load(data, share)
    wire = [encode(history) for history in histories]
    gc.freeze()
    passes: dict[str, tuple[str, Callable[[], list[Any]]]] = {
        "decode": ("decode", lambda: wire),
        "encode": ("encode", lambda: [decode(item) for item in wire]),
        "encode again": ("encode", lambda: histories),
    }
    for task, (verb, values) in passes.items():
        subjects = {
            contender.PACKAGES[0]: partial(_pass, getattr(contender, f"{verb}_{form}"), values)
            for contender in (molo, msgspec)
        }
        times = interleaved(subjects, rounds)
        over = ratio(times["molo"], times["msgspec"])
        yield Row(data, f"{form} {task}", "molo", over, limit=LIMITS[data, verb])


def _pass(function: Callable[[Any], object], values: Callable[[], list[Any]]) -> float:
    return timed(function, values())
