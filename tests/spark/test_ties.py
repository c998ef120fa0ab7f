"""A batch that is begun anew by other tasks gives the matches that it gave before."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.spark.folders import SCHEMA, found, lay, options, run

import anabranch as ab

SPLIT = "spark.sql.files.maxPartitionBytes"
QUERY = "SELECT A.id AS id, B.v AS v FROM a A, b [ROWS 1] B WINDOW (B, A) BETWEEN 0 SECONDS AND 60 SECONDS"


def join(spark: Any, folder: Path) -> list[tuple[Any, ...]]:
    """The matches of whatever is there, in one batch."""
    streams = {name: spark.readStream.schema(SCHEMA).parquet(str(folder / name)) for name in "ab"}
    run(ab.sql(spark, QUERY, options(folder), **streams), folder)
    return found(spark, folder)


def test_rows_of_one_time_count_alike_when_a_batch_is_begun_anew(spark: Any, tmp_path: Path) -> None:
    lay(tmp_path, "a", (1, 4))
    lay(tmp_path, "b", *((0, 3, float(v)) for v in range(4_000)))
    lay(tmp_path, "b", *((0, 3, -float(v)) for v in range(2_000)))
    lay(tmp_path, "b", (0, 30, 0.0))
    first = tmp_path / "b" / "0000.parquet"
    pq.write_table(pq.read_table(first), first, row_group_size=2_000)  # two tasks may read it, and another file between
    assert join(spark, tmp_path) == [(1, 3_999.0)]

    for file in (tmp_path / "checkpoint" / "commits").glob("*0*"):  # as if the driver had died at the end of the batch
        file.unlink()
    (tmp_path / "out").rename(tmp_path / "before")
    lay(tmp_path, "a", (2, 5))
    spark.conf.set(SPLIT, first.stat().st_size * 6 // 10)
    try:
        assert join(spark, tmp_path) == [(1, 3_999.0), (2, 3_999.0)]
    finally:
        spark.conf.unset(SPLIT)
