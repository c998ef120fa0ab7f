"""Finite streams replayed through Structured Streaming: the command line's way to run a query on Spark.

The joins stream, batch by batch, into files; the SELECT list, which may need the end
of its input, runs over the finished matches.  With a checkpoint folder all of this
lies there, and a run that was cut off goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from anabranch.core.metrics import Metrics, StreamMetrics
from anabranch.files import Source
from anabranch.plan.query import Join, Query, Stream
from anabranch.spark.apart import DEAD, DEAD_SCHEMA, LATE, late_schema
from anabranch.spark.failure import told
from anabranch.spark.sql import Options, relation, selected
from anabranch.spark.staging import DONE, Staged, read_rounds, stage, staged
from anabranch.spark.status import Status, statuses
from anabranch.spark.types import arrow_schema
from anabranch.spark.watch import Watched

POLL = 0.1  # seconds between two looks at a running query


def known(sources: Sequence[Source], folder: Path) -> dict[str, Stream]:
    """The streams as a query on Spark sees them."""
    return {source.name: _staged(source, folder).stream for source in sources}


def _staged(source: Source, folder: Path) -> Staged:
    return staged(source.name, source.schema, source.time, folder / "rounds")


@dataclass(frozen=True)
class Running:
    """One join of the query: where its matches go, and what they are."""

    join: Join
    matches: DataFrame
    watched: Watched
    folder: Path


class Replay:
    """One run of a query over finite sources."""

    def __init__(
        self,
        spark: SparkSession,
        query: Query,
        sources: Sequence[Source],
        functions: Mapping[str, Callable[..., Any]],
        lateness: Mapping[str, int],
        folder: Path,
    ) -> None:
        self.spark, self.query, self.folder = spark, query, folder
        used = list(dict.fromkeys(member.stream.name for join in query.joins for member in join.members))
        self.sources = {source.name: source for source in sources if source.name in used}
        self.staged = [_staged(source, folder) for source in self.sources.values()]
        self.metrics = Metrics({name: StreamMetrics() for name in self.sources})
        self._queries: list[StreamingQuery] = []
        for each in self.staged:
            each.folder.mkdir(parents=True, exist_ok=True)
        streams = {
            each.stream.name: replace(read_rounds(spark, each), lateness=lateness.get(each.stream.name, 0))
            for each in self.staged
        }
        options = Options(apart=str(folder / "apart"), whole_rows=True)
        self.running = [
            Running(join, *relation(spark, query, join, streams, functions, options, True), folder / f"join{i}")
            for i, join in enumerate(query.joins)
        ]
        self.schema = arrow_schema("the answer", self._selected().schema)
        integer = query.joins[0].members[0].stream.integer_time
        self.late_schema = late_schema(pa.int64() if integer else pa.timestamp("us", "UTC"))

    def rows(self, progress: Callable[[], None]) -> Iterator[pa.Table]:
        """The rows of the answer; *progress* is called now and then while the joins run."""
        began = time.perf_counter()
        if not (self.folder / "rounds" / DONE).exists():
            for _ in stage(self.staged, self.sources):
                progress()
            (self.folder / "rounds" / DONE).touch()
        for running in self.running:
            self._run(running, progress)
        self.metrics.seconds = time.perf_counter() - began
        self.metrics.held_back_by = None
        try:
            yield from self._written(self._selected())  # now that the files are there
        except PySparkException as error:
            raise told(error) from None

    def apart(self, late: Callable[[pa.Table], None], dead: Callable[[pa.Table], None]) -> None:
        """Hand on what was late and what was bad, each row once."""
        said: set[str] = set()
        for running, query in zip(self.running, self._queries, strict=True):
            for write, what, schema in ((late, LATE, self.late_schema), (dead, DEAD, DEAD_SCHEMA)):
                for file in sorted((self.folder / "apart" / str(query.id) / what).glob("[!.]*.parquet")):
                    table = pq.read_table(file, schema=schema)
                    fresh = [name not in said for name in table.column("stream").to_pylist()]
                    if any(fresh):
                        write(table.filter(pa.array(fresh)))
            said |= set(running.watched.shard.streams)

    # -- the joins ---------------------------------------------------------------

    def _run(self, running: Running, progress: Callable[[], None]) -> None:
        names = [f"c{i}" for i in range(len(running.matches.columns))]
        writer = running.matches.toDF(*names).writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(running.folder / "checkpoint"))
        try:
            query = writer.option("path", str(running.folder / "matches")).start()
            self._queries.append(query)
            while query.isActive:
                time.sleep(POLL)
                self._note()
                progress()
            query.awaitTermination()  # raises what it failed of
        except PySparkException as error:
            raise told(error) from None
        except KeyboardInterrupt:
            query.stop()
            raise
        self._note()
        progress()

    def _note(self) -> None:
        note(self.metrics, [at for query in self._queries for at in statuses(query)])

    # -- the answer --------------------------------------------------------------

    def _selected(self) -> DataFrame:
        """The SELECT list over the matches as they will lie on disk."""
        relations = {}
        for running in self.running:
            columns = running.matches.schema
            names = [f"c{i}" for i in range(len(columns))]
            place = running.folder / "matches"
            place.mkdir(parents=True, exist_ok=True)
            kept = running.matches.toDF(*names).schema
            relations[running.join.name] = self.spark.read.schema(kept).parquet(str(place)).toDF(*columns.names)
        try:
            return selected(self.spark, self.query, relations)
        except PySparkException as error:
            raise told(error) from None

    def _written(self, answer: DataFrame) -> Iterator[pa.Table]:
        place = self.folder / "answer"
        names = [f"c{i}" for i in range(len(answer.columns))]
        answer.toDF(*names).write.mode("overwrite").parquet(str(place))
        for file in sorted(place.glob("part-*.parquet")):
            for batch in pq.ParquetFile(file).iter_batches():
                columns = [column.cast(field.type) for column, field in zip(batch.columns, self.schema, strict=True)]
                yield pa.Table.from_arrays(columns, schema=self.schema)


def note(metrics: Metrics, found: Sequence[Status]) -> None:
    """Take what the joins of a run have said so far, together; a stream of several counts in the first."""
    metrics.matches = sum(at.matches for at in found)
    for at in reversed(found):
        for stream in at.streams:
            known = metrics.streams[stream.name]
            known.rows, known.late, known.dead = stream.rows, stream.late, stream.dead
            known.frontier, known.finished = stream.frontier, stream.finished
    if found:
        metrics.buffered(sum(stream.buffered for stream in found[-1].streams), found[-1].memory)
        metrics.peak_tuples = max(metrics.peak_tuples, found[-1].peak_tuples)
        metrics.peak_bytes = max(metrics.peak_bytes, found[-1].peak_memory)
        metrics.held_back_by = found[-1].held_back_by
