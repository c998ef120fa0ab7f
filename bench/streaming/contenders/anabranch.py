"""Anabranch on Spark: one stateful operator for all streams, called as its users call it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from bench.streaming.spark import on_spark, source
from bench.streaming.workload import Contender, Play

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


CHANGELOG = {"spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true"}


def joined(spark: SparkSession, play: Play) -> DataFrame:
    """The natural query."""
    import anabranch as ab

    return ab.sql(spark, text(play), **{stream: source(spark, play, stream) for stream in play.feed.streams})


def text(play: Play) -> str:
    """The query in SQL."""
    streams = play.feed.streams
    equal = " AND ".join(f"{a}.k = {b}.k" for a, b in pairwise(streams))
    return (
        f"SELECT {', '.join(f'{s}.id AS {s}' for s in streams)} FROM {', '.join(streams)}"
        f" WHERE {equal} WINDOW = {play.feed.ticks} MILLISECONDS"
    )


CONTENDER = Contender(
    title="Anabranch",
    package="anabranch",
    run=on_spark(joined, CHANGELOG),
    about="One operator for all four streams, state in RocksDB; the query as one would write it.",
)
