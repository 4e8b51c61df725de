"""Histories sent to another process and back, as molo's frames and as what else there is.

The other process echoes: it decodes a history and encodes what it got. So does this one, which
sends what came back in the round before. Both work in turns and on one CPU: what is timed is the
work at both ends and the way of the bytes, not how fast a machine wakes a process.

pickle takes what comes for what it says it is, and json gives dicts: they check nothing. That each
way gives every history back as it was is made sure before it is timed.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BufferedReader, BufferedWriter, FileIO, IOBase
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from socket import socket, socketpair
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import molo
from benchmarks.contenders.json import decode_json, encode_json
from benchmarks.data import DATA, load
from benchmarks.measure import interleaved, per_second, ratio
from benchmarks.report import Row, Section
from molo import Message, framing
from molo.framing import Sink, Socket, Source

_Value: TypeAlias = Any  # a history as it is sent: messages, or dicts
_Ends: TypeAlias = tuple[int, ...]  # descriptors: to read and to write, or one for both


class _Talk(NamedTuple):
    """What one end of a connection does; `receive` gives None when the other has gone."""

    send: Callable[[_Value], object]
    receive: Callable[[], _Value | None]
    close: Callable[[], None]


class _Way(NamedTuple):
    """A way to send values.

    `connect` makes both ends of a connection, `talk` takes one of them. `encode` gives the bytes.
    """

    connect: Callable[[], tuple[_Ends, _Ends]]
    talk: Callable[..., _Talk]
    encode: Callable[[_Value], bytes | memoryview]
    convert: Callable[[list[Message]], _Value] = list
    restore: Callable[[_Value], list[Message]] = list


def run(share: float, rounds: int) -> Section:
    """Measure the round trips of every data set in every way."""
    rows: list[Row] = []
    notes: list[str] = []
    for data in DATA:
        histories = load(data, share)
        times = _times(histories, rounds)
        rows += _rows(data, histories, times)
        notes.append(f"{data}, µs a round trip: {_microseconds(times, len(histories))}")
    return Section("Between processes", f"{UNIT}, there and back over pipes", rows, notes=notes)


def _times(histories: list[list[Message]], rounds: int) -> dict[str, list[float]]:
    with ExitStack() as stack:
        talks = {name: stack.enter_context(_echo(name)) for name in WAYS}
        values = {name: _sent(name, talks[name], histories) for name in WAYS}
        gc.freeze()
        return interleaved(
            {name: partial(_pass, talks[name], values[name]) for name in WAYS}, rounds
        )


def _sent(name: str, talk: _Talk, histories: list[list[Message]]) -> list[_Value]:
    """Send the histories for the first time, and make sure that they come back the same."""
    values = [WAYS[name].convert(history) for history in histories]
    _pass(talk, values)
    if list(map(WAYS[name].restore, values)) != histories:
        raise ValueError(f"{name} changed a history")
    return values


def _pass(talk: _Talk, values: list[_Value]) -> float:
    """Send all values, and keep in their place what comes back."""
    gc.collect()
    start = perf_counter()
    for at, value in enumerate(values):
        talk.send(value)
        values[at] = talk.receive()
    return perf_counter() - start


def _rows(
    data: str, histories: list[list[Message]], times: dict[str, list[float]]
) -> Iterator[Row]:
    number = sum(map(len, histories))
    for name, way in WAYS.items():
        size = sum(len(way.encode(way.convert(history))) for history in histories)
        yield Row(
            data,
            "round trip",
            name,
            ratio(times[name], times[UNIT]),
            messages_per_second=per_second(number, times[name]),
            megabytes_per_second=per_second(2 * size / 1e6, times[name]),  # there and back
        )


def _microseconds(times: dict[str, list[float]], count: int) -> str:
    return ", ".join(f"{name} {median(some) / count * 1e6:.1f}" for name, some in times.items())


# --- The other process ----------------------------------------------------------------------------


@contextmanager
def _echo(name: str) -> Generator[_Talk, None, None]:
    """Start a process that echoes, and ends when this end is closed."""
    ours, theirs = WAYS[name].connect()
    command = [sys.executable, "-m", "benchmarks.ipc", name, *map(str, theirs)]
    with subprocess.Popen(command, pass_fds=theirs):
        for descriptor in theirs:
            os.close(descriptor)
        talk = WAYS[name].talk(*ours)
        try:
            yield talk
        finally:
            talk.close()


def main(name: str, *ends: str) -> None:
    """Echo what comes until nothing does."""
    talk = WAYS[name].talk(*map(int, ends))
    while (value := talk.receive()) is not None:
        talk.send(value)
    talk.close()


# --- The ways -------------------------------------------------------------------------------------


def _pipes() -> tuple[_Ends, _Ends]:
    (here_in, there_out), (there_in, here_out) = os.pipe(), os.pipe()
    return (here_in, here_out), (there_in, there_out)


def _sockets() -> tuple[_Ends, _Ends]:
    here, there = socketpair()
    return (here.detach(),), (there.detach(),)


def _frames(source: Source | Socket, sink: Sink | Socket, close: Callable[[], None]) -> _Talk:
    receive = partial(framing.receive, source, framing.FrameDecoder(), molo.msgpack.decode)
    return _Talk(lambda value: framing.send(sink, value, molo.msgpack.encode), receive, close)


def _frames_over_pipes(source: int, sink: int) -> _Talk:
    reader, writer = FileIO(source), FileIO(sink, "wb")
    return _frames(reader, writer, partial(_close, reader, writer))


def _frames_over_socket(end: int) -> _Talk:
    both = socket(fileno=end)
    return _frames(both, both, both.close)


def _pickles(source: int, sink: int) -> _Talk:
    reader, writer = Connection(source, writable=False), Connection(sink, readable=False)

    def receive() -> _Value | None:
        try:
            return reader.recv()
        except EOFError:
            return None

    return _Talk(writer.send, receive, partial(_close, reader, writer))


def _lines(
    encode: Callable[[_Value], bytes], decode: Callable[[bytes], _Value], source: int, sink: int
) -> _Talk:
    reader, writer = BufferedReader(FileIO(source)), BufferedWriter(FileIO(sink, "wb"))

    def send(value: _Value) -> None:
        writer.write(encode(value) + b"\n")
        writer.flush()

    def receive() -> _Value | None:
        line = reader.readline()
        return decode(line) if line else None

    return _Talk(send, receive, partial(_close, reader, writer))


def _close(*ends: IOBase | Connection) -> None:
    for end in ends:
        end.close()


_lines_of_molo = partial(_lines, molo.json.encode, molo.json.decode)
_lines_of_dicts = partial(_lines, encode_json, decode_json)
_DICTS = (molo.json.to_builtins, molo.json.from_builtins)

UNIT = "molo frames"
WAYS = {
    UNIT: _Way(_pipes, _frames_over_pipes, molo.msgpack.encode),
    "molo frames, socket": _Way(_sockets, _frames_over_socket, molo.msgpack.encode),
    "molo.json lines": _Way(_pipes, _lines_of_molo, molo.json.encode),
    "json lines of dicts": _Way(_pipes, _lines_of_dicts, encode_json, *_DICTS),
    "pickle": _Way(_pipes, _pickles, ForkingPickler.dumps),
    "pickle of dicts": _Way(_pipes, _pickles, ForkingPickler.dumps, *_DICTS),
}


if __name__ == "__main__":
    main(*sys.argv[1:])
