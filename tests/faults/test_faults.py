"""A short form of ``python -m tests.faults``: what is killed loses nothing, and nothing comes twice."""

import sys

import pytest
from tests.services import jars


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
def test_exactly_once_whatever_is_killed() -> None:
    pytest.importorskip("pyspark")
    try:
        jars.java()
    except jars.Missing as missing:
        pytest.skip(str(missing))
    from tests.faults.runs import played

    group = played([101, 102, 103], 4)
    assert not group.wrong, f"python -m tests.faults --runs 3 --together 3 --seed 101\n{group}"
