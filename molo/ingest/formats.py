"""The formats of a log: how its records lie in it, and how one is read and written.

Six are JSON: molo's own, the Rust crate's and the vendors' (`forms`), one record a line, or one
document in any layout. `molo-msgpack` is frames, each a record; the Rust crate's MessagePack is one
document. What a frame of molo's own holds is what a line does: an array of messages, one message,
or a map

    {"messages": […], "rest": "<JSON text>", "origin": {…}}
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from molo import msgpack
from molo.errors import EncodeError
from molo.errors.translation import (
    DECODE_FAILURES,
    ENCODE_FAILURES,
    Form,
    alternatives,
    decode_error,
    encode_error,
    identified,
)
from molo.history.rules import Rules
from molo.ingest.forms import FORMS
from molo.ingest.objects import Content, Written, read_value, write_value
from molo.ingest.records import Layout, Origin, Record
from molo.message import TAGS, Message, require_messages

__all__ = ["AUTO", "FORMATS", "Format", "format_named"]

AUTO = "auto"  # the name of the format that is found by a look at the first records


class Quick(NamedTuple):
    """A way to read many lines; it stops with one of `DECODE_FAILURES` at one that it cannot.

    Asked again, it goes on behind that line. `single` tells that each line is one message.
    """

    read: Callable[[Iterator[bytes]], Iterator[list[Message]]]
    single: bool


class Format(NamedTuple):
    """How a log of one format is read and written, a record at a time.

    `layout` is the one that a log has if nothing else is said. `quick` gives a quick way to read
    lines like this first one, if there is any.
    """

    layout: Layout
    read: Callable[[bytes], Content]
    write: Callable[[Record, Rules | None], Written]
    quick: Callable[[bytes], Quick | None] | None = None


# --- MessagePack ----------------------------------------------------------------------------------


class _Packed(Struct, omit_defaults=True, forbid_unknown_fields=True):
    messages: list[Message]
    rest: str = ""
    origin: Origin | None = None


_decode_members = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]).decode
_decode_packed = msgspec.msgpack.Decoder(_Packed).decode
_encode_packed = msgspec.msgpack.Encoder().encode
_MSGPACK = Form(
    "MessagePack",
    msgspec.msgpack.decode,
    _encode_packed,
    TAGS,
    "; written by a newer molo?",
)


def _read_msgpack(data: bytes) -> Content:
    if not _is_map(data):
        return Content(msgpack.decode(data))
    try:
        members = _decode_members(data)
        packed = _decode_packed(data) if "messages" in members else None
    except DECODE_FAILURES as failure:
        error = decode_error(failure, data, _MSGPACK)
    else:
        if packed is None:
            return Content([msgpack.decode_message(data)], single=True)
        return Content(packed.messages, packed.rest, origin=packed.origin)
    raise error


def _write_msgpack(record: Record, rules: Rules | None) -> Written:
    if record.rest or record.origin is not None:
        require_messages(record.messages)
        packed = _Packed(record.messages, record.rest, record.origin)
        try:
            return Written(_encode_packed(packed))
        except ENCODE_FAILURES as failure:
            error = encode_error(failure, packed, _MSGPACK)
        raise error
    return Written(_one_or_all(record, msgpack.encode, msgpack.encode_message))


def _read_rust_msgpack(data: bytes) -> Content:
    from molo.dialects import rust_molo  # dialects are loaded when they are needed

    if _is_map(data):
        return Content([rust_molo.decode_msgpack_message(data)], single=True)
    return Content(rust_molo.decode_msgpack(data))


def _write_rust_msgpack(record: Record, rules: Rules | None) -> Written:
    from molo.dialects import rust_molo

    if record.rest not in ("", "{}"):
        raise EncodeError("Expected a record of messages alone, got one with other members")
    encode, encode_message = rust_molo.encode_msgpack, rust_molo.encode_msgpack_message
    return Written(_one_or_all(record, encode, encode_message))


def _is_map(data: bytes) -> bool:
    """Tell by its first byte whether MessagePack is a map."""
    return data[:1] in {b"\xde", b"\xdf"} or 0x80 <= data[0] <= 0x8F


def _one_or_all(
    record: Record,
    encode: Callable[[Sequence[Message]], bytes],
    encode_message: Callable[[Message], bytes],
) -> bytes:
    if record.single and len(record.messages) == 1:
        return encode_message(record.messages[0])
    return encode(record.messages)


# --- Many lines -----------------------------------------------------------------------------------

_decode_history = msgspec.json.Decoder(list[Message]).decode
_decode_message = msgspec.json.Decoder(Message).decode


def _read_histories(lines: Iterator[bytes]) -> Iterator[list[Message]]:
    return map(_decode_history, lines)


def _read_messages(lines: Iterator[bytes]) -> Iterator[list[Message]]:
    return map(list, zip(map(_decode_message, lines)))


def _quick(first: bytes) -> Quick | None:
    if first.startswith(b"["):
        return Quick(_read_histories, single=False)
    if first.startswith(b'{"role"'):
        return Quick(_read_messages, single=True)
    return None


# --- The table ------------------------------------------------------------------------------------


def _json(name: str) -> Format:
    form = FORMS[name]

    def read(data: bytes) -> Content:
        return read_value(data, form())

    def write(record: Record, rules: Rules | None) -> Written:
        return write_value(record, form(), rules)

    return Format("lines", read, write)


FORMATS: Mapping[str, Format] = {
    "molo": _json("molo")._replace(quick=_quick),
    "molo-msgpack": Format("frames", _read_msgpack, _write_msgpack),
    "rust-molo": _json("rust-molo"),
    "rust-molo-msgpack": Format("document", _read_rust_msgpack, _write_rust_msgpack),
    **{name: _json(name) for name in FORMS if name not in ("molo", "rust-molo")},
}
"""The formats by name, molo's own first; `auto` is one of these."""


def format_named(name: str) -> Format:
    """Give the format of this name.

    Raises:
        ValueError: there is none.
    """
    if name in FORMATS:
        return FORMATS[name]
    if name == "parquet":
        raise ValueError("Expected a format of lines, frames or documents; Parquet is molo.arrow's")
    raise ValueError(f"Expected a format, one of {alternatives(FORMATS)}, got {identified(name)}")
