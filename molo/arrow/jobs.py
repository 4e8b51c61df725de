"""Batch functions: what people do to logs, for an engine that runs it on many machines.

Each takes a batch and gives a batch, depends on nothing else, and can be pickled, also with its
arguments bound by `functools.partial`. A batch is a RecordBatch or a Table, and what comes back is
of the same kind, so that they go as they are to

    dataset.map_batches(partial(check, rules=DEEPSEEK), batch_format="pyarrow")     Ray Data
    frame.mapInArrow(partial(map, partial(check, rules=DEEPSEEK)), schema)          Spark

All but the two that decode take batches of the schema `CONVERSATIONS`, look at the column
`messages` (`check` and `repair` at `origin` too), and leave all other columns as they are. A row
whose `messages` are null (a Fault) stays so, and is null in every column that is added.

Raises, all of them: `DecodeError` where `messages` hold what is no history, or `origin` what is no
origin.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TypeAlias, TypeVar

import pyarrow as pa

from molo import history
from molo.arrow.columns import (
    Batch,
    as_type,
    beside,
    column_of,
    list_column,
    required,
    struct,
    texts_of,
    with_column,
)
from molo.arrow.reading import histories_of, origins_of
from molo.arrow.schema import CHANGE, PROBLEM
from molo.arrow.writing import histories_column, to_batch
from molo.errors.translation import alternatives
from molo.history import COMMON, Change, Problem, Rules
from molo.history.reasoning import Keep
from molo.ingest import AUTO, FORMATS, Fault, Record, check_record, read, repair_record
from molo.message import Message

__all__ = [
    "check",
    "decode_lines",
    "decode_logs",
    "estimate_tokens",
    "map_histories",
    "redact",
    "repair",
    "strip_reasoning",
]

T = TypeVar("T")

_Item: TypeAlias = Record | Fault

_LINEWISE = [name for name, format in FORMATS.items() if format.layout == "lines"]


def decode_lines(batch: Batch, column: str, format: str) -> Batch:
    """Read a column of lines of a log, text or bytes, into rows of the schema `CONVERSATIONS`.

    `format` names one of molo.ingest's that has lines. It cannot be `auto`: a batch is not the log,
    and what each was taken for would depend on the cut. A bad line becomes a row with a `fault` and
    no messages; blank lines and nulls become none.

    The other columns stay beside the new ones, and in place of those of the same name: a batch that
    knows its `id`, `line` or `offset` keeps them. A line itself does not know where it stood.

    Mind that a line of JSON ends at byte 0x0A and nowhere else. What takes text apart at every
    character that Unicode calls a line break (`str.splitlines`, and so Ray Data's `read_text`, as
    its source says in Ray 2.60, read 2026-11) tears lines that hold U+2028; have whole files read
    there, and use `decode_logs`.

    Raises:
        ValueError: no such format.

    >>> log = pa.table({"text": ['[{"role":"system","content":"Be brief."}]', "[{]"]})
    >>> rows = decode_lines(log, "text", "molo")
    >>> rows.column("messages").is_valid().to_pylist()
    [True, False]
    >>> [fault["code"] for fault in rows.column("fault").to_pylist() if fault]
    ['json']
    """
    if format not in _LINEWISE:
        raise ValueError(f"Expected a format of lines, one of {alternatives(_LINEWISE)}")
    lines = [None if line is None else line + b"\n" for line in _bytes_of(batch, column)]
    return _decoded(batch, column, [_read(line, format, line=0) for line in lines])


def decode_logs(batch: Batch, column: str, format: str = AUTO, *, source: str = "path") -> Batch:
    """Read a column of whole logs, as bytes, into rows of the schema `CONVERSATIONS`.

    This is for logs that are many files, of which an engine reads each as one value. `source` names
    the column with the names of the logs, for Faults; without such a column they have none. Other
    columns stay beside the new ones, as in `decode_lines`. What is compressed is to be decompressed
    by the engine. A log in memory takes its own size, and what comes of it again.

    Raises:
        ValueError: no such format.
    """
    names = column_of(batch, source)
    sources = ["-"] * batch.num_rows if names is None else texts_of(names, f"$.{source}")
    logs = zip(_bytes_of(batch, column), sources, strict=True)
    return _decoded(batch, column, [_read(log, format, source=name or "-") for log, name in logs])


def _bytes_of(batch: pa.RecordBatch | pa.Table, name: str) -> list[bytes | None]:
    return as_type(required(batch, name), pa.large_binary(), f"$.{name}").to_pylist()


def _read(data: bytes | None, format: str, *, source: str = "-", line: int = 1) -> list[_Item]:
    return [] if data is None else list(read([data], format, source=source, line=line))


def _decoded(batch: Batch, column: str, found: Sequence[Sequence[_Item]]) -> Batch:
    """Put what was found in each row beside the other columns of the row."""
    rows = [row for row, items in enumerate(found) for _ in items]
    kept = [name for name in batch.schema.names if name != column]
    return beside(batch, kept, rows, to_batch(list(chain.from_iterable(found))))


def check(batch: Batch, rules: Rules = COMMON) -> Batch:
    """Add a column `problems`, a list of what `molo.ingest.check_record` finds.

    What the column `origin` says counts, if there is one: an answer at the end is still open.
    """
    problems = _each_record(batch, partial(check_record, rules=rules))
    return with_column(batch, "problems", _findings(problems, PROBLEM))


def repair(batch: Batch, rules: Rules = COMMON) -> Batch:
    """Repair the messages as `molo.ingest.repair_record` does, and add a column `changes`.

    What the column `origin` says counts, if there is one: an answer at the end is still open.
    """
    repaired = _each_record(batch, partial(repair_record, rules=rules))
    messages = histories_column([None if one is None else one.history for one in repaired])
    changes = _findings([None if one is None else one.changes for one in repaired], CHANGE)
    return with_column(with_column(batch, "messages", messages), "changes", changes)


def strip_reasoning(batch: Batch, keep: Keep = "none") -> Batch:
    """Drop reasoning as `molo.history.strip_reasoning` does."""
    return map_histories(batch, partial(history.strip_reasoning, keep=keep))


def redact(batch: Batch, pattern: str | re.Pattern[str], replacement: str = "[redacted]") -> Batch:
    """Replace what a regular expression matches, in all that is text to `molo.history.map_text`.

    The columns beside `messages` may quote a conversation too, and stay as they are: `rest`,
    `origin`, and the `raw` bytes of a fault. Drop them where they must not go on.
    """
    substitute = partial(re.compile(pattern).sub, replacement)
    return map_histories(batch, partial(history.map_text, f=substitute))


def estimate_tokens(batch: Batch) -> Batch:
    """Add a column `tokens`: the sum of `molo.history.estimate_tokens` over the messages."""
    tokens = _each(batch, _tokens)
    return with_column(batch, "tokens", pa.array(tokens, pa.int64()))


def map_histories(
    batch: Batch, function: Callable[[Sequence[Message]], Sequence[Message]]
) -> Batch:
    """Put what a function makes of each history in its place.

    Raises:
        EncodeError: the function gives what is no history.
    """
    return with_column(batch, "messages", histories_column(_each(batch, function)))


def _each(batch: Batch, function: Callable[[Sequence[Message]], T]) -> list[T | None]:
    """Give what a function makes of each history, None of a row that has none."""
    return [None if one is None else function(one) for one in histories_of(batch)]


def _each_record(batch: Batch, function: Callable[[Record], T]) -> list[T | None]:
    """Give what a function makes of each history and its origin, None of a row that has none."""
    rows = zip(histories_of(batch), origins_of(batch), strict=True)
    return [
        None if messages is None else function(Record(messages, origin=origin))
        for messages, origin in rows
    ]


def _tokens(messages: Sequence[Message]) -> int:
    return sum(map(history.estimate_tokens, messages))


def _findings(
    lists: Sequence[Sequence[Problem | Change] | None], type: pa.StructType
) -> pa.LargeListArray:
    """Make a list column of structs, whose fields are named as those of the findings."""
    fields = attrgetter(*type.names)
    rows = map(fields, chain.from_iterable(filter(None, lists)))
    lengths = [None if found is None else len(found) for found in lists]
    return list_column(lengths, struct(type, rows))
