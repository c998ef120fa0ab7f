"""Anabranch on Spark: one stateful operator for all streams, called as its users call it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from bench.streaming.spark import on_spark, source
from bench.streaming.workload import Contender, Play

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def joined(spark: SparkSession, play: Play) -> DataFrame:
    """The natural query."""
    import anabranch as ab

    streams = play.feed.streams
    equal = " AND ".join(f"{a}.k = {b}.k" for a, b in pairwise(streams))
    text = (
        f"SELECT {', '.join(f'{s}.id AS {s}' for s in streams)} FROM {', '.join(streams)}"
        f" WHERE {equal} WINDOW = {play.feed.ticks} MILLISECONDS"
    )
    return ab.sql(spark, text, **{stream: source(spark, play, stream) for stream in streams})


CONTENDER = Contender(
    title="Anabranch",
    package="anabranch",
    run=on_spark(joined, {"spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true"}),
    about="One operator for all four streams, state in RocksDB; the query as one would write it.",
)
