"""The Spark session that all tests share: small, silent, on loopback, with state in RocksDB.

It knows Kafka if a test of this run asks for the connector, as the jars have to be there when Java starts; a run
without such a test looks for no jars.  Starting it takes 5 to 10 s.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.services import jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = Path(__file__).with_name("log4j2.properties")
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executorEnv.PYTHONPATH": Path(__file__).parents[2],  # what tests import, workers can import too
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
}


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    pytest.importorskip("pyspark")
    try:
        jars.java()
    except jars.Missing as missing:
        pytest.skip(str(missing))
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.master("local[2]").appName("tests")
    settings = {
        **SETTINGS,
        "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={LOG}" "-Dderby.system.home={folder}"',
        "spark.jars": ",".join(map(str, _jars(request))),
        "spark.local.dir": folder / "local",
        "spark.sql.warehouse.dir": folder / "warehouse",
    }
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        environment.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = builder.getOrCreate()
    yield session
    session.stop()


def _jars(request: pytest.FixtureRequest) -> Sequence[Path]:
    if not any("connector" in getattr(item, "fixturenames", ()) for item in request.session.items):
        return ()
    try:
        return jars.connector().jars
    except jars.Missing:
        return ()  # those who asked are skipped, with the reason; the others have their session
