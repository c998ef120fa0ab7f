"""A program that speaks to Spark over the network: what ``test_connect`` runs in a process of its own.

The server is local and begins with it; a folder is its only argument.
"""

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.folders import found, lay, options, read, run
from tests.spark.session import SETTINGS

import anabranch as ab

QUERY = "SELECT A.id AS id, A.v + B.v AS v FROM a A, b B WHERE A.id = B.id AND near(A.v, B.v) WINDOW = 5 SECONDS"
STATIC = ("spark.ui.enabled", "spark.ui.showConsoleProgress", "spark.driver.", "spark.executorEnv.")


def near(a: float, b: float) -> bool:
    return abs(a - b) < 2


def main(folder: Path) -> None:
    builder = SparkSession.builder.remote("local[2]")
    for name, value in SETTINGS.items():
        if not name.startswith(STATIC):
            builder = builder.config(name, str(value))
    spark = builder.getOrCreate()
    assert "connect" in type(spark).__module__
    lay(folder, "a", (1, 1, 1.0), (2, 2, 1.0))
    lay(folder, "a", (3, 3, 1.0), (1, 100, 1.0))
    lay(folder, "a", (9, 50, 1.0))
    lay(folder, "b", (1, 2, 2.0), (2, 2, 9.0))

    tables = {name: spark.read.parquet(str(folder / name)) for name in "ab"}
    assert ab.sql(spark, QUERY, near=near, **tables).collect() == [(1, 3.0)]
    built = ab.join(A=tables["a"], B=tables["b"]).on("A.id = B.id AND near(A.v, B.v)", near=near)
    assert built.within("5 seconds").select("A.id AS id").collect() == [(1,)]
    tables["a"].createOrReplaceTempView("seen")
    assert ab.sql(spark, QUERY.replace("a A", "seen A"), near=near, b=tables["b"]).count() == 1

    streams = {name: read(spark, folder, name) for name in "ab"}
    plain = QUERY.replace("A.v + B.v", "B.v").replace("AND near(A.v, B.v) ", "")
    query = run(ab.sql(spark, plain, options(folder), **streams), folder)
    assert found(spark, folder) == [(1, 2.0), (2, 9.0)]
    at = ab.status(query)
    assert at.matches == 2 and [(s.name, s.rows, s.late) for s in at.streams] == [("a", 5, 1), ("b", 2, 0)]
    assert "The newest row of a is 0:01:38 after that of b" in ab.why(query)
    assert [(row.stream, row.lateness) for row in ab.late(query).collect()] == [("a", 50_000_000)]
    assert ab.dead(query).count() == 0
    with pytest.raises(ab.Refused, match="b has no column 'nothing'"):
        ab.sql(spark, plain.replace("A.id = B.id", "A.id = B.nothing"), **streams)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
