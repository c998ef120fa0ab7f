"""What cannot be right is refused in one line, before anything runs where that is possible."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as fn
from tests.spark.folders import found, lay, options, read, run, start

import anabranch as ab

QUERY = "SELECT A.id AS id FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SHUFFLES = "spark.sql.shuffle.partitions"


@pytest.fixture
def table(spark: Any) -> Any:
    return spark.sql("SELECT 1 AS id, TIMESTAMP'2026-01-01 00:00:00' AS ts, 'x' AS s, 1.5D AS d")


@pytest.fixture
def stream(spark: Any) -> Any:
    rate = spark.readStream.format("rate").load()
    return rate.selectExpr("value AS id", "timestamp AS ts", "'x' AS s", "1.5D AS d")


def refused(words: str, call: Any) -> None:
    """The call is refused in one line that holds these words; both halves of it say something."""
    with pytest.raises(ab.Refused) as caught:
        call()
    text = str(caught.value)
    assert words in text
    assert "\n" not in text and caught.value.what and caught.value.hint


# -- streams ---------------------------------------------------------------------


def test_a_stream_needs_a_time(spark: Any, stream: Any) -> None:
    def sql(**given: Any) -> Any:
        return lambda: ab.sql(spark, QUERY, **given)

    refused("no column 'ts' for its time", sql(a=stream.drop("ts"), b=stream))
    refused("no column 'when' for its time", sql(a=ab.stream(stream, time="when"), b=stream))
    for column, kind in (("s", "string"), ("d", "double")):
        refused(f"is of type {kind}, which is no event time", sql(a=ab.stream(stream, time=column), b=stream))
    refused("the time of a is an integer, that of b a timestamp", sql(a=ab.stream(stream, time="id"), b=stream))
    both = stream.withColumn("other", fn.col("ts")).withWatermark("ts", "1 second").withWatermark("other", "1 second")
    refused("has watermarks on ts and other", sql(a=both, b=stream)) if both.schema["ts"].metadata else None
    refused("of a stream is 5, not a name", lambda: ab.stream(stream, time=5))  # type: ignore[arg-type]
    refused("this is str", lambda: ab.stream("a"))  # type: ignore[arg-type]


def test_a_stream_has_each_name_once(spark: Any, table: Any) -> None:
    twice = table.selectExpr("id", "s AS ID", "ts")
    refused("stream 'a' has two columns 'ID'", lambda: ab.sql(spark, QUERY, a=twice, b=table))


def test_streams_and_tables_are_not_joined(spark: Any, table: Any, stream: Any) -> None:
    refused("a is streaming and b is not", lambda: ab.sql(spark, QUERY, a=stream, b=table))


@pytest.mark.parametrize(
    "value", ["5", "x", "-5 s", 5, 5.5, True, "1 month", "1.5us", timedelta(seconds=5), ""], ids=repr
)
@pytest.mark.parametrize("what", ["lateness", "idle"])
def test_lateness_is_a_duration(spark: Any, stream: Any, what: str, value: Any) -> None:
    refused("", lambda: ab.sql(spark, QUERY, a=ab.stream(stream, **{what: value}), b=stream))


@pytest.mark.parametrize("value", ["5 seconds", -1, True, 5.5])
def test_lateness_of_an_integer_is_a_number(spark: Any, table: Any, value: Any) -> None:
    numbered = table.selectExpr("id", "id AS ts")
    text = QUERY.replace("5 SECONDS", "5")
    refused("lateness", lambda: ab.sql(spark, text, a=ab.stream(numbered, lateness=value), b=numbered))


@pytest.mark.parametrize("column", ["none", "s", "ts"])
def test_heartbeats_are_times_in_a_column_of_their_own(spark: Any, stream: Any, column: str) -> None:
    refused("heartbeats", lambda: ab.sql(spark, QUERY, a=ab.stream(stream, heartbeat=column), b=stream))


# -- queries -----------------------------------------------------------------------


@pytest.mark.parametrize(("text", "words"), [
    ("SELECT A.id AS id FROM a A, b B WHERE A.id = B.s WINDOW = 5 SECONDS", "a number and B.s is text"),
    ("SELECT A.id, B.id FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS", "two output columns are called 'id'"),
    ("SELECT A.id AS id FROM a A, c C WHERE A.id = C.id WINDOW = 5 SECONDS", "unknown stream 'c'"),
    ("SELECT A.id AS id FROM a A, x.c C WHERE A.id = C.id WINDOW = 5 SECONDS", "unknown stream 'x.c'"),
    ("SELECT A.idd FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS", "a has no column 'idd'"),
    ("SELECT A.id FROM a A, b B WHERE A.id = B.id", "no window binds A and B"),
    ("SELECT A.id FROM a A, b B WHERE A.id = B.id WINDOW = 5", "'5' has no unit"),
    ("", "the query is empty"),
    (None, "the query is NoneType"),
])  # fmt: skip
def test_a_query_is_read_before_it_runs(spark: Any, stream: Any, text: Any, words: str) -> None:
    refused(words, lambda: ab.sql(spark, text, a=stream, b=stream))


def test_what_only_spark_knows_is_told_in_one_line(spark: Any, table: Any) -> None:
    with pytest.raises(ab.Refused, match=r"^cannot resolve routine `NOPE`"):
        ab.sql(spark, QUERY.replace("A.id AS id", "nope(A.id) AS id"), a=table, b=table)


def test_a_clock_of_another_zone_is_refused(spark: Any, table: Any) -> None:
    text = QUERY.replace("WINDOW", "AND hour(A.ts) = 0 WINDOW")
    ab.sql(spark, text, a=table, b=table)
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        refused("HOUR(A.ts) depends on the time zone", lambda: ab.sql(spark, text, a=table, b=table))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_what_is_given_is_a_frame_or_a_function(spark: Any, table: Any) -> None:
    refused("'a' is neither a DataFrame nor a function", lambda: ab.sql(spark, QUERY, a=5, b=table))  # type: ignore[arg-type]


def test_state_needs_rocksdb(spark: Any, table: Any, stream: Any) -> None:
    before = spark.conf.get(PROVIDER)
    spark.conf.set(PROVIDER, before.replace("RocksDB", "HDFSBacked"))
    try:
        refused("spark.conf.set", lambda: ab.sql(spark, QUERY, a=stream, b=stream))
        ab.sql(spark, QUERY, a=table, b=table)  # a batch has no state
    finally:
        spark.conf.set(PROVIDER, before)


# -- options, and calls ----------------------------------------------------------------


@pytest.mark.parametrize("wrong", [
    {"buckets": 0}, {"buckets": 5_000}, {"buckets": "2"}, {"buckets": 2.5}, {"buckets": True},
    {"apart": ""}, {"apart": 5}, {"apart": "ftp://x/y"}, {"spread": "Z"},
])  # fmt: skip
def test_options_are_checked(spark: Any, table: Any, wrong: dict[str, Any]) -> None:
    refused("", lambda: ab.sql(spark, QUERY, ab.Options(**wrong), a=table, b=table))


def test_options_are_options(spark: Any, table: Any) -> None:
    refused("the options are dict", lambda: ab.sql(spark, QUERY, {"buckets": 2}, a=table, b=table))  # type: ignore[arg-type]


def test_a_join_is_described_in_text(table: Any) -> None:
    join = ab.join(A=table, B=table, C=table).on("A.id = B.id AND B.id = C.id")
    for pair in ("A_X", "AB", "A_A", "A_B_C"):
        refused(f"'{pair}' names no pair of members", lambda pair=pair: join.within("5 seconds", **{pair: "3 seconds"}))
    for width in (("1 second",), ("1 second", "2 seconds", "3 seconds"), 5.0, None, True, ["0 seconds", "5 seconds"]):
        refused(" is no ", lambda width=width: join.within(A_B=width))
    refused("a band is between two members", lambda: join.within(("0 seconds", "5 seconds")))
    refused("a condition is Column", lambda: join.on(fn.col("A.id") == fn.col("B.id")))  # type: ignore[arg-type]
    refused("a column is Column", lambda: join.within("5 seconds").select(fn.col("A.id")))  # type: ignore[arg-type]
    refused("two output columns are called", lambda: join.within("5 seconds").select())
    refused("'A' is a stream and a function", lambda: join.on("A(A.id)", A=abs))
    refused("unknown function f()", lambda: join.on("f(A.id)").within("5 seconds").select("A.id AS id"))
    refused("a join of 1 streams", lambda: ab.join(A=table))
    refused("'A' is str", lambda: ab.join(A="x", B=table))  # type: ignore[arg-type]


# -- while it runs -------------------------------------------------------------------------


def brittle(a: float, b: float) -> bool:
    if a < 0:
        raise ValueError("no root of a negative")
    return a < b


def test_a_function_that_raises_ends_the_query_with_our_line(spark: Any, tmp_path: Path) -> None:
    lay(tmp_path, "a", (1, 1, -1.0))
    lay(tmp_path, "b", (1, 2, 2.0))
    text = QUERY.replace("WINDOW", "AND brittle(A.v, B.v) WINDOW")
    frames = {name: read(spark, tmp_path, name) for name in "ab"}
    matches = ab.sql(spark, text, options(tmp_path), brittle=brittle, **frames)
    query = start(matches, tmp_path)
    with pytest.raises(StreamingQueryException, match="Refused: the function 'brittle' raised ValueError"):
        query.awaitTermination()
    assert ab.why(query) == (
        "The query has failed: the function 'brittle' raised ValueError: no root of a negative;"
        " make it return None for such rows"
    )


@pytest.fixture
def begun(spark: Any, tmp_path: Path) -> Any:
    """A query that has stopped with one waiting row in its checkpoint, and a way to go on with it."""

    def go_on(text: str = QUERY, **more: Any) -> Any:
        frames = {name: read(spark, tmp_path, name) for name in "ab"}
        return run(ab.sql(spark, text, options(tmp_path, **more), **frames), tmp_path)

    lay(tmp_path, "a", (1, 1))
    lay(tmp_path, "b", (9, 1))
    go_on(buckets=2)
    lay(tmp_path, "b", (1, 2))
    return go_on


def test_a_checkpoint_goes_on_with_its_own_query(spark: Any, tmp_path: Path, begun: Any) -> None:
    with pytest.raises(StreamingQueryException, match=r"begun with 2 buckets, .* 3 now; set buckets=2"):
        begun(buckets=3)
    with pytest.raises(StreamingQueryException, match=r"belongs to another query: .*; restore the query"):
        begun(QUERY.replace("5 SECONDS", "6 SECONDS"), buckets=2)
    with pytest.raises(StreamingQueryException, match="belongs to another query"):
        begun(QUERY.replace("WINDOW", "AND A.v IS NULL WINDOW"), buckets=2)
    before = spark.conf.get(SHUFFLES)
    spark.conf.set(SHUFFLES, "3")  # Spark keeps to the number of the first start
    try:
        with pytest.raises(StreamingQueryException, match="set buckets=2"):
            begun(buckets=None)
        begun(buckets=2)
    finally:
        spark.conf.set(SHUFFLES, before)
    assert found(spark, tmp_path) == [(1,)]


def test_without_java_the_command_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(QUERY, "utf-8")
    (tmp_path / "s.csv").write_text("id,ts\n1,2026-01-01T00:00:00Z\n", "utf-8")
    source = Path(ab.__file__).parents[1]
    answer = subprocess.run(
        [sys.executable, "-m", "anabranch", "run", "q.sql", "--stream", "a=s.csv", "--stream", "b=s.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PATH": "", "PYTHONPATH": str(source), "HOME": os.environ.get("HOME", "")},
    )  # fmt: skip
    assert answer.returncode == 1 and answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert "Spark needs Java, and there is no java on the PATH; install Java 17" in line and "--runtime local" in line
