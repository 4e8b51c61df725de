"""The two steps between Python values and Arrow arrays that everything here is made of.

Columns are built from flat lists and read into flat lists, one for each field, however deep it
lies: a call of pyarrow costs as much for one value as for a thousand. A list column is its lengths
and the flat items; a struct column is its fields.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from typing import TypeAlias, TypeVar

import pyarrow as pa

from molo.errors import DecodeError
from molo.errors.translation import identified

__all__ = [
    "Batch",
    "Column",
    "as_type",
    "beside",
    "column_of",
    "fields_of",
    "items_of",
    "lengths_of",
    "list_column",
    "nulls",
    "required",
    "struct",
    "struct_of",
    "texts_of",
    "tuples_of",
    "with_column",
]

T = TypeVar("T")

Batch = TypeVar("Batch", pa.RecordBatch, pa.Table)
"""What batch functions take and give back: a RecordBatch, or the Table that Ray Data hands out."""

Column: TypeAlias = Sequence[object] | pa.Array
"""Values of one field: still in Python, or an array already."""


# --- Writing --------------------------------------------------------------------------------------


def struct(
    type: pa.StructType, rows: Iterable[Sequence[object]], mask: pa.Array | None = None
) -> pa.StructArray:
    """Make a struct column of rows, each with a value for every field; `mask` is true for nulls."""
    columns: Sequence[Column] = list(zip(*rows, strict=True)) or [()] * len(type.names)
    return struct_of(type, columns, mask)


def struct_of(
    type: pa.StructType, columns: Iterable[Column], mask: pa.Array | None = None
) -> pa.StructArray:
    """Make a struct column of its fields' columns."""
    fields = list(type)
    arrays = [array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=mask)


def array(column: Column, type: pa.DataType) -> pa.Array:
    """Make an array of a column, if it is none yet."""
    return column if isinstance(column, pa.Array) else pa.array(column, type)


def list_column(lengths: Sequence[int | None], items: pa.Array) -> pa.LargeListArray:
    """Make a list column of its lengths, None for null, and the items of all lists."""
    offsets = pa.array([0, *accumulate(length or 0 for length in lengths)], pa.int64())
    return pa.LargeListArray.from_arrays(offsets, items, mask=nulls(lengths))


def nulls(values: Sequence[object]) -> pa.Array | None:
    """Tell which values are null, true for each that is; None if none is."""
    if None not in values:
        return None
    return pa.array([value is None for value in values], pa.bool_())


def with_column(batch: Batch, name: str, values: pa.Array) -> Batch:
    """Put a column in the place of the one that has its name, or behind the others."""
    field = pa.field(name, values.type)
    place = batch.schema.get_field_index(name)
    if place < 0:
        return batch.append_column(field, values)
    return batch.set_column(place, field, values)


def beside(batch: Batch, keep: Sequence[str], rows: Sequence[int], new: pa.RecordBatch) -> Batch:
    """Put new rows beside some columns of the rows that they come from, which win over new ones."""
    indices = pa.array(rows, pa.int64())
    kept = {name: required(batch, name).take(indices) for name in keep}
    made = {name: new.column(name) for name in new.schema.names if name not in kept}
    columns = {**kept, **made}
    schema = pa.schema([pa.field(name, column.type) for name, column in columns.items()])
    return type(batch).from_arrays(list(columns.values()), schema=schema)


# --- Reading --------------------------------------------------------------------------------------


def column_of(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array | None:
    """Take a column, as one array; None if there is none of this name, or more than one."""
    if batch.schema.get_field_index(name) < 0:
        return None
    column = batch.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def required(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    """Take a column that must be there.

    Raises:
        DecodeError: there is none of this name, or more than one.
    """
    column = column_of(batch, name)
    if column is None:
        raise DecodeError(f"Expected a column {identified(name)}, got a batch without it")
    return column


def as_type(column: pa.Array, type: pa.DataType, path: str) -> pa.Array:
    """Turn a column into the type that molo works with, if it says the same.

    Engines hand back shorter strings and lists, dictionaries and views, and structs with fewer
    fields or in another order.

    Raises:
        DecodeError: the column says anything else, or has a field that molo does not know.
    """
    if column.type == type:
        return column
    _require_known(column.type, type, path)
    try:
        return column.cast(type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        error = DecodeError("Expected a column of molo's type, got another type", path=path)
    raise error


def _require_known(got: pa.DataType, known: pa.DataType, path: str) -> None:
    """Make sure that no field is dropped, as a cast would do without a word."""
    if isinstance(known, pa.LargeListType) and isinstance(got, (pa.ListType, pa.LargeListType)):
        _require_known(got.value_type, known.value_type, f"{path}[]")
    if isinstance(known, pa.StructType) and isinstance(got, pa.StructType):
        for field in got:
            if field.name not in known.names:
                shown = identified(field.name)
                raise DecodeError(f"Unknown field {shown}; written by a newer molo?", path=path)
            _require_known(field.type, known.field(field.name).type, f"{path}.{field.name}")


def fields_of(column: pa.Array) -> list[pa.Array]:
    """Take a struct column apart; where it is null, all its fields are."""
    assert isinstance(column, pa.StructArray)
    return column.flatten()


def texts_of(column: pa.Array, path: str) -> list[str | None]:
    """Turn a column of text into a list.

    Raises:
        DecodeError: text that is no UTF-8, which Arrow does not look at.
    """
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        error = DecodeError("Expected text in UTF-8, got other bytes", path=path)
    raise error


def lengths_of(column: pa.Array) -> list[int | None]:
    """Give the lengths of a list column, None for null."""
    assert isinstance(column, pa.LargeListArray)
    return column.value_lengths().to_pylist()


def items_of(column: pa.Array) -> pa.Array:
    """Give the flat items of a list column."""
    assert isinstance(column, pa.LargeListArray)
    return column.flatten()


def tuples_of(lengths: Sequence[int | None], items: Iterable[T]) -> list[tuple[T, ...]]:
    """Share flat items out among tuples of these lengths; null counts as empty."""
    items = iter(items)
    return [tuple(islice(items, length)) if length else () for length in lengths]
