"""polars: columns of structs, whose fields are found in the whole log; no more is checked.

A column has one type, and in molo's form `content` is text or an array: polars cannot hold that. In
OpenAI's form all texts of these conversations are texts, so it reads that one.
"""

from pathlib import Path
from typing import Any

import polars

from molo import Message
from molo.dialects import openai_chat

PACKAGES = ("polars",)
FORMAT = "openai-chat"


def read(path: Path) -> polars.DataFrame:
    """Read a log; by its first lines alone, polars would lose what only later ones have."""
    return polars.read_ndjson(path, infer_schema_length=None)


def histories(table: polars.DataFrame) -> list[list[Message]]:
    """Give the conversations."""
    rows = table["messages"].to_list()
    return [openai_chat.from_request(_without_nulls(row)).history for row in rows]


def _without_nulls(value: Any) -> Any:
    """Take out what fills the columns where a line has no such field."""
    match value:
        case dict():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return list(map(_without_nulls, value))
        case _:
            return value
