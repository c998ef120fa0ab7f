"""Columns of every type of Spark's come out of a join as they went in."""

from collections import Counter
from typing import Any

import pytest
from pyspark.sql import functions as fn

import anabranch as ab

VALUES = {
    "tiny": "-128Y",
    "small": "32767S",
    "whole": "-2147483648",
    "big": "9223372036854775807L",
    "single": "CAST(0.1 AS FLOAT)",
    "no_single": "float('NaN')",
    "real": "0.1D",
    "no_real": "double('NaN')",
    "negative_zero": "-0.0D",
    "endless": "double('-Infinity')",
    "wide": "CAST('-12345678901234567890.123456789012345678' AS DECIMAL(38, 18))",
    "narrow": "CAST('-123.45' AS DECIMAL(5, 2))",
    "text": "'ä\\u0000\\n \"x\" 😀'",
    "bytes": "X'00FF10'",
    "truth": "true",
    "day": "DATE'1582-10-04'",
    "instant": "TIMESTAMP'2026-03-29 01:30:00.123456Z'",  # no such hour on a clock in Berlin is half past two
    "long_ago": "TIMESTAMP'0001-01-02 00:00:00Z'",
    "clock": "TIMESTAMP_NTZ'2026-03-29 02:30:00.123456'",
    "length": "INTERVAL '-1 02:03:04.000005' DAY TO SECOND",
    "days": "INTERVAL '3' DAY",
    "list": "array(1, null, 3)",
    "empty": "CAST(array() AS ARRAY<STRING>)",
    "table": "map('a', 1, 'b', null)",
    "record": "named_struct("
    "'at', TIMESTAMP'2026-10-25 01:30:00Z', 'clock', TIMESTAMP_NTZ'2026-03-29 02:30:00', 'no', CAST(null AS INT))",
    "nested": "array("
    "map('k', named_struct('at', array(TIMESTAMP'1900-01-01 00:00:00Z'), 'd', CAST(1.5 AS DECIMAL(5, 2)))))",
    "variant": """parse_json('{"a": [1, 2.5, null]}')""",
}  # fmt: skip
NAMES = ("a b", "a.b", 'a"b', "a'b", "größe", "ORDER", "Mixed", "a-b", "1a", "a`b", "a{b}", "%s", "a:b,(c)")
ZONES = ("UTC", "Europe/Berlin")


@pytest.fixture
def zone(spark: Any) -> Any:
    """Sets the session's time zone, and puts it back."""
    before = spark.conf.get("spark.sql.session.timeZone")
    yield lambda name: spark.conf.set("spark.sql.session.timeZone", name)
    spark.conf.set("spark.sql.session.timeZone", before)


def rows(frame: Any) -> Counter[str]:
    """What a frame holds, told apart as exactly as Python can; a variant has several encodings."""
    if "variant" in frame.columns:
        frame = frame.withColumn("variant", fn.to_json("variant"))
    return Counter(map(repr, frame.collect()))


def every_type(spark: Any) -> Any:
    """A row of values and a row of NULLs."""
    values = ", ".join(f"IF(id = 1, {text}, NULL) AS {name}" for name, text in VALUES.items())
    return spark.sql(f"SELECT id, TIMESTAMP'2026-01-01 00:00:00Z' AS ts, {values} FROM VALUES (1), (2) AS ids(id)")


@pytest.mark.parametrize("name", ZONES)
def test_a_batch_gives_back_what_it_was_given(spark: Any, zone: Any, name: str) -> None:
    zone(name)
    given = every_type(spark)
    found = ab.sql(
        spark,
        "SELECT A.* FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS",
        ab.Options(buckets=1),
        a=given,
        b=given.select("id", "ts"),
    )
    assert found.schema.simpleString() == given.schema.simpleString()
    assert rows(found) == rows(given)


def test_a_stream_gives_back_what_it_was_given(spark: Any, zone: Any, tmp_path: Any) -> None:
    zone("Europe/Berlin")
    given = every_type(spark)
    given.coalesce(1).write.parquet(str(tmp_path / "in"))
    late = given.selectExpr("id + 2 AS id", "ts - INTERVAL '1' HOUR AS ts", *VALUES)

    def run() -> Any:
        stream = spark.readStream.schema(given.schema).parquet(str(tmp_path / "in"))
        options = ab.Options(buckets=1, apart=str(tmp_path / "apart"), whole_rows=True)
        text = "SELECT A.* FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS"
        found = ab.sql(spark, text, options, a=stream, b=stream.select("id", "ts"))
        assert found.schema.simpleString() == given.schema.simpleString()
        writer = found.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
        query.awaitTermination()
        return query

    run()
    assert rows(spark.read.schema(given.schema).parquet(str(tmp_path / "out"))) == rows(given)
    late.coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    query = run()
    told = (
        ab.late(query)
        .where("stream = 'a'")
        .selectExpr("from_json(row, 'id INT, text STRING, wide DECIMAL(38, 18)') AS row")
    )
    assert sorted(told.select("row.id", "row.text", "row.wide").collect(), key=repr) == sorted(
        late.select("id", "text", "wide").collect(), key=repr
    )


