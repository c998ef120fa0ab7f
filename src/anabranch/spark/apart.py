"""Rows that are set apart, late ones and bad ones, as files: one for each batch and bucket that has any.

A file is named by its batch and bucket, so an attempt that is repeated replaces what
it wrote before, and no row is there twice.  Attempts may run at the same time: each
writes to a name of its own first.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from anabranch.core.errors import Refused
from anabranch.spark.bucket import Outcome

LATE, DEAD = "late", "dead"


def late_schema(time: pa.DataType) -> pa.Schema:
    """The columns of late rows; *time* is the type of the streams' times."""
    return pa.schema([("stream", pa.string()), ("time", time), ("lateness", pa.int64()), ("row", pa.string())])


DEAD_SCHEMA = pa.schema([("stream", pa.string()), ("reason", pa.string()), ("row", pa.string())])


@dataclass(frozen=True)
class Apart:
    """Where rows of one join are set apart, below a folder; None keeps none, they are only counted."""

    folder: str | None
    name: str
    time: pa.DataType

    def keep(self, outcome: Outcome, query: str, batch: int, bucket: int) -> None:
        """Write what a bucket has set apart in a batch."""
        if self.folder is None:
            return
        if outcome.late:
            parts = [
                pa.table([pa.array([stream] * len(rows)), times.cast(self.time), lags, rows], schema=self.late_schema)
                for stream, times, lags, rows in outcome.late
            ]
            self._write(LATE, pa.concat_tables(parts), query, batch, bucket)
        if outcome.dead:
            parts = [
                pa.table([pa.array([stream] * len(rows)), *rows.columns], schema=DEAD_SCHEMA)
                for stream, rows in outcome.dead
            ]
            self._write(DEAD, pa.concat_tables(parts), query, batch, bucket)

    @property
    def late_schema(self) -> pa.Schema:
        return late_schema(self.time)

    def frame(self, spark: Any, query: str, what: str) -> Any:
        """What has been set apart of a query so far, as a DataFrame."""
        assert self.folder is not None
        kind = "bigint" if pa.types.is_integer(self.time) else "timestamp"
        late = f"stream string, time {kind}, lateness bigint, row string"
        schema = late if what == LATE else "stream string, reason string, row string"
        system, root = file_system(self.folder)
        place = f"{root}/{query}/{what}"
        if system.get_file_info(place).type == fs.FileType.NotFound:
            return spark.createDataFrame([], schema)
        return spark.read.schema(schema).parquet(f"{self.folder}/{query}/{what}")

    def _write(self, what: str, rows: pa.Table, query: str, batch: int, bucket: int) -> None:
        assert self.folder is not None
        system, root = file_system(self.folder)
        place = f"{root}/{query}/{what}"
        system.create_dir(place, recursive=True)
        name = f"{self.name}-{batch}-{bucket}.parquet"
        hidden = f"{place}/.{uuid4().hex}-{name}"  # a dot hides what is not whole
        try:
            pq.write_table(rows, hidden, filesystem=system)
            system.move(hidden, f"{place}/{name}")
        except BaseException:
            with suppress(OSError):
                system.delete_file(hidden)
            raise


def file_system(folder: str) -> tuple[fs.FileSystem, str]:
    """The file system of a folder, and the folder in its own words; refused where there is none for it."""
    try:
        found: tuple[fs.FileSystem, str] = (
            fs.FileSystem.from_uri(folder.replace("s3a://", "s3://", 1))
            if "://" in folder or folder.startswith("file:")
            else (fs.LocalFileSystem(), folder)
        )
    except (pa.ArrowInvalid, OSError) as error:
        raise Refused(
            f"late and bad rows cannot be kept in '{folder}': {str(error).splitlines()[0]}",
            "name a folder that all executors reach, or apart=None to count them only",
        ) from None
    return found
