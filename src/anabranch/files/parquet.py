"""Parquet files as one table, batch by batch; only the columns that are asked for are read.

Dictionaries and views are laid out plain.  The old 96-bit timestamps come in microseconds, since in
nanoseconds they would wrap around in silence outside 1677 to 2262.

Cost: Arrow's reader, one batch in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.core.errors import Refused
from anabranch.core.plain import plain_batch, plain_schema
from anabranch.core.times import Mask
from anabranch.files import utf8
from anabranch.files.batches import BadRow, Batch
from anabranch.files.json_text import rows_json
from anabranch.files.paths import reading


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files of one schema, in the order in which they are read."""

    files: tuple[str, ...]
    schema: pa.Schema
    rows_hint: int | None

    @classmethod
    def open(cls, files: Sequence[str], time: str) -> ParquetFiles:
        """Read the footers; the types are the files' own, whatever *time* is."""
        schema, rows = _footer(files[0])
        for file in files[1:]:
            other, more = _footer(file)
            if not other.equals(schema):
                raise Refused(
                    f"'{file}' has other columns than '{files[0]}': {_difference(other, schema)}",
                    "files of one folder share their columns and types",
                )
            rows += more
        return cls(tuple(files), schema, rows)

    def typed(self, schema: pa.Schema) -> ParquetFiles:
        """The same with other types for columns that hold nothing."""
        return replace(self, schema=schema)

    def batches(self, rows: int, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All rows, of the *columns* that are asked for."""
        names = self.schema.names if columns is None else list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        for file in self.files:
            with reading(file), _opened(file) as parquet:
                for batch in parquet.iter_batches(rows, columns=names):
                    if batch.num_rows:
                        batch = batch.select(names)
                        yield _good(plain_batch(batch, schema)) if names else (batch, [])


def _opened(file: str) -> pq.ParquetFile:
    return pq.ParquetFile(file, coerce_int96_timestamp_unit="us")


def _footer(file: str) -> tuple[pa.Schema, int]:
    with reading(file), _opened(file) as parquet:
        schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
    twice = [name for i, name in enumerate(schema.names) if name in schema.names[:i]]
    if twice:
        raise Refused(f"'{file}' has two columns '{twice[0]}'", "give every column a name of its own")
    return plain_schema(schema), rows


def _good(batch: pa.RecordBatch) -> Batch:
    """Rows whose text is UTF-8: Parquet promises it, and not every writer keeps the promise."""
    bad: Mask | None = None
    reasons: dict[int, str] = {}
    for i, field in enumerate(batch.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            text, broken = utf8.checked(batch.column(i))
            if broken is not None:
                batch = batch.set_column(i, field, text)
                bad = broken if bad is None else bad | broken
                for row in np.flatnonzero(broken):
                    reasons.setdefault(int(row), f"column {field.name}: {utf8.REASON}")
    if bad is None:
        return batch, []
    at = sorted(reasons)
    rows = rows_json(batch.take(pa.array(at))).to_pylist()
    return batch.filter(pa.array(~bad)), [BadRow(reasons[i], row) for i, row in zip(at, rows, strict=True)]


def _difference(schema: pa.Schema, first: pa.Schema) -> str:
    for name in first.names:
        if name not in schema.names:
            return f"'{name}' is missing"
        if schema.field(name).type != first.field(name).type:
            return f"'{name}' is {schema.field(name).type} instead of {first.field(name).type}"
    more = [name for name in schema.names if name not in first.names]
    return f"'{more[0]}' is new" if more else "they come in another order"
