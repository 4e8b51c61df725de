"""The figures that the README shows: `python -m benchmarks.plot FIGURES.json FIGURES.svg`.

The first file is what `python -m benchmarks --json` wrote.

Above: how many messages a second each contender reads and writes. Below: how the cost of a message
and the memory of a reader grow. matplotlib draws; what the run did not measure is left out.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import matplotlib
import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.report import Report, Row

DATA = "medium"  # of the bars: messages of a few hundred characters
UNTYPED = {"json", "orjson"}  # these give dicts and check nothing

_OWN, _TYPED, _PLAIN = "#0b6e4f", "#8d99ae", "#d9dce3"
_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "molo",  # the same figures give the same file
}


def draw(report: Report, path: Path) -> None:
    """Draw what a run measured as SVG."""
    panels = list(_panels(report))
    if not panels:
        raise SystemExit("Nothing to draw: measure `codecs` or `growth`, too")
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(9, 2.9 * ((len(panels) + 1) // 2)), layout="constrained")
        for place, panel in enumerate(panels, 1):
            panel(figure.add_subplot((len(panels) + 1) // 2, 2, place))
        figure.suptitle(_caption(report), fontsize=7, color="#555555", y=-0.01)
        figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})


def _caption(report: Report) -> str:
    names = ("commit", "python", "processor", "date")
    measured = ", ".join(f"{name} {report.environment[name]}" for name in names)
    return f"Above, messages of some hundred characters. {measured}"


def _panels(report: Report) -> Iterator[Callable[[Axes], None]]:
    rows = {section.title.partition(" ")[0]: section.rows for section in report.sections}
    for task, title in (("json decode", "Reading JSON"), ("json encode", "Writing JSON")):
        bars = [row for row in rows.get("Codecs", ()) if (row.data, row.task) == (DATA, task)]
        if bars:
            yield partial(_bars, title, bars)
    growing = [row for row in rows.get("Growth", ()) if row.data in {"valid", "broken"}]
    if growing:
        yield partial(_growth, growing)
    if sizes := rows.get("Size"):
        yield partial(_sizes, sizes)


# --- The contenders -------------------------------------------------------------------------------


def _bars(title: str, rows: Sequence[Row], axes: Axes) -> None:
    """One bar a contender, the quickest on top."""
    rows = sorted(rows, key=lambda row: row.messages_per_second or 0)
    names = [f"{row.subject} (untyped)" if row.subject in UNTYPED else row.subject for row in rows]
    rates = [row.messages_per_second or 0 for row in rows]
    bars = axes.barh(names, rates, color=[_colour(row.subject) for row in rows])
    axes.bar_label(bars, [f"{rate:,.0f}" for rate in rates], padding=3, fontsize=8)
    _title(axes, f"{title}: messages a second")
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.margins(x=0.2)


def _colour(subject: str) -> str:
    return _OWN if subject == "molo" else _PLAIN if subject in UNTYPED else _TYPED


# --- Growth ---------------------------------------------------------------------------------------


def _growth(rows: Sequence[Row], axes: Axes) -> None:
    """One line a history function: what a message costs, by the length of the history."""
    lines = dict.fromkeys((row.data, row.task) for row in rows)
    for data, task in lines:
        points = [row for row in rows if (row.data, row.task) == (data, task)]
        lengths = [_number(row.subject) for row in points]
        costs = [1e6 / (row.messages_per_second or 1) for row in points]
        label = task if data == "valid" else f"{task}, all broken"
        axes.plot(lengths, costs, "o-", markersize=3, linewidth=1.2, label=label)
    _title(axes, "History functions: µs a message, by the messages in a history")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(axis="y", color="#eeeeee")
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def _sizes(rows: Sequence[Row], axes: Axes) -> None:
    """Time and memory to read a log, beside those for the smallest."""
    for task, label in (("time", "time a MiB"), ("memory", "memory at most")):
        points = [row for row in rows if row.task == task]
        axes.plot(
            [row.data for row in points], [row.ratio.median for row in points], "o-", label=label
        )
    _title(axes, "Reading a log, by its size (1: the smallest)")
    axes.set_ylim(0, 2)
    axes.grid(axis="y", color="#eeeeee")
    axes.legend(fontsize=8, frameon=False)


def _number(subject: str) -> int:
    return int(subject.split()[0].replace(",", ""))


def _title(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=9)


if __name__ == "__main__":
    _, figures, drawing = sys.argv
    draw(msgspec.json.decode(Path(figures).read_bytes(), type=Report), Path(drawing))
