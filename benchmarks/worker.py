"""One contender in a process of its own: `python -m benchmarks.worker NAME SHARE`.

It makes sure that the contender reads and writes every conversation to the same value, and greets
with one line: what it can do, or which package it lacks. Then it does one pass for each line that
names data, form and task, and answers with the seconds, until its input ends.
"""

import gc
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

import msgspec

from benchmarks.data import DATA, load
from benchmarks.measure import timed
from molo import Message

FORMATS = ("json", "msgpack")
TASKS = ("decode", "encode")


class Greeting(msgspec.Struct):
    """What a worker says of itself."""

    missing: str = ""  # the module that is not installed; then the rest is empty
    versions: dict[str, str] = {}
    messages: dict[str, int] = {}  # data set -> messages in it
    bytes: list[tuple[str, str, int]] = []  # data set, form, bytes in the contender's own form


def main(name: str, share: float) -> None:
    """Serve one contender on standard input and output."""
    try:
        contender = import_module(f"benchmarks.contenders.{name}")
    except ModuleNotFoundError as missing:
        _say(Greeting(missing=str(missing.name)))
        return
    histories = {data: load(data, share) for data in DATA}
    wires = {
        (data, form): _written(contender, form, histories[data])
        for data in DATA
        for form in FORMATS
        if hasattr(contender, f"decode_{form}")
    }
    _say(
        Greeting(
            versions={package: version(package) for package in contender.PACKAGES},
            messages={data: sum(map(len, histories[data])) for data in DATA},
            bytes=[(data, form, sum(map(len, wire))) for (data, form), wire in wires.items()],
        )
    )
    del histories
    gc.freeze()
    for line in sys.stdin.buffer:
        data, form, task = msgspec.json.decode(line, type=tuple[str, str, str])
        _say(_seconds(contender, form, task, wires[data, form]))


def _say(answer: Greeting | float) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


def _written(contender: ModuleType, form: str, histories: list[list[Message]]) -> list[bytes]:
    """Write the histories in the contender's form, sure that they come back the same."""
    decode, encode = _codec(contender, form)
    wire = [encode(contender.convert(history)) for history in histories]
    for data, history in zip(wire, histories, strict=True):
        own = decode(data)
        if contender.restore(own) != history or encode(own) != data:
            raise ValueError(f"{contender.__name__} changed a conversation")
    return wire


def _seconds(contender: ModuleType, form: str, task: str, wire: list[bytes]) -> float:
    decode, encode = _codec(contender, form)
    if task == "decode":
        return timed(decode, wire)
    # Encoded as they come from a reader: CPython keeps the UTF-8 of a text that it gave out once,
    # so the same objects would be written faster from the second round on.
    return timed(encode, [decode(data) for data in wire])


def _codec(
    contender: ModuleType, form: str
) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    return getattr(contender, f"decode_{form}"), getattr(contender, f"encode_{form}")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
