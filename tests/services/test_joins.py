"""Joins of topics: three of JSON in, matches out to a topic and to files, and a restart in between."""

import json

import pytest
from pyspark.sql import functions as fn
from tests.services.record import Record

import anabranch as ab

NOON = 1_767_268_800_000  # in milliseconds, Kafka's unit
SCHEMA = "id BIGINT, v DOUBLE"
QUERY = """
    SELECT A.id AS id, A.v AS a, B.v AS b, C.v AS c, C.time AS time
    FROM orders A, bills B, trips C
    WHERE A.id = B.id AND B.id = C.id AND A.v <= B.v
    DWINDOW (A, B) = 5 SECONDS AND DWINDOW (B, C) = 8 SECONDS
"""


@pytest.fixture
def topics(kafka):
    return {name: kafka.create(name, partitions=2) for name in ("orders", "bills", "trips")}


def stream(spark, kafka, topic):
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", kafka.servers)
    rows = reader.options(subscribe=topic, startingOffsets="earliest").load()
    parsed = rows.select(fn.from_json(fn.col("value").cast("string"), SCHEMA).alias("row"), "timestamp")
    return ab.stream(parsed.select("row.*", fn.col("timestamp").alias("time")), time="time", lateness="1 second")


def send(kafka, topic, *rows):
    """Rows of an id, a second, and a value, which is a number or nothing that JSON knows."""
    kafka.produce(topic, *(Record(f"{i}", {"id": i, "v": v}, NOON + int(1_000 * second)) for i, second, v in rows))


def run(spark, kafka, topics, out, folder):
    """Read what is there, twice: into a topic and into files; each with its own checkpoint."""
    queries = []
    for sink in ("topic", "files"):
        streams = {name: stream(spark, kafka, topic) for name, topic in topics.items()}
        matches = ab.sql(spark, QUERY, ab.Options(buckets=2, apart=str(folder / sink / "apart")), **streams)
        if sink == "topic":
            matches = matches.select(
                fn.col("id").cast("string").alias("key"), fn.to_json(fn.struct("*")).alias("value")
            )
            writer = matches.writeStream.format("kafka").option("kafka.bootstrap.servers", kafka.servers)
            writer = writer.option("topic", out)
        else:
            writer = matches.writeStream.format("parquet").option("path", str(folder / "out"))
        writer = writer.option("checkpointLocation", str(folder / sink / "checkpoint"))
        queries.append(writer.trigger(availableNow=True).start())
    for query in queries:
        assert query.awaitTermination(120)
    return queries


def test_topics_are_joined_into_a_topic_and_into_files(spark, kafka, topics, tmp_path):
    out = kafka.create("matches")

    def answers():
        told = sorted((json.loads(json.dumps(r.value)) for r in kafka.consume(out)), key=lambda row: row["id"])
        files = spark.read.parquet(str(tmp_path / "out")).orderBy("id").collect()
        assert [(row["id"], row["a"], row["b"], row["c"]) for row in told] == [tuple(row)[:4] for row in files]
        return [(row.id, row.c, row.time.timestamp()) for row in files]

    send(kafka, topics["orders"], (1, 0, 1.0), (2, 0, 1.0), (3, 1, 9.0), (4, 2, 1.0))
    send(kafka, topics["bills"], (1, 3, 2.0), (2, 6, 2.0), (3, 2, 2.0), (4, 3, 2.0))
    send(kafka, topics["trips"], (1, 7, 3.0), (2, 7, 3.0), (3, 7, 3.0))
    run(spark, kafka, topics, out, tmp_path)
    first = (1, 3.0, NOON / 1_000 + 7)
    assert answers() == [first]  # 2 is a second too late for its order, 3 costs less than was ordered

    send(kafka, topics["trips"], (4, 10, 4.0), (1, 5, 8.0))  # the second one is late: a second is allowed
    queries = run(spark, kafka, topics, out, tmp_path)
    assert answers() == [first, (4, 4.0, NOON / 1_000 + 10)]
    for query in queries:
        assert [(json.loads(row.row)["id"], row.lateness) for row in ab.late(query).collect()] == [(1, 2_000_000)]
        assert ab.status(query).matches == 2
