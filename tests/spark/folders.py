"""Folders as streams: a file is what arrives at once, and a query reads what is there and stops."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import anabranch as ab

SECOND = 1_000_000
SCHEMA = "id BIGINT, ts TIMESTAMP, v DOUBLE"
ARROW = pa.schema([("id", pa.int64()), ("ts", pa.timestamp("us", "UTC")), ("v", pa.float64())])


def lay(folder: Path, name: str, *rows: tuple[int, float] | tuple[int, float, float]) -> None:
    """One more file of a stream: rows of an id, a second, and perhaps a value."""
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    number = len(list(path.iterdir()))
    columns = [
        pa.array([row[0] for row in rows], pa.int64()),
        pa.array([int(row[1] * SECOND) for row in rows]).cast(ARROW.field("ts").type),
        pa.array([row[2] if len(row) > 2 else None for row in rows], pa.float64()),
    ]
    file = path / f"{number:04}.parquet"
    pq.write_table(pa.Table.from_arrays(columns, schema=ARROW), file)
    os.utime(file, (1_000_000 + number, 1_000_000 + number))


def read(spark: Any, folder: Path, name: str) -> Any:
    """A folder as a stream, a file a batch."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / name))


def start(frame: Any, folder: Path, mode: str = "append") -> Any:
    """A query that reads what is there, into ``out``."""
    writer = frame.writeStream.outputMode(mode).option("checkpointLocation", str(folder / "checkpoint"))
    return writer.format("parquet").trigger(availableNow=True).start(str(folder / "out"))


def run(frame: Any, folder: Path, mode: str = "append") -> Any:
    """The same, once it has read everything."""
    query = start(frame, folder, mode)
    query.awaitTermination()
    return query


def found(spark: Any, folder: Path) -> list[tuple[Any, ...]]:
    """What has come out, in order."""
    return sorted(tuple(row) for row in spark.read.parquet(str(folder / "out")).collect())


def options(folder: Path, **more: Any) -> ab.Options:
    """One bucket, and late rows beside the rest."""
    return ab.Options(**{"buckets": 1, "apart": str(folder / "apart"), **more})
