"""What is shown, on a terminal: colours, tables, and how far long work is. Needs rich.

The functions are those of `plain`. NO_COLOR in the environment (https://no-color.org) turns colours
and all other styles off.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from time import monotonic

from rich import box
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.style import Style as RichStyle
from rich.table import Table
from rich.text import Text

from molo.cli.plain import Line, Row, Style

__all__ = ["Bar", "lines", "paint", "table"]

_STYLES: Mapping[Style, str] = {
    "text": "none",
    "place": "bold",
    "problem": "yellow",
    "fault": "red",
    "loss": "magenta",
    "change": "green",
    "heading": "bold cyan",
    "aside": "dim",
    "call": "blue",
}


def _is_coloured() -> bool:
    return not os.environ.get("NO_COLOR")


def paint(text: str, style: Style) -> str:
    """Give a text the look of its style."""
    colours = ColorSystem.STANDARD if _is_coloured() else None
    return RichStyle.parse(_STYLES[style]).render(text, color_system=colours)


def lines(shown: Iterable[Line]) -> str:
    """Write pieces of text below each other, wrapped to the width of the terminal."""
    return _rendered(
        Padding.indent(Text(line.text, _STYLES[line.style]), line.indent) for line in shown
    )


def table(headings: Row, rows: Sequence[Row]) -> str:
    """Write rows below headings; the first column is text, the others are numbers."""
    drawn = Table(box=box.SIMPLE_HEAD, header_style=_STYLES["heading"], pad_edge=False)
    for at, heading in enumerate(headings):
        drawn.add_column(Text(heading), justify="right" if at else "left")
    for row in rows:
        drawn.add_row(*map(Text, row))
    return _rendered([drawn])


def _rendered(shown: Iterable[RenderableType]) -> str:
    console = Console(color_system="standard" if _is_coloured() else None, highlight=False)
    with console.capture() as captured:
        for piece in shown:
            console.print(piece)
    return captured.get()


# --- Long work ------------------------------------------------------------------------------------

_PATIENCE = 0.5  # seconds; work that takes no longer shows no bar
_PERIOD = 0.1  # seconds; between two looks at the work


class Bar:
    """How far work is, at the foot of the terminal; gone when the block ends."""

    def __init__(self, total: int | None) -> None:
        self._progress = Progress(
            TextColumn("{task.percentage:>3.0f} %" if total else ""),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True, color_system="standard" if _is_coloured() else None),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=total)
        self._is_shown = False
        self._due = monotonic()
        self._patient_until = self._due + _PATIENCE

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()

    def update(self, position: int) -> None:
        """Say how many bytes are done."""
        now = monotonic()
        if now < self._due:
            return
        self._due = now + _PERIOD
        self._progress.update(self._task, completed=position)
        if not self._is_shown and now > self._patient_until:
            self._progress.start()
            self._is_shown = True

    def hide(self) -> None:
        """Clear the terminal for other text; the next update shows the bar again."""
        if self._is_shown:
            self._progress.stop()
            self._is_shown = False
