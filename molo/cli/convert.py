"""`molo convert` and `molo repair`: a log, written again in another format or in its own."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from molo.cli.findings import (
    Finding,
    of_change,
    of_fault,
    of_loss,
    of_remaining,
    of_unread,
    of_unwritable,
)
from molo.cli.options import FINE, FOUND, PARQUET, Options, UsageError
from molo.cli.plan import Plan, format_by_suffix, is_same, make_plan, require_different_files
from molo.cli.redacting import redacted
from molo.cli.screen import (
    Bar,
    Write,
    above,
    open_joined,
    open_output,
    say,
    working,
    write_error,
)
from molo.cli.sources import Item, Source, open_source, split
from molo.cli.tally import Tally, new_tally, number, sentence, summary, total
from molo.cli.work import Sinks, is_shared, nowhere, work
from molo.errors import DecodeError, EncodeError, FrameError
from molo.history import strip_reasoning
from molo.ingest import STANDARD, Fault, Record, encode_with_losses, repair_record

__all__ = ["convert_log", "repair_log"]

_READ = ("records", "messages", "changed")
_SHOWN = 10  # bad lines; told one by one, where not all are


def convert_log(options: Options) -> int:
    """Run `molo convert`; give its exit code."""
    return _rewrite(options, options.target_format or format_by_suffix(options.out))


def repair_log(options: Options) -> int:
    """Run `molo repair`; give its exit code."""
    return _rewrite(replace(options, repair=options.rules), None)


def _rewrite(options: Options, format: str | None) -> int:
    require_different_files(options)
    keep_raw = options.rejects is not None
    with (
        open_source(options.log, options.source_format, keep_raw) as opened,
        working(opened.size) as bar,
    ):
        plan = make_plan(options, opened, format)
        source = opened.joined() if plan.takes_whole_histories else opened
        rewrite = _to_parquet if plan.format == PARQUET else _to_file
        with _report(options, bar) as report:
            done = rewrite(source, options, plan, report, bar)
            if options.json:
                report(summary(source, done))
    if not options.json:
        say(_summary(source, plan, done, options))
    return FOUND if done.problems or done.faults else FINE


# --- Writing --------------------------------------------------------------------------------------

_Open: TypeAlias = Callable[[str, Bar], AbstractContextManager[Write]]


@contextmanager
def _report(options: Options, bar: Bar) -> Generator[Write, None, None]:
    """Open what the findings are told on: some on standard error, or all as JSON."""
    if options.json:
        with open_output(STANDARD, bar) as write:
            yield write
    else:
        yield _First(_SHOWN, above(bar, write_error)).write


class _First:
    """The first lines of what is written; the others are left out."""

    def __init__(self, left: int, write: Write) -> None:
        self._left = left
        self._write = write

    def write(self, data: bytes) -> None:
        """Write whole lines."""
        if self._left and data:
            lines = data.splitlines(keepends=True)[: self._left]
            self._left -= len(lines)
            self._write(b"".join(lines))


@contextmanager
def _rejects(options: Options, bar: Bar, open: _Open) -> Generator[Write, None, None]:
    if options.rejects is None:
        yield nowhere
    else:
        with open(options.rejects, bar) as write:
            yield write


def _to_file(source: Source, options: Options, plan: Plan, report: Write, bar: Bar) -> Tally:
    # A worker would not see that another one has a history, too.
    workers = 1 if plan.layout == "document" else options.workers
    open = open_joined if is_shared(source, workers) else open_output
    names = (options.out, options.rejects or "")
    # The rejects are on disk before the output is: a line is never in neither.
    with open(options.out, bar) as output, _rejects(options, bar, open) as rejects:
        sinks = Sinks(output, rejects, report)
        job = partial(_convert, plan=plan)
        done = total(work(source, job, sinks, workers, bar, names))
        _require_output(done, options, plan)
    return done


def _to_parquet(source: Source, options: Options, plan: Plan, report: Write, bar: Bar) -> Tally:
    from molo.arrow import write_parquet  # takes a second, and an extra

    done = new_tally(*_READ)

    def convert(items: Iterator[Item], sinks: Sinks) -> Iterator[Record]:
        for edited in _edited(items, sinks, plan, done):
            _count(edited, sinks, plan, done)
            yield edited.record
        _require_output(done, options, plan)

    def records() -> Iterator[Record]:
        with _rejects(options, bar, open_output) as rejects:
            sinks = Sinks(nowhere, rejects, report)
            yield from chain.from_iterable(work(source, convert, sinks, 1, bar))

    write_parquet(records(), options.out)
    return done


def _require_output(done: Tally, options: Options, plan: Plan) -> None:
    """Make sure that nothing gets lost when the output takes the place of what is there."""
    bad = number(sum(done.faults.values()), "bad line")
    if done.faults and not done.read["records"]:
        if "unwritable" in done.faults:
            raise EncodeError(f"Expected a log that {plan.format} can hold, got none of {bad}")
        raise DecodeError(f"Expected a log, got {bad} and no other; nothing was written")
    if plan.layout == "document" and not done.read["records"]:
        raise EncodeError("Expected one history for a document, got none")
    if done.faults and options.rejects is None and is_same(options.log, options.out):
        raise UsageError(f"{bad} would be gone from {options.out}: keep them with --rejects FILE")


# --- Record by record -----------------------------------------------------------------------------


class _Edited(Struct, frozen=True):
    """A record as it is to be written, with what there is to tell of it."""

    record: Record
    read: Record
    findings: list[Finding]


def _convert(items: Iterator[Item], sinks: Sinks, *, plan: Plan) -> Tally:
    tally = new_tally(*_READ)
    for edited in _edited(items, sinks, plan, tally):
        if plan.layout == "document" and tally.read["records"]:
            raise EncodeError("Expected one history for a document, got more; .jsonl holds them")
        try:
            data = _written(edited, plan)
        except (EncodeError, FrameError) as failure:
            if not plan.keeps_rejects:
                raise
            fault = of_unwritable(edited.read, failure)
            _reject(fault, edited.read.raw or _row(edited.read), sinks, plan, tally)
        else:
            sinks.output(data)
            _count(edited, sinks, plan, tally)
    return tally


def _row(read: Record) -> bytes:
    """Write a row of a Parquet file, which has no bytes of its own, as molo's JSON."""
    return encode_with_losses(read, "molo").data


