"""What is in a topic: a key, a value that is JSON, and a time in milliseconds, which is Kafka's unit."""

from typing import Any, NamedTuple


class Record(NamedTuple):
    key: str | None
    value: Any
    time: int
    partition: int = -1  # Kafka's choice, by the key
