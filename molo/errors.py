"""The errors of molo, and the one translation of msgspec's errors into them.

Every error that molo raises on bad data is a `MoloError` and a `ValueError`; wrong use by the
programmer (`decode(5)`, a negative budget) stays a `TypeError` or a plain `ValueError`. Errors can
be pickled and have no cause or context: a chained UnicodeEncodeError would hold the whole text.

All texts follow one grammar: what was expected, what came, where.

    Expected `str`, got `null` - at `$[2].content`

Conversation text never appears in an error. Of the input, a text may show field names and tags
that are identifiers of at most 40 characters (and the id of a call); anything else appears as its
type and its length.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeGuard

import msgspec

__all__ = [
    "DecodeError",
    "EncodeError",
    "FrameError",
    "HistoryError",
    "MessageError",
    "MoloError",
    "StreamError",
]


class MoloError(ValueError):
    """Bad data: what was expected, what came, and where.

    `text` is the sentence without the place. `path` is the place as a path from the root of the
    value (`$[2].content`), empty where it is not known. `offset` counts bytes from the start of
    the input (for a `str`, of its UTF-8 form); None where it is not known.

    >>> error = DecodeError("Expected `str`, got `null`", path="$[2].content")
    >>> str(error)
    'Expected `str`, got `null` - at `$[2].content`'
    """

    def __init__(self, text: str, *, path: str = "", offset: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        place = f" - at `{self.path}`" if self.path else ""
        if self.offset is not None:
            place += f" (byte {self.offset})" if place else f" - at byte {self.offset}"
        return self.text + place


class DecodeError(MoloError):
    """Bytes, text or builtins that are not what a decoder reads."""


class StreamError(DecodeError):
    """A vendor's stream that broke off or ended in an error."""


class EncodeError(MoloError):
    """A value that the wire form cannot hold."""


class MessageError(MoloError):
    """A message or block that contradicts itself: an Image with both bytes and a URL."""


class Finding(Protocol):
    """What `HistoryError.problems` holds: a `molo.history.Problem`, as this module may know it."""

    @property
    def code(self) -> str: ...
    @property
    def at(self) -> int | None: ...
    @property
    def part(self) -> int | None: ...
    @property
    def text(self) -> str: ...


class HistoryError(MoloError):
    """A history that breaks rules that were demanded of it.

    `problems` are all that were found, in the order of their places; `text` tells the first.
    """

    def __init__(
        self,
        text: str,
        *,
        path: str = "",
        offset: int | None = None,
        problems: tuple[Finding, ...] = (),
    ) -> None:
        super().__init__(text, path=path, offset=offset)
        self.problems = problems


class FrameError(MoloError):
    """A frame that is torn, too large, or never came."""


# --- The translation ------------------------------------------------------------------------------
# Internal to molo: used by the modules that stand on msgspec, not part of the API.


class Form(NamedTuple):
    """A wire form as the translation sees it."""

    name: str  # as a text says it: "JSON"
    decode: Callable[..., Any]  # msgspec's decode, with a `type` keyword
    encode: Callable[[Any], bytes]
    tags: Mapping[str, tuple[str, ...]] = {}  # tag field -> the values it may have
    hint: str = ""  # added where a field is unknown


DECODE_FAILURES = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError, BufferError)
ENCODE_FAILURES = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError, TypeError)

Buffer = bytes | bytearray | memoryview

_MAX_DESCENT = 8  # levels; a history's own are five: history, message, field, block, field
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_LONE_SURROGATE = "Expected Unicode text, got a lone surrogate"


def identified(text: str) -> str:
    """Show a name if it is an identifier of at most 40 characters, else its type and length.

    >>> identified("content"), identified("call me at home")
    ('`content`', '`str` of 15 characters')
    """
    if _IDENTIFIER.fullmatch(text):
        return f"`{text}`"
    return f"`str` of {len(text)} characters"


