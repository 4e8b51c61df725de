"""molo's codecs against the other ways to read and write the same conversations.

`binary` is MessagePack, for all but pickle, which has a form of its own for the same purpose:
from one Python process to another, or to a cache.
"""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.contest import Entry, Worker, compare, skipped, versions, workers
from benchmarks.data import DATA_OF_PEERS
from benchmarks.report import Row, Section
from benchmarks.worker import FORMS

# What the project asks for: how many times molo's time another one takes at least. orjson checks
# nothing, and gives dicts.
LEAST = {
    ("realistic", "json decode", "orjson"): 0.90,
    ("small", "json decode", "orjson"): 1.05,
    ("medium", "json decode", "pydantic_ai"): 20,
    ("medium", "json decode", "langchain_core"): 25,
    ("medium", "json encode", "pydantic_ai"): 20,
    ("medium", "json encode", "langchain_core"): 10,
}


def run(contenders: Sequence[str], share: float, rounds: int) -> Section:
    """Measure every task for all contenders, molo always among them."""
    with workers("codecs", dict.fromkeys(["molo", *contenders]), share) as contest:
        rows = [
            row
            for data in DATA_OF_PEERS
            for form in FORMS
            for verb in ("decode", "encode")
            for row in _compare(contest, data, f"{form} {verb}", rounds)
        ]
        return Section(
            "Codecs", "molo's time", rows, versions=versions(contest), skipped=skipped(contest)
        )


def _compare(contest: Mapping[str, Worker], data: str, task: str, rounds: int) -> Iterator[Row]:
    entries = {
        name: Entry(worker, task, LEAST.get((data, task, name)))
        for name, worker in contest.items()
        if (data, task) in worker.tasks
    }
    return compare(data, task, entries, rounds)
