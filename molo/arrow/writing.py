"""Records, Faults and histories as Arrow columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TypeAlias

import msgspec
import pyarrow as pa

from molo import json, msgpack
from molo.arrow.columns import list_column, nulls, struct, struct_of
from molo.arrow.schema import BLOCK, CALL, CONVERSATIONS, FAULT, MESSAGE, PROVIDER_DATA
from molo.errors import EncodeError, MoloError
from molo.errors.translation import DECODE_FAILURES
from molo.ingest import Fault, Record
from molo.message import (
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
    only_messages,
)

__all__ = ["ROWS", "SIZE", "histories_column", "to_batch", "to_batches"]

ROWS = 1024  # in a batch, at most
SIZE = 16 * 2**20  # bytes in a batch, about; a larger row is a batch by itself

_Item: TypeAlias = Record | Fault
# What fields of a wrong type give, wherever they are looked at first, and lone surrogates.
_REFUSED = (UnicodeEncodeError, OverflowError, TypeError, AttributeError, pa.ArrowInvalid)


def to_batches(
    items: Iterable[Record | Fault], *, rows: int = ROWS, size: int = SIZE
) -> Iterator[pa.RecordBatch]:
    """Write what `molo.ingest.read` gives as batches of the schema `CONVERSATIONS`.

    Histories that come from elsewhere are written as `Record(history)`. A batch has at most this
    many rows, and more than one only if they have no more than `size` bytes together: memory is
    flat.

    Raises:
        EncodeError: an item holds what Arrow cannot (a lone surrogate, a field of a wrong type).
        ValueError: `rows` or `size` is not positive.

    >>> from molo import system
    >>> [batch] = to_batches([Record([system("Be brief.")], line=1, rest='{"id":"a7"}')])
    >>> batch.column("id").to_pylist()
    ['a7']
    """
    if rows < 1 or size < 1:
        raise ValueError(f"Expected positive numbers, got rows={rows} and size={size}")
    return map(to_batch, _cut(items, rows, size))


def to_batch(items: Sequence[Record | Fault]) -> pa.RecordBatch:
    """Write Records and Faults as one batch, otherwise as `to_batches`."""
    histories = [item.messages if isinstance(item, Record) else None for item in items]
    messages = histories_column(histories)
    try:
        plain = _plain_columns(items)
    except _REFUSED:
        error = _plain_refusal(items)
    else:
        return pa.RecordBatch.from_arrays(
            [messages if column is None else column for column in plain], schema=CONVERSATIONS
        )
    raise error


def histories_column(histories: Sequence[Sequence[Message] | None]) -> pa.LargeListArray:
    """Write histories as a column, a list of `MESSAGE` each; None is null.

    Raises:
        EncodeError: as `to_batches`; `path` starts at the column.
    """
    messages = list(chain.from_iterable(filter(None, histories)))
    lengths = [None if history is None else len(history) for history in histories]
    if only_messages(map(type, messages)):
        with suppress(*_REFUSED):  # the field that is to blame is found below
            return list_column(lengths, _messages_column(messages))
    raise _refusal(histories)


# --- Batches of bounded size ----------------------------------------------------------------------


def _cut(items: Iterable[_Item], rows: int, size: int) -> Iterator[list[_Item]]:
    """Cut items into runs for a batch each."""
    run: list[_Item] = []
    held = 0
    for item in items:
        length = _length(item)
        if run and (len(run) == rows or held + length > size):
            yield run
            run, held = [], 0
        run.append(item)
        held += length
    if run:
        yield run


def _length(item: _Item) -> int:
    """Give the bytes of an item: of its messages as MessagePack, which is counted the fastest."""
    if isinstance(item, Fault):
        return len(item.raw)
    try:
        return len(item.rest) + len(msgpack.encode(item.messages))
    except EncodeError:
        return 0  # `to_batch` says what is wrong, and where


# --- The columns beside the messages --------------------------------------------------------------


def _plain_columns(items: Sequence[_Item]) -> list[pa.Array | None]:
    """Make the columns of the schema; None stands for that of the messages."""
    plain = struct(_PLAIN, map(_row, items)).flatten()
    faults = [item if isinstance(item, Fault) else None for item in items]
    made: dict[str, pa.Array] = dict(zip(_PLAIN.names, plain, strict=True))
    made["fault"] = (
        struct(FAULT, map(_fault, faults), nulls(faults))
        if any(faults)
        else pa.nulls(len(items), FAULT)
    )
    return [made.get(name) for name in CONVERSATIONS.names]


_PLAIN = pa.struct([field for field in CONVERSATIONS if field.name not in ("messages", "fault")])


def _row(item: _Item) -> tuple[object, ...]:
    if isinstance(item, Fault):
        return _line(item), item.line, item.offset, None, None, None
    origin = None if item.origin is None else _encode(item.origin).decode()
    return _id(item), item.line, item.offset, item.rest, item.single, origin


def _id(record: Record) -> str | None:
    """Give a record's own id, or else its line."""
    if record.rest:
        try:
            named = _decode_named(record.rest).id
        except DECODE_FAILURES:
            named = None
        if named is not None:
            return str(named)
    return _line(record)


