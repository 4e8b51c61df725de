"""The memory that decoded conversations take.

Counted are the bytes that Python's allocators hold after decoding more than before. All that a
decoded conversation consists of is theirs, whoever decodes: orjson and pydantic-core, in Rust, make
their strings, dicts and models through Python as well. The count is exact, so one pass will do.
A process grows by more: allocators round up, and leave gaps.
"""

from collections.abc import Iterator, Mapping

from benchmarks.contest import Worker, ask, skipped, versions, workers
from benchmarks.data import DATA_OF_PEERS
from benchmarks.measure import Ratio
from benchmarks.report import Row, Section

HOLDERS = ("molo", "msgspec", "orjson", "pydantic", "pydantic_ai", "langchain_core")

# What the project asks for: how many times molo's memory another one takes at least.
LEAST = {("realistic", "orjson"): 1 / 0.95, ("small", "orjson"): 1 / 0.6}


def run(share: float, rounds: int) -> Section:
    """Measure every data set, decoded from JSON; `rounds` is of no use here."""
    del rounds
    with workers("memory", HOLDERS, share) as contest:
        present = {name: worker for name, worker in contest.items() if not worker.missing}
        held = {data: _held(present, data) for data in DATA_OF_PEERS}
        return Section(
            "Memory of decoded conversations",
            "what molo's messages take",
            [row for data, sizes in held.items() for row in _rows(data, sizes)],
            measured="memory",
            versions=versions(contest),
            skipped=skipped(contest),
            notes=[f"Bytes a message, {data}: {_listed(sizes)}" for data, sizes in held.items()],
        )


def _held(contest: Mapping[str, Worker], data: str) -> dict[str, float]:
    """Ask for the bytes a message."""
    return {
        name: ask(worker, data, "held") / worker.tasks[data, "held"].messages
        for name, worker in contest.items()
    }


def _rows(data: str, sizes: Mapping[str, float]) -> Iterator[Row]:
    for name, size in sizes.items():
        over = size / sizes["molo"]
        yield Row(data, "held", name, Ratio(over, over, over), least=LEAST.get((data, name)))


def _listed(sizes: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {size:,.0f}" for name, size in sizes.items())
