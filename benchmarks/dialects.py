"""The dialects, in units of molo's own decoder: reading a vendor's form, and writing it.

A request is read whole, from bytes to messages, and so is the same conversation in molo's own form;
the ratio is what the vendor's form costs. It is measured with requests in canonical form, with
answers that go back as the vendor gave them, sealed reasoning and all, with a key that no dialect
knows on every message, and with the recorded requests, where they are at hand.
"""

import gc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

import molo.history
import molo.json
from benchmarks.answers import ANSWERS
from benchmarks.data import load
from benchmarks.measure import interleaved, per_second, ratio, timed
from benchmarks.report import Row, Section
from molo import Assistant, Message, System, ToolResult, User
from molo.dialects import anthropic, gemini, openai_chat, openai_responses
from molo.dialects.anthropic.strict import read_json as read_anthropic
from molo.dialects.gemini.strict import read_json as read_gemini
from molo.dialects.openai_chat.strict import read_json as read_openai_chat
from molo.dialects.openai_responses.strict import read_json as read_openai_responses
from molo.history import ANTHROPIC, COMMON, GEMINI, OPENAI_RESPONSES, Rules, repair

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"


class _Dialect(NamedTuple):
    module: ModuleType
    rules: Rules
    keys: tuple[str, ...]  # of a request that hold its conversation; the last one has the messages
    limits: dict[str, float]  # what the project asks of reading
    read_strict: Callable[[bytes], object]  # gives None where a request takes the careful path
    prepare: Callable[[list[Message]], list[Message]] = list  # for what is usual with this vendor


def _without_ids(history: list[Message]) -> list[Message]:
    """Give calls the ids that Gemini's dialect makes up where the wire has none, as is usual."""
    ids = {
        pair.call.id: f"{pair.call.name}_{number}"
        for number, pair in enumerate(molo.history.pair(history).pairs)
    }
    return [_renamed(message, ids) for message in history]


def _renamed(message: Message, ids: dict[str, str]) -> Message:
    match message:
        case Assistant(tool_calls=calls):
            new = tuple(replace(call, id=ids[call.id]) for call in calls)
            return replace(message, tool_calls=new)
        case ToolResult(id=id):
            return replace(message, id=ids[id])
        case System() | User():
            return message


DIALECTS = {
    "openai_chat": _Dialect(
        openai_chat, COMMON, ("messages",), {"canonical": 1.4, "odd keys": 4}, read_openai_chat
    ),
    "openai_responses": _Dialect(
        openai_responses,
        OPENAI_RESPONSES,
        ("instructions", "input"),
        {"canonical": 1.8, "odd keys": 5},
        read_openai_responses,
    ),
    "anthropic": _Dialect(
        anthropic,
        ANTHROPIC,
        ("system", "messages"),
        {"canonical": 1.8, "odd keys": 5},
        read_anthropic,
    ),
    "gemini": _Dialect(
        gemini,
        GEMINI,
        ("systemInstruction", "contents"),
        {"canonical": 1.8, "odd keys": 5},
        read_gemini,
        _without_ids,
    ),
}


class _Data(NamedTuple):
    """Conversations as a vendor's requests, as they are read, and in molo's own form."""

    wire: list[bytes]
    histories: list[list[Message]]
    native: list[bytes]


def run(share: float, rounds: int) -> Section:
    """Measure reading and writing for every dialect, and tell of the recordings."""
    rows: list[Row] = []
    notes: list[str] = []
    for name, dialect in DIALECTS.items():
        histories = load("realistic", share)
        usual = [dialect.prepare(log) for log in histories]
        canonical = _requests(dialect, usual)
        answers = _requests(
            dialect, [_answered(name, dialect, f"{at}", log) for at, log in enumerate(usual)]
        )
        odd = [_with_odd_keys(dialect, wire) for wire in canonical]
        rows += _costs("canonical", name, _data(dialect, canonical), rounds)
        rows += _costs("answers", name, _data(dialect, answers), rounds)
        rows += _costs("odd keys", name, _data(dialect, odd), rounds)
        if recorded := _recorded(name, share):
            data = _data(dialect, recorded)
            rows += _costs("recorded", name, data, rounds)
            notes.append(f"{name}, recorded: {_told(dialect, data)}")
    skipped = {} if notes else {"recorded": "the folder of recordings"}
    return Section(
        "Dialects",
        "molo.json.decode of the same conversations in molo's form",
        rows,
        skipped=skipped,
        notes=notes,
    )


