"""Flink SQL: interval joins, pairs of pairs, over bounded Parquet sources in streaming mode.

The query as one would write it gives the right answer, but only its first join becomes
an interval join; the others are regular joins, which never forget.  An interval join
knows one pair of times, so here each has one, and the other times go on as values.

The file source hands out the files of a folder in no order, and what comes behind the
watermark is lost: 5 of 26 matches in a small run.  So each stream is written as one
file first, which is not measured.  There are no batches: a first job over the batches
that warm up is not measured, and the time of a second one over all batches is, start
and last checkpoint included.  State is in the heap, with a checkpoint every five seconds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from bench.streaming import processor
from bench.streaming.checksum import answer
from bench.streaming.workload import Contender, Found, Play

VERSION = "2.3.0"
CONF = {
    "execution.runtime-mode": "streaming",
    "execution.checkpointing.interval": "5 s",
    "restart-strategy.type": "none",
    "parallelism.default": "2",
    "pipeline.object-reuse": "true",
    "state.backend.type": "hashmap",
    "table.local-time-zone": "UTC",
    "taskmanager.numberOfTaskSlots": "2",
}


def run(play: Play) -> Found:
    _joined(play, _whole(play, play.feed.warm_up))
    whole = _whole(play, play.feed.batches)
    started, worked = time.perf_counter(), processor.seconds()
    found = _joined(play, whole)
    seconds, worked = time.perf_counter() - started, processor.seconds() - worked
    if play.matches:
        play.matches.mkdir()
        pq.write_table(found, play.matches / "all.parquet")
    return Found(play.feed.rows * play.feed.batches, seconds, worked, answer(found, play.feed.streams))


def _whole(play: Play, batches: int) -> dict[str, Path]:
    """A folder for each stream with the files of its first batches as one, so that they are read in order."""
    home = play.work / f"first-{batches}"
    for stream, folder in play.folders.items():
        (home / stream).mkdir(parents=True)
        with pq.ParquetWriter(home / stream / "all.parquet", pq.read_schema(folder / "00000.parquet")) as writer:
            for path in sorted(folder.iterdir())[:batches]:
                writer.write_table(pq.read_table(path))
    return {stream: home / stream for stream in play.folders}


def _joined(play: Play, folders: Mapping[str, Path]) -> pa.Table:
    """Run the query over folders; its matches."""
    from pyflink.common import Configuration
    from pyflink.table import EnvironmentSettings, TableEnvironment

    assert play.environment is not None
    jars = ";".join(path.as_uri() for path in sorted((play.environment / "jars").glob("*.jar")))
    conf = {
        **CONF,
        "pipeline.jars": jars,
        "execution.checkpointing.dir": (play.work / "checkpoints").as_uri(),
    }
    told = Configuration()
    for option, value in conf.items():
        told.set_string(option, value)
    environment = TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(told).build())
    for stream, folder in folders.items():
        environment.execute_sql(_table(stream, folder))
    out = play.work / f"found-in-{next(iter(folders.values())).parent.name}"
    ids = ", ".join(f"{stream} BIGINT" for stream in play.feed.streams)
    environment.execute_sql(
        f"CREATE TABLE found ({ids}) WITH ('connector' = 'filesystem', 'path' = '{out.as_uri()}', 'format' = 'parquet')"
    )
    environment.execute_sql(f"INSERT INTO found {query(play.feed.streams, play.feed.ticks)}").wait()
    return ds.dataset([str(path) for path in out.rglob("part-*")], format="parquet").to_table()


def _table(stream: str, folder: Path) -> str:
    return (
        f"CREATE TABLE {stream} (ts TIMESTAMP(3), id BIGINT, k BIGINT, v DOUBLE, WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder.as_uri()}', 'format' = 'parquet')"
    )


def query(streams: str, ticks: int) -> str:
    """Pairs of pairs; the time of one member of each pair goes on as a value, the other's as event time."""
    a, b, c, d = streams
    reach = f"INTERVAL '{ticks // 86_400_000} {timedelta(milliseconds=ticks % 86_400_000)}' DAY TO SECOND(3)"

    def within(one: str, other: str) -> str:
        return f"{one} BETWEEN {other} - {reach} AND {other} + {reach}"

    def pair(one: str, other: str) -> str:
        return (
            f"(SELECT {one}.ts, {one}.k, {one}.id AS {one}, {other}.id AS {other}, {_value(f'{one}.ts')} AS {one}_t, "
            f"{_value(f'{other}.ts')} AS {other}_t FROM {one} JOIN {other} "
            f"ON {one}.k = {other}.k AND {within(f'{one}.ts', f'{other}.ts')})"
        )

    near = [within(f"l.{one}_t", f"r.{other}_t") for one, other in ((a, d), (b, c), (b, d))]
    on = " AND ".join(["l.k = r.k", within("l.ts", "r.ts"), *near])
    return f"SELECT {a}, {b}, {c}, {d} FROM {pair(a, b)} l JOIN {pair(c, d)} r ON {on}"


def _value(time: str) -> str:
    return f"CAST({time} AS TIMESTAMP(3))"


CONTENDER = Contender(
    title="Flink SQL",
    package="apache-flink",
    run=run,
    about=(
        "Interval joins of two pairs, and one of their results; state in the heap, a checkpoint every five seconds; "
        "one file a stream, because the files of a folder are read in no order and late rows are lost. Its time is "
        "that of a whole job over all batches, after a job to warm up."
    ),
    needs=(f"apache-flink=={VERSION}",),
    jars=(
        f"org.apache.flink:flink-sql-parquet:{VERSION}",
        "org.apache.hadoop:hadoop-client-api:3.4.1",
        "org.apache.hadoop:hadoop-client-runtime:3.4.1",
    ),
)
