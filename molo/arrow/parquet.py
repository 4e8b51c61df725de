"""Parquet files of conversations: written and read group by group, memory flat in their size.

A file has the schema `CONVERSATIONS`, is compressed with Zstandard, and has checksums by which
damage is told. It keeps Arrow's own types in its metadata; any tool that reads Parquet reads it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from molo.arrow.reading import from_batch
from molo.arrow.schema import CONVERSATIONS
from molo.arrow.writing import ROWS, to_batches
from molo.errors import DecodeError, EncodeError
from molo.ingest import Fault, Record, whole_file

__all__ = ["read_parquet", "write_parquet"]

GROUP = 64 * 2**20  # bytes in memory, about, of a row group; what a writer and a reader hold


def write_parquet(items: Iterable[Record | Fault], path: str | Path) -> int:
    """Write what `molo.ingest.read` gives to a file that is whole or stays as it was.

    `-` is standard output. Gives the number of rows. Faults are rows too; leave them out of `items`
    where only Records are wanted.

    Raises:
        EncodeError: as `to_batches`; or one conversation has more text than Parquet can hold, which
            is about 2 GiB in one field of its messages.
        OSError: the file cannot be written.
    """
    rows = 0
    with (
        whole_file(path) as file,
        pq.ParquetWriter(
            file, CONVERSATIONS, compression="zstd", write_page_checksum=True
        ) as writer,
    ):
        for group in _groups(to_batches(items)):
            _write(writer, group)
            rows += group.num_rows
    return rows


def read_parquet(path: str | Path) -> Iterator[Record | Fault]:
    """Read what `write_parquet` was given, in its order.

    Files that other tools made of such a file are read too; see `from_batches`.

    Raises:
        DecodeError: the file is no Parquet or damaged, or holds no conversations.
        OSError: the file cannot be read.
    """
    for batch in _batches(path):
        yield from from_batch(batch)


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches into tables that are large enough for a row group."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= GROUP:
            yield pa.Table.from_batches(held, CONVERSATIONS)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held, CONVERSATIONS)


def _write(writer: pq.ParquetWriter, group: pa.Table) -> None:
    try:
        return writer.write_table(group)
    except pa.ArrowCapacityError:  # groups are small, so it is one row
        error = EncodeError("Expected less than 2 GiB of text in a conversation, got more")
    raise error


def _batches(path: str | Path) -> Iterator[pa.RecordBatch]:
    whole = False
    with Path(path).open("rb") as file:
        try:
            with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
                left = parquet.metadata.num_rows
                for group in range(parquet.num_row_groups):
                    for batch in parquet.iter_batches(ROWS, [group]):
                        left -= batch.num_rows
                        yield batch
                whole = left == 0  # the damaged header of a page may end a column without a word
        except (pa.ArrowException, OSError, UnicodeDecodeError) as failure:
            # An OSError without a number is pyarrow's own, which has no other for damaged data.
            if isinstance(failure, OSError) and failure.errno is not None:
                raise
    if not whole:
        raise DecodeError("Expected a Parquet file, got damaged or other data")
