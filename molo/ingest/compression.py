"""Compressed streams: gzip of any number of members, zstd of any number of frames.

Python reads and writes zstd by itself from 3.14 on; before, the package backports.zstd does. It is
loaded where it is needed.
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import IO, NamedTuple, Protocol

from molo.ingest.chunks import BrokenLogError

__all__ = ["COMPRESSIONS", "Compression", "Output", "compression_of"]

_CHUNK = 2**18  # bytes; given at once, however well they were compressed


class Decompressor(Protocol):
    """What takes one member or frame apart, as the standard library has it."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class Output(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take all of `data`."""
        ...


class Compression(NamedTuple):
    """One way to compress a file."""

    suffix: str
    starts: tuple[bytes, ...]  # the first bytes of a stream
    decompress: Callable[[Iterable[bytes]], Iterator[bytes]]
    open: Callable[[IO[bytes]], AbstractContextManager[Output]]  # to compress into a file


def compression_of(name: str, head: bytes = b"") -> Compression | None:
    """Tell how a file is compressed, by its name or else by its first bytes.

    >>> compression_of("calls.jsonl.gz").suffix
    '.gz'
    """
    by_name = (row for row in COMPRESSIONS if name.endswith(row.suffix))
    by_head = (row for row in COMPRESSIONS if head.startswith(row.starts))
    return next(by_name, None) or next(by_head, None)


def _decompress(
    chunks: Iterable[bytes],
    new: Callable[[], Decompressor],
    failure: type[Exception],
    name: str,
) -> Iterator[bytes]:
    """Decompress members that follow each other; bytes of zero behind them are padding."""
    stream = _Stream(new, failure, name)
    for chunk in chunks:
        yield from stream.decompress(chunk)
    stream.finish()


class _Stream:
    """A compressed stream: members behind each other, and how far it is read."""

    def __init__(
        self, new: Callable[[], Decompressor], failure: type[Exception], name: str
    ) -> None:
        self._new = new
        self._failure = failure
        self._name = name
        self._member = new()
        self._begun = False  # whether a byte of this member has come
        self._padding = b""  # what may stand between members

    def decompress(self, chunk: bytes) -> Iterator[bytes]:
        data = chunk if self._begun else chunk.lstrip(self._padding)
        while data or not self._member.needs_input:
            yield self._step(data)
            self._begun = True
            data = b""
            if self._member.eof:
                self._padding = b"\0"
                data = self._member.unused_data.lstrip(self._padding)
                self._member, self._begun = self._new(), False

    def finish(self) -> None:
        if self._begun:
            raise BrokenLogError(f"Expected more {self._name}, got the end of the data")

    def _step(self, data: bytes) -> bytes:
        try:
            return self._member.decompress(data, _CHUNK)
        except self._failure:
            pass
        raise BrokenLogError(f"Expected {self._name}, got damaged data")


# --- gzip -----------------------------------------------------------------------------------------


class _Gunzip:
    """zlib's decompressor with the face that the others have."""

    def __init__(self) -> None:
        self.needs_input = True
        self._zlib = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)  # 16: a gzip header, no other

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        given = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self.needs_input = len(given) < max_length
        return given


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    return _decompress(chunks, _Gunzip, zlib.error, "gzip")


def _gzip(file: IO[bytes]) -> AbstractContextManager[Output]:
    # Without name and time: the same records give the same bytes.
    return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)


# --- zstd -----------------------------------------------------------------------------------------


class _Zstd(NamedTuple):
    """What is used of a module for zstd."""

    decompressor: Callable[[], Decompressor]
    failure: type[Exception]
    open: Callable[[IO[bytes]], AbstractContextManager[Output]]


def _load_zstd() -> _Zstd:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        pass
    else:
        return _Zstd(zstd.ZstdDecompressor, zstd.ZstdError, partial(zstd.ZstdFile, mode="wb"))
    raise ModuleNotFoundError(
        "zstd needs Python 3.14 or the package backports.zstd: pip install backports.zstd"
    )


def _unzstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    zstd = _load_zstd()
    return _decompress(chunks, zstd.decompressor, zstd.failure, "zstd")


@contextmanager
def _zstd(file: IO[bytes]) -> Generator[Output, None, None]:
    with _load_zstd().open(file) as output:
        output.write(b"")  # without any write there would be no frame, and no zstd
        yield output


COMPRESSIONS = (
    Compression(".gz", (b"\x1f\x8b",), _gunzip, _gzip),
    # RFC 8878: a frame, or one of 16 kinds of skippable frames
    Compression(
        ".zst",
        (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16))),
        _unzstd,
        _zstd,
    ),
)
"""All that molo reads and writes, by suffix."""
