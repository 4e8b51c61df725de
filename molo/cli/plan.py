"""What `molo convert` and `molo repair` are to do, found out before anything is written."""

import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from molo.cli.findings import Finding, Tell, as_json, as_text
from molo.cli.options import KEPT, PARQUET, RULES, Options, UsageError
from molo.cli.screen import look
from molo.cli.sources import Source
from molo.history import Rules
from molo.history.reasoning import Keep
from molo.ingest import FORMATS, STANDARD, Layout
from molo.ingest.logs import layout_of
from molo.ingest.writing import format_of

__all__ = ["Plan", "format_by_suffix", "is_same", "make_plan", "require_different_files"]


class Plan(NamedTuple):
    """What happens to each record, how it is written, and what is told of it."""

    format: str
    layout: Layout | None
    rules: Rules | None  # of the vendor whose spelling is written
    stripped: Keep | None  # what is kept where reasoning is stripped
    repair: Rules | None
    redact: Sequence[re.Pattern[str]]
    keeps_rejects: bool
    tell_fault: Tell
    tell_edit: Tell

    @property
    def takes_whole_histories(self) -> bool:
        """Whether the lines of a transcript are put together first."""
        as_one = self.layout == "document" or self.format == PARQUET
        return as_one or self.stripped is not None or self.repair is not None or bool(self.redact)


def make_plan(options: Options, source: Source, format: str | None) -> Plan:
    """Put together what happens to a log; None as the format is its own.

    Raises:
        UsageError: the output has the name of another format.
    """
    name = format or _own_format(source, options.out)
    rules = None if options.repair is None else RULES[options.repair]
    speaks = rules is not None and rules.dialect == name.replace("-", "_")
    tell_all = options.json
    return Plan(
        name,
        None if name == PARQUET else _layout(name, options.out),
        rules if speaks else None,
        None if options.strip_reasoning is None else KEPT[options.strip_reasoning],
        rules,
        options.redact,
        options.rejects is not None,
        as_json if tell_all else partial(as_text, source=source.path, paint=look(sys.stderr).paint),
        as_json if tell_all else _untold,
    )


def _untold(finding: Finding) -> bytes:
    return b""


def format_by_suffix(path: str) -> str:
    """Give the format that a name stands for.

    Raises:
        UsageError: it stands for none.
    """
    if path.endswith(f".{PARQUET}"):
        return PARQUET
    if path == STANDARD or layout_of(path) or format_of(path) != "molo":
        return format_of(path)
    raise UsageError(f"no format is known by the suffix of {path}: say it with --to")


def _own_format(source: Source, out: str) -> str:
    """Give the format of a log, if a file of this name can have it."""
    expected = PARQUET if out.endswith(f".{PARQUET}") else format_of(out)
    if _is_binary(expected) == _is_binary(source.format) or out == STANDARD:
        return source.format
    raise UsageError(
        f"repair writes {source.format}, as it read it, and {out} is no name for that: "
        "use convert --repair"
    )


def _is_binary(format: str) -> bool:
    return format == PARQUET or FORMATS[format].layout != "lines"


def _layout(format: str, out: str) -> Layout:
    layout = FORMATS[format].layout
    return layout_of(out) or layout if layout == "lines" else layout


def require_different_files(options: Options) -> None:
    """Make sure that nothing is to be written where something else is, or comes from.

    Raises:
        UsageError: it is.
    """
    standard = [options.out == STANDARD, options.rejects == STANDARD, options.json]
    if sum(standard) > 1:
        raise UsageError("only one of OUT, --rejects and --json can go to standard output")
    if options.rejects is not None and options.rejects != STANDARD:
        for other in (options.log, options.out):
            if is_same(options.rejects, other):
                raise UsageError(f"--rejects would replace {other}")


def is_same(one: str, other: str) -> bool:
    """Tell whether two paths are one file."""
    return os.path.realpath(one) == os.path.realpath(other)
