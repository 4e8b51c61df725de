r"""Histories as Arrow batches: for Parquet, and for engines that run on many machines.

Needs pyarrow, which the extra `arrow` brings. What `molo.ingest` reads from a log becomes batches
with one row a conversation, and comes back from them as it was. None, `""` and text stay apart, as
do unknown blocks, vendors' data and the other members of a line. Arrow's text is UTF-8: a lone
surrogate is an `EncodeError`.

>>> from molo.ingest import read
>>> log = [b'{"id":"a7","messages":[{"role":"user","content":"Hi"}]}\n', b'{"id":']
>>> items = list(read(log, "openai-chat"))
>>> [batch] = to_batches(items)
>>> list(from_batches([batch])) == items
True

`CONVERSATIONS` is the schema of such batches; `molo.arrow.schema` tells what stands where.
`to_messages` and `to_calls` make of them a row for each message and for each tool call: tables that
can be queried by any tool.

>>> to_messages(batch).select(["id", "at", "role", "content"]).to_pylist()
[{'id': 'a7', 'at': 0, 'role': 'user', 'content': 'Hi'}]

The rest are batch functions: from lines or logs to conversations (`decode_lines`, `decode_logs`),
and from conversations to conversations. Ray Data and Spark take them as they are; examples/ shows
how.

>>> check(batch).column("problems").to_pylist()
[[], None]
"""

from importlib.util import find_spec

if find_spec("pyarrow") is None:
    raise ModuleNotFoundError("molo.arrow needs pyarrow: pip install pyarrow", name="pyarrow")

from molo.arrow.jobs import (
    check,
    decode_lines,
    decode_logs,
    estimate_tokens,
    map_histories,
    redact,
    repair,
    strip_reasoning,
)
from molo.arrow.parquet import read_parquet, write_parquet
from molo.arrow.reading import from_batch, from_batches, from_messages, histories_of
from molo.arrow.schema import CALLS, CONVERSATIONS, MESSAGES
from molo.arrow.tables import to_calls, to_messages
from molo.arrow.writing import histories_column, to_batch, to_batches

__all__ = [
    "CALLS",
    "CONVERSATIONS",
    "MESSAGES",
    "check",
    "decode_lines",
    "decode_logs",
    "estimate_tokens",
    "from_batch",
    "from_batches",
    "from_messages",
    "histories_column",
    "histories_of",
    "map_histories",
    "read_parquet",
    "redact",
    "repair",
    "strip_reasoning",
    "to_batch",
    "to_batches",
    "to_calls",
    "to_messages",
    "write_parquet",
]