def test_columns_of_every_type_are_equal_to_themselves(spark: Any, zone: Any) -> None:
    zone("Europe/Berlin")
    given = every_type(spark)
    alike = [name for name in VALUES if name not in ("table", "variant", "nested")]
    on = " AND ".join(f"A.{name} = B.{name}" for name in alike)
    text = f"SELECT A.id AS a, B.id AS b FROM a A, b B WHERE {on} WINDOW = 5 SECONDS"
    assert rows(ab.sql(spark, text, ab.Options(buckets=2), a=given, b=given)) == Counter(["Row(a=1, b=1)"])


@pytest.mark.parametrize("text", [
    "INTERVAL '1-2' YEAR TO MONTH", "make_interval(1, 2, 3)", "array(INTERVAL '1-2' YEAR TO MONTH)",
    "named_struct('x', make_interval(1))",
])  # fmt: skip
def test_intervals_of_months_are_refused(spark: Any, text: str) -> None:
    frame = spark.sql(f"SELECT 1 AS id, current_timestamp() AS ts, {text} AS x")
    with pytest.raises(ab.Refused, match=r"column 'x' of stream 'a' .* cannot be sent to Python; leave it out: a.drop"):
        ab.sql(spark, "SELECT A.id AS id FROM a A, a B WHERE A.id = B.id WINDOW = 5 SECONDS", a=frame)


@pytest.mark.parametrize(("text", "what"), [
    ("'a' COLLATE UTF8_LCASE", "text of the collation UTF8_LCASE"),
    ("array('a' COLLATE UNICODE_CI)", "text of the collation UNICODE_CI"),
    ("map('a', 1)", "a map"),
    ("parse_json('1')", "a variant"),
    ("array(parse_json('1'))", "a variant"),
    ("st_geomfromwkb(X'0101000000000000000000F03F0000000000000040')", "a geometry"),
])  # fmt: skip
def test_what_is_not_equal_by_its_bytes_is_not_compared(spark: Any, text: str, what: str) -> None:
    frame = spark.sql(f"SELECT 1 AS id, current_timestamp() AS ts, {text} AS x")
    with pytest.raises(ab.Refused, match=f"line 1, column 39: A.x is {what}, .*; compare a column"):
        ab.sql(spark, "SELECT A.id AS id FROM a A, a B WHERE A.x = B.x WINDOW = 5 SECONDS", a=frame)
    found = ab.sql(spark, "SELECT A.x AS x FROM a A, a B WHERE A.x IS NOT NULL WINDOW = 5 SECONDS", a=frame)
    assert found.schema["x"].dataType == frame.schema["x"].dataType


def test_text_of_fixed_length_is_text(spark: Any) -> None:
    spark.sql("CREATE TABLE fixed (id INT, ts TIMESTAMP, c CHAR(5), v VARCHAR(5)) USING parquet")
    try:
        spark.sql("INSERT INTO fixed VALUES (1, current_timestamp(), 'ab', 'ab')")
        text = "SELECT A.c AS c, B.v AS v FROM fixed A, fixed B WHERE A.id = B.id WINDOW = 5 SECONDS"
        assert rows(ab.sql(spark, text, ab.Options(buckets=1))) == Counter(["Row(c='ab   ', v='ab')"])
    finally:
        spark.sql("DROP TABLE fixed")


def test_a_column_may_have_any_name(spark: Any) -> None:
    quoted = [f"`{name.replace('`', '``')}`" for name in NAMES]
    given = spark.sql(
        "SELECT 1 AS id, current_timestamp() AS ts, " + ", ".join(f"{i} AS {name}" for i, name in enumerate(quoted))
    )
    on = " AND ".join(f"A.{name} = B.{name}" for name in quoted)
    plain = f"SELECT {', '.join(f'A.{name} AS {name}' for name in quoted)} FROM a A, a B WHERE {on} WINDOW = 5 SECONDS"
    ordered = (
        f"SELECT {', '.join(f'A.{name} + 0 AS {name}' for name in quoted)} FROM a A, a B WHERE {on} WINDOW = 5 SECONDS"
    )
    for text in (plain, ordered):
        found = ab.sql(spark, text, ab.Options(buckets=1), a=given)
        assert found.columns == list(NAMES)
        assert [tuple(row) for row in found.collect()] == [tuple(range(len(NAMES)))]


def test_names_of_columns_ignore_case(spark: Any) -> None:
    given = spark.sql("SELECT 1 AS `Größe`, current_timestamp() AS TS")
    text = "SELECT A.GRÖSSE AS x FROM a A, a B WHERE A.größe = B.GRÖßE WINDOW = 5 SECONDS".replace("GRÖSSE", "GRÖßE")
    assert rows(ab.sql(spark, text, ab.Options(buckets=1), a=given)) == Counter(["Row(x=1)"])
