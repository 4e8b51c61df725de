"""The difference between the JSON a message should give and the JSON that was on the wire.

This module knows no vendor. A dialect uses it like this:

- It can write any message alone, in one fixed way: its canonical form. What one message writes
  is its `Unit`: for OpenAI chat the message object, for Anthropic and Gemini the blocks or parts,
  for Responses the items.
- Reading, it builds the message, writes that message's canonical unit, and asks `keep` for the
  difference to what was on the wire. None: the message is canonical and carries no provider_data.
- Writing, it makes the canonical unit again and gives it to `restore` along with the message's
  provider_data, which gives the unit that was on the wire.

        base = Unit(canonical(message))
        message.provider_data = keep(base, Unit(wire), DIALECT)     when reading
        unit, lost = restore(base, message.provider_data, DIALECT)  when writing

Where a vendor object holds the units of several messages (the results of a step and the user's
blocks, in one `user` object; the items of one reply), which units join is canonical too, and
`join` says on the later message where the wire departed from it: `"new"` opens an object where
the unit would have joined the one before, `"same"` joins it where it would have opened its own.
`shell` holds the keys of the object itself, and sits on the first message of the object. No entry
names a neighbour, so a message may be moved, removed or put elsewhere, and gives its own again.

`digest` is a checksum of the canonical unit. Where a message was edited its unit is another one,
and the delta is not applied but named as `stale`: old text never comes back. So is a delta that
an editor of its text (redaction) left without sense. `sealed` says that the delta holds reasoning
state that the vendor wants back verbatim; the dialect knows.

Where the items of a unit stand in another order than in the canonical one, are repeated (a text in
pieces) or have others between them, the dialect says so: `order` lists, for each place on the wire,
the index of the canonical item that stands there, None where it is none of them. The edit is then
one of the canonical items in that order.

The text of a delta is a JSON object with some of the keys `unit`, `shell`, `order` and `join`; the
first two hold edits. An edit of a value that stays an object or array is an object of edits by key
(in an array: by index). `[]` means that the key is absent on the wire; `[value]` is what stands
there instead. In such a value, a string of at least 12 characters that the canonical form has too
is not repeated but copied from there:

    {"$": ["content"]}                  the string at this path of the canonical unit
    {"$": ["content"], "cut": [0, 15]}  its characters from 0 up to 15
    {"$": ["content"], "around": ["«", "»"]}  all of it, between two other strings
    {"$": ["content"], "json": true}    what that string says, parsed
    {"$": ["data"], "urlsafe": true}    that string of Base64 in the alphabet for URLs
    {"$": ["call"]}                     the object at this path, under a key of another name
    {"$": ["call"], "edit": {…}}        that object, edited
    {"$": {"$": null}}                  an object that has a key `$`, as it stands
"""

import zlib
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from molo.dialects.loss import Code
from molo.dialects.wire import (
    Json,
    encoded,
    expect_array,
    expect_object,
    expect_text,
    kind,
    parse,
    text,
)
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import ENCODE_FAILURES
from molo.message import ProviderData

__all__ = [
    "LOST",
    "Edit",
    "Join",
    "Unit",
    "added",
    "difference",
    "keep",
    "known",
    "patched",
    "restore",
]

Join = Literal["new", "same"]
"""Where a unit departs from the canonical join: it opens an object, or joins the one before."""

Edit: TypeAlias = dict[str, Json] | list[Json]
"""What has to be done to a JSON value, in the form that the module's docstring tells."""


class Unit(NamedTuple):
    """What one message alone puts on the wire.

    `shell` is the vendor object around it, without the units, where the message opens one.
    """

    value: Json
    shell: Json = None
    join: Join | None = None


LOST: dict[Code, str] = {
    "foreign": "Expected provider_data of this dialect, got that of another",
    "sealed": "Expected reasoning state of this dialect, got that of another, which only it reads",
    "stale": "Expected provider_data that fits the message, got some of an earlier state of it",
}
"""The sentence of a loss for each code that `restore` gives."""


