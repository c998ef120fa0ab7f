"""Spark's own joins, with state in RocksDB: pairs of pairs, which holds less than a chain.

Spark refuses the join of four streams as one would write it, because its result has
several columns of event time.  So the second time of each pair goes on as a number
and its windows are compared as numbers; each join has one range over event time,
from which Spark learns what it may forget.  All matches come out as rows arrive.

Tried, on noisy cores, so told by the processor's time per row against this one's: the
rows of the state not counted, changelog checkpoints and state format 2 are this one;
state format 3 is about as fast, within the noise; format 4 took a fifth more time by
the clock; a block cache of 512 MB in place of 8 changes nothing.  The chain
((a, b), c), d needs more state, since each join waits for the one before it, and takes a
sixth more with state in the heap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.streaming.spark import ROCKS, on_spark, source
from bench.streaming.workload import Contender, Play

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONF = {
    "spark.sql.streaming.stateStore.providerClass": ROCKS,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
}

LOSES = "Spark drops partial matches whose event time equals its watermark."


def joined(spark: SparkSession, play: Play) -> DataFrame:
    """All pairs of pairs."""
    from pyspark.sql.functions import expr

    a, b, c, d = play.feed.streams
    reach = f"{play.feed.ticks * 1_000}"
    pairs = _paired(spark, play, a, b), _paired(spark, play, c, d)
    on = [
        f"{a}_k = {c}_k",
        _within(f"{a}_ts", f"{c}_ts", play),
        f"abs(unix_micros({a}_ts) - {d}_t) <= {reach}",
        f"abs({b}_t - unix_micros({c}_ts)) <= {reach}",
        f"abs({b}_t - {d}_t) <= {reach}",
    ]
    return pairs[0].join(pairs[1], expr(" AND ".join(on))).select(a, b, c, d)


def _paired(spark: SparkSession, play: Play, one: str, other: str) -> DataFrame:
    """Two streams, joined; the second time goes on as a number, so that one column is left that is event time."""
    from pyspark.sql.functions import expr

    on = expr(f"{one}_k = {other}_k AND {_within(f'{one}_ts', f'{other}_ts', play)}")
    found = _stream(spark, play, one).join(_stream(spark, play, other), on)
    return found.selectExpr(one, other, f"{one}_k", f"{one}_ts", f"unix_micros({other}_ts) AS {other}_t")


def _stream(spark: SparkSession, play: Play, stream: str) -> DataFrame:
    columns = [f"id AS {stream}", f"k AS {stream}_k", f"ts AS {stream}_ts"]
    return source(spark, play, stream).selectExpr(*columns).withWatermark(f"{stream}_ts", "0 seconds")


def _within(one: str, other: str, play: Play) -> str:
    """As a range, from which Spark learns what it may forget."""
    reach = f"INTERVAL {play.feed.ticks} MILLISECONDS"
    return f"{one} BETWEEN {other} - {reach} AND {other} + {reach}"


CONTENDER = Contender(
    title="Spark, state in RocksDB",
    package="pyspark",
    run=on_spark(joined, CONF),
    about=(
        "Two binary joins whose results are joined; changelog checkpoints, rows of the state not counted, as many "
        "partitions as cores. Spark refuses the query as one would write it."
    ),
    loses=LOSES,
)
