"""Transcripts: a session as JSON lines, one message each, to which messages are only ever added.

One process writes a transcript at a time; any number may read it meanwhile. A crash may leave the
last line torn. It stays where it is, the next `append` begins on a line of its own, and `load`
tells of it.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from molo import json
from molo.errors import DecodeError
from molo.ingest.compression import compression_of
from molo.ingest.files import force_directory
from molo.ingest.logs import open_log
from molo.ingest.records import Fault, Record
from molo.message import Message, require_messages

__all__ = ["Loaded", "append", "load"]

_OPENING = b'{"role":"'  # what molo writes first of a message


class Loaded(NamedTuple):
    """A transcript: the messages that are whole, and the Faults between and behind them."""

    history: list[Message]
    faults: tuple[Fault, ...]


def append(path: str | Path, messages: Sequence[Message], *, fsync: bool = False) -> None:
    """Add messages to a transcript, each as a line of JSON; a new one is made if there is none.

    They are written in one piece and handed to the system, so they outlive a crash of this process.
    With `fsync` they have been forced to disk, too, and outlive a crash of the machine; this takes
    milliseconds.

    Raises:
        EncodeError: an item is no message, or holds what JSON cannot; nothing has been written.
        DecodeError: the file is there, and is no transcript; it is left as it was.
        OSError: the file cannot be written.
    """
    if compression_of(str(path)):
        raise ValueError("Expected a file that is not compressed, to add lines to")
    require_messages(messages)
    data = b"".join([json.encode_message(message) + b"\n" for message in messages])
    with Path(path).open("ab+", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            _require_transcript(path)
            file.seek(size - 1)
            if file.read(1) != b"\n":  # a torn line keeps to itself
                data = b"\n" + data
        while data:
            data = data[file.write(data) :]
        if fsync:
            os.fsync(file.fileno())
    if fsync and not size:
        force_directory(os.path.dirname(os.path.realpath(path)))


def load(path: str | Path) -> Loaded:
    """Read a transcript: all messages that are whole, and the Faults, if there are any.

    A file without a line is the transcript of nothing.

    Raises:
        DecodeError: the file is no transcript: none of its lines is a message, or one is a history.
        OSError: the file cannot be read.
    """
    history: list[Message] = []
    faults: list[Fault] = []
    with open_log(path) as log:
        for item in log.read("molo"):
            if isinstance(item, Fault):
                faults.append(item)
            else:
                history += _messages_of(item)
    if not history:
        for fault in faults:
            _require_begun(fault)
    return Loaded(history, tuple(faults))


def _require_transcript(path: str | Path) -> None:
    """Make sure that a file begins as a transcript does."""
    with open_log(path) as log:
        first = next(log.read("molo"), None)
    if isinstance(first, Fault):
        _require_begun(first)
    elif first is not None:
        _messages_of(first)


def _messages_of(record: Record) -> list[Message]:
    if record.single:
        return record.messages
    raise DecodeError(f"Expected a transcript, got a history in line {record.line}")


def _require_begun(fault: Fault) -> None:
    """Make sure that a line that is no message began as one."""
    begun = fault.raw[: len(_OPENING)]
    if not (begun and _OPENING.startswith(begun)):
        raise DecodeError(f"Expected a transcript; line {fault.line}: {fault.reason}")
