"""Logs opened: files and standard input, decompressed, with what there is to say of them.

Compression is told by the suffix (`.gz`, `.zst`), and where it says nothing by the first bytes. A
stream that breaks off or is damaged gives what can be had of it, then a `BrokenLogError`, which
`read` tells in a Fault.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Self

from molo.ingest.chunks import BrokenLogError, Chunks
from molo.ingest.compression import COMPRESSIONS, Compression, compression_of
from molo.ingest.files import STANDARD, standard_input
from molo.ingest.formats import AUTO, FORMATS
from molo.ingest.guessing import Guess, guess
from molo.ingest.lines import MAX_LINE
from molo.ingest.reading import read
from molo.ingest.records import Fault, Layout, Record

__all__ = ["Log", "layout_of", "open_log"]

_CHUNK = 2**16  # bytes; read at once


def open_log(path: str | Path) -> "Log":
    """Open a log: a file, or standard input for `-`.

        with open_log("calls.jsonl.gz") as log:
            for item in log.read():
                print(item)

    Raises:
        OSError: the file cannot be opened.
    """
    name = str(path)
    if name == STANDARD:
        return Log(name, partial(os.read, standard_input()))
    file = Path(name).open("rb", buffering=0)  # noqa: SIM115 - the Log closes it
    status = os.fstat(file.fileno())
    return Log(name, file.read, file.close, status.st_size if S_ISREG(status.st_mode) else None)


def layout_of(name: str) -> Layout | None:
    """Tell how records lie in a file, as far as its suffix says.

    >>> layout_of("calls.json.gz"), layout_of("calls.jsonl"), layout_of("calls.log")
    ('document', 'lines', None)
    """
    for row in COMPRESSIONS:
        name = name.removesuffix(row.suffix)
    return _LAYOUTS.get(os.path.splitext(name)[1])


_LAYOUTS: dict[str, Layout] = {".json": "document", ".jsonl": "lines", ".ndjson": "lines"}


def _nothing() -> None:
    """Close what is not ours to close."""


class Log:
    """An open log: its bytes, chunk by chunk and once, or its records.

    `source` is its path as given. `size` is its bytes as they lie on disk, None where there is no
    telling (a pipe); `position` is how many of them have been read. `compression` is known once
    some have been.
    """

    def __init__(
        self,
        source: str,
        read: Callable[[int], bytes | None],
        close: Callable[[], None] = _nothing,
        size: int | None = None,
    ) -> None:
        self.source = source
        self.size = size
        self.position = 0
        self.compression: Compression | None = None
        self._read = read
        self._close = close
        self._chunks = Chunks(self._decompressed())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._close()

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        if self._chunks.broken:
            raise BrokenLogError(self._chunks.broken)

    def guess(self, limit: int = MAX_LINE) -> Guess:
        """Guess the format by the suffix and the first records, which stay to be read.

        For one whole record it looks at `limit` bytes and no more.

        Raises:
            OSError: from reading.
            ModuleNotFoundError: the log needs a package to be decompressed; the text says which.
        """
        layout = layout_of(self.source)
        return guess(self._chunks.peek(layout, limit), layout)

    def read(
        self, format: str = AUTO, *, limit: int = MAX_LINE, keep_raw: bool = False
    ) -> Iterator[Record | Fault]:
        """Read the log as `molo.ingest.read` does; raises as `guess`.

        Of a format that has lines, a file with the suffix `.json` is one document, unless its first
        lines are records.
        """
        found = self.guess(limit)
        format = found.format if format == AUTO else format
        has_lines = format in FORMATS and FORMATS[format].layout == "lines"
        layout = found.layout if has_lines else None
        return read(self, format, layout=layout, source=self.source, limit=limit, keep_raw=keep_raw)

    def _decompressed(self) -> Iterator[bytes]:
        raw = self._raw()
        head = next(raw, b"")
        self.compression = compression_of(self.source, head)
        chunks = chain((head,), raw)
        yield from self.compression.decompress(chunks) if self.compression else chunks

    def _raw(self) -> Iterator[bytes]:
        while chunk := self._read(_CHUNK):
            self.position += len(chunk)
            yield chunk
