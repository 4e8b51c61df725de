"""molo's history functions against the nearest functions of its peers, for the same conversations.

The histories are valid and end where a model is to answer. None of the peers finds all that molo
finds, and each works on its own form of messages: typed ones, or for litellm and
`convert_to_messages` the dicts of OpenAI's Chat Completions. Those that trim have to drop half.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from benchmarks.contest import Entry, Worker, compare, skipped, versions, workers
from benchmarks.data import DATA_OF_PEERS
from benchmarks.report import Row, Section


class _Peer(NamedTuple):
    contender: str
    function: str


# By what molo calls it.
PEERS = {
    "check for MISTRAL": [_Peer("mistral_common", "validate_messages")],
    "repair": [
        _Peer("pydantic_ai", "repair_messages"),
        _Peer("litellm", "sanitize_messages_for_tool_calling"),
    ],
    "check + repair": [_Peer("pydantic_ai", "repair_messages")],
    "trim by messages": [_Peer("langchain_core", "trim_messages by len")],
    "trim by tokens": [
        _Peer("langchain_core", "trim_messages by count_tokens_approximately"),
    ],
    "openai_chat.from_request": [_Peer("langchain_core", "convert_to_messages")],
}
# What the project asks for: how many times molo's time the peer takes at least.
LEAST = {("realistic", "check + repair", "pydantic_ai"): 1.0}


def run(share: float, rounds: int) -> Section:
    """Measure each function of molo beside those of its peers that are installed."""
    names = dict.fromkeys(peer.contender for peers in PEERS.values() for peer in peers)
    with workers("calls", ["molo", *names], share) as contest:
        rows = [
            row
            for data in DATA_OF_PEERS
            for task in PEERS
            for row in _compare(contest, data, task, rounds)
        ]
        return Section(
            "History functions and their peers",
            "molo's time",
            rows,
            versions=versions(contest),
            skipped=skipped(contest),
        )


def _compare(contest: Mapping[str, Worker], data: str, task: str, rounds: int) -> Iterator[Row]:
    entries = {"molo": Entry(contest["molo"], task)}
    for name, function in PEERS[task]:
        if not contest[name].missing:
            least = LEAST.get((data, task, name))
            entries[f"{name} {function}"] = Entry(contest[name], function, least)
    return compare(data, task, entries, rounds)
