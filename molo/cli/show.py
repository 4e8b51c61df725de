"""`molo show`: one conversation, to be read by a person."""

import sys
from collections.abc import Iterator

import msgspec

from molo.cli.findings import as_text, of_fault
from molo.cli.options import FINE, FOUND, RULES, Options, UsageError
from molo.cli.plain import Line, Style, inline, printable
from molo.cli.screen import Bar, look, open_output, working
from molo.cli.sources import Item, Source, Transcript, open_source
from molo.cli.tally import number
from molo.cli.work import followed
from molo.history import Problem
from molo.history.contents import KINDS, blocks, calls
from molo.ingest import STANDARD, Fault, Record, check_record, encode
from molo.ingest.forms import Members, members_of
from molo.message import (
    Assistant,
    Audio,
    ContentBlock,
    File,
    Image,
    Message,
    System,
    Text,
    ToolResult,
    User,
    Wire,
)

__all__ = ["show_record"]


def show_record(options: Options) -> int:
    """Run `molo show`; give its exit code."""
    with open_source(options.log, options.source_format) as opened, working(opened.size) as bar:
        source = opened.joined()
        found = _find(source, options, bar)
        with open_output(STANDARD, bar) as write:
            if isinstance(found, Fault):
                write(as_text(of_fault(found), source.path, look(sys.stdout).paint))
                return FOUND
            write(encode(found, "molo") if options.json else _shown(source, found).encode())
    return FINE


# --- Which one ------------------------------------------------------------------------------------

_ID_KEYS = ("id", "conversation_id", "session_id", "thread_id", "request_id", "trace_id")


def _find(source: Source, options: Options, bar: Bar) -> Item:
    for item in followed(source, bar):
        if _is_wanted(item, options):
            return item
        if options.id is None and options.line is not None and item.line > options.line:
            break
    if options.id is not None:
        raise UsageError(f"{source.path} has no record with this id")
    if options.line is not None:
        raise UsageError(f"{source.path} has no record in line {options.line}")
    raise UsageError(f"{source.path} has no record")


def _is_wanted(item: Item, options: Options) -> bool:
    if options.id is not None:
        return isinstance(item, Record) and options.id in _ids(item)
    if options.line is not None:
        return options.line in (item.lines if isinstance(item, Transcript) else (item.line,))
    return isinstance(item, Record)


def _ids(record: Record) -> Iterator[str]:
    """Give what may be the id of a record: its own, or that of its answer."""
    members = _members(record)
    answer = bytes(members.get("response", b""))
    for place in (members, members_of(answer) if answer.startswith(b"{") else {}):
        yield from (text for key, text in _short_members(place) if key in _ID_KEYS)


def _members(record: Record) -> Members:
    """Take apart what stands beside a conversation."""
    return members_of(record.rest.encode()) if record.rest else {}


_decode_text = msgspec.json.Decoder(str).decode


def _short_members(members: Members) -> Iterator[tuple[str, str]]:
    """Give the members that are texts, numbers as they are spelled, or words of JSON."""
    for key, value in members.items():
        data = bytes(value)
        if data[:1] == b'"':
            yield key, _decode_text(data)
        elif data[:1] not in {b"[", b"{"}:
            yield key, data.decode()


# --- How it looks ---------------------------------------------------------------------------------

_MARGIN = 2  # columns
_LONGEST = 60  # characters, of what is told in passing


def _shown(source: Source, record: Record) -> str:
    problems = check_record(record, RULES["common"])
    lines = [_head(source, record)]
    lines += [_problem(problem) for problem in problems if problem.at is None]
    for at, message in enumerate(record.messages):
        lines += [Line(""), *_message(at, message)]
        lines += [_problem(problem) for problem in problems if problem.at == at]
    return look(sys.stdout).lines(lines)


def _head(source: Source, record: Record) -> Line:
    """Say where the record stands, and what short things stand beside it."""
    members = [
        f"{inline(key)}={inline(text)[:_LONGEST]}" for key, text in _short_members(_members(record))
    ]
    return Line("  ".join([f"{inline(source.path)}:{record.line}", *members]), "place")


def _problem(problem: Problem) -> Line:
    return Line(f"! {problem.text} [{problem.code}]", "problem", _MARGIN)


def _message(at: int, message: Message) -> Iterator[Line]:
    match message:
        case System():
            yield Line(f"[{at}] system", "heading")
            yield from _text(message.content)
        case User():
            yield Line(f"[{at}] user", "heading")
        case Assistant():
            yield Line(f"[{at}] assistant", "heading")
            yield from _text(message.reasoning or "", "aside")
            yield from _text(message.content)
        case ToolResult():
            failed = ", an error" if message.is_error else ""
            yield Line(f"[{at}] tool, result of {inline(message.id)}{failed}", "heading")
            yield from _text(message.content)
    for block in blocks(message):
        yield _block(block)
    for call in calls(message):
        text = printable(f"{call.name}({call.arguments})")
        yield Line(f"-> {text}  {inline(call.id)}", "call", _MARGIN)


def _text(text: str, style: Style = "text") -> Iterator[Line]:
    if text:
        yield Line(printable(text), style, _MARGIN)


def _block(block: ContentBlock) -> Line:
    match block:
        case Text():
            return Line(printable(block.text), "text", _MARGIN)
        case Wire():
            return _aside(f"a block of {block.dialect}", number(len(block.data), "character"))
        case Image() | Audio() | File():
            where = number(len(block.data), "byte") if block.data is not None else block.url or ""
            return _aside(KINDS[type(block)], block.mime_type, where)


def _aside(*facts: str) -> Line:
    told = ", ".join(inline(fact)[:_LONGEST] for fact in facts if fact)
    return Line(f"({told})", "aside", _MARGIN)
