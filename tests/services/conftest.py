"""Services that tests run against: `kafka`, and `spark` that knows it.

Where one is not to be had its tests are skipped and say why.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.services import jars
from tests.services.broker import Broker, broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.services.topics import Topics


@pytest.fixture(scope="session")
def broker_jars() -> Sequence[Path]:
    try:
        return jars.resolve("broker")
    except jars.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def connector() -> jars.Connector:
    try:
        return jars.connector()
    except jars.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def running(broker_jars: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with broker(broker_jars, tmp_path_factory.mktemp("running")) as started:
        yield started


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> "Topics":
    """Topics of a broker that lives as long as the tests do."""
    pytest.importorskip("confluent_kafka")
    from tests.services.topics import Topics

    return Topics(request.getfixturevalue("running").servers)


@pytest.fixture(scope="session")
def spark(connector: jars.Connector, spark: "SparkSession") -> "SparkSession":
    """The session of all tests; whatever asks for it here also says that it has to know Kafka."""
    return spark
