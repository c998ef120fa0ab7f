"""Streams as folders of Parquet files, one file of each stream a micro-batch: what every engine reads.

All streams share one clock that ticks once a row, a millisecond: row i of the merged
order happened i milliseconds after the epoch of the feed.  A batch has equally many rows
of each stream, in a random order.  Files are made once, from a seed, and kept.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 7
EPOCH = 1_767_225_600_000_000  # 2026-01-01, in microseconds
TICK = 1_000  # microseconds


@dataclass(frozen=True)
class Feed:
    """Streams joined on equal keys ``k``, every pair of members at most ``ticks`` rows of all streams apart.

    ``rows`` are those of one batch over all streams; ``warm_up`` batches come before what is measured.
    """

    streams: str
    rows: int
    keys: int
    ticks: int
    batches: int
    warm_up: int

    @property
    def steady(self) -> int:
        """Rows that are measured."""
        return self.rows * (self.batches - self.warm_up)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All pairs of streams."""
        return [(a, b) for i, a in enumerate(self.streams) for b in self.streams[i + 1 :]]

    def scaled(self, scale: float) -> Feed:
        """The same feed with a part of the rows, in which a row finds as many partners."""
        size = {name: max(len(self.streams), round(getattr(self, name) * scale)) for name in ("rows", "keys", "ticks")}
        return replace(self, rows=size["rows"] // len(self.streams) * len(self.streams), **_without(size, "rows"))

    def folders(self, root: Path) -> dict[str, Path]:
        """The folder of each stream, written now if it is not there."""
        home = root / f"{self.streams}-{self.rows}-{self.keys}-{self.batches}"
        if not home.exists():
            draft = home.with_name(f"{home.name}.{os.getpid()}")
            _write(self, draft)
            draft.rename(home)
        return {stream: home / stream for stream in self.streams}


def _without(sizes: dict[str, int], name: str) -> dict[str, int]:
    return {other: size for other, size in sizes.items() if other != name}


def _write(feed: Feed, home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    for stream in feed.streams:
        (home / stream).mkdir(parents=True)
    random = np.random.default_rng(SEED)
    share = feed.rows // len(feed.streams)
    for batch in range(feed.batches):
        owner = np.repeat(np.arange(len(feed.streams)), share)
        random.shuffle(owner)
        for number, stream in enumerate(feed.streams):
            ticks = batch * feed.rows + np.flatnonzero(owner == number)
            table = pa.table(
                {
                    "ts": pa.array(EPOCH + TICK * ticks, pa.timestamp("us", "UTC")),
                    "id": np.arange(batch * share, (batch + 1) * share, dtype=np.int64),
                    "k": random.integers(0, feed.keys, share),
                    "v": random.random(share),
                }
            )
            path = home / stream / f"{batch:05d}.parquet"
            pq.write_table(table, path)
            os.utime(path, (EPOCH // 1_000_000 + batch,) * 2)  # Spark's file source reads the oldest file first
