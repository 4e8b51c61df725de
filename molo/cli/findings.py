"""What is told of a log: one Finding for each problem, bad line, loss and change.

A Finding has no word of a conversation. It is told as a line of text or as a line of JSON.
"""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from molo.cli.plain import Style, inline
from molo.cli.sources import line_of
from molo.dialects.loss import Loss
from molo.errors import MoloError
from molo.history import Change, Problem
from molo.ingest import Fault, Record

__all__ = [
    "Finding",
    "Kind",
    "Tell",
    "as_json",
    "as_text",
    "counted",
    "of_change",
    "of_fault",
    "of_loss",
    "of_problem",
    "of_remaining",
    "of_unread",
    "of_unwritable",
]

Kind: TypeAlias = Literal["problem", "fault", "loss", "change"]


class Finding(Struct, frozen=True, omit_defaults=True):
    """One thing found in a log.

    `line` is that of the record, of a transcript that of the message. `at` is the index of the
    message in the history, `part` that of the call or block, `to` that of the message in what was
    written. `offset` and `length` are the bytes of a bad line in the log as it is decompressed.
    """

    kind: Kind
    line: int
    code: str
    text: str
    at: int | None = None
    part: int | None = None
    to: int | None = None
    offset: int | None = None
    length: int | None = None


Tell: TypeAlias = Callable[[Finding], bytes]
"""Writes a Finding as a line."""


def of_problem(record: Record, problem: Problem) -> Finding:
    """Tell a problem of a record as it was read."""
    line = line_of(record, problem.at)
    return Finding("problem", line, problem.code, problem.text, problem.at, problem.part)


def of_remaining(record: Record, problem: Problem) -> Finding:
    """Tell a problem of a record as it was written."""
    return Finding(
        "problem", record.line, problem.code, problem.text, None, problem.part, problem.at
    )


def of_fault(fault: Fault) -> Finding:
    """Tell a bad line."""
    return Finding(
        "fault", fault.line, fault.code, fault.reason, offset=fault.offset, length=fault.length
    )


def of_unwritable(record: Record, error: MoloError) -> Finding:
    """Tell a line that is none of the bad ones, and that the output cannot hold."""
    offset, length = record.offset, len(record.raw)
    return Finding("fault", record.line, "unwritable", str(error), offset=offset, length=length)


def of_unread(record: Record, loss: Loss) -> Finding:
    """Tell what was not read."""
    return Finding("loss", line_of(record, loss.at), loss.code, loss.text, loss.at, loss.part)


def of_loss(record: Record, loss: Loss) -> Finding:
    """Tell what was not written."""
    return Finding("loss", record.line, loss.code, loss.text, None, loss.part, loss.at)


def of_change(record: Record, change: Change) -> Finding:
    """Tell a repair."""
    line = line_of(record, change.at)
    return Finding("change", line, change.code, change.text, change.at, change.part, change.to)


_encode = msgspec.json.Encoder().encode


def as_json(finding: Finding) -> bytes:
    """Write a Finding as a line of JSON."""
    return _encode(finding) + b"\n"


def as_text(finding: Finding, source: str, paint: Callable[[str, Style], str]) -> bytes:
    """Write a Finding as compilers do: the place, what is wrong, and its code.

    >>> from molo.cli.plain import paint
    >>> problem = Finding("problem", 7, "id_empty", "The call has an empty id.", at=2)
    >>> as_text(problem, "calls.jsonl", paint)
    b'calls.jsonl:7: message 2: The call has an empty id. [id_empty]\\n'
    """
    place = paint(f"{inline(source)}:{finding.line}:", "place")
    at = "" if finding.at is None else f" message {finding.at}:"
    return f"{place}{at} {finding.text} {paint(f'[{finding.code}]', finding.kind)}\n".encode()


def counted(counts: Mapping[str, int]) -> str:
    """Write counts in one line, the largest first.

    >>> counted({"id_empty": 2, "dangling_call": 1200})
    '1,200 dangling_call, 2 id_empty'
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {inline(code)}" for code, number in ordered)