def keep(
    base: Unit,
    wire: Unit,
    dialect: str,
    *,
    sealed: bool = False,
    order: Sequence[int | None] | None = None,
) -> ProviderData | None:
    """Give the provider_data that turns a canonical unit into the one that was on the wire.

    None where the two are equal. `order` is the place of the unit's items on the wire, if they are
    a list and may stand in another.

    Raises:
        EncodeError: the wire holds what JSON cannot (NaN, a lone surrogate, another type).
        RecursionError: it is nested too deeply.
    """
    parts: dict[str, Json] = {}
    value = base.value
    packed = _packed(value)
    if order is not None and isinstance(value, list) and (places := _departing(order, len(value))):
        parts["order"] = places
        value = _ordered(value, places)
    # Items are mostly as they should be, which takes less to see than to look at each of them. To
    # Python `true` is 1; packed they differ.
    same = isinstance(value, list) and value == wire.value and _packed(wire.value) == packed
    if not same and (unit := difference(value, wire.value)) is not None:
        parts["unit"] = unit
    if base.shell is not wire.shell and (shell := difference(base.shell, wire.shell)) is not None:
        parts["shell"] = shell
    if wire.join is not None:
        parts["join"] = wire.join
    if not parts:
        return None
    delta = text(parts)
    return ProviderData(dialect=dialect, delta=delta, digest=_digest(packed), sealed=sealed)


def known(
    base: Json,
    edit: Edit | None,
    dialect: str,
    *,
    shell: Edit | None = None,
    sealed: bool = False,
    join: Join | None = None,
) -> ProviderData:
    """Give what `keep` would, where the edits of a canonical unit need no computing."""
    parts: dict[str, Json] = {} if edit is None else {"unit": edit}
    if shell is not None:
        parts["shell"] = shell
    if join is not None:
        parts["join"] = join
    delta = text(parts)
    return ProviderData(dialect=dialect, delta=delta, digest=_digest(_packed(base)), sealed=sealed)


def restore(base: Unit, data: ProviderData | None, dialect: str) -> tuple[Unit, Code | None]:
    """Give the unit that was on the wire, or the canonical one and the code of what is lost.

    Numbers come spelled, as `wire.Number`; `wire.plain` makes builtins of them.
    """
    if data is None:
        return base, None
    if data.dialect != dialect:
        return base, "sealed" if data.sealed else "foreign"
    try:
        if data.digest != _digest(_packed(base.value)):
            return base, "stale"
        return _restored(base, expect_object(parse(data.delta), "")), None
    except (DecodeError, EncodeError, RecursionError):
        return base, "stale"


def difference(base: Json, wire: Json) -> Edit | None:
    """Compute the edit that turns one JSON value into another; None where they are equal.

    Equal as JSON: the order of keys does not count, `true` is not `1`.

    >>> difference({"content": "Hi"}, {"content": "Hi", "name": None})
    {'name': [None]}
    """
    return _edit(base, wire, (), _Copies(base))


def added(members: dict[str, Json]) -> Edit:
    """Give the edit that adds members to an object that has none of these keys, nor any text.

    >>> added({"name": None})
    {'name': [None]}
    """
    copies = _Copies(None)
    return {key: [copies.template(value)] for key, value in members.items()}


def patched(base: Json, edit: Json) -> Json:
    """Apply an edit to the value it was computed for; neither is changed.

    Raises:
        DecodeError: the edit is none, or is one of another value.

    >>> patched({"content": "Hi"}, {"name": [None]})
    {'content': 'Hi', 'name': None}
    """
    return _Patch(base).value(base, edit)


def _packed(value: Json) -> bytes:
    try:
        return _encode_msgpack(value)
    except ENCODE_FAILURES:  # an integer of more than 64 bits, or no JSON at all
        return encoded(value)


def _digest(packed: bytes) -> str:
    """Sum up a canonical unit: for staleness, not for security."""
    return "%08x%x" % (zlib.crc32(packed), len(packed))  # noqa: UP031


def _pack_number(value: Json) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(0, encoded(value))


# MessagePack, because it takes text as it is; in JSON each character is looked at for escapes.
_encode_msgpack = msgspec.msgpack.Encoder(enc_hook=_pack_number).encode


