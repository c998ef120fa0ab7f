"""Timelines on Structured Streaming against the definition: one event a batch, a crash is a restart."""

from pathlib import Path
from typing import Any

import pytest
from tests.spark.on_spark import streaming

from anabranch.testing.timeline import Case, Crash, cases

CASES = cases((Path(__file__).parents[1] / "joins" / "cases.txt").read_text(encoding="utf-8"))
CRASHES = {title: case for title, case in CASES.items() if any(isinstance(event, Crash) for event in case.events)}
SOME = list(CRASHES)[::3]  # a batch on Spark takes a second; the buckets play all of them, and random ones


@pytest.mark.parametrize("case", [CRASHES[title] for title in SOME], ids=SOME)
def test_a_restart_loses_nothing(spark: Any, case: Case, tmp_path: Path) -> None:
    streaming(spark, case, tmp_path)
