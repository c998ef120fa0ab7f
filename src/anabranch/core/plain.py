"""Columns without the wrappings of Arrow: dictionaries and runs decoded, views of text and bytes laid out flat.

Everything inside sees plain columns alone: a dictionary's codes are never taken for
its values, and what Arrow cannot gather from views is gathered.

Cost: nothing for a column that is plain.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from anabranch.core.errors import Refused


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the column once it is plain."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if kind == pa.string_view():
        return pa.large_string()
    return pa.large_binary() if kind == pa.binary_view() else kind


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of plain columns."""
    return pa.schema([pa.field(field.name, plain_type(field.type)) for field in schema])


def plain_batch(batch: pa.RecordBatch, schema: pa.Schema, called: str = "a batch") -> pa.RecordBatch:
    """The rows in plain columns, of the types and in the order of *schema*, which is plain; *called* so if refused."""
    if batch.schema.equals(schema):
        return batch
    fields = [field for field in schema if field.name in batch.schema.names]
    columns = [_plain(batch.column(field.name), field, called) for field in fields]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _plain(column: pa.Array, field: pa.Field, called: str) -> pa.Array:
    try:
        values = _decoded(column)
        return values if values.type == field.type else values.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise Refused(
            f"{called} has {column.type} in column '{field.name}', which is {field.type}", "give every batch one schema"
        ) from None


def _decoded(column: pa.Array) -> pa.Array:
    if pa.types.is_run_end_encoded(column.type):
        return pc.run_end_decode(column)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
