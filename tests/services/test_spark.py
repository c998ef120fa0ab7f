"""Spark reads from Kafka and writes to it, and goes on where it was; nothing of ours takes part."""

import json

import pytest
from tests.services.record import Record

ORDERS = [Record(f"{n % 3}", {"order": n}, 1_000 * n + 1) for n in range(20)]
BILLS = [Record(f"{n % 3}", {"bill": n}, 1_000 * n + 500) for n in range(10)]


@pytest.fixture
def topics(kafka):
    orders, bills = kafka.create("orders", partitions=2), kafka.create("bills")
    kafka.produce(orders, *ORDERS)
    kafka.produce(bills, *BILLS)
    return orders, bills


def stream(spark, kafka, topic, **options):
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", kafka.servers)
    return reader.options(subscribe=topic, startingOffsets="earliest", **options).load()


def run(writer):
    query = writer.trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(120)
    finally:
        query.stop()
    return query


def write(kafka, frame, topic, checkpoint):
    writer = frame.writeStream.format("kafka").option("kafka.bootstrap.servers", kafka.servers)
    return run(writer.options(topic=topic, checkpointLocation=str(checkpoint)))


def test_topics_are_streaming_frames(spark, kafka, topics):
    orders, bills = (stream(spark, kafka, topic, maxOffsetsPerTrigger=8) for topic in topics)
    assert orders.isStreaming and bills.isStreaming
    both = orders.union(bills).selectExpr(
        "string(key) AS key", "string(value) AS value", "unix_millis(timestamp) AS time", "topic"
    )
    query = run(both.writeStream.format("memory").queryName("both"))
    try:
        rows = spark.table("both").collect()
    finally:
        spark.sql("DROP VIEW both")
    assert len([batch for batch in query.recentProgress if batch["numInputRows"]]) > 1
    for topic, records in zip(topics, (ORDERS, BILLS), strict=True):
        found = [Record(row.key, json.loads(row.value), row.time) for row in rows if row.topic == topic]
        assert sorted(found, key=lambda record: record.time) == records


def test_a_query_goes_on_where_it_was(spark, kafka, topics, tmp_path):
    orders, _ = topics
    out = kafka.create("out")

    def copy():
        frame = stream(spark, kafka, orders).select("key", "value", "timestamp")
        write(kafka, frame.selectExpr("key", "value"), out, tmp_path / "checkpoint")
        return sorted(record.value["order"] for record in kafka.consume(out))

    assert copy() == list(range(20))
    assert copy() == list(range(20))
    kafka.produce(orders, Record("0", {"order": 20}, 20_000), Record("1", {"order": 21}, 21_000))
    assert copy() == list(range(22))


def test_state_is_kept_over_batches_and_restarts(spark, kafka, topics, tmp_path):
    orders, _ = topics
    out = kafka.create("out")

    def count():
        counted = stream(spark, kafka, orders, maxOffsetsPerTrigger=8).groupBy("key").count()
        writer = counted.selectExpr("key", "string(count) AS value").writeStream.outputMode("update").format("kafka")
        writer = writer.option("kafka.bootstrap.servers", kafka.servers)
        run(writer.options(topic=out, checkpointLocation=str(tmp_path / "checkpoint")))
        return {record.key: record.value for record in kafka.consume(out)}

    assert count() == {"0": 7, "1": 7, "2": 6}
    kafka.produce(orders, Record("2", {"order": 20}, 20_000))
    assert count() == {"0": 7, "1": 7, "2": 7}
