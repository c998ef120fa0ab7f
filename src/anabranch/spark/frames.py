"""The road of one join through DataFrames: pack, shuffle, join, unpack.

Rows travel as a few large blobs, since the road costs more than the join.  Streaming
and batch differ in one step: a stateful operator that is called batch by batch, or a
function that sees everything at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import StructType

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.plan.feeds import Feed
from anabranch.spark.apart import Apart
from anabranch.spark.bucket import Bucket, Shard, Worker
from anabranch.spark.chunks import Copies
from anabranch.spark.memory import Remembered
from anabranch.spark.pieces import MARK, REASON, ROW, Packer, Piece, table
from anabranch.spark.processor import Processor, told
from anabranch.spark.told import COUNTS, LISTS, PEAKS, SAID, SAME, TIMES
from anabranch.spark.types import column
from anabranch.spark.workers import settled

PACKED = (
    "bucket int, feed int, part int, number int, newest bigint, promised bigint, rows bigint, dead bigint,"
    " body binary, bad binary"
)
TOLD = ", ".join(
    [
        "bucket int, body binary",
        *(f"{name} array<bigint>" for name in LISTS),
        *(f"{name} bigint" for name in COUNTS),
        *(f"{name} double" for name in TIMES),
        "hot_key string",
    ]
)


def matches(
    shard: Shard,
    frames: Mapping[str, DataFrame],
    schema: tuple[pa.Schema, StructType],
    apart: Apart,
    observed: str | None,
) -> DataFrame:
    """The matches of a join over *frames*, by stream; *schema* is theirs, in Arrow and in Spark.

    *observed* is the name under which a streaming join reports; a batch has none.
    """
    arrow, spark = schema
    return joined(packed(shard, frames), shard, apart, observed).mapInArrow(_unpacker(arrow), spark)


def packed(shard: Shard, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The rows of all streams as pieces, a few for each bucket."""
    return reduce(DataFrame.unionAll, [_packed(shard, number, frames) for number in range(len(shard.feeds.feeds))])


def joined(pieces: DataFrame, shard: Shard, apart: Apart, observed: str | None) -> DataFrame:
    """The matches of pieces, still packed."""
    grouped = pieces.groupBy("bucket")
    if observed is not None:
        said = grouped.transformWithState(Processor(shard, apart), TOLD, "Append", "None")
        said = said.observe(observed, *_observed(shard))
    else:
        said = grouped.applyInArrow(_at_once(shard), TOLD)
    return said.where("body IS NOT NULL").select("body")


def _packed(shard: Shard, number: int, frames: Mapping[str, DataFrame]) -> DataFrame:
    feed = shard.feeds.feeds[number]
    frame = frames[feed.stream]
    first = all(other.stream != feed.stream for other in shard.feeds.feeds[:number])
    columns = [*feed.schema.names, *(name for name in (MARK, REASON, ROW) if name in frame.columns)]
    chosen = frame.select([column(name).alias(f"c{i}") for i, name in enumerate(columns)])  # Spark refuses "a`b" here
    return chosen.mapInArrow(_packer(feed, columns, number, shard.buckets, first), PACKED)


def _packer(feed: Feed, columns: Sequence[str], number: int, buckets: Sequence[int], first: bool) -> Any:
    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        pieces: list[Piece] = []
        named = (batch.rename_columns(columns) for batch in batches)
        for piece in Packer(feed, number, buckets, first).pack(named, context.partitionId()):
            pieces.append(piece)
            if len(pieces) >= len(buckets):
                yield table(pieces)
                pieces = []
        if pieces:
            yield table(pieces)
        settled()

    return pack


def _at_once(shard: Shard) -> Any:
    """Everything in one batch, after which all streams have ended."""

    def join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pieces = [Piece(*row.values()) for batch in batches for row in batch.to_pylist()]
        bucket = pieces[0].bucket
        ends = [Piece(bucket, n, 0, 0, NEVER, FOREVER, 0, 0, None, None) for n in range(len(shard.feeds.feeds))]
        outcome = Bucket(shard, bucket, Remembered(), Copies(None), Worker()).run(0, [*pieces, *ends])
        for values in told(bucket, outcome):
            yield pa.RecordBatch.from_pylist([values], SAID)

    return join


def _unpacker(schema: pa.Schema) -> Any:
    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for body in batch.column(0):
                yield pa.ipc.read_record_batch(body.as_buffer(), schema)
        settled()

    return unpack


def _observed(shard: Shard) -> list[Any]:
    """What a batch's progress says, over all buckets: sums, and of times the same from each."""
    found = []
    for s in range(len(shard.streams)):
        for name in LISTS:
            gather = fn.max if name in SAME else fn.sum
            found.append(gather(fn.col(name)[s]).alias(f"{name}_{s}"))
    found += [(fn.max if name in PEAKS else fn.sum)(name).alias(name) for name in (*COUNTS, *TIMES)]
    found += [fn.max("received").alias("most_received"), fn.max_by("hot_key", "hot_share").alias("hot_key")]
    return found
