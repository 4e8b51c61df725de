"""Files that are whole or not there, and the standard streams as files."""

import errno
import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE, S_ISREG
from tempfile import NamedTemporaryFile
from typing import IO, TextIO

__all__ = ["STANDARD", "force_directory", "standard_input", "whole_file"]

STANDARD = "-"  # as a path: standard input or output


@contextmanager
def whole_file(path: str | Path) -> Generator[IO[bytes], None, None]:
    """Open a file that appears under its name only when all of it is on disk.

    It is written beside its place, forced to disk and renamed: whatever happens in between, the old
    file is there or the whole new one. A link stays a link, and permissions are kept. `-` is
    standard output; it, what `/dev/stderr` and `/dev/fd/3` name, devices and pipes are written as
    they are.

    Raises:
        OSError: the file cannot be written.
    """
    target = str(path)
    descriptor = _named_descriptor(target)
    mode = _mode(target) if descriptor is None else None
    if descriptor is not None:
        # Not sys.stdout.buffer: with PYTHONUNBUFFERED its `write` may write a part and say no more.
        with open(descriptor, "wb", closefd=False) as file:
            yield file
    elif mode is not None and not S_ISREG(mode):  # a device or a pipe
        with open(target, "wb") as file:
            yield file
    else:
        permissions = _unmasked() if mode is None else S_IMODE(mode)
        with _replaced(os.path.realpath(target), permissions) as file:  # a link stays a link
            yield file


def standard_input() -> int:
    """Give the descriptor of standard input.

    Raises:
        OSError: it is closed.
    """
    return _descriptor(sys.stdin)


def force_directory(path: str) -> None:
    """Force the names of a directory to disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):  # not on Windows
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


_DESCRIPTOR = re.compile(r"/dev/(?:(stdout)|(stderr)|fd/(\d{1,9}))")


def _named_descriptor(target: str) -> int | None:
    """Give the descriptor that a path stands for: another file opened there would replace it."""
    if target == STANDARD:
        return _descriptor(sys.stdout)
    match = _DESCRIPTOR.fullmatch(target)
    return None if match is None else int(match[3] or match.lastindex or 0)


def _descriptor(stream: TextIO | None) -> int:
    if stream is None:
        raise OSError(errno.EBADF, "standard input or output is closed")
    return stream.fileno()


def _mode(target: str) -> int | None:
    """Give the kind and the permissions of what stands at a path, None where nothing does."""
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return None


def _unmasked() -> int:
    """Give the permissions of a new file."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


@contextmanager
def _replaced(path: str, permissions: int) -> Generator[IO[bytes], None, None]:
    directory = os.path.dirname(path)
    with _temporary_file(path, directory) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, permissions)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    force_directory(directory)


def _temporary_file(path: str, directory: str) -> IO[bytes]:
    try:
        return NamedTemporaryFile(dir=directory, prefix=".molo-", delete=False)
    except OSError as error:
        error.filename = path  # of what is to be written, not of what nobody asked for
        raise
