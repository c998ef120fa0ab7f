"""Everything works over Spark Connect."""

import subprocess
import sys
from pathlib import Path


def test_a_program_may_be_far_from_its_spark(connect: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.spark.on_connect", str(tmp_path / "streams")]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=connect)
    assert answer.returncode == 0, answer.stderr[-4_000:]
