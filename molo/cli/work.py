"""A job over a log: in this process, or over parts of it in several, with the same output.

What a job writes goes to `Sinks`; what it returns is small. In a worker the sinks are files, which
are joined in the order of the log. They are compressed there, where there are hands for it: gzip
and zstd take parts behind each other for the whole.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from molo.cli.screen import Bar, Write
from molo.cli.sources import Item, Source
from molo.ingest import compressed, run

__all__ = ["Job", "Sinks", "followed", "is_shared", "nowhere", "work"]

T = TypeVar("T")

_COPIED = 2**20  # bytes; at once


class Sinks(NamedTuple):
    """Where a job writes to: what it makes, the bad lines, and what it has to tell."""

    output: Write
    rejects: Write
    report: Write


Job: TypeAlias = Callable[[Iterator[Item], Sinks], T]
"""Works through a log or a part of it. For several workers it has to be one that can be pickled."""


def nowhere(data: bytes) -> None:
    """Write nothing."""


def is_shared(source: Source, workers: int) -> bool:
    """Tell whether the work on a log is shared: parts are written that are joined."""
    return workers > 1 and source.is_divisible


def work(
    source: Source,
    job: Job[T],
    sinks: Sinks,
    workers: int,
    bar: Bar,
    names: tuple[str, str] = ("", ""),
) -> Generator[T, None, None]:
    """Run a job over a log; give what it returns, for each part in order.

    `names` are those of the files behind the first two sinks. Where the work is shared, what comes
    to these is compressed as the names say.

    Raises:
        ChildProcessError: a worker has died.
        OSError: the log cannot be read, or a file not be written.
        MoloError: from the job.
    """
    if not is_shared(source, workers):
        yield job(followed(source, bar), sinks)
        return
    with (
        TemporaryDirectory(prefix="molo-", ignore_cleanup_errors=True) as directory,
        closing(
            run(
                source.path,
                partial(_into_files, job=job, directory=directory, names=(*names, "")),
                workers,
                format=source.format,
                keep_raw=source.keep_raw,
                progress=bar.update,
            )
        ) as parts,
    ):
        for part in parts:
            for path, write in zip(part.paths, sinks, strict=True):
                _move(path, write)
            yield part.result


def followed(source: Source, bar: Bar) -> Iterator[Item]:
    """Show on the way how far a log is read."""
    shown = 0
    for item in source.items:
        if source.position() != shown:
            shown = source.position()
            bar.update(shown)
        yield item


class _Part(NamedTuple, Generic[T]):
    """What a worker hands back: the files that it wrote, in the order of the sinks."""

    paths: tuple[str, ...]
    result: T


def _into_files(
    items: Iterator[Item], *, job: Job[T], directory: str, names: Sequence[str]
) -> _Part[T]:
    with ExitStack() as stack:
        files = [
            stack.enter_context(NamedTemporaryFile(dir=directory, delete=False)) for _ in names
        ]
        outputs = [
            stack.enter_context(compressed(file.file, name))
            for file, name in zip(files, names, strict=True)
        ]
        result = job(items, Sinks(*(output.write for output in outputs)))
        return _Part(tuple(file.name for file in files), result)


def _move(path: str, write: Write) -> None:
    with open(path, "rb") as file:
        while data := file.read(_COPIED):
            write(data)
    Path(path).unlink()
