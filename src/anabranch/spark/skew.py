"""Whether one key has a large part of a bucket's rows: such a key keeps one core busy and the others waiting."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from anabranch.plan.feeds import Feed
from anabranch.spark.pieces import hashes

SAMPLE = 4_096  # rows that are looked at
FEW = 10_000  # rows of a batch below which no key is worth a word
LARGE = 0.25  # of the sample


def hottest(rows: Iterable[tuple[Feed, pa.RecordBatch]]) -> tuple[float, str | None]:
    """The part that the most frequent key has of the feed with the most rows, and the key; 0 if none stands out."""
    feed, batch = max(rows, key=lambda each: len(each[1]), default=(None, None))
    if feed is None or batch is None or len(batch) < FEW or not feed.keys or feed.hot:
        return 0.0, None
    places = np.linspace(0, len(batch) - 1, SAMPLE).astype(np.int64)
    sample = batch.take(pa.array(places))
    _, first, counts = np.unique(hashes(sample, feed), return_index=True, return_counts=True)
    most = int(counts.argmax())
    share = counts[most] / SAMPLE
    if share < LARGE:
        return 0.0, None
    values = [repr(sample.column(key.column)[int(first[most])].as_py()) for key in feed.keys]
    return float(share), values[0] if len(values) == 1 else f"({', '.join(values)})"