def _line(item: _Item) -> str | None:
    return str(item.line) if item.line else None


class _Named(msgspec.Struct):
    id: str | int | None = None


_encode = msgspec.json.Encoder().encode
_decode_named = msgspec.json.Decoder(_Named).decode


def _fault(fault: Fault | None) -> tuple[object, ...]:
    if fault is None:
        return (None,) * len(FAULT.names)
    source = fault.source.encode(errors="backslashreplace").decode()  # a path may be any bytes
    return fault.code, fault.reason, source, fault.length, fault.raw


def _plain_refusal(items: Sequence[_Item]) -> EncodeError:
    """Find the item that Arrow does not take."""
    at = next((at for at, item in enumerate(items) if not _is_plain(item)), None)
    path = "$" if at is None else f"$[{at}]"
    return EncodeError("Expected text and numbers, got something else", path=path)


def _is_plain(item: _Item) -> bool:
    try:
        _plain_columns([item])
    except _REFUSED:
        return False
    return True


# --- Messages -------------------------------------------------------------------------------------

_ROLES: Mapping[type[Message], str] = {
    System: "system",
    User: "user",
    Assistant: "assistant",
    ToolResult: "tool",
}


def _messages_column(messages: Sequence[Message]) -> pa.StructArray:
    """Write messages field by field, which takes half the time of row by row."""
    return struct_of(
        MESSAGE,
        (
            [_ROLES[type(message)] for message in messages],
            [
                message.content if type(message) is not User else _lone_text(message)
                for message in messages
            ],
            _blocks_column([_blocks(message) for message in messages]),
            [message.reasoning if type(message) is Assistant else None for message in messages],
            _calls_column(
                [message.tool_calls if type(message) is Assistant else () for message in messages]
            ),
            [message.id if type(message) is ToolResult else None for message in messages],
            [message.is_error if type(message) is ToolResult else None for message in messages],
            _provider_data_column([message.provider_data for message in messages]),
        ),
    )


def _lone_text(message: User) -> str | None:
    """Give the text of a message that is one Text and nothing else."""
    blocks = message.content
    if len(blocks) == 1 and type(block := blocks[0]) is Text:
        return block.text
    return None


def _blocks(message: Message) -> tuple[ContentBlock, ...]:
    """Give what a message has besides its `content` in the schema."""
    if isinstance(message, User):
        return () if _lone_text(message) is not None else message.content
    return () if isinstance(message, System) else message.attachments


def _blocks_column(lists: Sequence[tuple[ContentBlock, ...]]) -> pa.LargeListArray:
    blocks = list(chain.from_iterable(lists))
    return list_column(list(map(len, lists)), struct(BLOCK, map(_block, blocks)))


def _block(block: ContentBlock) -> tuple[object, ...]:
    match block:
        case Text(text):
            return "text", text, None, None, None, None, None, None
        case Image(data=data, url=url, mime_type=mime_type):
            return "image", None, data, url, mime_type, None, None, None
        case Audio(data=data, url=url, mime_type=mime_type):
            return "audio", None, data, url, mime_type, None, None, None
        case File(data=data, url=url, mime_type=mime_type, name=name):
            return "file", None, data, url, mime_type, name, None, None
        case Wire(dialect, json):
            return "wire", None, None, None, None, None, dialect, json


def _calls_column(lists: Sequence[tuple[ToolCall, ...]]) -> pa.LargeListArray:
    calls = list(chain.from_iterable(lists))
    rows = ((call.id, call.name, call.arguments) for call in calls)
    return list_column(list(map(len, lists)), struct(CALL, rows))


def _provider_data_column(column: Sequence[ProviderData | None]) -> pa.Array:
    if not any(column):
        return pa.nulls(len(column), PROVIDER_DATA)
    rows = [
        _NO_DATA if data is None else (data.dialect, data.delta, data.digest, data.sealed)
        for data in column
    ]
    return struct(PROVIDER_DATA, rows, nulls(column))


_NO_DATA = (None,) * len(PROVIDER_DATA.names)


def _refusal(histories: Sequence[Sequence[Message] | None]) -> EncodeError:
    """Find the field that Arrow does not take, by the codec: it knows places, and is as strict."""
    return next(_refusals(histories), EncodeError("Expected messages, got something else"))


def _refusals(histories: Sequence[Sequence[Message] | None]) -> Iterator[EncodeError]:
    for row, history in enumerate(histories):
        for at, message in enumerate(history or ()):
            try:
                json.decode_message(json.encode_message(message))
            except MoloError as failure:
                path = f"$[{row}].messages[{at}]{failure.path.removeprefix('$')}"
                yield EncodeError(failure.text, path=path)