def _restored(base: Unit, parts: dict[str, Json]) -> Unit:
    unit, shell, join = base
    if "order" in parts:
        unit = _ordered(expect_array(unit, ""), expect_array(parts["order"], ""))
    if "unit" in parts:
        unit = patched(unit, parts["unit"])
    if "shell" in parts:
        shell = patched(shell, parts["shell"])
    if "join" in parts:
        join = _join(parts["join"])
    return Unit(unit, shell, join)


def _departing(order: Sequence[int | None], size: int) -> list[Json]:
    """Cut what the edit says as well off an order; nothing is left of the canonical one."""
    places: list[Json] = [*order]
    while places and places[-1] is None:
        places.pop()
    return [] if places == [*range(size)] else places


def _ordered(items: list[Json], places: list[Json]) -> list[Json]:
    return [None if place is None else _member(items, place) for place in places]


def _join(name: Json) -> Join:
    if name == "new":
        return "new"
    if name == "same":
        return "same"
    raise DecodeError("Expected `new` or `same`")


# --- Computing ------------------------------------------------------------------------------------

_COPIED = 12  # characters; a shorter string is no longer than the reference to it
_GAP = 64  # characters between two pieces of a text: a separator, or pieces too short to copy

_Path: TypeAlias = tuple[str | int, ...]


def _edit(base: Json, wire: Json, path: _Path, copies: "_Copies") -> Edit | None:
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
    base: dict[str, Json], wire: dict[str, Json], path: _Path, copies: "_Copies"
) -> Edit | None:
    edits: dict[str, Json] = {}
    for key, value in wire.items():
        if key not in base:
            edits[key] = [_under_new_key(base, wire, key, path, copies)]
            continue
        old = base[key]
        if type(old) is str and old == value:  # most members; spares the call
            continue
        if (edit := _edit(old, value, (*path, key), copies)) is not None:
            edits[key] = edit
    for key in base:
        if key not in wire:
            edits[key] = []
    return edits or None


def _under_new_key(
    base: dict[str, Json], wire: dict[str, Json], key: str, path: _Path, copies: "_Copies"
) -> Json:
    """Say what stands under a key that the base has not: an object of the base, renamed?"""
    value = wire[key]
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


def _edit_items(base: list[Json], wire: list[Json], path: _Path, copies: "_Copies") -> Edit | None:
    edits: dict[str, Json] = {}
    for index, value in enumerate(wire):
        if index >= len(base):
            edits[str(index)] = [copies.template(value)]
        elif (edit := _edit(base[index], value, (*path, index), copies)) is not None:
            edits[str(index)] = edit
    for index in range(len(wire), len(base)):
        edits[str(index)] = []
    return edits or None


def _instead(base: Json, wire: Json, path: _Path, copies: "_Copies") -> Json:
    if isinstance(base, str) and isinstance(wire, dict | list) and _says(base, wire):
        return {"$": list(path), "json": True}
    if isinstance(base, str) and isinstance(wire, str) and len(base) >= _COPIED:
        before, found, after = wire.partition(base)
        if found:
            return {"$": list(path), "around": [before, after]}
        if len(wire) == len(base) and wire == base.translate(_URL_SAFE):
            return {"$": list(path), "urlsafe": True}
    return copies.template(wire)


_URL_SAFE = str.maketrans("+/", "-_")  # RFC 4648, section 5


def _says(base: str, wire: Json) -> bool:
    """Tell whether a string is the JSON text of a value."""
    if base[:1] not in ("{", "["):
        return False
    try:
        return difference(parse(base), wire) is None or base == text(wire)
    except DecodeError:
        return False


class _Copies:
    """Makes what an edit says of a value: strings that the base has are copied from there."""

    __slots__ = ("_base", "_texts")

    def __init__(self, base: Json) -> None:
        self._base = base
        self._texts: _Texts | None = None  # made when a string first asks for it

    def template(self, value: Json) -> Json:
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
        if self._texts is None:
            self._texts = _Texts(self._base)
        return self._texts.copy(value)


class _Text(NamedTuple):
    path: _Path
    text: str


