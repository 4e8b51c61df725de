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
from typing import Literal

from msgspec import Struct

from molo.dialects.delta.applying import patched
from molo.dialects.delta.computing import Base, Edit, added, copied, difference, packed
from molo.dialects.loss import Code
from molo.dialects.wire import Json, encoded, expect_array, expect_object, member, parse, text
from molo.errors import DecodeError, EncodeError
from molo.message import Message, ProviderData, ToolResult

__all__ = [
    "LOST",
    "Base",
    "Edit",
    "Join",
    "Unit",
    "added",
    "copied",
    "difference",
    "keep",
    "known",
    "patched",
    "restore",
    "would_join",
]

Join = Literal["new", "same"]
"""Where a unit departs from the canonical join: it opens an object, or joins the one before."""


class Unit(Struct, frozen=True, gc=False):
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
    canonical = ordered = Base(value)
    if order is not None and isinstance(value, list) and (places := _departing(order, len(value))):
        parts["order"] = places
        ordered = Base(_ordered(value, places), canonical)
    if (unit := ordered.edit(wire.value)) is not None:
        parts["unit"] = unit
    if base.shell is not wire.shell and (shell := difference(base.shell, wire.shell)) is not None:
        parts["shell"] = shell
    if wire.join is not None:
        parts["join"] = wire.join
    if not parts:
        return None
    delta = text(parts)
    return ProviderData(
        dialect=dialect, delta=delta, digest=_digest(canonical.packed()), sealed=sealed
    )


def known(
    base: Base,
    edit: Edit | None,
    dialect: str,
    *,
    shell: Edit | None = None,
    sealed: bool = False,
    join: Join | None = None,
) -> ProviderData:
    """Give what `keep` would, where the edits of a canonical unit need no computing.

    No number in them is NaN or infinite (`wire.require_finite`).

    Raises:
        EncodeError: a string in them holds a lone surrogate.
    """
    parts: dict[str, Json] = {} if edit is None else {"unit": edit}
    if shell is not None:
        parts["shell"] = shell
    if join is not None:
        parts["join"] = join
    delta = encoded(parts).decode()
    return ProviderData(dialect=dialect, delta=delta, digest=_digest(base.packed()), sealed=sealed)


def restore(base: Unit, data: ProviderData | None, dialect: str) -> tuple[Unit, Code | None]:
    """Give the unit that was on the wire, or the canonical one and the code of what is lost.

    Numbers come spelled, as `wire.Number`; `wire.plain` makes builtins of them.
    """
    if data is None:
        return base, None
    if data.dialect != dialect:
        return base, "sealed" if data.sealed else "foreign"
    try:
        if data.digest != _digest(packed(base.value)):
            return base, "stale"
        return _restored(base, expect_object(parse(data.delta), "")), None
    except (DecodeError, EncodeError, RecursionError):
        return base, "stale"


def would_join(history: Sequence[Message]) -> bool:
    """Tell whether what a user says next would join an object: the last message is a result."""
    return bool(history) and isinstance(history[-1], ToolResult)


def _digest(packed: bytes) -> str:
    """Sum up a canonical unit: for staleness, not for security."""
    return "%08x%x" % (zlib.crc32(packed), len(packed))  # noqa: UP031


def _restored(base: Unit, parts: dict[str, Json]) -> Unit:
    unit, shell, join = base.value, base.shell, base.join
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
    return [None if place is None else member(items, place) for place in places]


def _join(name: Json) -> Join:
    if name == "new":
        return "new"
    if name == "same":
        return "same"
    raise DecodeError("Expected `new` or `same`")
