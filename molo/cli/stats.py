"""`molo stats`: what is in a log, counted."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from molo.cli.options import FINE, FOUND, Options
from molo.cli.plain import Row, inline
from molo.cli.screen import look, open_output, working
from molo.cli.sources import Item, Source, open_source
from molo.cli.tally import Count, number, read_as, sentence
from molo.cli.work import Sinks, nowhere, work
from molo.history.contents import KINDS, blocks
from molo.ingest import STANDARD, Fault, Record, dangling_calls
from molo.message import Assistant, ContentBlock, Message, System, Text, ToolResult, User

__all__ = ["count_log"]

_LONGEST_NAME = 64  # characters, of a tool; a longer one is cut
_MOST_NAMES = 10_000  # tools that are counted each, so that memory stays bounded
_OTHERS = "(other tools)"
_SHOWN = 20  # tools in the table

_ROLES = ("system", "user", "assistant", "tool")
_KINDS = (*_ROLES, "reasoning", "arguments")


_Lengths: TypeAlias = defaultdict[str, list[int]]
"""The length of each text of a record, in characters, by kind."""


class Stats(NamedTuple):
    """Counts; those of texts by kind: messages by role, reasoning, and arguments of calls."""

    read: Count  # histories, messages
    texts: Count  # by kind
    characters: Count  # by kind
    longest: Count  # by kind: the most characters, and "history": the most messages
    calls: Count  # by tool
    dangling: Count  # by tool
    attachments: Count  # by kind
    faults: Count


def count_log(options: Options) -> int:
    """Run `molo stats`; give its exit code."""
    with open_source(options.log, options.source_format) as opened, working(opened.size) as bar:
        source = opened.joined()
        stats = _new_stats()
        for part in work(source, _count, Sinks(nowhere, nowhere, nowhere), options.workers, bar):
            _add(stats, part)
        with open_output(STANDARD, bar) as write:
            write(_as_json(source, stats) if options.json else _as_text(source, stats).encode())
    return FOUND if stats.faults else FINE


# --- Counting -------------------------------------------------------------------------------------


def _new_stats() -> Stats:
    return Stats(*(Counter() for _ in Stats._fields))


def _add(stats: Stats, part: Stats) -> None:
    """Add the counts of a part of the log."""
    for name, counts, more in zip(Stats._fields, stats, part, strict=True):
        if name == "longest":
            counts |= more  # of each the larger one
        else:
            counts.update(more)


def _count(items: Iterator[Item], sinks: Sinks) -> Stats:
    stats = _new_stats()
    for item in items:
        if isinstance(item, Fault):
            stats.faults[item.code] += 1
        else:
            _count_record(stats, item)
    return stats


def _count_record(stats: Stats, record: Record) -> None:
    stats.read["histories"] += 1
    stats.read["messages"] += len(record.messages)
    _see_length(stats, "history", len(record.messages))
    lengths: _Lengths = defaultdict(list)
    for message in record.messages:
        _count_message(stats, lengths, message)
    for kind, found in lengths.items():
        stats.texts[kind] += len(found)
        stats.characters[kind] += sum(found)
        _see_length(stats, kind, max(found))
    for asked in dangling_calls(record):
        stats.dangling[_tool(stats, asked.call.name)] += 1


def _count_message(stats: Stats, lengths: _Lengths, message: Message) -> None:
    written = _count_blocks(stats, blocks(message))
    match message:
        case System():
            lengths["system"].append(len(message.content))
        case User():
            lengths["user"].append(written)
        case ToolResult():
            lengths["tool"].append(len(message.content) + written)
        case Assistant():
            lengths["assistant"].append(len(message.content) + written)
            if message.reasoning is not None:
                lengths["reasoning"].append(len(message.reasoning))
            for call in message.tool_calls:
                lengths["arguments"].append(len(call.arguments))
                stats.calls[_tool(stats, call.name)] += 1


def _count_blocks(stats: Stats, found: Sequence[ContentBlock]) -> int:
    """Count what is no text; give the length of what is."""
    length = 0
    for block in found:
        if isinstance(block, Text):
            length += len(block.text)
        else:
            stats.attachments[KINDS[type(block)]] += 1
    return length


def _see_length(stats: Stats, kind: str, length: int) -> None:
    if length > stats.longest[kind]:
        stats.longest[kind] = length


def _tool(stats: Stats, name: str) -> str:
    """Give the name under which a tool is counted."""
    name = name[:_LONGEST_NAME]
    return name if name in stats.calls or len(stats.calls) < _MOST_NAMES else _OTHERS


# --- Telling --------------------------------------------------------------------------------------


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _as_json(source: Source, stats: Stats) -> bytes:
    texts = {
        kind: {
            "number": stats.texts[kind],
            "characters": stats.characters[kind],
            "longest": stats.longest[kind],
        }
        for kind in _KINDS
    }
    told = {
        "format": source.format,
        "why": source.why,
        "histories": stats.read["histories"],
        "messages": stats.read["messages"],
        "longest_history": stats.longest["history"],
        "roles": {role: stats.texts[role] for role in _ROLES},
        "reasoning_share": _share(stats.texts["reasoning"], stats.texts["assistant"]),
        "texts": texts,
        "calls": stats.calls,
        "dangling_calls": stats.dangling,
        "attachments": stats.attachments,
        "faults": stats.faults,
    }
    return msgspec.json.encode(told) + b"\n"


def _as_text(source: Source, stats: Stats) -> str:
    shown = look(sys.stdout)
    tables = shown.table(("text", "number", "characters", "longest"), _texts(stats))
    if stats.calls:
        tables += "\n" + shown.table(("tool", "calls", "dangling"), _tools(stats))
    return f"{tables}\n" + "".join(f"{fact}.\n" for fact in _facts(source, stats) if fact)


def _facts(source: Source, stats: Stats) -> Iterator[str]:
    histories = number(stats.read["histories"], "history")
    messages = number(stats.read["messages"], "message")
    yield f"{messages} in {histories}, {stats.longest['history']:,} in the longest"
    share = _share(stats.texts["reasoning"], stats.texts["assistant"])
    yield f"{share:.0%} of the replies have reasoning"
    yield number(sum(stats.dangling.values()), "dangling call")
    yield sentence(stats.attachments, "attachment")
    yield sentence(stats.faults, "bad line")
    yield read_as(source)


def _texts(stats: Stats) -> list[Row]:
    return [
        (
            kind,
            f"{stats.texts[kind]:,}",
            f"{stats.characters[kind]:,}",
            f"{stats.longest[kind]:,}",
        )
        for kind in _KINDS
    ]


def _tools(stats: Stats) -> list[Row]:
    """Give a row for each of the tools that are called most."""
    return [
        (inline(tool), f"{count:,}", f"{stats.dangling[tool]:,}")
        for tool, count in stats.calls.most_common(_SHOWN)
    ]
