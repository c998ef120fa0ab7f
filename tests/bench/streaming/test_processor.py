import subprocess
import sys
from pathlib import Path

import pytest

from bench.streaming import processor

WORK = "sum(i * i for i in range(3_000_000))"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell of other processes")
def test_children_count_while_they_run_and_after():
    parent = (
        "import subprocess, sys; from bench.streaming import processor; before = processor.seconds(); "
        f"subprocess.run([sys.executable, '-c', '{WORK}'], check=True); print(processor.seconds() - before)"
    )
    told = subprocess.run(
        [sys.executable, "-c", parent],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    assert float(told.stdout) > 0.05


def test_time_does_not_run_backwards():
    assert processor.seconds() <= processor.seconds()
