"""Spark's own joins, with state in the heap of the executors: the provider that Spark takes if it is not told.

It is several times as fast as RocksDB as long as two versions of the whole state fit
the heap beside everything else.  The query is the same as with RocksDB, which says
what else was tried.
"""

from __future__ import annotations

from bench.streaming.contenders.spark_rocksdb import LOSES, joined
from bench.streaming.spark import on_spark
from bench.streaming.workload import Contender

HEAP = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

CONTENDER = Contender(
    title="Spark, state in the heap",
    package="pyspark",
    run=on_spark(joined, {"spark.sql.streaming.stateStore.providerClass": HEAP}),
    about="The same joins with Spark's default state store, which holds all state in the heap (8 GB here).",
    loses=LOSES,
)
