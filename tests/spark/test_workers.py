import gc

import pyarrow as pa

import anabranch as ab


def frozen(batches):
    for batch in batches:
        yield pa.record_batch({"objects": pa.array([gc.get_freeze_count()] * len(batch), pa.int64())})


def test_what_a_worker_has_loaded_is_not_looked_at_after_every_task(spark):
    rows = spark.createDataFrame([(1, 5)], "k int, ts bigint")
    joined = ab.sql(spark, "SELECT A.k AS k FROM a A, b B WHERE A.k = B.k WINDOW = 1", a=rows, b=rows)
    assert joined.count() == 1
    found = spark.range(8, numPartitions=8).mapInArrow(frozen, "objects bigint").collect()
    assert max(row.objects for row in found) > 10_000
