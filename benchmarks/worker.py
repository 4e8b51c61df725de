"""One contender in a process of its own: `python -m benchmarks.worker KIND NAME SHARE`.

It makes sure that the contender does what it is measured with (reads and writes every conversation
to the same value, finds valid what is valid), and greets with one line: what it can do, or which
package it lacks. Then it does one pass for each line that names data and task, and answers with
what it measured, until its input ends. `benchmarks.contest` is the other end.
"""

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import version
from operator import call
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from benchmarks.data import DATA_OF_PEERS, load
from benchmarks.measure import Subject, timed
from benchmarks.sent import as_sent
from molo import Message

FORMS = ("json", "binary")

_Histories = list[list[Message]]


class Task(msgspec.Struct):
    """What a contender can do with a data set."""

    data: str
    name: str
    messages: int
    bytes: int = 0  # of the encoded data, where it encodes or decodes


class Greeting(msgspec.Struct):
    """What a worker says of itself."""

    missing: str = ""  # the module that is not installed; then the rest is empty
    versions: dict[str, str] = {}
    tasks: list[Task] = []


class _Offer(NamedTuple):
    task: Task
    measure: Subject


def main(kind: str, name: str, share: float) -> None:
    """Serve one contender on standard input and output."""
    try:
        contender = import_module(f"benchmarks.contenders.{name}")
    except ModuleNotFoundError as missing:
        _say(Greeting(missing=str(missing.name)))
        return
    offers = [
        offer for data in DATA_OF_PEERS for offer in KINDS[kind](contender, data, load(data, share))
    ]
    versions = {package: version(package) for package in contender.PACKAGES}
    _say(Greeting(versions=versions, tasks=[offer.task for offer in offers]))
    measures = {(offer.task.data, offer.task.name): offer.measure for offer in offers}
    gc.freeze()
    for line in sys.stdin.buffer:
        _say(measures[msgspec.json.decode(line, type=tuple[str, str])]())


def _say(answer: Greeting | float) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


# --- What is measured, by kind --------------------------------------------------------------------


def _codecs(contender: ModuleType, data: str, histories: _Histories) -> Iterator[_Offer]:
    """Seconds to decode and to encode, in each form that the contender has."""
    for form in FORMS:
        if not hasattr(contender, f"decode_{form}"):
            continue
        decode, encode = _codec(contender, form)
        wire = _written(contender, form, histories)
        sizes = (sum(map(len, histories)), sum(map(len, wire)))
        yield _Offer(Task(data, f"{form} decode", *sizes), partial(timed, decode, wire))
        encoding = partial(_encode, encode, decode, wire)
        yield _Offer(Task(data, f"{form} encode", *sizes), encoding)


def _calls(contender: ModuleType, data: str, histories: _Histories) -> Iterator[_Offer]:
    """Seconds of the history functions, for histories as they are sent to a model."""
    sent = list(map(as_sent, histories))
    for name, prepare in contender.CALLS.items():
        calls = [prepare(history) for history in sent]
        yield _Offer(Task(data, name, sum(map(len, sent))), partial(timed, call, calls))


def _memory(contender: ModuleType, data: str, histories: _Histories) -> Iterator[_Offer]:
    """Bytes that decoded histories take."""
    decode, _ = _codec(contender, "json")
    wire = _written(contender, "json", histories)
    yield _Offer(Task(data, "held", sum(map(len, histories))), partial(_held, decode, wire))


KINDS: dict[str, Callable[[ModuleType, str, _Histories], Iterator[_Offer]]] = {
    "codecs": _codecs,
    "calls": _calls,
    "memory": _memory,
}


def _codec(
    contender: ModuleType, form: str
) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    return getattr(contender, f"decode_{form}"), getattr(contender, f"encode_{form}")


def _written(contender: ModuleType, form: str, histories: _Histories) -> list[bytes]:
    """Write the histories in the contender's form, sure that they come back the same."""
    decode, encode = _codec(contender, form)
    wire = [encode(contender.convert(history)) for history in histories]
    for data, history in zip(wire, histories, strict=True):
        own = decode(data)
        if contender.restore(own) != history or encode(own) != data:
            raise ValueError(f"{contender.__name__} changed a conversation")
    return wire


def _encode(
    encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], wire: list[bytes]
) -> float:
    # Encoded as they come from a reader: CPython keeps the UTF-8 of a text that it gave out once,
    # so the same objects would be written faster from the second round on.
    return timed(encode, [decode(data) for data in wire])


def _held(decode: Callable[[bytes], Any], wire: list[bytes]) -> float:
    """Give the bytes that Python's allocators hold more than before, one list item each included.

    What a contender keeps for later (the names of keys, a buffer) is there after the first pass.
    """
    for data in wire:
        decode(data)
    gc.collect()
    tracemalloc.start()
    held = [decode(data) for data in wire]
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del held
    return size


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
