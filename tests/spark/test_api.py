"""What a program does with ``ab.sql`` and ``ab.join``: names, shells, builders, and what comes after."""

import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as fn
from tests.spark.folders import found, lay, options, read, run

import anabranch as ab
from anabranch.spark.status import statuses

QUERY = "SELECT A.id AS id, A.v AS a, B.v AS b FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS"
ONE = ab.Options(buckets=1)


def rows(number: int, seed: int, hot: float = 0.0) -> list[tuple[int, float, float]]:
    """Rows of few keys, in order of time, some twice; *hot* is the share of one key."""
    random = Random(seed)
    made = [
        (0 if random.random() < hot else random.randrange(6), n // 3, float(random.randrange(9))) for n in range(number)
    ]
    return made + made[-3:]


def frame(spark: Any, given: list[tuple[int, float, float]]) -> Any:
    return spark.createDataFrame([(i, float(t), v) for i, t, v in given], "id BIGINT, t DOUBLE, v DOUBLE").selectExpr(
        "id", "timestamp_micros(CAST(t * 1000000 AS BIGINT)) AS ts", "v"
    )


@pytest.fixture(scope="module")
def a(spark: Any) -> Any:
    return frame(spark, rows(40, 1)).localCheckpoint()


@pytest.fixture(scope="module")
def b(spark: Any) -> Any:
    return frame(spark, rows(40, 2)).localCheckpoint()


def bag(answer: Any) -> Counter[Any]:
    return Counter(map(tuple, answer.collect()))


def joined(spark: Any, text: str, **frames: Any) -> Counter[Any]:
    """What Spark's own join says."""
    for name, each in frames.items():
        each.createOrReplaceTempView(f"own_{name}")
    return bag(spark.sql(text))


def own(select: str = "A.id, A.v, B.v", more: str = "A.id = B.id", one: str = "own_a", other: str = "own_b") -> str:
    near = "abs(unix_micros(A.ts) - unix_micros(B.ts)) <= 5000000"
    return f"SELECT {select} FROM {one} A JOIN {other} B ON {more} AND {near}"


# -- names -------------------------------------------------------------------------


def test_names_that_are_not_given_are_of_the_catalog(spark: Any, a: Any, b: Any) -> None:
    right = joined(spark, own(), a=a, b=b)
    a.createOrReplaceTempView("some_view")
    a.write.mode("overwrite").saveAsTable("some_table")
    try:
        for name in ("some_view", "SOME_TABLE"):
            assert bag(ab.sql(spark, QUERY.replace("a A", f"{name} A"), ONE, b=b)) == right
        given = ab.sql(spark, QUERY.replace("a A", "some_table A"), ONE, some_table=a.limit(0), b=b)
        assert given.count() == 0  # what is given hides the catalog
    finally:
        spark.sql("DROP TABLE some_table")
        spark.catalog.dropTempView("some_view")


def test_rows_may_be_stamped_when_they_arrive(spark: Any, a: Any, b: Any) -> None:
    one, other = a.drop("ts"), b.drop("ts")
    right = joined(spark, "SELECT A.id, A.v, B.v FROM own_a A JOIN own_b B ON A.id = B.id", a=one, b=other)
    arriving = {name: ab.stream(each, time="arrival") for name, each in (("a", one), ("b", other))}
    assert bag(ab.sql(spark, QUERY, ONE, **arriving)) == right


def test_a_stream_may_be_joined_with_itself(spark: Any, a: Any) -> None:
    by_one = "SELECT A.id, A.v, B.v AS w FROM a A, a B WHERE A.id = B.id AND A.v < B.v WINDOW = 5 SECONDS"
    by_other = "SELECT A.id, A.v, B.id AS w FROM a A, a B WHERE A.id = B.v WINDOW = 5 SECONDS"
    for text, select, on in (
        (by_one, "A.id, A.v, B.v", "A.id = B.id AND A.v < B.v"),
        (by_other, "A.id, A.v, B.id", "A.id = B.v"),
    ):
        right = joined(spark, own(select, on, other="own_a"), a=a)
        assert right and bag(ab.sql(spark, text, ab.Options(buckets=2), a=a)) == right


# -- shells, builders ----------------------------------------------------------------


def test_joins_are_parts_of_larger_statements(spark: Any, a: Any, b: Any) -> None:
    right = joined(spark, own(), a=a, b=b)
    union = f"{QUERY} UNION ALL {QUERY}"
    assert bag(ab.sql(spark, union, ONE, a=a, b=b)) == right + right
    shell = f"WITH m AS ({QUERY}) SELECT id, count(*) AS n FROM (SELECT * FROM m WHERE a > 2) GROUP BY id HAVING n > 1"
    counted = Counter(row[0] for row in right.elements() if row[1] > 2)
    assert bag(ab.sql(spark, shell, ONE, a=a, b=b)) == Counter((i, n) for i, n in counted.items() if n > 1)
    distinct = QUERY.replace("SELECT", "SELECT DISTINCT")
    assert bag(ab.sql(spark, distinct, ONE, a=a, b=b)) == Counter(dict.fromkeys(right, 1))


def close(a: float, b: float) -> bool:
    return abs(a - b) < 2


def test_call_by_call_is_the_same_query(spark: Any, a: Any, b: Any) -> None:
    text = """
        SELECT A.id AS id, A.v AS a, B.v AS b FROM a A, b B WHERE A.id = B.id AND close(A.v, B.v)
        WINDOW = 5 SECONDS AND WINDOW (A, B) BETWEEN -1 SECONDS AND 3 SECONDS
    """
    built = (
        ab.join(A=a, B=b)
        .on("A.id = B.id")
        .on("close(A.v, B.v)", close=close)
        .within("5 seconds", A_B=("-1 seconds", "3 seconds"))
        .options(ONE)
        .select("A.id AS id", "A.v AS a", "B.v AS b")
    )
    right = bag(ab.sql(spark, text, ONE, a=a, b=b, close=close))
    assert right and bag(built) == right
    turned = ab.join(A=a, B=b).on("A.id = B.id AND close(A.v, B.v)", close=close).options(ONE)
    assert bag(turned.within(B_A=("-3 seconds", "1 second")).select("A.id AS id", "A.v AS a", "B.v AS b")) == right


def test_the_answer_is_a_frame_like_any_other(spark: Any, a: Any, b: Any) -> None:
    right = joined(spark, own(), a=a, b=b)
    answer = ab.sql(spark, QUERY, ONE, a=a, b=b)
    summed = answer.where("a > b").withColumn("more", fn.col("a") - fn.col("b")).groupBy("id").agg(fn.sum("more"))
    expected: Counter[int] = Counter()
    for (i, x, y), times in right.items():
        if x > y:
            expected[i] += int(x - y) * times
    assert {row[0]: int(row[1]) for row in summed.collect()} == dict(expected)
    assert answer.join(answer.select("id").distinct(), "id").count() == sum(right.values())


# -- streams ----------------------------------------------------------------------------


def test_a_stream_answers_as_a_batch_does(spark: Any, tmp_path: Path) -> None:
    """With a hot key, over views of the catalog, in several batches; late and bad rows are only counted."""
    given = {name: rows(90, seed, hot=0.6) for seed, name in enumerate("ab")}
    for name, each in given.items():
        for begin in range(0, len(each), 31):
            lay(tmp_path, name, *each[begin : begin + 31])
        read(spark, tmp_path, name).createOrReplaceTempView(f"live_{name}")
    text = QUERY.replace("a A", "live_a A").replace("b B", "live_b B")
    query = run(ab.sql(spark, text, options(tmp_path, buckets=2, apart=None)), tmp_path)
    frames = {f"live_{name}": frame(spark, each) for name, each in given.items()}
    right = bag(ab.sql(spark, text, ONE, **frames))
    assert Counter(found(spark, tmp_path)) == right
    assert ab.status(query).matches == sum(right.values())
    with pytest.raises(ab.Refused, match=r"the query only counts such rows; plan it with Options\(apart=FOLDER\)"):
        ab.late(query)


def test_windows_of_matches_come_out_once_they_are_past(spark: Any, tmp_path: Path) -> None:
    """The answer's own watermark lies the width of the join behind: 37 closes the window that ends at 30."""
    for second in (1, 12, 23, 37):
        lay(tmp_path, "a", (1, second, 1.0))
        lay(tmp_path, "b", (1, second - 0.5, 2.0), (1, second, 3.0))
    text = """
        SELECT unix_seconds(window(match_time(), '10 seconds').start) AS begins, count(*) AS n, sum(B.v) AS v
        FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS
        GROUP BY window(match_time(), '10 seconds')
    """
    run(ab.sql(spark, text, options(tmp_path), a=read(spark, tmp_path, "a"), b=read(spark, tmp_path, "b")), tmp_path)
    assert found(spark, tmp_path) == [(0, 2, 5.0), (10, 2, 5.0), (20, 2, 5.0)]


def test_each_batch_can_be_handed_to_a_function(spark: Any, tmp_path: Path) -> None:
    """Both ways: matches of streams, and a join of the batches themselves; DISTINCT in update mode."""
    seen: list[tuple[Any, ...]] = []
    inner: list[tuple[Any, ...]] = []

    def take(batch: Any, number: int) -> None:
        seen.extend(map(tuple, batch.collect()))
        moment = batch.selectExpr("id", "timestamp_seconds(1) AS ts")
        text = "SELECT A.id AS x, B.id AS y FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS"
        for session in (spark, batch.sparkSession):
            inner.extend(map(tuple, ab.sql(session, text, ONE, a=moment, b=moment).collect()))

    lay(tmp_path, "a", (1, 1), (1, 1), (2, 1))
    lay(tmp_path, "b", (1, 2), (2, 2), (2, 3))
    text = "SELECT DISTINCT A.id AS id FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS"
    answer = ab.sql(spark, text, options(tmp_path), a=read(spark, tmp_path, "a"), b=read(spark, tmp_path, "b"))
    writer = answer.writeStream.outputMode("update").option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.foreachBatch(take).trigger(availableNow=True).start().awaitTermination()
    assert sorted(seen) == [(1,), (2,)]
    assert sorted(inner) == [(1, 1), (1, 1), (2, 2), (2, 2)]


# -- questions to a running query ------------------------------------------------------------


@pytest.fixture
def watched(spark: Any, tmp_path: Path) -> Any:
    """Starts a query over two folders; what it gives lays files and asks why."""
    queries = []
    laid = {"a": 0, "b": 0}

    def begin(text: str) -> Any:
        frames = {name: read(spark, tmp_path, name) for name in "ab"}
        answer = ab.sql(spark, text, options(tmp_path), **frames)
        writer = answer.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.start()
        queries.append(query)

        def ask(**given: list[tuple[int, float, float]]) -> str:
            for name, each in given.items():
                lay(tmp_path, name, *each)
                laid[name] += len(each)
            query.processAllAvailable()
            while given and not arrived(query):  # a batch may be over before its progress is told
                time.sleep(0.05)
            return ab.why(query)

        def arrived(query: Any) -> bool:
            return any(laid == {s.name: s.rows for s in at.streams} for at in statuses(query))

        return query, ask

    yield begin
    for query in queries:
        query.stop()


def test_why_names_what_keeps_matches_back(watched: Any) -> None:
    query, ask = watched(
        "SELECT A.id AS id FROM a A, b B WHERE A.id = B.id AND A.v < B.v AND B.v > 0 WINDOW = 5 SECONDS"
    )
    with pytest.raises(ab.Refused, match="no batch of the query has finished yet"):
        ab.status(query)
    assert ask() == "No batch with rows has finished yet."
    assert "b has sent no rows at all, and every match needs one of each stream; 2 tuples of the others wait." in ask(
        a=[(1, 1, 5.0), (2, 1, 5.0)]
    )
    assert "no rows of all streams had equal keys inside their windows" in ask(b=[(7, 1, 5.0)])
    assert "In the last batch 1 combinations were inside their windows, and none passed the conditions:" in ask(
        b=[(1, 2, 3.0)]
    )
    lag = ask(b=[(1, 1000, 3.0)])
    assert "a promises nothing beyond 1970-01-01 00:00:01.000000, which is 0:16:39 behind b;" in lag
    assert "The newest row of b is 0:16:39 after that of a, and the windows let it be at most 0:00:05:" in lag
    late = ask(b=[(n, 3, 1.0) for n in range(9)])
    assert "9 of the 12 rows of b came too late: give it more lateness" in late
    assert sorted(row.lateness for row in ab.late(query).collect()) == [997_000_000] * 9
    assert ab.dead(query).count() == 0
    table = str(ab.status(query)).splitlines()
    assert table[0].split() == ["stream", "rows", "late", "bad", "held", "promised", "until"]
    assert "holds the others back" in table[1] and table[2].split()[:4] == ["b", "12", "9", "0"]
    query.stop()
    assert "9 of the 12 rows of b" in ab.why(query)


def test_why_speaks_of_count_windows(watched: Any) -> None:
    query, ask = watched("SELECT A.id AS id FROM a [ROWS 1] A, b B WHERE A.id = B.id WINDOW = 5 SECONDS")
    said = ask(a=[(1, 1, 1.0)], b=[(1, 2, 1.0)])
    assert "A has a count window: a match comes out when nothing older can still arrive there" in said
    assert ab.status(query).matches == 0
    ask(a=[(2, 3, 1.0)])
    assert ab.status(query).matches == 1


def test_two_runs_of_one_query_answer_for_themselves(spark: Any, tmp_path: Path) -> None:
    """The same text, with other lateness and another folder for late rows."""
    queries = {}
    for name, lateness in (("exact", "0s"), ("patient", "1m")):
        folder = tmp_path / name
        lay(folder, "a", (1, 50))
        lay(folder, "a", (1, 1))
        lay(folder, "b", (1, 2))
        frames = {"a": ab.stream(read(spark, folder, "a"), lateness=lateness), "b": read(spark, folder, "b")}
        queries[name] = run(ab.sql(spark, QUERY, options(folder), **frames), folder)
    assert [ab.status(query).streams[0].late for query in queries.values()] == [1, 0]
    assert [ab.late(query).count() for query in queries.values()] == [1, 0]
    assert [len(found(spark, tmp_path / name)) for name in queries] == [0, 1]


def test_what_append_mode_cannot_give_spark_refuses(spark: Any, tmp_path: Path) -> None:
    text = QUERY.replace("SELECT", "SELECT DISTINCT")
    frames = {name: read(spark, tmp_path, name) for name in "ab"}
    with pytest.raises(AnalysisException, match="not supported for streaming aggregations without watermark"):
        run(ab.sql(spark, text, options(tmp_path), **frames), tmp_path)
