"""Edits computed: what turns one JSON value into another, in the form that the package tells."""

from collections.abc import Container
from typing import TypeAlias

import msgspec

from molo.dialects.delta.applying import URL_SAFE
from molo.dialects.wire import Json, encoded, parse, text
from molo.errors import DecodeError
from molo.errors.translation import ENCODE_FAILURES

__all__ = ["Base", "Edit", "added", "copied", "difference", "packed"]

Edit: TypeAlias = dict[str, Json] | list[Json]
"""What has to be done to a JSON value, in the form that the package's docstring tells."""


def difference(base: Json, wire: Json) -> Edit | None:
    """Compute the edit that turns one JSON value into another; None where they are equal.

    Equal as JSON: the order of keys does not count, `true` is not `1`.

    >>> difference({"content": "Hi"}, {"content": "Hi", "name": None})
    {'name': [None]}
    """
    return _edit(base, wire, (), Base(base))


def added(members: dict[str, Json]) -> dict[str, Json]:
    """Give the edit that adds members to an object that has none of these keys, nor any text.

    >>> added({"name": None})
    {'name': [None]}
    """
    return _NOTHING.added(members, ())


def copied(text: str, *path: str | int) -> Json:
    """Give what an edit says of a text that the base has at this path.

    >>> copied("Hi", "content"), copied("Hello, world", "content")
    ('Hi', {'$': ['content']})
    """
    return {"$": [*path]} if len(text) >= _COPIED else text