def alternatives(names: Iterable[str]) -> str:
    """List names as a text does: "`a`, `b` or `c`"."""
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)} or {last}" if most else last


def decode_error(failure: Exception, data: Buffer | str, form: Form) -> DecodeError:
    """Say what msgspec could not decode, and where, without a word of the input."""
    if isinstance(failure, msgspec.ValidationError):
        return _shape_error(failure, form)
    if isinstance(failure, UnicodeEncodeError) and isinstance(data, str):
        return _utf8_error(data.encode("utf-8", "surrogatepass"), form)
    if isinstance(failure, BufferError):
        return DecodeError("Expected contiguous bytes, got a view with gaps")
    if isinstance(failure, msgspec.DecodeError):
        raw = data.encode() if isinstance(data, str) else bytes(data)
        return _syntax_error(str(failure), raw, form)
    if isinstance(failure, RecursionError):
        return DecodeError(
            f"Expected {form.name} nested no deeper than the interpreter's recursion limit, "
            "got deeper nesting"
        )
    return DecodeError(f"Expected {form.name} that Python can hold, got a number beyond that")


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

_PLACE = re.compile(r" - at (`key` in )?`(\$(?:\[\d+\]|\[\.\.\.\]|\.[\w-]{1,40})*)`\Z")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING_FIELD = re.compile(r"Object missing required field `([^`]*)`")
_WRONG_VALUE = re.compile(r"Invalid (?:enum )?value (.*)", re.DOTALL)
_WRONG_TYPE = re.compile(r"Expected `[^`]*`, got `[^`]*`")
_CONSTRAINT = re.compile(r"Expected `[^`]*`(?: (?:of|[<>]=?|matching|that's|with) .*)?")
_INVALID = re.compile(r"Invalid ([A-Za-z0-9 :]+)")
_OUT_OF_RANGE = re.compile(r"[A-Z][a-z ]+ out of range ?")


def _shape_error(failure: msgspec.ValidationError, form: Form) -> DecodeError:
    text, path = str(failure), "$"
    if place := _PLACE.search(text):
        text, path = text[: place.start()], place[2]
        if place[1]:
            text += " as a key"
    cause = failure.__cause__  # set where a type's own check refused the value
    if isinstance(cause, MessageError):
        text = cause.text
    elif cause is not None:
        text = f"Expected a value that its type accepts, got {type(cause).__name__} from its check"
    else:
        text = _shape_text(text, path, form)
    return DecodeError(text, path=path)


def _shape_text(text: str, path: str, form: Form) -> str:
    if match := _UNKNOWN_FIELD.fullmatch(text):
        return f"Expected known fields only, got unknown field {identified(match[1])}{form.hint}"
    if match := _MISSING_FIELD.fullmatch(text):
        return f"Expected field {identified(match[1])}, got an object without it"
    if match := _WRONG_VALUE.fullmatch(text):
        return _value_text(match[1], path, form)
    if _WRONG_TYPE.match(text):
        return text
    if _CONSTRAINT.fullmatch(text):
        return f"{text}, got another value"
    if match := _INVALID.fullmatch(text):
        return f"Expected a valid {match[1]}, got another value"
    if _OUT_OF_RANGE.fullmatch(text):
        return "Expected a number in range, got one beyond it"
    return "Expected another value, got one that its type refuses"


def _value_text(shown: str, path: str, form: Form) -> str:
    """Say which tag was wrong; `shown` is the value as msgspec quotes it."""
    field = path.rpartition(".")[2]
    quoted = shown[:1] in {"'", '"'}
    value = shown[1:-1] if quoted else shown
    got = identified(value) if quoted else "a number"
    if field not in form.tags:
        return f"Expected one of the values that its type lists, got {got}"
    if value in form.tags[field]:  # a valid tag is refused only where it contradicts an earlier one
        return f"Expected one `{field}`, got a second one, {got}"
    return f"Expected {alternatives(form.tags[field])}, got {got}"


# Syntax: bytes that are no JSON or MessagePack.

