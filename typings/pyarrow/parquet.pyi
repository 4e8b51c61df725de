from collections.abc import Iterator, Sequence
from typing import IO, Self

from pyarrow import RecordBatch, Schema, Table

class ParquetWriter:
    def __init__(
        self,
        where: IO[bytes],
        schema: Schema,
        *,
        compression: str,
        write_page_checksum: bool,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *details: object) -> None: ...
    def write_table(self, table: Table) -> None: ...

class FileMetaData:
    num_rows: int

class ParquetFile:
    metadata: FileMetaData
    num_row_groups: int
    schema_arrow: Schema
    def __init__(self, source: IO[bytes], *, page_checksum_verification: bool) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *details: object) -> None: ...
    def iter_batches(
        self,
        batch_size: int,
        row_groups: Sequence[int],
        columns: Sequence[str] | None = None,
    ) -> Iterator[RecordBatch]: ...
