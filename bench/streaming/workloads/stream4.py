"""Four streams, one key, all six pairs within one window, a million rows a batch."""

from __future__ import annotations

from bench.streaming.feed import Feed
from bench.streaming.workload import Claim, Workload

WORKLOAD = Workload(
    title="Four streams in steady state",
    about=(
        "Four folders of Parquet files; a batch is one file of each, 1,000,000 rows together; 1,000,000 keys, all "
        "equally likely; one row a millisecond over all streams; equal keys, and every pair of members within 400 "
        "seconds: 400,000 rows can still find a partner at any time, and one row in a thousand completes a match."
    ),
    feed=Feed(streams="abcd", rows=1_000_000, keys=1_000_000, ticks=400_000, batches=8, warm_up=3),
    bases=("spark_rocksdb", "spark_heap"),
    claims=(
        Claim("Anabranch takes at least 250,000 rows a second", "anabranch", 250_000),
        Claim(
            "Anabranch is at least 15 times as fast as Spark with state in RocksDB", "anabranch", 15, "spark_rocksdb"
        ),
    ),
)
