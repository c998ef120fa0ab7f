"""The columns of a DataFrame as the plan sees them: Arrow types, times in UTC; and what Arrow does not say of them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as fn
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType, VariantType

from anabranch.core.errors import Refused


def arrow_schema(stream: str, schema: StructType) -> pa.Schema:
    """The schema of a stream; refused where a column has a type that does not travel."""
    return pa.schema([pa.field(field.name, _arrow(stream, field.name, field.dataType)) for field in schema.fields])


def _arrow(stream: str, column: str, kind: DataType) -> pa.DataType:
    try:
        return to_arrow_type(kind, timezone="UTC")
    except PySparkException:
        raise Refused(
            f"column '{column}' of stream '{stream}' is of type {kind.simpleString()}, which cannot be sent to Python",
            f"leave it out: {stream}.drop('{column}')",
        ) from None


def column(name: str) -> Column:
    """A column by its exact name, whatever stands in it."""
    return fn.col(f"`{name.replace('`', '``')}`")


def unlike(stream: str, schema: StructType) -> dict[str, tuple[str, str]]:
    """Columns that are not equal just when their bytes are: what each is, and what to do."""
    found = {field.name: _unlike(field.dataType) for field in schema.fields}
    return {
        name: (what, f'compare a column that was made of it: {stream}.withColumn(..., expr("{how.format(name)}"))')
        for name, (what, how) in found.items()
        if what
    }


def _unlike(kind: DataType) -> tuple[str, str]:
    if isinstance(kind, StringType):
        if kind.isUTF8BinaryCollation():
            return "", ""
        return f"text of the collation {kind.collation}", "collate(`{}`, 'UTF8_BINARY')"
    if isinstance(kind, MapType):
        return "a map", "to_json(`{}`)"
    if isinstance(kind, VariantType):
        return "a variant", "cast(`{}` AS STRING)"
    if kind.typeName() in ("geometry", "geography"):
        return f"a {kind.typeName()}", "st_asbinary(`{}`)"
    if isinstance(kind, ArrayType):
        return _unlike(kind.elementType)
    if isinstance(kind, StructType):
        return next((found for field in kind.fields if (found := _unlike(field.dataType))[0]), ("", ""))
    return "", ""
