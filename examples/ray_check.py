"""Logs of any size are checked by Ray Data on as many machines as it has, and written as Parquet.

    pip install '.[arrow]' 'ray[data]'
    python examples/ray_check.py LOGS OUT [FORMAT]

LOGS is a directory of logs of JSON lines, here or in a bucket, each small enough for memory. FORMAT
is a name of `molo.ingest.FORMATS`; each log tells its own if it is left out. OUT gets three tables,
which examples/tool_errors.py queries: conversations with their problems, messages, and tool calls.
A line that cannot be read is a row too, with a `fault`.
"""

import sys
from functools import partial

import ray
from ray.data import Dataset

from molo import arrow
from molo.history import COMMON

KEEP = ("path", "line", "id")  # tell a conversation from all others


def main(logs: str, out: str, format: str = "auto") -> None:
    """Write the three tables and count their rows."""
    conversations = checked(logs, format).materialize()
    tables = {
        "conversations": conversations,
        "messages": mapped(conversations, partial(arrow.to_messages, keep=KEEP)),
        "calls": mapped(conversations, partial(arrow.to_calls, keep=KEEP)),
    }
    for name, table in tables.items():
        table.write_parquet(f"{out}/{name}")
    print(*(f"{table.count()} {name}" for name, table in tables.items()), sep=", ")


def checked(logs: str, format: str) -> Dataset:
    """Decode and check all logs; each is a task, and Ray spreads tasks over its workers."""
    files = ray.data.read_binary_files(logs, include_paths=True)
    decode = partial(arrow.decode_logs, column="bytes", format=format)
    return mapped(mapped(files, decode, rows=1), partial(arrow.check, rules=COMMON))


def mapped(dataset: Dataset, function: partial, rows: int | None = None) -> Dataset:
    """Have batches of at most this many rows made into others."""
    return dataset.map_batches(function, batch_size=rows, batch_format="pyarrow")


if __name__ == "__main__":
    main(*sys.argv[1:])
