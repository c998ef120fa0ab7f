"""Rows set apart: attempts that run at the same time do not disturb each other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.spark.apart import DEAD, Apart
from anabranch.spark.bucket import Outcome
from anabranch.spark.pieces import BAD
from anabranch.spark.told import Told

ILL = pa.record_batch([[f"reason {n}" for n in range(100)], [f'{{"id":{n}}}' for n in range(100)]], schema=BAD)


def test_attempts_at_the_same_time_leave_one_whole_file(tmp_path: Path) -> None:
    apart = Apart(str(tmp_path), "join", pa.int64())
    outcome = Outcome([], [], [("a", ILL)], Told.of(1))

    def attempt(_: int) -> None:
        apart.keep(outcome, "query", 7, 3)

    with ThreadPoolExecutor(4) as attempts:
        for _ in attempts.map(attempt, range(60)):
            pass
    (file,) = (tmp_path / "query" / DEAD).iterdir()
    assert pq.read_table(file).column("row").to_pylist() == ILL.column("row").to_pylist()


def test_an_attempt_that_fails_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "query" / DEAD / "join-7-3.parquet"
    (place / "in the way").mkdir(parents=True)
    apart = Apart(str(tmp_path), "join", pa.int64())
    failed = False
    try:
        apart.keep(Outcome([], [], [("a", ILL)], Told.of(1)), "query", 7, 3)
    except OSError:
        failed = True
    assert failed and list(place.parent.iterdir()) == [place]
