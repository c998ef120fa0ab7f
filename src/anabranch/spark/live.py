"""Streams that are fed from this process, round by round: for a demonstration, and to try a query by hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from anabranch.core.metrics import Metrics, StreamMetrics
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse
from anabranch.spark.failure import told
from anabranch.spark.replay import note
from anabranch.spark.sql import Options, sql
from anabranch.spark.staging import Rounds, laid, read_rounds, staged
from anabranch.spark.status import statuses
from anabranch.spark.streams import StreamFrame

ANSWER = "anabranch_answer"


class Live:
    """A running query over streams whose time is the column ``ts``."""

    def __init__(
        self,
        spark: SparkSession,
        query: str,
        schemas: Mapping[str, pa.Schema],
        lateness: Mapping[str, str],
        folder: Path,
    ) -> None:
        self.spark = spark
        streams = [staged(name, schema, "ts", folder / "rounds") for name, schema in schemas.items()]
        self.windows = parse(query, {each.stream.name: each.stream for each in streams}).joins[0].windows
        self._streams: dict[str, Stream] = {each.stream.name: each.stream for each in streams}
        self.rounds = Rounds(streams)
        self.metrics = Metrics({name: StreamMetrics() for name in schemas})
        frames = {
            each.stream.name: StreamFrame(read_rounds(spark, each).frame, lateness=lateness.get(each.stream.name))
            for each in streams
        }
        matches = sql(spark, query, Options(apart=str(folder / "apart")), **frames)
        self.query = (
            matches.writeStream.format("memory")
            .queryName(ANSWER)
            .option("checkpointLocation", str(folder / "checkpoint"))
            .start()
        )

    def push(self, batches: Mapping[str, pa.RecordBatch], ended: Collection[str] = ()) -> None:
        """Send rows, and wait until the query has joined them."""
        self.rounds.lay({name: [laid(batch, self._streams[name])] for name, batch in batches.items()}, ended)
        try:
            self.query.processAllAvailable()
        except PySparkException as error:
            raise told(error) from None
        note(self.metrics, list(statuses(self.query)))

    def found(self) -> pa.Table:
        """All rows of the answer so far."""
        return self.spark.table(ANSWER).toArrow()

    def stop(self) -> None:
        """End the query."""
        self.query.stop()
