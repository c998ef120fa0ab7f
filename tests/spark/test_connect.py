"""Everything works over Spark Connect: where the client has what pyspark calls ``connect``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.services import jars


def test_a_program_may_be_far_from_its_spark(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    pytest.importorskip("grpc", reason="Spark Connect needs more: pip install 'pyspark[connect]'")
    pytest.importorskip("zstandard", reason="Spark Connect needs more: pip install 'pyspark[connect]'")
    try:
        jars.java()
    except jars.Missing as missing:
        pytest.skip(str(missing))
    here = Path(__file__).parents[2]
    roads = os.pathsep.join([str(here), str(here / "src")])
    answer = subprocess.run(
        [sys.executable, "-m", "tests.spark.on_connect", str(tmp_path / "streams")],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={
            **os.environ, "PYTHONPATH": roads, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        },
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr[-4_000:]
