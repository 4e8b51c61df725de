"""What importing molo costs a program, and what importing others does.

Each import has an interpreter of its own; what one takes that imports nothing is subtracted.
"""

import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import perf_counter

from benchmarks.measure import interleaved, ratio
from benchmarks.report import Row, Section

# What a program that reads messages imports: the packages that load their parts when they are
# asked for are asked for those.
PROGRAMS = {
    "molo": "import molo",
    "molo.ingest": "import molo.ingest",
    "msgspec": "import msgspec",
    "orjson": "import orjson",
    "pydantic": "from pydantic import BaseModel, TypeAdapter",
    "pydantic_ai.messages": "from pydantic_ai.messages import ModelMessagesTypeAdapter",
    "langchain_core.messages": "from langchain_core.messages import messages_from_dict",
}


def run(share: float, rounds: int) -> Section:
    """Measure every import; `share` is of no use here."""
    del share
    packages = {name: name.partition(".")[0] for name in PROGRAMS}
    present = [name for name, package in packages.items() if find_spec(package)]
    programs = {"": "", **{name: PROGRAMS[name] for name in present}}
    times = interleaved(
        {name: partial(_seconds, program) for name, program in programs.items()},
        min(rounds, 15),  # some seconds each
    )
    took = {name: _differences(times[name], times[""]) for name in present}
    listed = ", ".join(f"{name} {median(took[name]) * 1000:.1f}" for name in present)
    return Section(
        "Start",
        "`import molo`",
        [Row("none", "import", name, ratio(took[name], took["molo"])) for name in present],
        skipped={name: packages[name] for name in PROGRAMS if name not in present},
        notes=[f"Milliseconds: {listed}; an interpreter {median(times['']) * 1000:.1f}"],
    )


def _seconds(program: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return perf_counter() - start


def _differences(times: list[float], others: list[float]) -> list[float]:
    return [time - other for time, other in zip(times, others, strict=True)]
