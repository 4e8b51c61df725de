"""Logs written: lines, frames or a document, compressed by suffix, whole or not at all."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from molo.errors import EncodeError
from molo.framing import encode_frame
from molo.history.rules import Rules
from molo.ingest.compression import Output, compression_of
from molo.ingest.files import whole_file
from molo.ingest.formats import format_named
from molo.ingest.lines import MAX_LINE
from molo.ingest.logs import layout_of
from molo.ingest.objects import Written
from molo.ingest.records import Layout, Record

__all__ = ["compressed", "encode", "encode_with_losses", "format_of", "write"]


def write(
    records: Iterable[Record],
    sink: str | Path,
    format: str | None = None,
    *,
    rules: Rules | None = None,
) -> int:
    """Write records to a file that is whole or stays as it was; give their number.

    `sink` is a path, or `-` for standard output. `format` is a name of `FORMATS`; if it is not
    given, `.msgpack` is `molo-msgpack` and every other suffix `molo`, but for `.parquet`, which
    `molo.arrow` writes. `.json` holds one record. Before `.gz` and `.zst` the same holds. `rules`
    are those of the vendor whose form is written.

    Raises:
        ValueError: no such format, or none is given for a `.parquet` file.
        EncodeError: the format cannot hold a record, or there is not the one of a document.
        FrameError: a frame would be larger than 64 MiB.
        OSError: the file cannot be written.
    """
    name = str(sink)
    if format is None and _bare(name).endswith(".parquet"):
        raise ValueError("Expected a file of lines, frames or a document; Parquet is molo.arrow's")
    format = format or format_of(name)
    layout = _layout(name, format)
    number = 0
    with whole_file(name) as file, compressed(file, name) as output:
        for number, record in enumerate(records, 1):
            if layout == "document" and number > 1:
                raise EncodeError("Expected one record for a document, got more; lines hold them")
            output.write(encode(record, format, layout, rules=rules))
        if layout == "document" and number == 0:
            raise EncodeError("Expected one record for a document, got none")
    return number


def encode(
    record: Record, format: str, layout: Layout | None = None, *, rules: Rules | None = None
) -> bytes:
    """Write one record as a line with its end, a frame or a document.

    Raises:
        ValueError: no such format.
        EncodeError: the format cannot hold it; the text names the line that it came from.
        FrameError: a frame would be larger than 64 MiB.

    >>> from molo import user
    >>> encode(Record([user("Hi")]), "openai-chat")
    b'[{"role":"user","content":"Hi"}]\\n'
    """
    return encode_with_losses(record, format, layout, rules=rules).data


def encode_with_losses(
    record: Record, format: str, layout: Layout | None = None, *, rules: Rules | None = None
) -> Written:
    """Write one record as `encode` does, and say what it lacks of it.

    The losses are those of the vendor's dialect; `at` is the index of the message. molo's own form
    and the Rust crate's lose nothing: what they cannot hold is an error.

    Raises:
        ValueError, EncodeError, FrameError: as `encode`.

    >>> from molo import ToolResult
    >>> failed = Record([ToolResult("call_1", "no such file", is_error=True)])
    >>> written = encode_with_losses(failed, "openai-chat")
    >>> written.data
    b'[{"role":"tool","tool_call_id":"call_1","content":"no such file"}]\\n'
    >>> [(loss.at, loss.code) for loss in written.losses]
    [(0, 'error_flag')]
    """
    row = format_named(format)
    try:
        written = row.write(record, rules)
    except EncodeError as failure:
        text = f"{failure.text} (in the record of line {record.line})"
        error = EncodeError(text, path=failure.path)
    else:
        return Written(_FINISH[layout or row.layout](written.data), written.losses)
    raise error


def _line(data: bytes) -> bytes:
    return data + b"\n"


def _frame(data: bytes) -> bytes:
    return encode_frame(data, MAX_LINE)


_FINISH: Mapping[Layout, Callable[[bytes], bytes]] = {
    "lines": _line,
    "frames": _frame,
    "document": bytes,
}


def format_of(name: str) -> str:
    """Give molo's own format for a file of this name."""
    return "molo-msgpack" if _bare(name).endswith(".msgpack") else "molo"


def _bare(name: str) -> str:
    """Take the suffix of its compression off a name."""
    compression = compression_of(name)
    return name if compression is None else name.removesuffix(compression.suffix)


def _layout(name: str, format: str) -> Layout:
    layout = format_named(format).layout
    return layout_of(name) or layout if layout == "lines" else layout


@contextmanager
def compressed(file: IO[bytes], name: str) -> Generator[Output, None, None]:
    """Compress into a file what is written, as its name says; the file stays open.

    Raises:
        ModuleNotFoundError: this needs a package; the text says which.
    """
    compression = compression_of(name)
    if compression is None:
        yield file
    else:
        with compression.open(file) as output:
            yield output