def _written(edited: _Edited, plan: Plan) -> bytes:
    """Write a record; what it lacks then is added to what there is to tell."""
    pieces = (edited.record,) if plan.layout == "document" else split(edited.record)
    data: list[bytes] = []
    for piece in pieces:
        written = encode_with_losses(piece, plan.format, plan.layout, rules=plan.rules)
        data.append(written.data)
        for loss in written.losses:
            edited.findings.append(of_loss(piece, loss))
    return b"".join(data)


def _edited(items: Iterator[Item], sinks: Sinks, plan: Plan, tally: Tally) -> Iterator[_Edited]:
    """Give the records as they are to be written; bad lines go where they belong."""
    for item in items:
        if isinstance(item, Fault):
            _reject(of_fault(item), item.raw, sinks, plan, tally)
        else:
            yield _edit(item, plan)


def _reject(fault: Finding, raw: bytes, sinks: Sinks, plan: Plan, tally: Tally) -> None:
    tally.add(fault)
    sinks.rejects(raw)
    sinks.report(plan.tell_fault(fault))


def _count(edited: _Edited, sinks: Sinks, plan: Plan, tally: Tally) -> None:
    """Count a record that is written, and tell what there is to tell of it."""
    tally.read["records"] += 1
    tally.read["messages"] += len(edited.read.messages)
    if edited.findings:
        tally.read["changed"] += any(finding.kind == "change" for finding in edited.findings)
    for finding in edited.findings:
        tally.add(finding)
        sinks.report(plan.tell_edit(finding))


def _edit(read: Record, plan: Plan) -> _Edited:
    record, findings = read, [of_unread(read, loss) for loss in read.losses]
    if plan.stripped is not None:
        record = replace(record, messages=strip_reasoning(record.messages, plan.stripped))
    if plan.repair is not None:
        done = repair_record(record, plan.repair)
        findings += [of_change(record, change) for change in done.changes]
        findings += [of_remaining(record, problem) for problem in done.remaining]
        record = replace(record, messages=done.history) if done.changes else record
    if plan.redact:
        record = redacted(record, plan.redact)
    return _Edited(record, read, findings)


# --- The summary ----------------------------------------------------------------------------------


def _summary(source: Source, plan: Plan, done: Tally, options: Options) -> str:
    histories = number(done.read["records"], "history")
    messages = number(done.read["messages"], "message")
    what = messages if _is_streamed(source, plan) else f"{histories}, {messages}"
    told = [
        f"{what}: {source.format} -> {plan.format}",
        _told(done.changes, "change", f" in {done.read['changed']:,} of {histories}"),
        _told(done.problems, "problem", " left"),
        _told(done.losses, "loss", ""),
        _told(done.faults, "bad line", f", in {options.rejects}" if options.rejects else ""),
    ]
    return "\n".join(filter(None, told))


def _told(counts: Mapping[str, int], noun: str, more: str) -> str:
    return f"{sentence(counts, noun)}{more}" if counts else ""


def _is_streamed(source: Source, plan: Plan) -> bool:
    """Tell whether records are lines of a transcript, and no histories."""
    return source.is_transcript and not plan.takes_whole_histories
