"""DataFrames as streams: which column is their time, how late they may be, what else is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from anabranch.core.errors import Refused
from anabranch.core.given import length
from anabranch.core.times import check_time_type
from anabranch.plan.query import Stream
from anabranch.spark.pieces import MARK
from anabranch.spark.types import arrow_schema, column
from anabranch.spark.watermarks import without_watermarks

EVENT_TIME, ARRIVAL = "ts", "arrival"
DELAY = "spark.watermarkDelayMs"  # where Spark notes the delay of a column's watermark


@dataclass(frozen=True)
class StreamFrame:
    """A DataFrame and what is to be known of it as a stream; see ``stream``."""

    frame: DataFrame
    time: str | None = None
    lateness: str | int | None = None
    idle: str | int | None = None
    heartbeat: str | None = None


def stream(
    frame: DataFrame,
    time: str | None = None,
    lateness: str | int | None = None,
    idle: str | int | None = None,
    heartbeat: str | None = None,
) -> StreamFrame:
    """A DataFrame as a stream with settings of its own.

    *time* names its event time (else the column of its watermark, else ``ts``);
    ``"arrival"`` is the time at which a batch is begun.  *lateness* is how far it may
    be out of order (else its watermark's delay, else nothing): ``"5 seconds"``, or a
    number where time is an integer.  *idle* gives exactness up: the stream is not
    waited for when it falls that far behind the others.  *heartbeat* names a column
    of the time's type; a row with a value there is no row, but the promise that
    nothing older will come.
    """
    if not isinstance(frame, DataFrame):
        raise Refused(f"a stream is a DataFrame, and this is {type(frame).__name__}", "write ab.stream(frame, ...)")
    for what, name in (("time", time), ("heartbeat", heartbeat)):
        if name is not None and not isinstance(name, str):
            raise Refused(f"the {what} of a stream is {name!r}, not a name", f"name a column: {what}='...'")
    return StreamFrame(frame, time, lateness, idle, heartbeat)


@dataclass(frozen=True)
class Opened:
    """A stream ready for a plan: its description, its rows, its lateness and idle policy in ticks."""

    stream: Stream
    frame: DataFrame
    lateness: int = 0
    idle: int | None = None
    bare: bool = True  # whether its plan has no watermark any more
    ordered: bool = False  # whether a batch is read from its first row to its last, however often


def opened(name: str, given: DataFrame | StreamFrame) -> Opened:
    """Check and complete what is known of a stream."""
    known = given if isinstance(given, StreamFrame) else StreamFrame(given)
    if known.time == ARRIVAL and ARRIVAL not in known.frame.columns:
        known = replace(known, frame=known.frame.withColumn(ARRIVAL, fn.current_timestamp()))
    frame = known.frame
    _check_names(name, frame.columns)
    delays = {field.name: field.metadata[DELAY] for field in frame.schema.fields if DELAY in field.metadata}
    time = _time(name, frame.columns, known.time, list(delays))
    frame, bare = without_watermarks(frame)
    schema = arrow_schema(name, frame.schema)
    check_time_type(name, time, schema.field(time).type)
    found = Stream(name, schema, time)
    lateness = known.lateness
    if lateness is None and time in delays:
        lateness = f"{delays[time]}ms"
    if known.heartbeat is not None:
        frame, found = _with_marks(name, frame, known.heartbeat, found)
    return Opened(
        found,
        frame,
        _ticks(name, "lateness", lateness, found.integer_time) or 0,
        _ticks(name, "idle", known.idle, found.integer_time),
        bare,
    )


def find_tables(spark: SparkSession, names: list[str], given: Mapping[str, Any]) -> dict[str, DataFrame]:
    """Names of a query that are not given, as tables and views of the session's catalog, where there are such."""
    there = {name.lower() for name in given}
    found = {}
    for name in names:
        if name.lower() in there:
            continue
        try:
            frame = spark.table(name)
            _ = frame.schema
        except AnalysisException:
            continue  # the parser says what is wrong, and where
        found[name] = frame
    return found


def _check_names(name: str, columns: list[str]) -> None:
    seen: dict[str, str] = {}
    for each in columns:
        if each.lower() in seen:
            raise Refused(
                f"stream '{name}' has two columns '{each}'",
                "names ignore case; rename one with withColumnRenamed or toDF",
            )
        seen[each.lower()] = each


def _time(name: str, columns: list[str], asked: str | None, marked: list[str]) -> str:
    if asked is None and len(marked) > 1:
        raise Refused(
            f"stream '{name}' has watermarks on {' and '.join(marked)}",
            f"say which: ab.stream(..., time='{marked[0]}')",
        )
    wanted = asked or (marked[0] if marked else EVENT_TIME)
    found = [column for column in columns if column.lower() == wanted.lower()]
    if not found:
        raise Refused(
            f"stream '{name}' has no column '{wanted}' for its time",
            f"it has {', '.join(columns[:8])}: name its time with ab.stream({name}, time=...) or withWatermark",
        )
    return found[0]


def _ticks(name: str, what: str, value: str | int | None, integer: bool) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not integer:
        raise Refused(
            f"the {what} of stream '{name}' is {value}, and its time is a timestamp",
            f"write {what}='{value} seconds'",
        )
    return length(f"the {what} of stream '{name}'", value, integer)


def _with_marks(name: str, frame: DataFrame, heartbeat: str, found: Stream) -> tuple[DataFrame, Stream]:
    columns = [name for name in frame.columns if name.lower() == heartbeat.lower()]
    if not columns:
        raise Refused(f"stream '{name}' has no column '{heartbeat}' for its heartbeats", "name one that it has")
    if columns[0] == found.time:
        raise Refused(
            f"the heartbeats of stream '{name}' are in its time '{columns[0]}'",
            "a row with a value there is no row; give them a column of their own",
        )
    kind = found.schema.field(columns[0]).type
    mark = column(columns[0])
    if pa.types.is_integer(kind):
        ticks = mark.cast("bigint")
    elif pa.types.is_timestamp(kind) and not found.integer_time:
        ticks = fn.unix_micros(mark.cast("timestamp"))
    else:
        raise Refused(f"the heartbeats of stream '{name}' are of type {kind}", "they are times like those of its rows")
    schema = pa.schema([field for field in found.schema if field.name != columns[0]])
    return frame.withColumn(MARK, ticks), Stream(found.name, schema, found.time)
