"""What a batch with few rows costs beside a stateless query of its sources: ``python -m bench.streaming.overhead``.

Both read the same four folders of Parquet files, one small file of each a batch, on two
cores with two partitions; changes of the state are kept as a log, as the how-to says.
They take turns batch by batch in one session, so that a neighbour on the machine disturbs
both; the first batches are to warm up.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.streaming.contenders.anabranch import CHANGELOG, joined
from bench.streaming.feed import Feed
from bench.streaming.spark import session, source
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
        spark = session({**CHANGELOG, "spark.ui.showConsoleProgress": "false"})
        progress = Turns(spark, Play(FEED, folders, work), {"read": _read, "joined": joined}).played()
        spark.stop()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    seconds = {name: [p["durationMs"]["triggerExecution"] / 1_000 for p in each] for name, each in progress.items()}
    for name, each in seconds.items():
        print(f"{name}: median {median(each):.3f} s a batch ({min(each):.3f}-{max(each):.3f})")
    more = median([a - b for a, b in zip(seconds["joined"], seconds["read"], strict=True)])
    print(f"overhead: {more:.3f} s a batch; {'met' if more < LIMIT else 'NOT MET'}: below {LIMIT} s")
    return 0


class Turns:
    """Queries over the same feed that take turns, batch by batch, in one session."""

    def __init__(
        self, spark: SparkSession, play: Play, queries: Mapping[str, Callable[[SparkSession, Play], DataFrame]]
    ) -> None:
        self.play = play
        self.homes = {name: play.work / name.replace(" ", "-") for name in queries}
        self.running = {}
        for name, query in queries.items():
            mine = {stream: self.homes[name] / stream for stream in play.feed.streams}
            for folder in mine.values():
                folder.mkdir(parents=True)
            writer = query(spark, Play(play.feed, mine, self.homes[name])).writeStream.format("noop")
            self.running[name] = writer.option("checkpointLocation", str(self.homes[name] / "checkpoint")).start()

    def played(self) -> dict[str, list[Any]]:
        """The progress of each query's batches, after those to warm up, that had all files for all queries."""
        found: dict[str, list[Any]] = {name: [] for name in self.running}
        for batch in range(self.play.feed.batches):
            last = {}
            for name, query in self.running.items():
                drafts = []
                for stream in self.play.feed.streams:
                    file = self.play.folders[stream] / f"{batch:05d}.parquet"
                    drafts.append(self.homes[name] / stream / f".{file.name}")
                    shutil.copy2(file, drafts[-1])
                for draft in drafts:  # together, or else a batch may begin without the last of them
                    draft.rename(draft.with_name(draft.name[1:]))
                query.processAllAvailable()
                last[name] = [p for p in query.recentProgress if p["numInputRows"]][-1]
            whole = all(p["numInputRows"] == self.play.feed.rows for p in last.values())
            for name in found if whole and batch >= self.play.feed.warm_up else ():
                found[name].append(last[name])
        for query in self.running.values():
            query.stop()
        return found


def _read(spark: SparkSession, play: Play) -> DataFrame:
    """All rows of all streams, as they are."""
    from pyspark.sql import DataFrame

    return reduce(DataFrame.unionAll, [source(spark, play, stream) for stream in play.feed.streams])


if __name__ == "__main__":
    raise SystemExit(main())
