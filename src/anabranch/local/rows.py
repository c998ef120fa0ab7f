"""Rows as a program has them: in tables and batches of Arrow, or in what gives an Arrow stream, as data frames do."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from anabranch.core.errors import Refused


def arrow(stream: str, given: Any) -> pa.Table | pa.RecordBatch:
    """The rows of *stream* in Arrow."""
    if isinstance(given, pa.Table | pa.RecordBatch):
        return given
    if not hasattr(given, "__arrow_c_stream__"):
        raise Refused(f"the rows of stream '{stream}' are a {type(given).__name__}", "give a table or a data frame")
    try:
        return pa.table(given)
    except pa.ArrowException as error:
        raise Refused(
            f"the rows of stream '{stream}' are nothing that Arrow can hold: {', '.join(map(str, error.args))}"
        ) from None


def one_batch(rows: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
    """The rows in one piece."""
    if isinstance(rows, pa.RecordBatch):
        return rows
    batches = rows.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=rows.schema)
