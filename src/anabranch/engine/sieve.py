"""What rows of one feed may match anything at all: their keys are there, and their own filters let them through.

What is not, need not be remembered between processes; the operator would not store it
either.  Conditions run vectorised in DuckDB, with the meaning that they have in the loop.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.engine.duck import Refine
from anabranch.plan.feeds import Feed
from anabranch.plan.query import matches_column


class Sieve:
    """The rows of a feed that may match."""

    def __init__(self, feed: Feed) -> None:
        self.required = feed.required
        self._names = [name for _, name in feed.filtered]
        self._schema = pa.schema(
            [feed.schema.field(name).with_name(matches_column(alias, name)) for alias, name in feed.filtered]
        )
        self._refine = Refine(feed.filters, self._schema) if feed.filters else None

    def passed(self, rows: pa.RecordBatch) -> npt.NDArray[np.bool_] | None:
        """Which rows may match; None if all may."""
        passed = np.ones(len(rows), np.bool_)
        for name in self.required:
            if rows.column(name).null_count:
                passed &= rows.column(name).is_valid().to_numpy(zero_copy_only=False)
        if self._refine is not None:
            passed &= self._refine.mask(pa.table([rows.column(name) for name in self._names], names=self._schema.names))
        return None if passed.all() else passed