class _Texts:
    """The strings of the base that are long enough to be copied, by how they may be asked for."""

    def __init__(self, base: Json) -> None:
        self._whole: dict[str, _Text] = {}
        self._starts: dict[str, _Text] = {}  # by their first characters
        self._open = _Text((), "")  # the one of which a piece was copied last
        self._position = 0  # ... and the end of that piece
        self._find(base, ())

    def _find(self, value: Json, path: _Path) -> None:
        if isinstance(value, str):
            if len(value) >= _COPIED:
                found = _Text(path, value)
                self._whole.setdefault(value, found)
                self._starts.setdefault(value[:_COPIED], found)
        elif isinstance(value, dict):
            for key, item in value.items():
                self._find(item, (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._find(item, (*path, index))

    def copy(self, value: str) -> Json:
        """Give the reference to a string, whole or a piece; itself where the base has it not."""
        if whole := self._whole.get(value):
            return {"$": list(whole.path)}
        start = self._open.text.find(value, self._position, self._position + len(value) + _GAP)
        if start < 0:
            opened = self._starts.get(value[:_COPIED])
            if opened is None or not opened.text.startswith(value):
                return value
            self._open, start = opened, 0
        self._position = start + len(value)
        return {"$": list(self._open.path), "cut": [start, self._position]}


# --- Applying -------------------------------------------------------------------------------------


class _Patch:
    """One application: knows the canonical value to copy from."""

    def __init__(self, base: Json) -> None:
        self._base = base

    def value(self, base: Json, edit: Json) -> Json:
        if isinstance(edit, list):
            return self._filled(_only(edit))
        edits = expect_object(edit, "")
        if isinstance(base, dict):
            return self._members(base, edits)
        if isinstance(base, list):
            return self._items(base, edits)
        raise DecodeError(f"Expected `object` or `array` to edit, got `{kind(base)}`")

    def _members(self, base: dict[str, Json], edits: dict[str, Json]) -> dict[str, Json]:
        members = dict(base)
        for key, edit in edits.items():
            if edit == []:
                members.pop(key, None)
            else:
                members[key] = self.value(base.get(key), edit)
        return members

    def _items(self, base: list[Json], edits: dict[str, Json]) -> list[Json]:
        size = len(base)
        items: dict[int, Json] = dict(enumerate(base))
        for key, edit in edits.items():
            index = _index(key)
            if edit == []:
                items.pop(index, None)
            else:
                items[index] = self.value(base[index] if index < size else None, edit)
        return list(items.values())

    def _filled(self, value: Json) -> Json:
        if isinstance(value, dict):
            if "$" in value:
                return self._copied(value)
            return {key: self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        return value

    def _copied(self, reference: dict[str, Json]) -> Json:
        path = reference["$"]
        if isinstance(path, dict):
            return path
        there = self._at(expect_array(path, ""))
        if isinstance(there, dict):
            return self._members(there, expect_object(reference.get("edit", {}), ""))
        found = expect_text(there, "")
        if "cut" in reference:
            return found[_cut(expect_array(reference["cut"], ""))]
        if "around" in reference:
            before, after = _around(expect_array(reference["around"], ""))
            return before + found + after
        if "urlsafe" in reference:
            return found.translate(_URL_SAFE)
        return parse(found) if "json" in reference else found

    def _at(self, path: list[Json]) -> Json:
        value = self._base
        for step in path:
            value = _member(value, step)
        return value


def _only(edit: list[Json]) -> Json:
    if len(edit) == 1:
        return edit[0]
    raise DecodeError(f"Expected an edit of one value, got {len(edit)}")


def _cut(bounds: list[Json]) -> slice:
    match bounds:
        case [int(start), int(stop)]:
            return slice(start, stop)
        case _:
            raise DecodeError("Expected two whole numbers")


def _around(texts: list[Json]) -> tuple[str, str]:
    match texts:
        case [str(before), str(after)]:
            return before, after
        case _:
            raise DecodeError("Expected two strings")


def _index(key: str) -> int:
    if key.isdecimal():
        return int(key)
    raise DecodeError("Expected the index of an item")


def _member(value: Json, step: Json) -> Json:
    if isinstance(value, dict) and isinstance(step, str) and step in value:
        return value[step]
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    raise DecodeError("Expected a path into the canonical form")
