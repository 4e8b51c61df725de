"""Jobs over a large log, in several processes.

The log is cut at line ends into parts of some megabytes. The parent finds the cuts and counts the
lines on the way, so every Record and Fault knows its line; the pages that it reads are in the
cache when a worker reads them. A worker opens the file, runs the job over its part, and hands back
what the job returns: something small, or the name of a file that the parent joins to others. To
send what was read from process to process would take longer than to read it.
"""

from collections.abc import Callable, Generator, Iterator
from io import FileIO
from pathlib import Path
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from molo.ingest.formats import AUTO, format_named
from molo.ingest.lines import MAX_LINE, PIECE
from molo.ingest.logs import Log, open_log
from molo.ingest.reading import read
from molo.ingest.records import Fault, Layout, Record

__all__ = ["Job", "run"]

T = TypeVar("T")

Job: TypeAlias = Callable[[Iterator[Record | Fault]], T]
"""Works through a part of a log: a function of a module, or a `functools.partial` of one."""

_LARGEST_PART = 2**24  # bytes; what a worker has in hand is lost work when it is interrupted
_SMALLEST_PART = 2**16  # bytes; below, handing it over takes longer than reading it
_PARTS = 4  # a worker, at least, so that all end at about the same time
_COUNTED = 2**20  # bytes; read at once where lines are counted


def run(
    path: str | Path,
    job: Job[T],
    workers: int = 1,
    *,
    format: str = AUTO,
    limit: int = MAX_LINE,
    keep_raw: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Generator[T, None, None]:
    """Run a job over a log, part by part, in so many processes; give its results in order.

    One uncompressed regular file of lines is worked on in parts. Any other log, a small one, and
    all with one worker, is one part, worked on in this process. `format`, `limit` and `keep_raw`
    are those of `read`. `progress` is called with the number of bytes read so far, of `Log.size`.

    Results come as they are ready and in the order of the parts; no more than a few parts are
    worked on ahead. What a job raises, is raised here, in its place. When this generator is closed,
    or an interrupt ends it, the workers end at once. JSON over several lines may be told once in
    each of two parts.

    Raises:
        ValueError: no such format, or less than one worker.
        ChildProcessError: a worker has died (killed, out of memory, or it cannot import the job).
        OSError: the log cannot be read.
    """
    if workers < 1:
        raise ValueError(f"workers must be 1 or more, got {workers}")
    with open_log(path) as log:
        found = log.guess(limit)
        name = found.format if format == AUTO else format
        size = log.size or 0
        if workers == 1 or size <= _SMALLEST_PART or not _has_parts(log, name, found.layout):
            items = log.read(name, limit=limit, keep_raw=keep_raw)
            yield job(_followed(log, items, progress))
            return
    from molo.ingest.workers import in_order  # not in vain where nobody wants workers

    step = max(_SMALLEST_PART, min(_LARGEST_PART, size // (workers * _PARTS)))
    task = _Task(str(path), name, limit, keep_raw, job)
    for part, result in in_order(task.do, _parts(Path(path), step), workers):
        if progress is not None:
            progress(part.stop)
        yield result


def _has_parts(log: Log, format: str, layout: Layout) -> bool:
    lines = layout == "lines" and format_named(format).layout == "lines"
    return lines and log.compression is None


def _followed(
    log: Log, items: Iterator[Record | Fault], progress: Callable[[int], object] | None
) -> Iterator[Record | Fault]:
    """Report how far a log is read, chunk by chunk."""
    if progress is None:
        yield from items
        return
    position = -1
    for item in items:
        if log.position != position:
            position = log.position
            progress(position)
        yield item


# --- Parts ----------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A run of whole lines of a file."""

    start: int  # offset of its first byte
    stop: int
    line: int  # number of its first line


def _parts(path: Path, step: int) -> Iterator[_Part]:
    """Cut a file into parts of about `step` bytes; a line that is longer is in one part whole."""
    start = position = ends = 0
    line = 1
    with path.open("rb", buffering=0) as file:
        while block := file.read(min(step, _COUNTED)):
            position += len(block)
            ends += _count_ends(block)
            behind = len(block) - block.rfind(b"\n") - 1
            if position - start >= step and behind < len(block):
                stop = position - behind
                yield _Part(start, stop, line)
                start, line, ends = stop, line + ends, 0
    if start < position:
        yield _Part(start, position, line)


def _count_ends(block: bytes) -> int:
    """Count line ends; `bytes.count` looks at each byte by itself, `find` at many at once."""
    ends = at = 0
    while at := block.find(b"\n", at) + 1:
        ends += 1
    return ends


# --- What a worker does ---------------------------------------------------------------------------


class _Task(NamedTuple, Generic[T]):
    """What a worker has to know besides the part."""

    path: str
    format: str
    limit: int
    keep_raw: bool
    job: Job[T]

    def do(self, part: _Part) -> T:
        """Run the job over a part."""
        with Path(self.path).open("rb", buffering=0) as file:
            file.seek(part.start)
            return self.job(
                read(
                    _bytes(file, part.stop - part.start),
                    self.format,
                    layout="lines",
                    source=self.path,
                    limit=self.limit,
                    line=part.line,
                    offset=part.start,
                    keep_raw=self.keep_raw,
                )
            )


def _bytes(file: FileIO, size: int) -> Iterator[bytes]:
    """Read this many bytes, as long as there are any."""
    while size and (chunk := file.read(min(size, PIECE))):
        size -= len(chunk)
        yield chunk
