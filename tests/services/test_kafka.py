from datetime import UTC, datetime

import pytest
from tests.services.broker import Failed, broker, listens
from tests.services.record import Record
from tests.services.test_leash import alive

LONG_AGO = int(datetime(1999, 12, 31, tzinfo=UTC).timestamp() * 1000)
RECORDS = (
    Record("a", {"amount": 1, "note": "ä"}, LONG_AGO),
    Record("b", {"amount": 2.5}, LONG_AGO - 1),
    Record(None, [None, True], LONG_AGO + 1),
    Record("a", None, 1),
)


def test_records_come_back_as_they_were(kafka):
    topic = kafka.create("orders")
    assert kafka.consume(topic) == []
    kafka.produce(topic, *RECORDS)
    assert kafka.consume(topic) == [record._replace(partition=0) for record in RECORDS]
    assert kafka.consume(topic) == kafka.consume(topic)


def test_a_key_keeps_to_its_partition(kafka):
    topic = kafka.create("orders", partitions=3)
    kafka.produce(topic, *(Record(f"{n % 5}", n, 1 + n) for n in range(50)))
    found = kafka.consume(topic)
    assert sorted(record.value for record in found) == list(range(50))
    partitions = {key: {record.partition for record in found if record.key == key} for key in "01234"}
    assert all(len(one) == 1 for one in partitions.values())
    for key in partitions:
        assert [record.value for record in found if record.key == key] == list(range(int(key), 50, 5))


def test_a_partition_can_be_chosen(kafka):
    topic = kafka.create("orders", partitions=2)
    kafka.produce(topic, Record("a", 1, 5, partition=1), Record("a", 2, 4, partition=0))
    assert kafka.consume(topic) == [Record("a", 2, 4, 0), Record("a", 1, 5, 1)]


def test_a_topic_is_no_other_tests(kafka):
    one, other = kafka.create("orders"), kafka.create("orders")
    assert one != other and {one, other} <= kafka.names()


def test_a_topic_that_was_not_created_is_an_error(kafka):
    from confluent_kafka import KafkaException

    with pytest.raises(KafkaException, match="UNKNOWN_TOPIC"):
        kafka.produce("no-such-topic", *RECORDS)
    with pytest.raises(KafkaException, match="UNKNOWN_TOPIC"):
        kafka.consume("no-such-topic")


def test_a_broker_is_gone_after_its_block(broker_jars, tmp_path):
    with broker(broker_jars, tmp_path) as started:
        port = int(started.servers.rpartition(":")[2])
        assert alive(started.pid) and listens(port) and started.data.exists()
    assert not alive(started.pid)
    assert not listens(port)
    assert list(tmp_path.iterdir()) == []


def test_a_broker_that_cannot_start_says_why(broker_jars, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.services.broker.SETTINGS", "process.roles=dreamer\nlog.dirs={data}\n")
    with pytest.raises(Failed, match="dreamer"), broker(broker_jars, tmp_path):
        pass
