"""Histories as Arrow batches, in units of decoding them, and their size as Parquet.

Beside molo stands what pyarrow offers by itself: dicts in, and dicts out. A size is that of a file
of the same histories in units of their JSON lines. The made-up texts compress better than real
ones, so a size compares with the other one only.
"""

import gc
import gzip
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import msgspec

import molo
from benchmarks.data import DATA, load
from benchmarks.measure import Ratio, Subject, interleaved, ratio, timed
from benchmarks.report import Row, Section
from molo import Message, ToolResult, User
from molo.ingest import Record

_Histories = list[list[Message]]

HAS_PYARROW = find_spec("pyarrow") is not None
if HAS_PYARROW:
    import pyarrow as pa

    from molo import arrow


def run(share: float, rounds: int) -> Section:
    """Measure writing and reading batches, and the sizes of files."""
    rows = [row for data in DATA for row in _measured(data, share, rounds)]
    return Section(
        "Arrow and Parquet",
        "molo.json.decode of the same histories; of a size, their JSON lines",
        rows,
        versions={"pyarrow": version("pyarrow")} if HAS_PYARROW else {},
        skipped={} if HAS_PYARROW else {"arrow": "pyarrow"},
    )


def _measured(data: str, share: float, rounds: int) -> Iterator[Row]:
    histories = load(data, share)
    wire = [molo.json.encode(history) for history in histories]
    if HAS_PYARROW:
        yield from _times(data, histories, wire, rounds)
        yield Row(data, "size", "Parquet", _size(_parquet_size(histories), wire))
    yield Row(data, "size", "gzip", _size(len(gzip.compress(_lines(wire))), wire))


def _times(data: str, histories: _Histories, wire: list[bytes], rounds: int) -> Iterator[Row]:
    batch = arrow.to_batch([Record(history) for history in histories])
    if arrow.histories_of(batch) != histories:
        raise ValueError("molo.arrow changed a conversation")
    gc.freeze()
    # Each pass writes histories that were just decoded: CPython keeps the UTF-8 of a text that it
    # gave out once, so the same objects would be written faster from the second round on.
    subjects: dict[tuple[str, str], Subject] = {
        ("to_batch", "molo"): lambda: timed(arrow.to_batch, [_records(wire)]),
        ("to_batch", "pyarrow"): lambda: timed(_from_pylist, [_records(wire)]),
        ("from_batch", "molo"): partial(timed, arrow.from_batch, [batch]),
        ("from_batch", "pyarrow"): partial(timed, pa.RecordBatch.to_pylist, [batch]),
    }
    decode = partial(timed, molo.json.decode, wire)
    named = {" ".join(names): subject for names, subject in subjects.items()}
    times = interleaved({"decode": decode, **named}, rounds)
    for task, subject in subjects:
        yield Row(data, task, subject, ratio(times[f"{task} {subject}"], times["decode"]))


def _records(wire: list[bytes]) -> list[Record]:
    return [Record(molo.json.decode(line)) for line in wire]


def _from_pylist(records: list[Record]) -> object:
    """Let pyarrow take dicts apart, as a program without molo.arrow would."""
    rows = [{"messages": [_as_dict(message) for message in one.messages]} for one in records]
    return pa.RecordBatch.from_pylist(
        rows, schema=pa.schema([arrow.CONVERSATIONS.field("messages")])
    )


def _as_dict(message: Message) -> dict[str, object]:
    """Make a message a dict that fits the schema; pyarrow takes a missing key for null."""
    fields: dict[str, object] = msgspec.to_builtins(message, builtin_types=(bytes,))
    if isinstance(message, User):
        fields["blocks"] = fields.pop("content")
    if isinstance(message, ToolResult):
        fields["call_id"] = fields.pop("id")
    return fields


def _parquet_size(histories: _Histories) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        arrow.write_parquet(map(Record, histories), path)
        return path.stat().st_size


def _size(size: int, wire: list[bytes]) -> Ratio:
    share = size / len(_lines(wire))
    return Ratio(share, share, share)


def _lines(wire: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in wire)
