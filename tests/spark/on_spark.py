"""A timeline as a query on Spark.

Each event is one file of every stream, perhaps without rows, and the source takes one
file a batch, so a batch is an event.  A crash stops the query and starts it again from
its checkpoint.  Judged are the bag, what is late, what is bad, and that nothing is left
at the end; how soon a match comes is judged where events are cheap, on the buckets.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import anabranch as ab
from anabranch.core.ticks import FOREVER
from anabranch.testing.oracle import answer
from anabranch.testing.query import SECOND, alias_in_sql, schema, sql
from anabranch.testing.timeline import Batch, Case, Crash, End, Event, Heartbeat
from anabranch.testing.tuples import table

PROMISE = "promise"


def streaming(spark: Any, case: Case, folder: Path, buckets: int = 2, integer: bool = False) -> None:
    """Play a case, and assert that what comes out is right."""
    events = [event for event in case.events if isinstance(event, Batch | Heartbeat | End | Crash)]
    events += [End("*")]
    numbers = dict.fromkeys(case.streams, 0)
    kind, scale = schema(integer), 1 if integer else SECOND
    files = 0
    query = None
    for place, event in enumerate(events):
        if not isinstance(event, Crash):
            write(case, event, numbers, files, folder, kind, scale)
            files += 1
        if files and (isinstance(event, Crash) or place == len(events) - 1):
            query = run(spark, case, folder, buckets, integer)
    assert query is not None
    right = answer(case, by_row=False)
    found = spark.read.parquet(str(folder / "out")).collect()
    names = [alias_in_sql(alias) for alias in case.aliases]
    assert Counter(tuple(row[name] for name in names) for row in found) == Counter(list(right.matches)), str(case)
    assert ids(ab.late(query)) == Counter(right.late), str(case)
    assert ids(ab.dead(query)) == Counter(right.bad), str(case)
    last = ab.status(query)
    assert all(stream.buffered == 0 for stream in last.streams)
    assert last.stored == 0
    assert last.matches == len(found)
    for stream in last.streams:
        assert stream.finished
        assert stream.rows == len(case.arrivals[stream.name])


def run(spark: Any, case: Case, folder: Path, buckets: int, integer: bool) -> Any:
    """Start the query from its checkpoint, let it read what is there, and stop it."""
    frames = {}
    for stream in case.streams:
        columns = spark.read.parquet(str(folder / stream)).schema
        frame = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1).parquet(str(folder / stream))
        late, idle = case.lateness.get(stream), case.idle.get(stream)
        frames[stream] = ab.stream(
            frame,
            lateness=None if late is None else late if integer else f"{late} seconds",
            idle=None if idle is None else idle if integer else f"{idle} seconds",
            heartbeat=PROMISE,
        )
    options = ab.Options(buckets=buckets, apart=str(folder / "apart"))
    matches = ab.sql(spark, sql(case, integer=integer), options, **frames)
    writer = matches.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.option("path", str(folder / "out")).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def write(
    case: Case, event: Event, numbers: dict[str, int], number: int, folder: Path, kind: pa.Schema, scale: int
) -> None:
    """One file of every stream: the rows and promises of one event."""
    for stream in case.streams:
        arrivals = [a for a in event.arrivals if a.stream == stream] if isinstance(event, Batch) else []
        rows = table(list(enumerate(arrivals, numbers[stream])), kind)
        numbers[stream] += len(arrivals)
        mark = None
        if isinstance(event, Heartbeat) and event.stream == stream:
            mark = event.time * scale
        if isinstance(event, End) and event.stream in (stream, "*"):
            mark = FOREVER
        promises = pa.array([None] * len(rows) + ([] if mark is None else [mark]), pa.int64())
        columns = [pa.concat_arrays([c, pa.nulls(len(promises) - len(rows), c.type)]) for c in rows.columns]
        path = folder / stream / f"{number:04}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table([*columns, promises], names=[*rows.schema.names, PROMISE]), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def ids(frame: Any) -> Counter[tuple[str, int]]:
    """The tuples that were set apart, by stream and number."""
    return Counter((row["stream"], json.loads(row["row"])["id"]) for row in frame.collect())
