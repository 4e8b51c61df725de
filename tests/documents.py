"""Documents on the wire, written without molo and without msgspec.

One Python value gives the same document in JSON and in MessagePack, so that a test can state it
once for both codecs. `Pairs` is an object with its keys in any order and as often as wanted. Text
may hold lone surrogates: they become the three bytes that UTF-8 forbids, or in JSON, where
`escaped` asks for it, `\\uXXXX`.
"""

import base64
import json
import struct
from collections.abc import Iterable


class Pairs(list[tuple[object, object]]):
    """The members of an object, in order; a key may come more than once."""


def to_json(value: object, *, escaped: bool = False) -> bytes:
    if isinstance(value, Pairs | dict):
        members = (
            to_json(k, escaped=escaped) + b":" + to_json(v, escaped=escaped)
            for k, v in _pairs(value)
        )
        return b"{" + b",".join(members) + b"}"
    if isinstance(value, list | tuple):
        return b"[" + b",".join(to_json(item, escaped=escaped) for item in value) + b"]"
    if isinstance(value, bytes):
        value = base64.b64encode(value).decode()
    return json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")


def to_msgpack(value: object) -> bytes:
    """Pack with the shortest header each, as https://github.com/msgpack/msgpack spec.md says."""
    if isinstance(value, Pairs | dict):
        pairs = _pairs(value)
        members = b"".join(to_msgpack(k) + to_msgpack(v) for k, v in pairs)
        return _header(len(pairs), 0x80, 16, (None, 0xDE, 0xDF)) + members
    if isinstance(value, list | tuple):
        items = b"".join(map(to_msgpack, value))
        return _header(len(value), 0x90, 16, (None, 0xDC, 0xDD)) + items
    if isinstance(value, bytes):
        return _header(len(value), 0xC4, 0, (0xC4, 0xC5, 0xC6)) + value
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return _header(len(text), 0xA0, 32, (0xD9, 0xDA, 0xDB)) + text
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, bool) or value is None:
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    assert isinstance(value, int)
    return bytes([value]) if 0 <= value < 128 else b"\xd3" + struct.pack(">q", value)


def _pairs(value: Pairs | dict[object, object]) -> list[tuple[object, object]]:
    return list(value.items()) if isinstance(value, dict) else list(value)


def _header(size: int, fixed: int, fixed_below: int, wide: Iterable[int | None]) -> bytes:
    if size < fixed_below:
        return bytes([fixed + size])
    for opcode, form in zip(wide, ("B", ">H", ">I"), strict=True):
        if opcode is not None and size < 256 ** struct.calcsize(form):
            return bytes([opcode]) + struct.pack(form, size)
    raise OverflowError(size)
