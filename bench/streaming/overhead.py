"""What a batch with few rows costs beside a stateless query of its sources: ``python -m bench.streaming.overhead``.

Both read the same four folders of Parquet files, one small file of each a batch, on two
cores with two partitions.  They take turns batch by batch in one session, so that a
neighbour on the machine disturbs both; the first batches are to warm up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from functools import reduce
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.streaming.contenders.anabranch import joined
from bench.streaming.feed import Feed
from bench.streaming.spark import CONF, source
from bench.streaming.workload import Play

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEED = Feed(streams="abcd", rows=400, keys=100, ticks=1_000, batches=60, warm_up=20)
LIMIT = 0.4  # seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("build") / "streams", help="where the feed lies")
    wanted = parser.parse_args()
    folders = FEED.folders(wanted.data.absolute())
    work = Path(tempfile.mkdtemp(prefix="overhead-"))
    try:
        seconds = _measured(Play(FEED, folders, work))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for name, each in seconds.items():
        print(f"{name}: median {median(each):.3f} s a batch ({min(each):.3f}-{max(each):.3f})")
    more = median([a - b for a, b in zip(seconds["joined"], seconds["read"], strict=True)])
    print(f"overhead: {more:.3f} s a batch; {'met' if more < LIMIT else 'NOT MET'}: below {LIMIT} s")
    return 0


def _measured(play: Play) -> dict[str, list[float]]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("bench")
    for name, value in {**CONF, "spark.ui.showConsoleProgress": "false"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    feeding: dict[str, Path] = {}
    queries = {}
    for name, query in (("read", _read), ("joined", joined)):
        for stream in play.feed.streams:
            feeding[f"{name}/{stream}"] = play.work / name / stream
            feeding[f"{name}/{stream}"].mkdir(parents=True)
        mine = Play(play.feed, {s: feeding[f"{name}/{s}"] for s in play.feed.streams}, play.work / name)
        writer = query(spark, mine).writeStream.format("noop")
        queries[name] = writer.option("checkpointLocation", str(play.work / name / "checkpoint")).start()
    seconds: dict[str, list[float]] = {name: [] for name in queries}
    for batch in range(play.feed.batches):
        for name, query in queries.items():
            for stream in play.feed.streams:
                file = play.folders[stream] / f"{batch:05d}.parquet"
                draft = feeding[f"{name}/{stream}"] / f".{file.name}"
                shutil.copy2(file, draft)
                draft.rename(draft.with_name(file.name))
            query.processAllAvailable()
            last = [p for p in query.recentProgress if p["numInputRows"]][-1]
            if batch >= play.feed.warm_up:
                seconds[name].append(last["durationMs"]["triggerExecution"] / 1_000)
    for query in queries.values():
        query.stop()
    spark.stop()
    return seconds


def _read(spark: SparkSession, play: Play) -> DataFrame:
    """All rows of all streams, as they are."""
    from pyspark.sql import DataFrame

    return reduce(DataFrame.unionAll, [source(spark, play, stream) for stream in play.feed.streams])


if __name__ == "__main__":
    raise SystemExit(main())
