"""The `molo` command: `molo convert IN OUT`.

A format is a row of `FORMATS`; a subcommand is a function that takes the parsed arguments and
returns the exit code, added to the parser by `_parser`. Exit codes: 0 fine, 1 the data is bad,
2 wrong usage or I/O, 130 interrupted. Output files are whole or absent: they are written beside
their place, forced to disk and renamed.
"""

import argparse
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from stat import S_IMODE, S_ISREG
from tempfile import NamedTemporaryFile
from typing import IO, NamedTuple, TextIO

from molo import json, msgpack
from molo.dialects import rust_molo
from molo.errors import DecodeError, MoloError, alternatives
from molo.message import Message

__all__ = ["FORMATS", "Format", "main"]


class Format(NamedTuple):
    """A whole-file format: how a history is read from it and written to it."""

    suffix: str
    decode: Callable[[bytes], list[Message]]
    encode: Callable[[Sequence[Message]], bytes]


FORMATS: dict[str, Format] = {
    "molo": Format(".json", json.decode, json.encode),
    "molo-msgpack": Format(".msgpack", msgpack.decode, msgpack.encode),
    "rust-molo": Format(".json", rust_molo.decode_json, rust_molo.encode_json),
    "rust-molo-msgpack": Format(".msgpack", rust_molo.decode_msgpack, rust_molo.encode_msgpack),
}

FINE, BAD_DATA, BAD_USE, INTERRUPTED = 0, 1, 2, 130
STANDARD = "-"  # as a path: standard input or output


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own); return its exit code."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except MoloError as error:
        return _fail(str(error), BAD_DATA)
    except BrokenPipeError:  # the reader has gone
        return BAD_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, _UsageError) as error:
        return _fail(str(error), BAD_USE)


class _UsageError(Exception):
    """What argparse cannot see: a format that nothing tells, a standard stream that is closed."""


def _fail(text: str, code: int) -> int:
    _say(f"molo: {text}")
    return code


def _say(text: str) -> None:
    if sys.stderr is not None:  # else it is closed, and `print` would put the text among the data
        print(text, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="molo", description="Read, write and convert conversation histories of LLM agents."
    )
    parser.add_argument("--version", action="version", version=f"molo {version('molo')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _describe_convert(
        commands.add_parser("convert", help="turn a history from one format into another")
    )
    return parser


def _describe_convert(convert: argparse.ArgumentParser) -> None:
    convert.description = "Turn a history from one format into another, without loss or not at all."
    convert.epilog = (
        "Formats: molo and molo-msgpack are molo's own JSON and MessagePack; rust-molo and "
        "rust-molo-msgpack are those of the Rust crate molo 0.2.2."
    )
    convert.add_argument("source", metavar="IN", help="the file to read; - is standard input")
    convert.add_argument("target", metavar="OUT", help="the file to write; - is standard output")
    convert.add_argument(
        "--from",
        dest="source_format",
        metavar="FORMAT",
        choices=FORMATS,
        help="format of IN; by default guessed from its suffix and content",
    )
    convert.add_argument(
        "--to",
        dest="target_format",
        metavar="FORMAT",
        choices=FORMATS,
        help="format of OUT; by default molo for .json, molo-msgpack for .msgpack",
    )
    convert.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> int:
    source: str = options.source
    target: str = options.target
    to_name: str = options.target_format or _format_of_target(target)
    data = _input(source)
    from_name, history = _read(source, data, options.source_format)
    output = FORMATS[to_name].encode(history)
    with _whole_file(target) as file:
        file.write(output)
    _say(
        f"{len(history)} messages: {from_name} ({len(data):,} bytes) "
        f"-> {to_name} ({len(output):,} bytes)"
    )
    return FINE


def _input(source: str) -> bytes:
    if source != STANDARD:
        return Path(source).read_bytes()
    with open(_descriptor(sys.stdin), "rb", closefd=False) as file:
        return file.read()


def _descriptor(stream: TextIO | None) -> int:
    if stream is None:
        raise _UsageError("standard input or output is closed")
    return stream.fileno()


def _format_of_target(target: str) -> str:
    """Choose the first format, molo's own, with the suffix of the file."""
    for name, row in FORMATS.items():
        if target.endswith(row.suffix):
            return name
    raise _UsageError(f"no format is known by the suffix of {target}: say it with --to")


def _read(source: str, data: bytes, name: str | None) -> tuple[str, list[Message]]:
    """Decode with the named format, or with the only one that fits suffix and content."""
    if name is not None:
        return name, FORMATS[name].decode(data)
    candidates = [n for n, row in FORMATS.items() if source.endswith(row.suffix)] or list(FORMATS)
    readings: dict[str, list[Message]] = {}
    errors: dict[str, DecodeError] = {}
    for candidate in candidates:
        try:
            readings[candidate] = FORMATS[candidate].decode(data)
        except DecodeError as error:
            errors[candidate] = error
    if len(readings) == 1:
        return next(iter(readings.items()))
    if readings:
        raise _UsageError(f"{source} may be {alternatives(readings)}: say it with --from")
    raise DecodeError("; ".join(f"As {name}: {error}" for name, error in errors.items()))


@contextmanager
def _whole_file(target: str) -> Generator[IO[bytes], None, None]:
    """Open a file that appears under its name only when all of it is on disk."""
    mode = None if target == STANDARD else _mode(target)
    if target == STANDARD:
        # Not sys.stdout.buffer: with PYTHONUNBUFFERED its `write` may write a part and say no more.
        with open(_descriptor(sys.stdout), "wb", closefd=False) as file:
            yield file
    elif mode is not None and not S_ISREG(mode):  # a device or a pipe, such as /dev/stdout
        with open(target, "wb") as file:
            yield file
    else:
        permissions = _unmasked() if mode is None else S_IMODE(mode)
        with _replaced(os.path.realpath(target), permissions) as file:  # a link stays a link
            yield file


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
    with NamedTemporaryFile(dir=os.path.dirname(path), prefix=".molo-", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, permissions)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
