"""The process that runs the queries of some trials, to be killed and started again until all input is done.

``python -m tests.faults.driver FOLDER SEED...`` goes on from the checkpoints in the folder.
A query that fails is started again here.  When its input is done, what came out and what
the state still holds are written beside it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.faults.trial import Trial, together
from tests.spark.session import LOG, SETTINGS

import anabranch as ab
from anabranch.testing.query import alias_in_sql, schema

PROMISE = "promise"
END = "\n----\n"  # after each reason why a query was started again
JAVA = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dlog4j2.configurationFile={LOG}"


def settings(folder: Path, run: Trial) -> dict[str, Any]:
    """Spark with two executors that are processes of their own, quick to try again."""
    found: dict[str, Any] = {
        **SETTINGS,
        "spark.driver.extraJavaOptions": f"{JAVA} -Dderby.system.home={folder}",
        "spark.executor.extraJavaOptions": JAVA,
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.local.dir": folder / "local",
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.sql.streaming.minBatchesToRetain": 1_000,
        "spark.sql.streaming.stateStore.minDeltasForSnapshot": 3,
        "spark.sql.streaming.stateStore.maintenanceInterval": "2s",
        "spark.task.maxFailures": 4,
        "spark.deploy.maxExecutorRetries": -1,
        "spark.excludeOnFailure.enabled": False,
    }
    if run.speculation:
        found |= {
            "spark.speculation": True,
            "spark.speculation.interval": "20ms",
            "spark.speculation.minTaskRuntime": "10ms",
            "spark.speculation.multiplier": 1.01,
            "spark.speculation.quantile": 0.1,
        }
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in found.items()}


def steady(one: int, other: int) -> bool:
    """True, on the second attempt."""
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0:
        batch = int(context.getLocalProperty("streaming.sql.batchId") or 0)
        if (batch + context.partitionId()) % 3 == 0:
            raise OSError("a first attempt fails")
    return True


@dataclass
class Running:
    """One query, from its plan to its result."""

    spark: Any
    folder: Path
    run: Trial
    query: Any = None

    def start(self) -> None:
        spark, folder, run = self.spark, self.folder, self.run
        for name, value in {
            "spark.sql.shuffle.partitions": run.partitions,
            "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": run.changelog,
        }.items():
            spark.conf.set(name, value)
        frames = {}
        columns = spark.createDataFrame([], _ddl(schema(run.integer))).schema
        for stream in run.case.streams:
            frame = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1).parquet(str(folder / stream))
            late = run.case.lateness.get(stream)
            frames[stream] = ab.stream(
                frame,
                lateness=None if late is None else late if run.integer else f"{late} seconds",
                heartbeat=PROMISE,
            )
        options = ab.Options(buckets=run.buckets, apart=str(folder / "apart"), hot=run.hot)
        functions: dict[str, Callable[..., Any]] = {"steady": steady} if run.unsteady else {}
        matches = ab.sql(spark, run.query, options, **frames, **functions)
        writer = matches.writeStream.option("checkpointLocation", str(folder / "disk" / "checkpoint"))
        if run.sink == "parquet":
            writer = writer.format("parquet").option("path", str(folder / "out"))
        else:
            writer = writer.foreachBatch(_keeping(folder / "out"))
        self.query = writer.start() if run.live else writer.trigger(availableNow=True).start()

    def done(self) -> bool:
        """Whether the input is done; a query that has failed goes on from its checkpoint."""
        if (self.folder / "done").exists():
            return True
        try:
            if self.query is None:
                self.start()
            elif self.run.live and (self.folder / "written").exists():
                self.query.processAllAvailable()
                self.query.stop()
            elif self.run.live or self.query.isActive:
                return bool(self.query.awaitTermination(0.1)) and False
            elif self.query.exception() is not None:
                raise self.query.exception()
            else:
                self.query.awaitTermination()
        except PySparkException as error:
            with (self.folder / "ends.log").open("a", encoding="utf-8") as log:
                log.write(f"{error}{END}")
            self.query = None
            time.sleep(0.5)
        if self.query is None or self.query.isActive:
            return False
        (self.folder / "done").touch()
        return True

    def tell(self) -> None:
        """What came out, and what is left in the state."""
        spark, folder, run = self.spark, self.folder, self.run
        names = [alias_in_sql(alias) for alias in run.case.aliases]
        if run.sink == "parquet":
            columns = ", ".join(f"{name} bigint" for name in names)  # there may be no match, and so no file
            rows = spark.read.schema(columns).parquet(str(folder / "out")).collect()
            found = [[row[name] for name in names] for row in rows]
        else:
            found = [row for file in (folder / "out").glob("*.json") for row in json.loads(file.read_text("utf-8"))]
        state = spark.read.format("statestore").option("stateVarName", "rows").load(str(folder / "disk" / "checkpoint"))
        rows = state.select("user_map_key", "user_map_value").collect()
        heads = [json.loads(bytes(body.body)) for key, body in rows if key.number == -1]
        _write(folder / "result.json", {"matches": found, "heads": heads, "entries": len(rows)})


def main(folder: Path, seeds: list[int]) -> None:
    runs = together(seeds)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("faults")
    for name, value in settings(folder, runs[0]).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    queries = [Running(spark.newSession(), folder / str(run.seed), run) for run in runs]
    waiting = [query for query in queries if not (query.folder / "result.json").exists()]
    while waiting:
        for query in [query for query in waiting if query.done()]:
            waiting.remove(query)
            query.tell()
    spark.stop()


def _keeping(folder: Path) -> Callable[[Any, int], None]:
    """A sink that keeps a batch under its number; one that is repeated has to be the same."""
    folder.mkdir(exist_ok=True)

    def keep(frame: Any, batch: int) -> None:
        rows = sorted(list(row) for row in frame.collect())
        place = folder / f"{batch:05}.json"
        if place.exists() and json.loads(place.read_text("utf-8")) != rows:
            _write(folder.parent / "differs.json", {"batch": batch, "rows": rows})
        _write(place, rows)

    return keep


def _write(place: Path, value: Any) -> None:
    """All of it or nothing."""
    with tempfile.NamedTemporaryFile("w", dir=place.parent, prefix=".", delete=False, encoding="utf-8") as file:
        json.dump(value, file)
    Path(file.name).replace(place)


def _ddl(columns: pa.Schema) -> str:
    kinds = {"int64": "bigint", "double": "double", "string": "string"}
    fields = [f"{field.name} {kinds.get(str(field.type), 'timestamp')}" for field in columns]
    return ", ".join([*fields, f"{PROMISE} bigint"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(map(int, sys.argv[2:])))