_BYTE = re.compile(r"(?:JSON|MessagePack data) is malformed: (.*) \(byte (\d+)\)", re.DOTALL)
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    rb"|\\.",
    re.DOTALL,
)
_MARK = b"\xff" * len(r"\ud83d")
_CUT_PAIR = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")


def _syntax_error(text: str, raw: bytes, form: Form) -> DecodeError:
    if form.name == "JSON":
        if raw.startswith(b"\xef\xbb\xbf"):
            return DecodeError(
                "Expected JSON, got a UTF-8 byte order mark in front of it; "
                "remove its three bytes first",
                offset=0,
            )
        if "surrogate" in text or "truncated" in text:
            marked = _ESCAPES.sub(_mark_lone_surrogate, raw)
            if marked != raw:
                path, offset, _ = _undecodable(marked, form)
                return DecodeError(_LONE_SURROGATE, path=path, offset=marked.find(_MARK, offset))
    if "UTF-8" in text:
        return _utf8_error(raw, form)
    if "truncated" in text:
        return DecodeError(f"Expected more {form.name}, got the end of the data", offset=len(raw))
    if match := _BYTE.fullmatch(text):
        return DecodeError(
            f"Expected {form.name}, got malformed {form.name}: {match[1]}", offset=int(match[2])
        )
    return DecodeError(f"Expected {form.name}, got malformed {form.name}")


def _mark_lone_surrogate(escape: re.Match[bytes]) -> bytes:
    """Put bytes that are no UTF-8, of the same length, where half a surrogate pair stands.

    The half in question makes msgspec stop wherever it stands; the mark does so only where the
    string is decoded, so that its place can be found.
    """
    if escape[1] is None or _CUT_PAIR.fullmatch(escape.string, escape.end()):
        return escape[0]
    return _MARK


def _utf8_error(raw: bytes, form: Form) -> DecodeError:
    path, offset, leaf = _undecodable(raw, form)
    header = 0 if form.name == "JSON" else _str_header(leaf)
    try:
        leaf[header:].decode()
    except UnicodeDecodeError as failure:
        offset += header + failure.start
    surrogate = raw[offset : offset + 1] == b"\xed" and raw[offset + 1 : offset + 2] >= b"\xa0"
    text = _LONE_SURROGATE if surrogate else "Expected UTF-8 text, got other bytes"
    return DecodeError(text, path=path, offset=offset)


def _str_header(leaf: bytes) -> int:
    """Count the bytes in front of the text of a MessagePack `str`."""
    return {0xD9: 2, 0xDA: 3, 0xDB: 5}.get(leaf[0], 1)


# Places: msgspec tells none for syntax and encoding, so they are found by trying the parts.


def _undecodable(raw: bytes, form: Form) -> tuple[str, int, bytes]:
    """Find the innermost part that does not decode: its path, its offset and its bytes."""
    path, offset = "$", 0
    for _ in range(_MAX_DESCENT):
        position = 0
        for step, child in _encoded_children(raw, form):
            position = raw.find(child, position)
            try:
                form.decode(child)
            except DECODE_FAILURES:
                path, offset, raw = path + step, offset + position, child
                break
            position += len(child)
        else:
            break
    return path, offset, raw


def _encoded_children(raw: bytes, form: Form) -> Iterator[tuple[str, bytes]]:
    try:
        items: list[msgspec.Raw] = form.decode(raw, type=list[msgspec.Raw])
    except DECODE_FAILURES:
        pass
    else:
        return ((f"[{index}]", bytes(item)) for index, item in enumerate(items))
    try:
        members: dict[str, msgspec.Raw] = form.decode(raw, type=dict[str, msgspec.Raw])
    except DECODE_FAILURES:
        return iter(())
    return ((_step(name), bytes(member)) for name, member in members.items())


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
    return iter(())


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _step(name: str) -> str:
    return f".{name}" if _IDENTIFIER.fullmatch(name) else "[...]"
