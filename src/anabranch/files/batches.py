"""What every reader yields: a batch of good rows, and the bad rows of the same stretch apart.

A bad row never stops a stream and never vanishes: whoever takes the batch takes
the bad rows with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa


@dataclass(frozen=True)
class BadRow:
    """A record that is no row of its stream, why, and the record as JSON text."""

    reason: str
    row: str


Batch: TypeAlias = tuple[pa.RecordBatch, list[BadRow]]


def cut(table: pa.Table, bad: list[BadRow], rows: int) -> list[Batch]:
    """A table as batches of at most *rows* rows; the bad rows go with the first."""
    batches = [batch for batch in table.combine_chunks().to_batches(max_chunksize=rows) if batch.num_rows]
    if not batches:
        return [(pa.RecordBatch.from_pylist([], table.schema), bad)] if bad else []
    return [(batch, [] if i else bad) for i, batch in enumerate(batches)]
