"""molo's two forms against each other, in one process: what MessagePack saves."""

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from benchmarks.data import DATA, load
from benchmarks.measure import Subject, interleaved, ratio, timed
from benchmarks.report import Row, Section
from molo import Message, json, msgpack

# What the project asks for: how many times MessagePack's time JSON takes at least.
LEAST = {("realistic", "decode"): 1.8, ("realistic", "encode"): 2.2}

_PART = 0.2  # of the data sets a pass, and so many more rounds, as in `benchmarks.floor`

_History = list[Message]


class _Form(NamedTuple):
    encode: Callable[[_History], bytes]
    decode: Callable[[bytes], _History]


_JSON = _Form(json.encode, json.decode)
_MESSAGEPACK = _Form(msgpack.encode, msgpack.decode)


def run(share: float, rounds: int) -> Section:
    """Measure decoding, encoding what was just decoded, and encoding the same objects again."""
    rows = [row for data in DATA for row in _compare(data, share * _PART, round(rounds / _PART))]
    return Section("JSON and MessagePack", "MessagePack's time in the same process", rows)


def _compare(data: str, share: float, rounds: int) -> Iterator[Row]:
    histories = load(data, share)
    passes = {"JSON": _passes(_JSON, histories), "MessagePack": _passes(_MESSAGEPACK, histories)}
    gc.freeze()
    for task in passes["JSON"]:
        times = interleaved({form: done[task] for form, done in passes.items()}, rounds)
        over = ratio(times["JSON"], times["MessagePack"])
        yield Row(data, task, "JSON", over, least=LEAST.get((data, task)))


def _passes(form: _Form, histories: list[_History]) -> dict[str, Subject]:
    encode, decode = form
    wire = [encode(history) for history in histories]
    return {
        "decode": partial(timed, decode, wire),
        "encode": lambda: timed(encode, [decode(data) for data in wire]),
        "encode again": partial(timed, encode, histories),
    }
