"""Logs of any size are checked by Spark, and written as Parquet; the twin of examples/ray_check.py.

    pip install '.[arrow]' pyspark pandas
    python examples/spark_check.py LOGS OUT [FORMAT]

LOGS is a directory of logs of JSON lines, each small enough for memory. OUT gets the conversations
with their problems, and the tool calls, as examples/tool_errors.py queries them.

No test of the project runs this. It was run by hand in 2026-11 with PySpark 4.3.0 on Java 17, in
local mode with two cores, over eight logs of 200 conversations and 16 bad lines: its rows were
those that `molo.ingest.read` gives in one process. Two things had to be done for Spark: types with
offsets of 64 bits are cast to its own, and local workers are told which Python to take.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from molo import arrow
from molo.history import COMMON

KEEP = ("path", "line", "id")  # tell a conversation from all others


def main(logs: str, out: str, format: str = "auto") -> None:
    """Write the two tables and count their rows."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # local workers; else the first on PATH
    spark = SparkSession.builder.appName("molo").getOrCreate()
    files = spark.read.format("binaryFile").load(logs).select("path", "content")
    decode = partial(arrow.decode_logs, column="content", format=format)
    conversations = mapped(mapped(files, decode), partial(arrow.check, rules=COMMON)).cache()
    calls = mapped(conversations, partial(arrow.to_calls, keep=KEEP))
    conversations.write.parquet(f"{out}/conversations")
    calls.write.parquet(f"{out}/calls")
    print(f"{conversations.count()} conversations, {calls.count()} calls")
    spark.stop()


def mapped(frame: DataFrame, function: Callable[[pa.RecordBatch], pa.RecordBatch]) -> DataFrame:
    """Have every batch made into another; what comes of an empty one tells the schema."""
    empty = pa.RecordBatch.from_pylist([], schema=to_arrow_schema(frame.schema))
    schema = from_arrow_schema(function(empty).schema)
    return frame.mapInArrow(partial(narrowed, function, to_arrow_schema(schema)), schema)


def narrowed(
    function: Callable[[pa.RecordBatch], pa.RecordBatch],
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Map batches, and cast what comes out: Spark has no lists with offsets of 64 bits."""
    return (function(batch).cast(schema) for batch in batches)


if __name__ == "__main__":
    main(*sys.argv[1:])
