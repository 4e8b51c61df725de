"""Arrow columns as Records, Faults and histories again.

A batch is read by the names of its columns; all of `CONVERSATIONS` but `messages` may be missing,
and others are not looked at. What stands in `messages` is held to the table of `molo.arrow.schema`:
a value where a role has none is an error, as an unknown field is in JSON.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import TypeAlias, TypeVar

import msgspec
import pyarrow as pa

from molo.arrow.columns import (
    as_type,
    column_of,
    fields_of,
    items_of,
    lengths_of,
    required,
    texts_of,
    tuples_of,
)
from molo.arrow.schema import CALL, CONVERSATIONS, FAULT, MESSAGE, PROVIDER_DATA
from molo.errors import DecodeError
from molo.errors.translation import DECODE_FAILURES, alternatives
from molo.ingest import Fault, Origin, Record
from molo.message import (
    TAGS,
    Assistant,
    Audio,
    ContentBlock,
    File,
    Image,
    Message,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)

__all__ = ["from_batch", "from_batches", "from_messages", "histories_of", "origins_of"]

R = TypeVar("R")
V = TypeVar("V")

_Place: TypeAlias = Callable[[int], str]
"""Gives the path of an item by its index in a flat column."""


def from_batches(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[Record | Fault]:
    """Read batches of the schema `CONVERSATIONS`: what `to_batches` was given, in its order.

    Types that say the same are taken (`string` for `large_string`, a dictionary), since engines
    hand them back.

    Raises:
        DecodeError: a batch without `messages`, or with what is no history; the path starts at it.

    >>> from molo import system
    >>> from molo.arrow import to_batches
    >>> record = Record([system("Be brief.")], line=1)
    >>> list(from_batches(to_batches([record]))) == [record]
    True
    """
    for batch in batches:
        yield from from_batch(batch)


def from_batch(batch: pa.RecordBatch | pa.Table) -> list[Record | Fault]:
    """Read the rows of one batch, otherwise as `from_batches`."""
    histories = histories_of(batch)
    rows = zip(
        histories,
        _column(batch, "line").to_pylist(),
        _column(batch, "offset").to_pylist(),
        texts_of(_column(batch, "rest"), "$.rest"),
        _column(batch, "single").to_pylist(),
        origins_of(batch),
        _faults(_column(batch, "fault")),
        strict=True,
    )
    return [_item(f"$[{row}]", *values) for row, values in enumerate(rows)]


def from_messages(batch: pa.RecordBatch | pa.Table) -> list[Message]:
    """Read the messages of a batch that has the columns of `MESSAGES`, in the order of its rows.

    Raises:
        DecodeError: as `from_batches`.
    """
    columns = [
        as_type(required(batch, field.name), field.type, f"$.{field.name}") for field in MESSAGE
    ]
    return _messages(columns, "$[{}]".format)


def histories_of(batch: pa.RecordBatch | pa.Table) -> list[list[Message] | None]:
    """Read the column `messages` alone; None where it is null.

    Raises:
        DecodeError: as `from_batches`.
    """
    column = required(batch, "messages")
    column = as_type(column, CONVERSATIONS.field("messages").type, "$.messages")
    lengths = lengths_of(column)
    place = _within("$[{}]".format, "messages", lengths)
    messages = iter(_messages(fields_of(items_of(column)), place))
    return [None if length is None else list(islice(messages, length)) for length in lengths]


def origins_of(batch: pa.RecordBatch | pa.Table) -> list[Origin | None]:
    """Read the column `origin` alone; None where it is null, or where there is no such column.

    Raises:
        DecodeError: a row holds something else.
    """
    texts = texts_of(_column(batch, "origin"), "$.origin")
    return [
        None if text is None else _origin(text, f"$[{row}].origin")
        for row, text in enumerate(texts)
    ]


# --- Rows of conversations ------------------------------------------------------------------------

_Fault: TypeAlias = dict[str, object]


def _column(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    """Take a column beside the messages; nulls if there is none."""
    type = CONVERSATIONS.field(name).type
    column = column_of(batch, name)
    return pa.nulls(batch.num_rows, type) if column is None else as_type(column, type, f"$.{name}")


def _faults(column: pa.Array) -> list[_Fault | None]:
    valid: list[bool] = column.is_valid().to_pylist()
    rows = zip(*(field.to_pylist() for field in fields_of(column)), strict=True)
    return [
        dict(zip(FAULT.names, row, strict=True)) if is_fault else None
        for is_fault, row in zip(valid, rows, strict=True)
    ]


def _item(
    path: str,
    history: list[Message] | None,
    line: int | None,
    offset: int | None,
    rest: str | None,
    single: bool | None,
    origin: Origin | None,
    fault: _Fault | None,
) -> Record | Fault:
    if fault is not None:
        return _fault({**fault, "line": line or 0, "offset": offset or 0}, f"{path}.fault")
    if history is None:
        raise DecodeError("Expected messages or a fault, got neither", path=path)
    return Record(history, line or 0, offset or 0, rest or "", bool(single), origin)


def _fault(fields: _Fault, path: str) -> Fault:
    try:
        return msgspec.convert(fields, Fault)
    except msgspec.ValidationError:
        error = DecodeError("Expected the fields of a fault, got others", path=path)
    raise error


def _origin(text: str, path: str) -> Origin:
    try:
        return _decode_origin(text)
    except DECODE_FAILURES:
        error = DecodeError("Expected the origin of a record, got something else", path=path)
    raise error


_decode_origin = msgspec.json.Decoder(Origin).decode


# --- Messages -------------------------------------------------------------------------------------

_Row: TypeAlias = tuple[
    str | None,
    str | None,
    tuple[ContentBlock, ...],
    str | None,
    tuple[ToolCall, ...],
    str | None,
    bool | None,
    ProviderData | None,
]
"""The fields of `MESSAGE`, in its order."""


def _messages(columns: Sequence[pa.Array], place: _Place) -> list[Message]:
    role, content, blocks, reasoning, calls, call_id, is_error, extra = columns
    rows: Iterable[_Row] = zip(
        texts_of(role, "$.role"),
        texts_of(content, "$.content"),
        _blocks(blocks, place),
        texts_of(reasoning, "$.reasoning"),
        _calls(calls, place),
        texts_of(call_id, "$.call_id"),
        is_error.to_pylist(),
        _provider_data(extra, place),
        strict=True,
    )
    return _made(rows, _message, _misfit, place)


def _made(
    rows: Iterable[R],
    make: Callable[[R], V | None],
    misfit: Callable[[R], tuple[str, str]],
    place: _Place,
) -> list[V]:
    """Make a value of each row; of a row that makes none, say which field is to blame and why."""
    values: list[V] = []
    for index, row in enumerate(rows):
        value = make(row)
        if value is None:
            field, text = misfit(row)
            raise DecodeError(text, path=f"{place(index)}.{field}")
        values.append(value)
    return values


def _message(row: _Row) -> Message | None:
    """Make a message of a row; None if the row is not what the schema says."""
    return _MAKERS.get(row[0], _no_message)(row)


def _assistant(row: _Row) -> Assistant | None:
    _, content, blocks, reasoning, calls, call_id, is_error, extra = row
    if content is None or call_id is not None or is_error is not None:
        return None
    return Assistant(content, reasoning, calls, attachments=blocks, provider_data=extra)


def _tool_result(row: _Row) -> ToolResult | None:
    _, content, blocks, reasoning, calls, call_id, is_error, extra = row
    if content is None or call_id is None or is_error is None or calls or reasoning is not None:
        return None
    return ToolResult(call_id, content, is_error=is_error, attachments=blocks, provider_data=extra)


def _user(row: _Row) -> User | None:
    _, content, blocks, reasoning, calls, call_id, is_error, extra = row
    if calls or (blocks and content is not None) or (reasoning, call_id, is_error) != _NOTHING:
        return None
    return User(blocks if content is None else (Text(content),), provider_data=extra)


def _system(row: _Row) -> System | None:
    _, content, blocks, reasoning, calls, call_id, is_error, extra = row
    if calls or blocks or content is None or (reasoning, call_id, is_error) != _NOTHING:
        return None
    return System(content, provider_data=extra)


_NOTHING = (None, None, None)


def _no_message(_: _Row) -> None:
    return None


# `match` on the row would say the same in one place, and takes eight times as long.
_MAKERS: Mapping[str | None, Callable[[_Row], Message | None]] = {
    "system": _system,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool_result,
}

_NEEDED: Mapping[str, Sequence[str]] = {
    "system": ("content",),
    "user": (),
    "assistant": ("content",),
    "tool": ("content", "call_id", "is_error"),
}
_HAS: Mapping[str, Sequence[str]] = {
    "system": ("role", "content", "provider_data"),
    "user": ("role", "content", "blocks", "provider_data"),
    "assistant": ("role", "content", "blocks", "reasoning", "tool_calls", "provider_data"),
    "tool": ("role", "content", "blocks", "call_id", "is_error", "provider_data"),
}


def _misfit(row: _Row) -> tuple[str, str]:
    """Name the field of a row that is not what the schema says, and say why."""
    role = row[0]
    if role is None or role not in _HAS:
        got = "null" if role is None else "another text"
        return "role", f"Expected {alternatives(TAGS['role'])}, got {got}"
    for field, value in zip(MESSAGE.names, row, strict=True):
        if value is None and field in _NEEDED[role]:
            return field, "Expected a value, got null"
        if value not in (None, ()) and field not in _HAS[role]:
            return field, f"Expected null, got a value that no message of role `{role}` has"
    return "blocks", "Expected none beside `content`, got some"


# --- What messages hold ---------------------------------------------------------------------------

_Text: TypeAlias = str | None
_BlockRow: TypeAlias = tuple[_Text, _Text, bytes | None, _Text, _Text, _Text, _Text, _Text]
"""The fields of `BLOCK`, in its order."""


def _blocks(column: pa.Array, place: _Place) -> list[tuple[ContentBlock, ...]]:
    lengths = lengths_of(column)
    kind, text, data, *others = fields_of(items_of(column))
    rows: Iterable[_BlockRow] = zip(
        texts_of(kind, "$.blocks.type"),
        texts_of(text, "$.blocks.text"),
        data.to_pylist(),
        *(texts_of(other, "$.blocks") for other in others),
        strict=True,
    )
    blocks: list[ContentBlock] = _made(
        rows, _block, _block_misfit, _within(place, "blocks", lengths)
    )
    return tuples_of(lengths, blocks)


def _block(row: _BlockRow) -> ContentBlock | None:
    match row:
        case ("text", str(text), None, None, None, None, None, None):
            return Text(text)
        case ("image", None, data, url, str(mime_type), None, None, None) if _one(data, url):
            return Image(data=data, url=url, mime_type=mime_type)
        case ("audio", None, data, url, str(mime_type), None, None, None) if _one(data, url):
            return Audio(data=data, url=url, mime_type=mime_type)
        case ("file", None, data, url, str(mime_type), str(name), None, None) if _one(data, url):
            return File(data=data, url=url, mime_type=mime_type, name=name)
        case ("wire", None, None, None, None, None, str(dialect), str(json)):
            return Wire(dialect, json)
        case _:
            return None


def _one(data: bytes | None, url: str | None) -> bool:
    return (data is None) != (url is None)


def _block_misfit(row: _BlockRow) -> tuple[str, str]:
    return "type", f"Expected {alternatives(TAGS['type'])} with its fields alone, got other fields"


_CallRow: TypeAlias = tuple[str | None, str | None, str | None]


def _calls(column: pa.Array, place: _Place) -> list[tuple[ToolCall, ...]]:
    lengths = lengths_of(column)
    fields = fields_of(items_of(column))
    rows: Iterable[_CallRow] = zip(
        *(texts_of(field, "$.tool_calls") for field in fields), strict=True
    )
    calls = _made(rows, _call, _call_misfit, _within(place, "tool_calls", lengths))
    return tuples_of(lengths, calls)


def _call(row: _CallRow) -> ToolCall | None:
    id, name, arguments = row
    if id is None or name is None or arguments is None:
        return None
    return ToolCall(id, name, arguments)


def _call_misfit(row: _CallRow) -> tuple[str, str]:
    return CALL.names[row.index(None)], "Expected a value, got null"


_DataRow: TypeAlias = tuple[str | None, str | None, str | None, bool | None]


def _provider_data(column: pa.Array, place: _Place) -> list[ProviderData | None]:
    valid: list[bool] = column.is_valid().to_pylist()
    if not any(valid):
        return [None] * len(valid)
    dialect, delta, digest, sealed = fields_of(column)
    texts = (texts_of(field, "$.provider_data") for field in (dialect, delta, digest))
    rows: Iterable[_DataRow] = zip(*texts, sealed.to_pylist(), strict=True)
    there = (row for row, is_there in zip(rows, valid, strict=True) if is_there)
    places = [index for index, is_there in enumerate(valid) if is_there]
    made = iter(_made(there, _data, _data_misfit, lambda index: place(places[index])))
    return [next(made) if is_there else None for is_there in valid]


def _data(row: _DataRow) -> ProviderData | None:
    match row:
        case (str(dialect), str(delta), str(digest), bool(sealed)):
            return ProviderData(dialect=dialect, delta=delta, digest=digest, sealed=sealed)
        case _:
            return None


def _data_misfit(row: _DataRow) -> tuple[str, str]:
    return f"provider_data.{PROVIDER_DATA.names[row.index(None)]}", "Expected a value, got null"


def _within(outer: _Place, name: str, lengths: Sequence[int | None]) -> _Place:
    """Give the paths of the flat items of a list column."""

    def place(index: int) -> str:
        ends = list(accumulate(length or 0 for length in lengths))
        row = bisect_right(ends, index)
        return f"{outer(row)}.{name}[{index - (ends[row - 1] if row else 0)}]"

    return place
