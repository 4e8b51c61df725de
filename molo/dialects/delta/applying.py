"""Edits applied to the value that they were computed for, in the form that the package tells."""

from molo.dialects.wire import Json, expect_array, expect_object, expect_text, kind, member, parse
from molo.errors import DecodeError

__all__ = ["URL_SAFE", "patched"]

URL_SAFE = str.maketrans("+/", "-_")
"""From the one alphabet of Base64 to the other: RFC 4648, section 5."""


def patched(base: Json, edit: Json) -> Json:
    """Apply an edit to the value it was computed for; neither is changed.

    Raises:
        DecodeError: the edit is none, or is one of another value.

    >>> patched({"content": "Hi"}, {"name": [None]})
    {'content': 'Hi', 'name': None}
    """
    return _Patch(base).value(base, edit)


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
            return found.translate(URL_SAFE)
        return parse(found) if "json" in reference else found

    def _at(self, path: list[Json]) -> Json:
        value = self._base
        for step in path:
            value = member(value, step)
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
