"""pandas: a row a line, whose cells are dicts and lists; nothing checked."""

from pathlib import Path

import pandas

import molo

PACKAGES = ("pandas", "numpy")
FORMAT = "molo"


def read(path: Path) -> pandas.DataFrame:
    """Read a log as pandas's documentation shows it for JSON lines."""
    return pandas.read_json(path, lines=True)


def histories(table: pandas.DataFrame) -> list[list[molo.Message]]:
    """Give the conversations."""
    return list(map(molo.json.from_builtins, table["messages"]))
