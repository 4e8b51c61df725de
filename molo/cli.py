"""The `molo` command: `molo convert IN OUT`.

A format is a row of `FORMATS`; a subcommand is a function that takes the parsed arguments and
returns the exit code, added to the parser by `_parser`. Exit codes: 0 fine, 1 the data is bad,
2 wrong usage or I/O, 130 interrupted. Output files are whole or absent: they are written beside
their place, forced to disk and renamed.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, NamedTuple

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
    except BrokenPipeError:  # the reader has gone; what is left to write goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, _UsageError) as error:
        return _fail(str(error), BAD_USE)


class _UsageError(Exception):
    """What argparse cannot see: a format that nothing tells."""


def _fail(text: str, code: int) -> int:
    print(f"molo: {text}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="molo", description="Read, write and convert conversation histories of LLM agents."
    )
    parser.add_argument("--version", action="version", version=f"molo {version('molo')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_convert(commands)
    return parser


def _add_convert(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    convert = commands.add_parser(
        "convert",
        help="turn a history from one format into another",
        description="Turn a history from one format into another, without loss or not at all.",
        epilog="Formats: molo and molo-msgpack are molo's own JSON and MessagePack; rust-molo and "
        "rust-molo-msgpack are those of the Rust crate molo 0.2.2.",
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
    data = sys.stdin.buffer.read() if source == STANDARD else Path(source).read_bytes()
    from_name, history = _read(source, data, options.source_format)
    output = FORMATS[to_name].encode(history)
    with _whole_file(target) as file:
        file.write(output)
    print(
        f"{len(history)} messages: {from_name} ({len(data):,} bytes) "
        f"-> {to_name} ({len(output):,} bytes)",
        file=sys.stderr,
    )
    return FINE


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
def _whole_file(target: str) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when all of it is on disk."""
    if target == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target).resolve()  # a link stays a link
    if path.exists() and not path.is_file():  # a device or a named pipe
        with path.open("wb") as file:
            yield file
        return
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, _mode(path))
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _mode(path: Path) -> int:
    """Give the permissions of the file that is replaced, or those that a new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
