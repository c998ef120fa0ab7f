"""What some tests of Spark need beyond a session."""

import os
import sys
from pathlib import Path

import pytest
from tests.services import jars


@pytest.fixture
def connect() -> dict[str, str]:
    """The environment of a program that speaks Spark Connect: where the client has what pyspark calls ``connect``."""
    pytest.importorskip("pyspark")
    for name in ("grpc", "zstandard"):
        pytest.importorskip(name, reason="Spark Connect needs more: pip install 'pyspark[connect]'")
    try:
        jars.java()
    except jars.Missing as missing:
        pytest.skip(str(missing))
    here = Path(__file__).parents[2]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(here), str(here / "src")]),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_TESTING": "1",  # a port that is free: the one of every day may be another run's
    }
