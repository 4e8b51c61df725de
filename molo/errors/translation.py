"""The one translation of msgspec's errors into molo's.

Internal to molo: for the modules that stand on msgspec, not part of the API. msgspec says what is
wrong with a value and where; of syntax, and of what cannot be encoded, it tells less, and some
errors are not its own (`RecursionError`, `UnicodeEncodeError`). Here all become a `DecodeError` or
an `EncodeError` with the place, and without a word of the input.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import msgspec

from molo.errors import DecodeError, EncodeError, MessageError

__all__ = [
    "DECODE_FAILURES",
    "ENCODE_FAILURES",
    "Buffer",
    "Form",
    "alternatives",
    "decode_error",
    "encode_error",
    "identified",
]


class Form(NamedTuple):
    """A wire form as the translation sees it."""

    name: str  # as a text says it: "JSON"
    decode: Callable[..., Any]  # msgspec's decode, with a `type` keyword
    encode: Callable[[Any], bytes]
    tags: Mapping[str, tuple[str, ...]] = {}  # tag field -> the values it may have
    hint: str = ""  # added where a field is unknown
    escapes: bool = False  # msgspec quotes a wrong tag as Python's repr, as `convert` does


DECODE_FAILURES = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError, BufferError)
ENCODE_FAILURES = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError, TypeError)

Buffer = bytes | bytearray | memoryview

_MAX_DESCENT = 8  # levels; a history's own are five: history, message, field, block, field
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_LONE_SURROGATE = "Expected Unicode text, got a lone surrogate"
_NOT_UTF8 = "Expected UTF-8 text, got other bytes"


def identified(text: str) -> str:
    """Show a name if it is an identifier of at most 40 characters, else its type and length.

    >>> identified("content"), identified("call me at home")
    ('`content`', '`str` of 15 characters')
    """
    if _IDENTIFIER.fullmatch(text):
        return f"`{text}`"
    return _measured(text)


def _measured(text: str) -> str:
    return f"`str` of {len(text)} characters"


def alternatives(names: Iterable[str]) -> str:
    """List names as a text does: "`a`, `b` or `c`"."""
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)} or {last}" if most else last


def decode_error(failure: Exception, data: Buffer | str, form: Form) -> DecodeError:
    """Say what msgspec could not decode, and where, without a word of the input."""
    if isinstance(failure, msgspec.ValidationError):
        return _shape_error(failure, _raw(data), form)
    if isinstance(failure, UnicodeEncodeError) and isinstance(data, str):
        return _utf8_error(data.encode("utf-8", "surrogatepass"), form)
    if isinstance(failure, UnicodeDecodeError):  # msgspec before 0.23, for bytes that are no UTF-8
        return _utf8_error(_raw(data), form)
    if isinstance(failure, BufferError):
        return DecodeError("Expected contiguous bytes, got a view with gaps")
    if isinstance(failure, msgspec.DecodeError):
        return _syntax_error(str(failure), _raw(data), form)
    if isinstance(failure, RecursionError):
        return DecodeError(
            f"Expected {form.name} nested no deeper than the interpreter's recursion limit, "
            "got deeper nesting"
        )
    return DecodeError(f"Expected {form.name}, got data that Python cannot read")


def _raw(data: Buffer | str) -> bytes:
    return data.encode() if isinstance(data, str) else bytes(data)


def encode_error(failure: Exception, value: object, form: Form) -> EncodeError:
    """Say what msgspec could not encode, and where, without a word of the value."""
    path, leaf = _refused(value, form)
    if isinstance(failure, UnicodeEncodeError):
        text = _LONE_SURROGATE
    elif isinstance(failure, OverflowError):
        text = "Expected an integer of at most 64 bits, got a larger one"
    elif isinstance(failure, RecursionError):
        text = "Expected a value nested no deeper than the recursion limit, got deeper nesting"
    else:
        text = f"Expected a value that {form.name} can hold, got {identified(type(leaf).__name__)}"
    return EncodeError(text, path=path)


# Shape: valid JSON or MessagePack that is no history.

_PLACE = re.compile(r" - at (`key` in )?`(\$(?:\[(?:\d+|\.\.\.)\]|\.[^.\[`]+)*)`\Z")
_STEP = re.compile(r"\[(?:\d+|\.\.\.)\]|\.[^.\[]+")
_SHOWN_STEP = re.compile(r"\[(?:\d+|\.\.\.)\]|\.[\w-]{1,40}")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING_FIELD = re.compile(r"Object missing required field `([^`]*)`")
_WRONG_VALUE = re.compile(r"Invalid (enum )?value (.*)", re.DOTALL)
_WRONG_TYPE = re.compile(r"Expected `([^`]*)`, got `([^`]*)`")
_WRONG_TAG = re.compile(r"Expected `(str|int)`")
_CONSTRAINT = re.compile(r"Expected `[^`]*` (?:(?:of|[<>]=?|matching|that's|with) .*)")
_INVALID = re.compile(r"Invalid ([A-Za-z0-9 :]+)")
_OUT_OF_RANGE = re.compile(r"[A-Z][a-z ]+ out of range ?")


def _shape_error(failure: msgspec.ValidationError, raw: bytes, form: Form) -> DecodeError:
    text, path, key = _placed(str(failure), raw, form)
    cause = failure.__cause__  # set where a type's own check refused the value
    if isinstance(cause, MessageError):
        text = cause.text
    elif cause is not None:
        text = f"Expected a value that its type accepts, got {type(cause).__name__} from its check"
    else:
        text = _shape_text(text, path, raw, form) + (" as a key" if key else "")
    shown = (step if _SHOWN_STEP.fullmatch(step) else "[...]" for step in _STEP.findall(path))
    return DecodeError(text, path="$" + "".join(shown))


def _placed(text: str, raw: bytes, form: Form) -> tuple[str, str, bool]:
    """Split msgspec's text into what it says, the path, and whether a key is meant.

    At the root msgspec names no place, so what looks like one at the end may be part of an unknown
    field's name. Then only a path that the data has is one; it is told as far as that is sure.
    """
    place = _PLACE.search(text)
    if place is None:
        return text, "$", False
    path = place[2]
    if _UNKNOWN_FIELD.match(text) and _is_object(raw, form):
        sure, some_key, _ = path.partition("[...]")
        if path == "$" or not _part(raw, sure, form):
            return text, "$", False
        path = sure + some_key
    return text[: place.start()], path, place[1] is not None


def _is_object(raw: bytes, form: Form) -> bool:
    return raw.lstrip()[:1] == b"{" if form.name == "JSON" else raw[:1] in _MAP_HEADERS


def _shape_text(text: str, path: str, raw: bytes, form: Form) -> str:
    if match := _UNKNOWN_FIELD.fullmatch(text):
        return f"Expected known fields only, got unknown field {identified(match[1])}{form.hint}"
    if match := _MISSING_FIELD.fullmatch(text):
        return f"Expected field {identified(match[1])}, got an object without it"
    if match := _WRONG_VALUE.fullmatch(text):
        return _value_text(match[2], path, form, escaped=form.escapes or match[1] is not None)
    if match := _WRONG_TYPE.match(text):
        return _type_text(match[1], match[2], path, raw, form)
    if match := _WRONG_TAG.fullmatch(text):
        return _type_text(match[1], "", path, raw, form)
    if _CONSTRAINT.fullmatch(text):
        return text if ", got " in text else f"{text}, got another value"
    if match := _INVALID.fullmatch(text):
        return f"Expected a valid {match[1]}, got another value"
    if _OUT_OF_RANGE.fullmatch(text):
        return "Expected a number in range, got one beyond it"
    return "Expected another value, got one that its type refuses"


def _value_text(shown: str, path: str, form: Form, *, escaped: bool) -> str:
    """Say which tag was wrong; `shown` is the value as msgspec quotes it, maybe as a repr."""
    field = path.rpartition(".")[2]
    if shown[:1] not in {"'", '"'}:
        got = "`bool`" if shown in {"True", "False"} else "a number"
        return f"Expected one of the values that its type lists, got {got}"
    value = shown[1:-1]
    if escaped:
        value = value.encode("latin-1", "backslashreplace").decode("unicode_escape")
    if field not in form.tags:  # a value, and not a name: never shown
        return f"Expected one of the values that its type lists, got {_measured(value)}"
    if value in form.tags[field]:  # a valid tag is refused only where it contradicts an earlier one
        return f"Expected one `{field}`, got a second one, `{value}`"
    return f"Expected {alternatives(form.tags[field])}, got {identified(value)}"


def _type_text(expected: str, got: str, path: str, raw: bytes, form: Form) -> str:
    """Say which type came. Of JSON msgspec does not tell it for a tag, nor tell a long integer."""
    if form.name == "JSON" and got in {"", "float"}:
        got = _json_type(_part(raw, path, form)) or got
    if got in {"", expected}:
        return f"Expected `{expected}`, got another value"
    return f"Expected `{expected}`, got `{_WIRE_NAMES.get(got, got)}`"


_WIRE_NAMES = {
    "None": "null",
    "NoneType": "null",
    "list": "array",
    "tuple": "array",
    "dict": "object",
}
_JSON_TYPES = {
    b'"': "str", b"{": "object", b"[": "array", b"t": "bool", b"f": "bool", b"n": "null", b"": ""
}  # fmt: skip


def _json_type(part: bytes) -> str:
    number = "float" if re.search(rb"[.eE]", part) else "int"
    return _JSON_TYPES.get(part[:1], number)


def _part(raw: bytes, path: str, form: Form) -> bytes:
    """Cut out the part at a path, empty if there is none; of a repeated key the last counts."""
    for step in _STEP.findall(path):
        raw = {**dict(_parts(raw, form)), "[...]": b""}.get(step, b"")
    return raw


# Syntax: bytes that are no JSON or MessagePack.

_BYTE = re.compile(r"(?:JSON|MessagePack data) is malformed: (.*) \(byte (\d+)\)", re.DOTALL)
_OVERRUN = {  # bytes that msgspec has gone too far when it stops
    "trailing characters": 1,
    "invalid escape character in string": 1,
    "invalid character in unicode escape": 1,
}
_LITERAL = re.compile(rb"(?<![^\[,:\s])(?:t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)")
_HALF_PAIR = re.compile(r"surrogate|end of hex escape|truncated")  # what msgspec may call it
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    rb"|(\\u[dD](?:([89abAB])|[c-fC-F])[0-9a-fA-F]{2})"  # half of one: the high or the low
    rb"|\\.",
    re.DOTALL,
)
_MARK = b"\xff\xfe\xfd\xfc\xfb\xfa"  # as long as an escape; none of it is UTF-8
_CUT_PAIR = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")


def _syntax_error(text: str, raw: bytes, form: Form) -> DecodeError:
    if form.name == "JSON":
        if raw.startswith(b"\xef\xbb\xbf"):
            return DecodeError(
                "Expected JSON, got a UTF-8 byte order mark in front of it; "
                "remove its three bytes first",
                offset=0,
            )
        if _HALF_PAIR.search(text):
            marked = _ESCAPES.sub(_mark_lone_surrogate, raw)
            if marked != raw:
                path, offset, _ = _undecodable(marked, form)
                return DecodeError(_LONE_SURROGATE, path=path, offset=marked.find(_MARK, offset))
    if "UTF-8" in text:
        return _utf8_error(raw, form)
    if "truncated" in text:
        return DecodeError(f"Expected more {form.name}, got the end of the data", offset=len(raw))
    if match := _BYTE.fullmatch(text):
        stop = int(match[2])
        return DecodeError(
            f"Expected {form.name}, got malformed {form.name}: {match[1]}",
            offset=_wrong_byte(match[1], stop, raw) if form.name == "JSON" else stop,
        )
    return DecodeError(f"Expected {form.name}, got malformed {form.name}")


def _wrong_byte(text: str, stop: int, raw: bytes) -> int:
    """Find the first wrong byte of JSON, given what msgspec says and where it stood then."""
    # It reads four bytes of `nan` before it compares them with `null`, or one when it skips.
    for back in (5, 4, 1) if text == "invalid character" else ():
        literal = _LITERAL.match(raw, max(0, stop - back))
        if literal and literal[0] not in {b"true", b"false", b"null"}:
            return literal.end()
    return stop - _OVERRUN.get(text, 0)


def _mark_lone_surrogate(escape: re.Match[bytes]) -> bytes:
    """Put bytes that are no UTF-8, of the same length, where half a surrogate pair stands.

    The half in question makes msgspec stop wherever it stands; the mark does so only where the
    string is decoded, so that its place can be found.
    """
    if escape[1] is None or (escape[2] and _CUT_PAIR.fullmatch(escape.string, escape.end())):
        return escape[0]
    return _MARK


_STR_HEADERS = {**dict.fromkeys(range(0xA0, 0xC0), 1), 0xD9: 2, 0xDA: 3, 0xDB: 5}  # bytes


def _utf8_error(raw: bytes, form: Form) -> DecodeError:
    path, offset, leaf = _undecodable(raw, form)
    header = 0 if form.name == "JSON" else _STR_HEADERS.get(leaf[0])
    if header is None:  # the data is broken further on, so that it cannot be cut into its parts
        return DecodeError(_NOT_UTF8, path=path)
    try:
        leaf[header:].decode()
    except UnicodeDecodeError as failure:
        offset += header + failure.start
    surrogate = raw[offset : offset + 1] == b"\xed" and raw[offset + 1 : offset + 2] >= b"\xa0"
    return DecodeError(_LONE_SURROGATE if surrogate else _NOT_UTF8, path=path, offset=offset)


# Places: msgspec tells none for syntax and encoding, so they are found by trying the parts.


def _undecodable(raw: bytes, form: Form) -> tuple[str, int, bytes]:
    """Find the innermost part that does not decode: its path, its offset and its bytes."""
    path, offset = "$", 0
    for _ in range(_MAX_DESCENT):
        parts = _parts(raw, form)
        position = 0 if form.name == "JSON" else len(raw) - sum(len(part) for _, part in parts)
        for step, part in parts:
            start = raw.find(part, position)
            if start < 0:  # a repeated key stands in its first place with its last value
                continue
            try:
                form.decode(part)
            except DECODE_FAILURES:
                path, offset, raw = path + step, offset + start, part
                break
            position = start + len(part)
        else:
            break
    return path, offset, raw


def _parts(raw: bytes, form: Form) -> list[tuple[str, bytes]]:
    """Cut an array or object into its parts, each with its step; empty where that fails."""
    try:
        items: list[msgspec.Raw] = form.decode(raw, type=list[msgspec.Raw])
    except DECODE_FAILURES:
        return _members(raw, form)
    return [(f"[{index}]", bytes(item)) for index, item in enumerate(items)]


def _members(raw: bytes, form: Form) -> list[tuple[str, bytes]]:
    try:
        if form.name == "JSON":
            members: dict[str, msgspec.Raw] = form.decode(raw, type=dict[str, msgspec.Raw])
            return [(_step(name), bytes(member)) for name, member in members.items()]
        return _pairs(form.decode(_as_array(raw), type=list[msgspec.Raw]), form)
    except DECODE_FAILURES:
        return []


_MAP_HEADERS = {**{bytes([0x80 + size]): 1 for size in range(16)}, b"\xde": 3, b"\xdf": 5}  # bytes


def _as_array(raw: bytes) -> bytes:
    """Turn a MessagePack map into the array of its keys and values, so that none is lost."""
    header = _MAP_HEADERS.get(raw[:1], 0)
    if header == 0:
        return raw
    size = int.from_bytes(raw[1:header], "big") if header > 1 else raw[0] & 0x0F
    return b"\xdd" + (2 * size).to_bytes(4, "big") + raw[header:]


def _pairs(items: list[msgspec.Raw], form: Form) -> list[tuple[str, bytes]]:
    pairs: list[tuple[str, bytes]] = []
    for key, value in zip(items[::2], items[1::2], strict=True):
        name = _key_name(key, form)
        pairs += [("", bytes(key)), (_step(name), bytes(value))]
    return pairs


def _key_name(key: msgspec.Raw, form: Form) -> str:
    try:
        name: str = form.decode(key, type=str)
    except DECODE_FAILURES:
        return ""
    return name


def _refused(value: object, form: Form) -> tuple[str, object]:
    """Find the innermost part that does not encode: its path and itself."""
    path = "$"
    for _ in range(_MAX_DESCENT):
        for step, child in _children(value):
            try:
                form.encode(child)
            except ENCODE_FAILURES:
                path, value = path + step, child
                break
        else:
            break
    return path, value


def _children(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, msgspec.Struct):
        return ((f".{name}", getattr(value, name)) for name in value.__struct_fields__)
    if _is_sequence(value):
        return ((f"[{index}]", item) for index, item in enumerate(value))
    if _is_mapping(value):
        return (part for key, item in value.items() for part in _entry(key, item))
    return iter(())


def _entry(key: object, item: object) -> tuple[tuple[str, object], ...]:
    return ("", key), (_step(key) if isinstance(key, str) else "[...]", item)


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, dict)


def _step(name: str) -> str:
    return f".{name}" if _IDENTIFIER.fullmatch(name) else "[...]"
