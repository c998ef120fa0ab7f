"""Finite streams on their way into Structured Streaming: read by the project's readers, laid down as Parquet.

A *round* is one file of each stream, with rows of all streams up to about the same
time; the file source takes one round a batch.  Bad records travel as rows with a
reason, and the last round ends every stream.  So a replay reads what the embedded
runtime reads, in the same order, whatever the format of the files.

Cost: each row is written and read once more, on this machine's disk.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.pandas.types import from_arrow_schema

from anabranch.core.errors import Refused
from anabranch.core.plain import plain_batch, plain_schema
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.times import span, ticks
from anabranch.files import ARRIVAL, BadRow, Source
from anabranch.plan.query import Stream
from anabranch.spark.pieces import MARK, REASON, ROW
from anabranch.spark.streams import Opened

ROUND = 1_000_000  # rows of all streams
DONE = "_done"
EXTRA = [(MARK, pa.int64()), (REASON, pa.string()), (ROW, pa.string())]

SPARK_TYPES = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.date64(): pa.date32(),
    pa.null(): pa.string(),
}


class Staged(NamedTuple):
    """A stream whose rounds lie in a folder, with the types that Spark has."""

    stream: Stream
    folder: Path


def staged(name: str, schema: pa.Schema, time: str, folder: Path) -> Staged:
    """Where a stream will lie, and its columns as Spark will see them."""
    plain = plain_schema(schema)
    fields = [pa.field(field.name, kind) for field in plain if (kind := spark_type(field.type)) is not None]
    if time in schema.names and time not in {field.name for field in fields}:
        raise Refused(f"the time '{time}' of stream '{name}' has a type that Spark lacks", "add --runtime local")
    return Staged(Stream(name, pa.schema(fields), time), folder / name)


def spark_type(kind: pa.DataType) -> pa.DataType | None:
    """The Arrow type that Spark has for a type; None if it has none."""
    types = pa.types
    if types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if types.is_duration(kind):
        return pa.duration("us")
    if types.is_time(kind) or types.is_union(kind) or types.is_interval(kind) or types.is_run_end_encoded(kind):
        return None
    if types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale) if kind.precision <= 38 else None
    if types.is_struct(kind):
        inner = [(field.name, spark_type(field.type)) for field in kind]
        return None if any(each is None for _, each in inner) else pa.struct(inner)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        value = spark_type(kind.value_type)
        return None if value is None else pa.list_(value)
    if types.is_map(kind):
        key, item = spark_type(kind.key_type), spark_type(kind.item_type)
        return None if key is None or item is None else pa.map_(key, item)
    if types.is_fixed_size_binary(kind):
        return pa.binary()
    return SPARK_TYPES.get(kind, kind)


class Rounds:
    """The rounds of some streams, laid down one after another."""

    def __init__(self, streams: Sequence[Staged]) -> None:
        self.streams, self.number = streams, 0
        for each in streams:
            each.folder.mkdir(parents=True, exist_ok=True)

    def lay(self, batches: Mapping[str, Sequence[pa.RecordBatch]], ended: Collection[str] = ()) -> None:
        """One more round: rows by stream, of the schema that ``laid`` gives, and the streams that end with them."""
        for each in self.streams:
            _write(each, batches.get(each.stream.name, ()), self.number, each.stream.name in ended)
        self.number += 1


def stage(streams: Sequence[Staged], sources: Mapping[str, Source]) -> Iterator[dict[str, int]]:
    """Lay finite sources down, to their ends; rows by stream after each round."""
    readers = {name: source.batches() for name, source in sources.items()}
    behind = dict.fromkeys(readers, NEVER)
    by_name = {each.stream.name: each.stream for each in streams}
    rounds = Rounds(streams)
    while readers or not rounds.number:
        waiting: dict[str, list[pa.RecordBatch]] = {name: [] for name in by_name}
        while readers and sum(len(batch) for batches in waiting.values() for batch in batches) < ROUND:
            name = min(readers, key=lambda name: behind[name])
            item = next(readers[name], None)
            if item is None:
                del readers[name]
                continue
            batch, bad = item
            stream = by_name[name]
            waiting[name].append(laid(batch, stream, bad))
            if stream.time == ARRIVAL:
                behind[name] += len(batch)
            elif len(batch):
                times, _ = ticks(batch.column(stream.time), stream.integer_time)
                behind[name] = max(behind[name], span(times)[1])
        rounds.lay(waiting, () if readers else by_name)
        yield {name: sum(map(len, batches)) for name, batches in waiting.items()}


def laid(batch: pa.RecordBatch, stream: Stream, bad: Sequence[BadRow] = ()) -> pa.RecordBatch:
    """Good rows in the types that Spark has, and after them the bad ones."""
    columns = [_cast(batch.column(field.name), field.type) for field in stream.schema]
    n = len(bad)
    extra = [
        pa.nulls(len(batch) + n, pa.int64()),
        pa.array([None] * len(batch) + [row.reason for row in bad], pa.string()),
        pa.array([None] * len(batch) + [row.row for row in bad], pa.string()),
    ]
    if n:
        columns = [pa.concat_arrays([column, pa.nulls(n, column.type)]) for column in columns]
    return pa.RecordBatch.from_arrays([*columns, *extra], schema=_schema(stream))


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == kind:
        return column
    if pa.types.is_timestamp(column.type):
        if column.type.unit == "ns":
            column = pc.floor_temporal(column, unit="microsecond")
        return column.cast(kind, safe=False)
    whole = plain_batch(pa.record_batch([column], ["x"]), pa.schema([("x", column.type)])).column(0)
    return whole.cast(kind, safe=False) if pa.types.is_duration(kind) else whole.cast(kind)


def read_rounds(spark: SparkSession, each: Staged) -> Opened:
    """A stream of rounds as Structured Streaming reads it, one a batch."""
    stream = each.stream
    kinds = from_arrow_schema(_schema(stream), prefer_timestamp_ntz=True)
    frame = spark.readStream.schema(kinds).option("maxFilesPerTrigger", 1).parquet(str(each.folder))
    if stream.time not in stream.schema.names:
        frame = frame.withColumn(stream.time, fn.current_timestamp())
        fields = [*stream.schema, pa.field(stream.time, pa.timestamp("us", "UTC"))]
        stream = Stream(stream.name, pa.schema(fields), stream.time)
    return Opened(stream, frame, ordered=True)


def _schema(stream: Stream) -> pa.Schema:
    return pa.schema([*stream.schema, *(pa.field(*each) for each in EXTRA)])


def _write(each: Staged, batches: Sequence[pa.RecordBatch], number: int, last: bool) -> None:
    """One file, in one row group, so that one task reads it from the first row to the last."""
    schema = _schema(each.stream)
    whole = pa.Table.from_batches(list(batches), schema)
    if last:
        end = [pa.nulls(1, field.type) for field in each.stream.schema]
        marks = [pa.array([FOREVER], pa.int64()), pa.nulls(1, pa.string()), pa.nulls(1, pa.string())]
        whole = pa.concat_tables([whole, pa.Table.from_arrays([*end, *marks], schema=schema)])
    made, path = each.folder / f".{number:08}", each.folder / f"{number:08}.parquet"
    pq.write_table(whole, made, row_group_size=max(1, len(whole)), compression="lz4", store_schema=False)
    os.utime(made, (number + 1, number + 1))  # Spark takes files in the order of their age
    os.replace(made, path)
