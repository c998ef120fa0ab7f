"""What contenders on Spark share: a session on two cores, and a query that is played batch by batch.

A contender is then a function from a session and a play to a DataFrame that has the
ids of a match in columns called as the streams.  The time of a batch is all that
passes between its start and the next one's, logs and commits included.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bench.streaming import processor
from bench.streaming.checksum import checksum, told
from bench.streaming.workload import Found, Play

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CONF = {
    "spark.driver.memory": "8g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
    "spark.sql.streaming.stateStore.providerClass": ROCKS,
    "spark.ui.enabled": "false",
}

POLL = 0.05  # seconds between looks at the progress of a query

Joined = Callable[["SparkSession", Play], "DataFrame"]


def on_spark(
    joined: Joined, conf: Mapping[str, str], final: Callable[[Play], int] | None = None
) -> Callable[[Play], Found]:
    """The ``run`` of a contender; *final* as in ``Found``."""

    def run(play: Play) -> Found:
        spark = session(conf)
        progress, worked = _played(joined(spark, play), play)
        spark.stop()
        batches = [batch for batch in progress if batch["numInputRows"]]
        assert sum(batch["numInputRows"] for batch in batches) == play.feed.rows * play.feed.batches
        steady = batches[play.feed.warm_up :]
        rows = sum(batch["numInputRows"] for batch in steady)
        assert rows == play.feed.steady, "a batch is not one file of each stream"
        seconds = _start(steady[-1]) + steady[-1]["durationMs"]["triggerExecution"] / 1_000 - _start(steady[0])
        counted = [batch["observedMetrics"]["answer"] for batch in progress if "answer" in batch["observedMetrics"]]
        answer = told(sum(row["matches"] for row in counted), sum(row["total"] or 0 for row in counted))
        return Found(rows, seconds, worked, answer, final(play) if final else None, _state(steady[-1]))

    return run


def source(spark: SparkSession, play: Play, stream: str) -> DataFrame:
    """A stream of the play, one file a batch."""
    reader = spark.readStream.schema("ts TIMESTAMP, id BIGINT, k BIGINT, v DOUBLE").option("maxFilesPerTrigger", 1)
    return reader.parquet(str(play.folders[stream]))


def session(conf: Mapping[str, str]) -> SparkSession:
    """A session on two cores, with what all contenders have and *conf*."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("bench")
    for name, value in {**CONF, **conf}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _played(matches: DataFrame, play: Play) -> tuple[list[Any], float]:
    """The progress of all batches, and the processor's seconds of those that are measured.

    There may be one without rows at the end, in which an engine lets go of its last matches.
    """
    from pyspark.sql.functions import count, expr, lit

    streams = play.feed.streams
    total = expr(f"sum({checksum(streams)})").alias("total")
    seen = matches.select(*streams).observe("answer", count(lit(1)).alias("matches"), total)
    writer = seen.writeStream.outputMode("append").option("checkpointLocation", str(play.work / "checkpoint"))
    writer = writer.format("parquet").option("path", str(play.matches)) if play.matches else writer.format("noop")
    query = writer.trigger(availableNow=True).start()
    worked = [processor.seconds() for last in (play.feed.warm_up, play.feed.batches) if _awaited(query, last - 1)]
    query.awaitTermination()
    return list(query.recentProgress), worked[-1] - worked[0]


def _awaited(query: StreamingQuery, batch: int) -> bool:
    """Wait until a batch is done; the query's own thread goes on meanwhile."""
    while query.isActive and (query.lastProgress is None or query.lastProgress["batchId"] < batch):
        time.sleep(POLL)
    return True


def _start(batch: Any) -> float:
    return datetime.fromisoformat(batch["timestamp"]).timestamp()


def _state(batch: Any) -> dict[str, float]:
    """Rows in the state stores after a batch, where they are counted."""
    held = sum(operator["numRowsTotal"] for operator in batch["stateOperators"])
    return {"state rows": held} if held else {}
