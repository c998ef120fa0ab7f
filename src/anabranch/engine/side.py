"""Columns that are no words (text, decimals, nested values), kept in Arrow beside the records.

Each stored row has a number; the batches stay as they came until no live tuple
needs them.  Small batches are joined as they pile up, so that their number stays
logarithmic and a row is copied a logarithmic number of times.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Side:
    """The side columns of one alias."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.first: list[int] = []  # the number of each batch's first row
        self.batches: list[pa.RecordBatch] = []
        self.next = 0

    def add(self, batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Keep the rows of a batch; their numbers."""
        numbers = np.arange(self.next, self.next + len(batch))
        self.next += len(batch)
        self.first.append(int(numbers[0]) if len(batch) else self.next)
        self.batches.append(batch)
        while len(self.batches) > 1 and len(self.batches[-2]) <= 2 * len(self.batches[-1]):
            second, first = self.batches.pop(), self.batches.pop()
            self.first.pop()
            self.batches.append(pa.concat_batches([first, second]))
        return numbers

    def take(self, numbers: npt.NDArray[np.int64]) -> list[pa.ChunkedArray]:
        """The columns of these rows, in this order."""
        if not self.batches:
            return [pa.chunked_array([], field.type) for field in self.schema]
        places = pa.array(numbers - self.first[0])
        table = pa.Table.from_batches(self.batches)
        return [column.take(places) for column in table.columns]

    def forget(self, oldest: int | None) -> None:
        """Drop the batches that end before row *oldest*; all of them if it is None."""
        while self.batches and (oldest is None or self.first[0] + len(self.batches[0]) <= oldest):
            self.first.pop(0)
            self.batches.pop(0)

    @property
    def nbytes(self) -> int:
        """What the kept batches occupy."""
        return sum(batch.nbytes for batch in self.batches)
