"""Topics of a Kafka broker: records in and out.

Reading is from the first record to the last one there is, by partition and offset; it joins no group, so it waits for
nobody and moves nothing.
"""

import itertools
import json
import logging
from collections.abc import Sequence
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.services.record import Record

PATIENCE = 30  # seconds
IMPATIENT = {"topic.metadata.propagation.max.ms": 2_000}  # how long a topic that is not there may yet appear
SILENT = logging.getLogger(f"{__name__}.client")  # its own account of lost connections; an error is raised all the same
SILENT.disabled = True


class Topics:
    def __init__(self, servers: str) -> None:
        self.servers = servers
        self._numbers = itertools.count()
        self._settings = {"bootstrap.servers": servers}
        self._admin = AdminClient(self._settings, logger=SILENT)
        self._producer = Producer({**self._settings, "linger.ms": 0, "acks": "all", **IMPATIENT}, logger=SILENT)

    def names(self) -> set[str]:
        return set(self._admin.list_topics(timeout=PATIENCE).topics)

    def create(self, name: str, partitions: int = 1) -> str:
        """A new topic; its name begins with *name* and is no other test's."""
        name = f"{name}-{next(self._numbers)}"
        (created,) = self._admin.create_topics([NewTopic(name, partitions, 1)]).values()
        created.result(PATIENCE)
        return name

    def produce(self, topic: str, *records: Record) -> None:
        """All of them are in the topic when this returns."""
        failed: list[KafkaError] = []
        for record in records:
            assert record.time > 0, "the client takes 0 for now"
            self._producer.produce(
                topic,
                key=record.key,
                value=None if record.value is None else json.dumps(record.value),
                timestamp=record.time,
                partition=record.partition,
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
        left = self._producer.flush(PATIENCE)
        if failed or left:
            raise KafkaException(failed[0] if failed else KafkaError(KafkaError._TIMED_OUT))

    def consume(self, topic: str) -> Sequence[Record]:
        """All that is in the topic now."""
        consumer = Consumer({**self._settings, "group.id": "none", "enable.partition.eof": True}, logger=SILENT)
        try:
            about = consumer.list_topics(topic, PATIENCE).topics[topic]
            if about.error is not None:
                raise KafkaException(about.error)
            open_ = set(about.partitions)
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in open_])
            found = []
            while open_:
                message = consumer.poll(PATIENCE)
                if message is None:
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
                if message.error() is None:
                    found.append(message)
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    open_.remove(message.partition())
                else:
                    raise KafkaException(message.error())
        finally:
            consumer.close()
        found.sort(key=lambda message: (message.partition(), message.offset()))
        return [_record(message) for message in found]


def _record(message: Any) -> Record:
    key, value = message.key(), message.value()
    return Record(
        None if key is None else key.decode(),
        None if value is None else json.loads(value),
        message.timestamp()[1],
        message.partition(),
    )
