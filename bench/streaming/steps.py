"""What each step of the road on Spark costs: ``python -m bench.streaming.steps``.

Five queries over the same files end one step later each: they read the rows, pack them,
send them through the shuffle, join them, unpack the matches.  They take turns batch by
batch in one session on two cores; a step is what a query takes more than the one before
it, in the processing of a batch alone (Spark's ``addBatch``).  What the operator says of its
own time stands beside it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import machine
from bench.streaming.contenders.anabranch import CHANGELOG, text
from bench.streaming.overhead import Turns
from bench.streaming.spark import session, source
from bench.streaming.workload import Play, workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEED = workload("stream4").feed
HERE = Path(__file__).parent
STEPS = ("scan", "pack", "shuffle", "state and kernel", "unpack")
INSIDE = {"restore_ms": "state restored", "join_ms": "kernel", "store_ms": "state stored"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("build") / "streams", help="where the feed lies")
    parser.add_argument("--report", type=Path, default=HERE / "STEPS.md", help="where to write it")
    wanted = parser.parse_args()
    folders = FEED.folders(wanted.data.absolute())
    work = Path(tempfile.mkdtemp(prefix="steps-"))
    try:
        spark = session(CHANGELOG)
        turns = Turns(spark, Play(FEED, folders, work), {step: _ending(step) for step in STEPS})
        progress = turns.played()
        spark.stop()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    lines = _report(progress)
    wanted.report.write_text("\n".join(lines) + "\n", "utf-8")
    print("\n".join(lines))
    return 0


def _ending(step: str) -> Any:
    """The query that ends with a step."""

    def query(spark: SparkSession, play: Play) -> DataFrame:
        from pyspark.sql import DataFrame

        from anabranch.plan.sql import parse
        from anabranch.spark.frames import joined, packed
        from anabranch.spark.sql import Options, relation
        from anabranch.spark.streams import opened

        frames = {stream: source(spark, play, stream) for stream in play.feed.streams}
        if step == "scan":
            return reduce(DataFrame.unionAll, frames.values())
        streams = {name: opened(name, frame) for name, frame in frames.items()}
        parsed = parse(text(play), {name: each.stream for name, each in streams.items()})
        frame, watched = relation(spark, parsed, parsed.joins[0], streams, {}, Options(), True)
        if step == "unpack":
            return frame
        pieces = packed(watched.shard, frames)
        if step == "pack":
            return pieces
        if step == "shuffle":
            return pieces.repartition("bucket")
        return joined(pieces, watched.shard, watched.apart, watched.name)

    return query


def _report(progress: Mapping[str, list[Any]]) -> list[str]:
    million = FEED.rows / 1_000_000
    until = [median(p["durationMs"]["addBatch"] for p in progress[step]) / 1_000 / million for step in STEPS]
    share = [after - before for before, after in zip([0.0, *until], until, strict=False)]
    lines = [
        "# The steps of the road",
        "",
        __doc__.partition("\n\n")[2].strip(),
        "",
        f"`{FEED.streams}`: {FEED.rows:,} rows a batch; {FEED.batches} batches, the first {FEED.warm_up} to warm up;"
        " medians, in seconds for a million rows.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in machine.about().items()),
        "| command | `python -m bench.streaming.steps` |",
        "",
        "| step | s | share |",
        "|---|--:|--:|",
        *(f"| {step} | {s:.2f} | {s / until[-1]:.0%} |" for step, s in zip(STEPS, share, strict=True)),
        f"| all | {until[-1]:.2f} | |",
        "",
        "Inside the operator, as it says itself, added up over two buckets that run side by side:",
        "",
        "| | s |",
        "|---|--:|",
    ]
    for name, said in INSIDE.items():
        seen = [row[name] for p in progress["unpack"] for row in p["observedMetrics"].values() if row[name] is not None]
        lines.append(f"| {said} | {median(seen) / 1_000 / million:.2f} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
