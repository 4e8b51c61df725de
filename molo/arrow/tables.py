"""Conversations taken apart for queries: a row for each message, a row for each tool call.

Both are batch functions, as those of `molo.arrow.jobs`.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from molo.arrow.columns import (
    Batch,
    as_type,
    beside,
    fields_of,
    items_of,
    lengths_of,
    required,
    struct,
)
from molo.arrow.reading import histories_of
from molo.arrow.schema import CALLS, CONVERSATIONS, MESSAGES
from molo.history import pair
from molo.message import Message

__all__ = ["to_calls", "to_messages"]

_HISTORY = CONVERSATIONS.field("messages").type
KEEP = ("id", "line")  # columns of a conversation that tell it from others


def to_messages(batch: Batch, keep: Sequence[str] = KEEP) -> Batch:
    """Make a row of each message: the columns to `keep` of its conversation, and `MESSAGES`.

    `at` is the index of the message in its conversation. A row without messages makes none.

    Raises:
        DecodeError: `messages`, or a column to keep, is not there or of another type.
    """
    messages = as_type(required(batch, "messages"), _HISTORY, "$.messages")
    lengths = [length or 0 for length in lengths_of(messages)]
    rows = [row for row, length in enumerate(lengths) for _ in range(length)]
    return beside(batch, keep, rows, _exploded(messages, lengths))


def _exploded(histories: pa.Array, lengths: Sequence[int]) -> pa.RecordBatch:
    at = pa.array([index for length in lengths for index in range(length)], pa.int64())
    fields = fields_of(items_of(histories))
    return pa.RecordBatch.from_arrays([at, *fields], schema=MESSAGES)


def to_calls(batch: Batch, keep: Sequence[str] = KEEP) -> Batch:
    """Make a row of each tool call: the columns to `keep` of its conversation, and `CALLS`.

    Calls and results are paired by `molo.history.pair`: ids restart every turn in the wild, so a
    join on them gives a call the results of others.

    Raises:
        DecodeError: `messages` hold what is no history, or a column to keep is not there.
    """
    rows: list[int] = []
    calls: list[tuple[object, ...]] = []
    for row, history in enumerate(histories_of(batch)):
        for call in _calls(history or ()):
            rows.append(row)
            calls.append(call)
    arrays = fields_of(struct(pa.struct(CALLS), calls))
    return beside(batch, keep, rows, pa.RecordBatch.from_arrays(arrays, schema=CALLS))


def _calls(history: Sequence[Message]) -> Iterator[tuple[object, ...]]:
    for found in pair(history).pairs:
        call, result = found.call, found.result
        is_error = None if result is None else result.is_error
        yield found.at, found.part, call.id, call.name, call.arguments, found.result_at, is_error
