"""``sql``: a query over DataFrames is a DataFrame."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructField, StructType, TimestampType

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER
from anabranch.engine.join import ArrowJoin
from anabranch.joins.family import DEFAULT
from anabranch.plan.algorithm import AUTO
from anabranch.plan.feeds import Feeds, Wish, feeds
from anabranch.plan.lower import lower
from anabranch.plan.query import MATCH_START, MATCH_TIME, Join, Query, matches_column, reads_time
from anabranch.plan.sql import parse, tables
from anabranch.plan.unlike import check_compared
from anabranch.plan.zones import check_zone
from anabranch.spark.apart import Apart, file_system
from anabranch.spark.bucket import Shard
from anabranch.spark.chunks import VERSION, digest
from anabranch.spark.failure import told
from anabranch.spark.frames import matches
from anabranch.spark.pieces import hot_hashes
from anabranch.spark.spread import bucket_names
from anabranch.spark.streams import Opened, StreamFrame, find_tables, opened
from anabranch.spark.types import column, unlike
from anabranch.spark.watch import Watched, new_name, watch
from anabranch.spark.workers import check_workers

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHECKPOINTS, WAREHOUSE, PARTITIONS = (
    "spark.sql.streaming.checkpointLocation",
    "spark.sql.warehouse.dir",
    "spark.sql.shuffle.partitions",
)
ZONE = "spark.sql.session.timeZone"
MANY = 64  # partitions beyond which a batch costs more in tasks than in rows
MOST_BUCKETS = 4_096
BESIDE = "beside"  # where late and bad rows go if the user does not say: see ``_folder``


@dataclass(frozen=True)
class Options:
    """How a query runs on Spark.

    *buckets* is how many shares the state has, fixed at the first start (as many as
    shuffle partitions, if it is left out).  *apart* is a folder for late and bad rows
    that all executors reach; None only counts them; left out, it is a folder
    ``_anabranch`` below the session's checkpoint location or warehouse.  *spread* is
    the alias of the member whose rows are spread where no equality holds between all.
    *whole_rows* keeps all columns of late and bad rows, not only those that the query
    reads; they travel and are stored then.  *hot* are values of the key that a large
    part of the rows has (tuples, where the key has several columns): their rows are
    spread over all buckets, and must be named from the first start on.  *algorithm* is
    a member of the join family by name, perhaps with options: ``lazy(tau=5s)``.
    """

    buckets: int | None = None
    apart: str | os.PathLike[str] | None = BESIDE
    spread: str | None = None
    whole_rows: bool = False
    hot: Sequence[Any] = ()
    algorithm: str = AUTO

    def __post_init__(self) -> None:
        """Refuse what can be seen to be wrong without a query."""
        if self.buckets is not None and (type(self.buckets) is not int or not 1 <= self.buckets <= MOST_BUCKETS):
            raise Refused(f"there cannot be {self.buckets!r} buckets", f"give a number from 1 to {MOST_BUCKETS}")
        if self.apart is not None and not (isinstance(self.apart, str | os.PathLike) and str(self.apart)):
            raise Refused(f"{self.apart!r} is no folder for late and bad rows", "name one, or None to count them only")


def sql(
    spark: SparkSession,
    query: str,
    options: Options | None = None,
    /,
    **given: DataFrame | StreamFrame | Callable[..., Any],
) -> DataFrame:
    """The answer of *query* over DataFrames by the names that stand in FROM, and Python functions by theirs.

    Streaming in, streaming out; batch in, batch out, with the same rows.  Names that
    are not given are looked up in the session's catalog.
    """
    chosen = options or Options()
    if not isinstance(chosen, Options):
        raise Refused(f"the options are {type(chosen).__name__}", "give ab.Options(...)")
    if not isinstance(query, str):
        raise Refused(f"the query is {type(query).__name__}, not text", "write ab.sql(spark, 'SELECT ...', name=frame)")
    frames = {name: each for name, each in given.items() if isinstance(each, DataFrame | StreamFrame)}
    functions: dict[str, Callable[..., Any]] = {}
    for name, each in given.items():
        if not isinstance(each, DataFrame | StreamFrame):
            if not callable(each):
                raise Refused(f"'{name}' is neither a DataFrame nor a function", f"it is {type(each).__name__}")
            functions[name] = each
    names = tables(query, functions)
    streams = {name: opened(name, each) for name, each in {**find_tables(spark, names, frames), **frames}.items()}
    used = _used(names, streams)
    streaming = _is_streaming(used)
    known = {name: each.stream for name, each in streams.items()}
    parsed = parse(query, known, functions=tuple(functions), batch=not streaming).joined_by(chosen.algorithm)
    zone = str(spark.conf.get(ZONE, "UTC"))
    for join in parsed.joins:
        check_zone(join, zone)
        check_compared(join, _unlike(join, streams))
    check_workers(spark)
    if streaming:
        _check_session(spark)
    relations = {
        join.name: relation(spark, parsed, join, streams, functions, chosen, streaming)[0] for join in parsed.joins
    }
    try:
        return selected(spark, parsed, relations)
    except PySparkException as error:  # what only Spark knows of the SELECT list
        raise told(error) from None


def _used(names: list[str], streams: Mapping[str, Opened]) -> dict[str, Opened]:
    lower = {name.lower() for name in names}
    return {name: each for name, each in streams.items() if name.lower() in lower}


def _unlike(join: Join, streams: Mapping[str, Opened]) -> dict[tuple[str, str], tuple[str, str]]:
    """The columns of a join that do not compare, by alias and name."""
    return {
        (member.alias, name): why
        for member in join.members
        for name, why in unlike(member.stream.name, streams[member.stream.name].frame.schema).items()
    }


def _is_streaming(streams: Mapping[str, Opened]) -> bool:
    live = [name for name, each in streams.items() if each.frame.isStreaming]
    still = [name for name in streams if name not in live]
    if live and still:
        raise Refused(
            f"{', '.join(live)} is streaming and {', '.join(still)} is not",
            "read all of them with readStream, or join the others to the matches afterwards",
        )
    return bool(live)


def _check_session(spark: SparkSession) -> None:
    if "RocksDB" not in str(spark.conf.get(PROVIDER, "")):
        raise Refused(
            "the session keeps its state in a store that this operator cannot use",
            f"before the query: spark.conf.set('{PROVIDER}', '{ROCKSDB}')",
        )


def _buckets(spark: SparkSession, options: Options, found: Feeds, streaming: bool) -> tuple[int, ...]:
    partitions = int(str(spark.conf.get(PARTITIONS, "200")))
    if streaming and partitions > MANY:
        warnings.warn(
            f"{PARTITIONS} is {partitions}: each batch starts as many tasks;"
            " set it to the number of cores before the first start",
            stacklevel=4,
        )
    if not found.buckets_matter:
        return bucket_names(1)
    return bucket_names(options.buckets or min(partitions, MANY))


def relation(
    spark: SparkSession,
    query: Query,
    join: Join,
    streams: Mapping[str, Opened],
    functions: Mapping[str, Callable[..., Any]],
    options: Options,
    streaming: bool,
) -> tuple[DataFrame, Watched]:
    """The matches of one join, and by what it is known while it runs."""
    wish = Wish(_spread(query, join, options), options.whole_rows, bool(options.hot))
    found = feeds(lower(join, functions), wish)
    if options.hot:
        found = replace(
            found, feeds=tuple(replace(f, hot=hot_hashes(f, options.hot)) if f.keys else f for f in found.feeds)
        )
    by_name = [streams[name] for name in found.streams]
    shard = Shard(
        found,
        _buckets(spark, options, found, streaming),
        fingerprint(found),
        tuple(each.lateness for each in by_name),
        tuple(each.idle for each in by_name),
        frozenset(each.stream.name for each in by_name if each.ordered),
        reads_time(query),
        fingerprint(found)[:8],
        functions,
        uuid4().hex,
    )
    arrow = ArrowJoin(found.join, functions, shard.timed).schema
    time = pa.int64() if join.members[0].stream.integer_time else pa.timestamp("us", "UTC")
    apart = Apart(_folder(spark, options), shard.name, time)
    watched = Watched(new_name(shard.name), spark, shard, apart, query.text)
    if streaming:
        watch(watched)
    schema = (arrow, _spark_schema(join, streams, arrow))
    frames = {name: streams[name].frame for name in found.streams}
    frame = matches(shard, frames, schema, apart, watched.name if streaming else None)
    delay = _delay(join, shard)
    if streaming and shard.timed and delay is not None and all(each.bare for each in by_name):
        frame = frame.withWatermark(MATCH_TIME, f"{delay} milliseconds")
    return frame, watched


def _spread(query: Query, join: Join, options: Options) -> str | None:
    """The alias of the member to spread, as the join spells it."""
    if options.spread is None:
        return None
    every = [member.alias for each in query.joins for member in each.members]
    if options.spread.lower() not in map(str.lower, every):
        raise Refused(f"there is no '{options.spread}' to spread", f"name one of {', '.join(dict.fromkeys(every))}")
    return next((m.alias for m in join.members if m.alias.lower() == options.spread.lower()), None)


def fingerprint(found: Feeds) -> str:
    """A name for what the state of a join depends on."""
    join = found.join
    parts = [
        str(VERSION),
        *(f"{m.alias} {m.stream.name} {m.stream.time} {m.rows} {m.stream.schema.to_string()}" for m in join.members),
        repr(join.windows.closed.tolist()),
        *([] if join.algorithm.name in (AUTO, DEFAULT) else [str(join.algorithm)]),
        *sorted(condition.sql(dialect="spark") for condition in join.where),
        *(f"{feed.name} {feed.road} {feed.keys} {sorted(feed.hot)} {feed.spreads}" for feed in found.feeds),
    ]
    return digest("\n".join(parts).encode())


def _folder(spark: SparkSession, options: Options) -> str | None:
    folder = None if options.apart is None else os.fspath(options.apart)
    if folder == BESIDE:
        base = spark.conf.get(CHECKPOINTS, None) or spark.conf.get(WAREHOUSE, None)
        folder = None if base is None else f"{str(base).rstrip('/')}/_anabranch"
    if folder is not None:
        folder = folder.removeprefix("file:") if "://" not in folder else folder
        file_system(folder)
    return folder


def _spark_schema(join: Join, streams: Mapping[str, Opened], arrow: pa.Schema) -> StructType:
    """The types of the matches as Spark had them."""
    kinds = {
        matches_column(member.alias, field.name): field.dataType
        for member in join.members
        for field in streams[member.stream.name].frame.schema.fields
    }
    time = LongType() if join.members[0].stream.integer_time else TimestampType()
    kinds |= {MATCH_TIME: time, MATCH_START: time}
    return StructType([StructField(name, kinds[name]) for name in arrow.names])


def _delay(join: Join, shard: Shard) -> int | None:
    """Milliseconds by which a match may be older than the newest so far; None where time has no such bound."""
    if join.members[0].stream.integer_time:
        return None
    widest = int(join.windows.closed.max())
    return None if widest == FOREVER else (widest + max(shard.lateness)) // 1_000 + 1


def selected(spark: SparkSession, query: Query, relations: Mapping[str, DataFrame]) -> DataFrame:
    """The SELECT list over the matches, in Spark's own words."""
    if query.plain is not None:
        parts = [
            relations[join.name].select(
                [column(source).alias(name) for source, name in zip(columns, query.output, strict=True)]
            )
            for join, columns in zip(query.joins, query.plain, strict=True)
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionAll(part)
        return whole
    text = query.shell.sql(dialect="spark", identify=True).replace("{", "{{").replace("}", "}}")
    for name in relations:
        text = text.replace(f"`{name}`", f"{{{name}}}")
    return spark.sql(text, **relations)  # type: ignore[arg-type]  # frames by their names in the text
