"""The stateful operator as Spark calls it: one group a bucket, one call a batch.

What a bucket remembers lies in one map of the state store: its head under -1, its
chunks under their numbers.  Time is Anabranch's own (a frontier for each stream), so
Spark's time mode is none, and there are no timers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkFiles, TaskContext
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from anabranch.spark.apart import Apart
from anabranch.spark.bucket import Bucket, Outcome, Shard, Worker
from anabranch.spark.chunks import Copies, clear
from anabranch.spark.pieces import Piece
from anabranch.spark.workers import settled

HEAD = -1
CLEARING = 100  # every so many batches, the first among them, a bucket clears up
BODY_ROWS = 65_536  # of matches in one blob

WORKER = Worker()  # one process, one memory


class Stored:
    """The state of the bucket whose group is being processed."""

    def __init__(self, entries: Any) -> None:
        self._entries = entries

    def head(self) -> bytes | None:
        found = self._entries.getValue((HEAD,))
        return None if found is None else bytes(found[0])

    def keep_head(self, body: bytes) -> None:
        self._entries.updateValue((HEAD,), (body,))

    def chunk(self, number: int) -> bytes:
        return bytes(self._entries.getValue((number,))[0])

    def keep_chunk(self, number: int, body: bytes) -> None:
        self._entries.updateValue((number,), (body,))

    def drop_chunk(self, number: int) -> None:
        self._entries.removeKey((number,))


class Processor(StatefulProcessor):
    """All streams of one join."""

    def __init__(self, shard: Shard, apart: Apart) -> None:
        self.shard, self.apart = shard, apart

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.entries = handle.getMapState("rows", "number bigint", "body binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        context = TaskContext.get()
        assert context is not None
        batch = int(context.getLocalProperty("streaming.sql.batchId") or 0)
        query = context.getLocalProperty("sql.streaming.queryId") or "query"
        if batch % CLEARING == 0:
            clear(copies())
        folder = copies() / query / (self.shard.name or "join")
        bucket = Bucket(self.shard, key[0], Stored(self.entries), Copies(folder), WORKER)
        outcome = bucket.run(batch, (Piece(*row) for row in rows))
        self.apart.keep(outcome, query, batch, key[0])
        return iter([Row(**values) for values in told(key[0], outcome)])

    def close(self) -> None:
        """Nothing is held beyond the state."""
        settled()


def copies() -> Path:
    """Where this executor keeps copies of chunks, of all queries; it goes with the application."""
    return Path(SparkFiles.getRootDirectory()) / "anabranch"


def told(bucket: int, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """What a bucket has to say: what happened in a first row, the matches in as many more as it takes."""
    nothing: dict[str, Any] = dict.fromkeys(asdict(outcome.told))
    yield {"bucket": bucket, "body": None, **asdict(outcome.told)}
    for body in bodies(outcome.tables):
        yield {"bucket": bucket, "body": body, **nothing}


def bodies(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Tables as blobs of Arrow, of one schema that both ends know."""
    for table in tables:
        for batch in table.combine_chunks().to_batches(max_chunksize=BODY_ROWS):
            yield batch.serialize().to_pybytes()
