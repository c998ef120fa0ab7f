"""The tuples of a timeline as Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from anabranch.testing.query import SECOND
from anabranch.testing.timeline import Arrival


def table(rows: Sequence[tuple[int, Arrival]], schema: pa.Schema) -> pa.RecordBatch:
    """A batch of these numbered tuples; the number is the column ``id``."""
    scale = 1 if pa.types.is_integer(schema.field("ts").type) else SECOND
    times = [None if arrival.time is None else arrival.time * scale for _, arrival in rows]
    columns = [times, [number for number, _ in rows]]
    columns += [[getattr(arrival.row, name) for _, arrival in rows] for name in ("k", "g", "v", "s")]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