def _requests(dialect: _Dialect, histories: list[list[Message]]) -> list[bytes]:
    """Write requests; what has no place in them is left out, but nothing that an answer held."""
    module, rules = dialect.module, dialect.rules
    mended = [repair(history, rules) for history in histories]
    if any(change.code == "provider_data_dropped" for one in mended for change in one.changes):
        raise ValueError(f"repair dropped what an answer of {module.__name__} held")
    return [module.to_request_json(one.history, rules=rules) for one in mended]


def _answered(name: str, dialect: _Dialect, seed: str, history: list[Message]) -> list[Message]:
    """Replace every reply by what is read from the vendor's answer that gave it."""
    return [
        dialect.module.from_response(ANSWERS[name](message, f"{seed}_{at}")).message
        if isinstance(message, Assistant)
        else message
        for at, message in enumerate(history)
    ]


def _with_odd_keys(dialect: _Dialect, wire: bytes) -> bytes:
    request = msgspec.json.decode(wire)
    for number, message in enumerate(request[dialect.keys[-1]]):
        message["trace"] = f"span-{number:08x}"
    return msgspec.json.encode(request)


def _recorded(name: str, share: float) -> list[bytes]:
    """Read the recorded requests, or a share of them; nothing where they are not at hand."""
    path = CORPUS / f"{name}.jsonl"
    if not path.exists():
        return []
    records = list(map(msgspec.json.decode, path.read_bytes().splitlines()))
    *_, messages = keys = DIALECTS[name].keys
    requests: list[dict[str, Any]] = [
        {key: record[key] for key in keys if key in record}
        for record in records
        if _is_conversation(record.get(messages))
    ]
    return list(map(msgspec.json.encode, requests[: max(1, round(len(requests) * share))]))


def _is_conversation(messages: object) -> bool:
    """Tell the requests that are read: one that was refused has strings for messages."""
    if isinstance(messages, list):
        return not any(isinstance(item, str) for item in messages)
    return messages is not None


def _data(dialect: _Dialect, wire: list[bytes]) -> _Data:
    """Read requests, sure that they come back the same."""
    reads = [dialect.module.from_request(request) for request in wire]
    for read, request in zip(reads, wire, strict=True):
        again = dialect.module.to_request_json(read.history, envelope=read.envelope)
        if msgspec.json.decode(again) != msgspec.json.decode(request):
            raise ValueError(f"{dialect.module.__name__} changed a conversation")
    histories: list[list[Message]] = [read.history for read in reads]
    return _Data(wire, histories, [molo.json.encode(_bare(history)) for history in histories])


def _bare(history: list[Message]) -> list[Message]:
    return [replace(message, provider_data=None) for message in history]


def _costs(data: str, name: str, given: _Data, rounds: int) -> Iterator[Row]:
    module, limits = DIALECTS[name].module, DIALECTS[name].limits
    gc.freeze()
    times = interleaved(
        {
            "decode": partial(timed, molo.json.decode, given.native),
            "from_request": partial(timed, module.from_request, given.wire),
            "to_request_json": partial(timed, module.to_request_json, given.histories),
        },
        rounds,
    )
    messages = sum(map(len, given.histories))
    megabytes = sum(map(len, given.wire)) / 1e6
    for task in ("from_request", "to_request_json"):
        yield Row(
            data,
            task,
            name,
            ratio(times[task], times["decode"]),
            per_second(messages, times[task]),
            per_second(megabytes, times[task]),
            limit=limits.get(data) if task == "from_request" else None,
        )


def _told(dialect: _Dialect, data: _Data) -> str:
    """Tell how often the careful path is needed, and how large the deltas are."""
    strict = [request for request in data.wire if dialect.read_strict(request) is not None]
    messages = [message for history in data.histories for message in history]
    deltas = [len(m.provider_data.delta) for m in messages if m.provider_data is not None]
    return (
        f"{len(data.wire)} requests, {len(strict) / len(data.wire):.0%} by the strict path; "
        f"{len(messages)} messages, {len(deltas) / len(messages):.0%} with a delta, "
        f"of {sum(deltas) / max(1, len(deltas)):.0f} characters on average"
    )