class Base:
    """The value that an edit is of: strings that it has are copied from there, not repeated."""

    __slots__ = ("_misses", "_packed", "_same_texts", "_texts", "_value")

    def __init__(self, value: Json, same_texts: "Base | None" = None) -> None:
        self._value = value
        self._same_texts = same_texts  # has the same strings, and may be smaller
        self._packed: bytes | None = None
        self._texts: _Texts | None = None  # made when strings ask for it
        self._misses = 0  # strings that asked, and were not there

    def packed(self) -> bytes:
        """Give the value packed."""
        if self._packed is None:
            self._packed = packed(self._value)
        return self._packed

    def edit(self, wire: Json) -> Edit | None:
        """Compute what `difference` does."""
        # Items are mostly as they should be, which takes less to see than to look at each of them.
        # To Python `true` is 1; packed they differ.
        value = self._value
        if isinstance(value, list) and value == wire and packed(wire) == self.packed():
            return None
        return _edit(value, wire, (), self)

    def added(self, wire: dict[str, Json], known: Container[str]) -> dict[str, Json]:
        """Give the edit that adds all members but those with known keys to the value, an object."""
        edits: dict[str, Json] = {}
        for key, value in wire.items():
            if key not in known:
                edits[key] = [self.template(value)]
        return edits

    def template(self, value: Json) -> Json:
        """Give what an edit says of a value."""
        if isinstance(value, str):
            return self._copy(value) if len(value) >= _COPIED else value
        if isinstance(value, dict):
            if "$" in value:
                return {"$": value}
            return {key: self.template(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.template(item) for item in value]
        return value

    def _copy(self, value: str) -> Json:
        if self._value is None:
            return value
        if self._texts is None:
            if self._misses < _MISSES and not (self._same_texts or self).may_have(value):
                self._misses += 1
                return value
            self._texts = _Texts(self._value)
        return self._texts.copy(value)

    def may_have(self, text: str) -> bool:
        """Tell whether a text may stand in the value: False is sure, and quicker than a search."""
        # Not `in`, which would first take the bytes for a number, in vain.
        return self.packed().find(text.encode(errors="replace")) >= 0


_NOTHING = Base(None)


def packed(value: Json) -> bytes:
    """Pack a value, so that equal ones are the same bytes, and `true` is not `1`."""
    try:
        return _encode_msgpack(value)
    except ENCODE_FAILURES:  # an integer of more than 64 bits, or no JSON at all
        return encoded(value)


def _pack_number(value: Json) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(0, encoded(value))


# MessagePack, because it takes text as it is; in JSON each character is looked at for escapes.
_encode_msgpack = msgspec.msgpack.Encoder(enc_hook=_pack_number).encode


_COPIED = 12  # characters; a shorter string is no longer than the reference to it
_GAP = 64  # characters between two pieces of a text: a separator, or pieces too short to copy
_MISSES = 16  # strings that are looked for one by one, in vain, before all texts are collected
_ALIKE = 16  # texts that begin alike, of which a piece is looked for

_Path: TypeAlias = tuple[str | int, ...]
_Text: TypeAlias = tuple[_Path, str]  # a string of the base, and where it stands


def _edit(base: Json, wire: Json, path: _Path, copies: Base) -> Edit | None:
    if base is wire:
        return None
    if isinstance(base, dict) and isinstance(wire, dict):
        return _edit_members(base, wire, path, copies)
    if isinstance(base, list) and isinstance(wire, list):
        return _edit_items(base, wire, path, copies)
    if type(base) is type(wire) and base == wire:
        return None
    return [_instead(base, wire, path, copies)]


def _edit_members(
    base: dict[str, Json], wire: dict[str, Json], path: _Path, copies: Base
) -> Edit | None:
    edits: dict[str, Json] = {}
    for key, value in wire.items():
        if key not in base:
            edits[key] = [_under_new_key(base, wire, value, path, copies)]
            continue
        old = base[key]
        if old == value and (type(old) is str or packed(old) == packed(value)):
            continue  # most members; to Python `true` is 1, packed they differ
        if (edit := _edit(old, value, (*path, key), copies)) is not None:
            edits[key] = edit
    for key in base:
        if key not in wire:
            edits[key] = []
    return edits or None


def _under_new_key(
    base: dict[str, Json], wire: dict[str, Json], value: Json, path: _Path, copies: Base
) -> Json:
    """Say what stands under a key that the base has not: an object of the base, renamed?"""
    written = copies.template(value)
    if not isinstance(value, dict):
        return written
    lost = next((old for old in base if old not in wire and isinstance(base[old], dict)), None)
    if lost is None:
        return written
    source = (*path, lost)
    renamed: dict[str, Json] = {"$": list(source)}
    if (edit := _edit(base[lost], value, source, copies)) is not None:
        renamed["edit"] = edit
    return renamed if len(encoded(renamed)) < len(encoded(written)) else written


def _edit_items(base: list[Json], wire: list[Json], path: _Path, copies: Base) -> Edit | None:
    edits: dict[str, Json] = {}
    for index, value in enumerate(wire):
        if index >= len(base):
            edits[str(index)] = [copies.template(value)]
        elif (edit := _edit(base[index], value, (*path, index), copies)) is not None:
            edits[str(index)] = edit
    for index in range(len(wire), len(base)):
        edits[str(index)] = []
    return edits or None


def _instead(base: Json, wire: Json, path: _Path, copies: Base) -> Json:
    if isinstance(base, str) and isinstance(wire, dict | list) and _says(base, wire):
        return {"$": list(path), "json": True}
    if isinstance(base, str) and isinstance(wire, str) and len(base) >= _COPIED:
        before, found, after = wire.partition(base)
        if found:
            return {"$": list(path), "around": [before, after]}
        if len(wire) == len(base) and wire == base.translate(URL_SAFE):
            return {"$": list(path), "urlsafe": True}
    return copies.template(wire)


def _says(base: str, wire: Json) -> bool:
    """Tell whether a string is the JSON text of a value."""
    if base[:1] not in ("{", "["):
        return False
    try:
        return difference(parse(base), wire) is None or base == text(wire)
    except DecodeError:
        return False


class _Texts:
    """The strings of the base that are long enough to be copied, by how they may be asked for."""

    def __init__(self, base: Json) -> None:
        self._places: dict[str, _Path] = {}  # where each first stands
        self._starts: dict[str, list[_Text]] = {}  # by their first characters, the first few
        self._open: _Text = (), ""  # the one of which a piece was copied last
        self._position = 0  # ... and the end of that piece
        self._find(base, ())

    def _find(self, value: Json, path: _Path) -> None:
        if isinstance(value, str):
            self._add(value, path)
        elif isinstance(value, dict):
            for key, item in value.items():
                self._find(item, (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._find(item, (*path, index))

    def _add(self, text: str, path: _Path) -> None:
        if len(text) < _COPIED or text in self._places:
            return
        self._places[text] = path
        alike = self._starts.setdefault(text[:_COPIED], [])
        if len(alike) < _ALIKE:
            alike.append((path, text))

    def copy(self, value: str) -> Json:
        """Give the reference to a string, whole or a piece; itself where the base has it not."""
        place = self._places.get(value)
        if place is not None:
            return {"$": list(place)}
        start = self._open[1].find(value, self._position, self._position + len(value) + _GAP)
        if start < 0:
            alike = self._starts.get(value[:_COPIED], ())
            opened = next((text for text in alike if text[1].startswith(value)), None)
            if opened is None:
                return value
            self._open, start = opened, 0
        self._position = start + len(value)
        return {"$": list(self._open[0]), "cut": [start, self._position]}
