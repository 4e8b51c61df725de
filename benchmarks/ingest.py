"""Reading and converting logs, in units of the loop that a user would write over molo's decoder.

The loop is `for line in file: decode(line)`, with bare msgspec's typed decoder; it has no places,
no faults, and stops at the first bad line. Beside it stands what a user would pick instead: the
same loop over other decoders, and tables. Who gives dicts or a table, and checks nothing, is marked
as untyped. All of them have shown that the conversations come whole before a time is taken.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from types import ModuleType
from typing import NamedTuple

import msgspec

from benchmarks.contenders import msgspec as floor
from benchmarks.data import DATA, load
from benchmarks.measure import interleaved, per_second, ratio
from benchmarks.report import Row, Section
from benchmarks.tables import TABLES
from molo import Message
from molo.ingest import Fault, Record, encode, open_log, write

READ_LIMIT = 1 / 0.85  # of the loop's time, as what follows
CONVERT_LIMIT = 1 / 0.35

LOOPS = ("pydantic", "json", "orjson")  # contenders, in the loop in place of msgspec
TYPED = ("pydantic",)
UNTYPED = " (untyped)"

_Histories = Sequence[list[Message]]


class _Subject(NamedTuple):
    """Who does what with which log, and in which loop's units it is told."""

    task: str
    name: str
    do: Callable[[Path], object]
    log: Path
    unit: str = "loop"
    limit: float | None = None


def cost(share: float, rounds: int) -> Section:
    """Measure reading and converting against the loop over the same native log."""
    skipped: dict[str, str] = {}
    loops = _installed("benchmarks.contenders", LOOPS, skipped)
    tables = _installed("benchmarks.tables", TABLES, skipped)
    with TemporaryDirectory() as directory:
        rows = [
            row
            for data in DATA
            for row in _costs(data, Path(directory, data), loops, tables, share, rounds)
        ]
    packages = [package for module in (*loops, *tables) for package in module.PACKAGES]
    return Section(
        "Logs",
        "`for line in file: decode(line)` over the same log in molo's form",
        rows,
        versions={package: version(package) for package in packages},
        skipped=skipped,
    )


def _installed(package: str, names: Sequence[str], skipped: dict[str, str]) -> list[ModuleType]:
    """Import the modules of a package; note which of them lack what they measure."""
    modules = []
    for name in names:
        try:
            modules.append(import_module(f"{package}.{name}"))
        except ModuleNotFoundError as missing:
            skipped[name] = str(missing.name)
    return modules


def _costs(
    data: str,
    directory: Path,
    loops: Sequence[ModuleType],
    tables: Sequence[ModuleType],
    share: float,
    rounds: int,
) -> Iterator[Row]:
    directory.mkdir()
    histories = load(data, share)
    logs = _write_logs(directory, histories)
    subjects = [
        *_of_molo(logs),
        *(_loop_of(contender, logs, histories) for contender in loops),
        *(_table_of(table, logs, histories) for table in tables),
    ]
    times = interleaved({one.task: partial(_seconds, one.do, one.log) for one in subjects}, rounds)
    number = sum(map(len, histories))
    for one in subjects:
        yield Row(
            data,
            one.task,
            one.name,
            ratio(times[one.task], times[one.unit]),
            messages_per_second=per_second(number, times[one.task]),
            megabytes_per_second=per_second(one.log.stat().st_size / 1e6, times[one.task]),
            limit=one.limit if data == "realistic" else None,
        )


def _write_logs(directory: Path, histories: _Histories) -> dict[str, Path]:
    """Write the same conversations in each of the ways in which they are read."""
    singles = [[message] for history in histories for message in history]
    written = {
        "molo": ("molo", [Record(history) for history in histories]),
        "molo objects": ("molo", [Record(history, rest=_REST) for history in histories]),
        "molo messages": ("molo", [Record(message, single=True) for message in singles]),
        "openai-chat": ("openai-chat", [Record(history) for history in histories]),
        "openai-chat objects": (
            "openai-chat",
            [Record(history, rest=_REST) for history in histories],
        ),
    }
    logs = {name: directory / f"{name}.jsonl" for name in written}
    for name, (format, records) in written.items():
        write(records, logs[name], format)
    return logs


_REST = '{"id":7}'  # what stands beside the conversation where a line is an object


def _seconds(do: Callable[[Path], object], log: Path) -> float:
    start = perf_counter()
    do(log)
    return perf_counter() - start


# --- molo, and the loop ---------------------------------------------------------------------------

_decode_message = msgspec.json.Decoder(Message).decode


def _of_molo(logs: Mapping[str, Path]) -> Iterator[_Subject]:
    read, read_chat = partial(read_all, "molo"), partial(read_all, "openai-chat")
    loop, loop_of_messages = partial(_loop, floor.decode_json), partial(_loop, _decode_message)
    native, chat, messages = logs["molo"], logs["openai-chat"], logs["molo messages"]
    yield _Subject("loop", "msgspec", loop, native)
    yield _Subject("read", "molo", read, native, limit=READ_LIMIT)
    yield _Subject("read objects", "molo", read, logs["molo objects"])
    yield _Subject("loop of messages", "msgspec", loop_of_messages, messages)
    yield _Subject("read messages", "molo", read, messages, "loop of messages")
    yield _Subject("read openai-chat", "molo", read_chat, chat)
    yield _Subject("convert openai-chat to molo", "molo", _convert, chat, limit=CONVERT_LIMIT)


def _loop(decode: Callable[[bytes], object], log: Path) -> None:
    with log.open("rb") as file:
        for line in file:
            decode(line)


def read_all(format: str, log: Path) -> None:
    """Read a log to its end."""
    with open_log(log) as opened:
        for item in opened.read(format):
            require_record(item)


def _convert(log: Path) -> None:
    with open_log(log) as opened, open(os.devnull, "wb") as sink:
        for item in opened.read("openai-chat"):
            sink.write(encode(require_record(item), "molo"))


def require_record(item: Record | Fault) -> Record:
    """Make sure that a line was read."""
    if isinstance(item, Fault):
        raise ValueError(item.reason)
    return item


# --- What a user would pick instead ---------------------------------------------------------------


def _loop_of(contender: ModuleType, logs: Mapping[str, Path], histories: _Histories) -> _Subject:
    """Put another decoder into the loop."""
    name = _name(contender)
    log = logs["molo"]
    with log.open("rb") as file:
        _require_same(name, map(contender.restore, map(contender.decode_json, file)), histories)
    mark = "" if name in TYPED else UNTYPED
    return _Subject(f"loop of {name}", name + mark, partial(_loop, contender.decode_json), log)


def _table_of(table: ModuleType, logs: Mapping[str, Path], histories: _Histories) -> _Subject:
    """Read a table; the work of its threads, if it has any, is on the same one CPU."""
    name = _name(table)
    log = logs[f"{table.FORMAT} objects"]
    _require_same(name, table.histories(table.read(log)), histories)
    return _Subject(f"read {table.FORMAT} objects by {name}", name + UNTYPED, table.read, log)


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[-1]


def _require_same(name: str, found: Iterable[list[Message]], histories: _Histories) -> None:
    if list(found) != histories:
        raise ValueError(f"{name} changed a conversation")
