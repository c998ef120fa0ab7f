import sys


def interpreters(batches):
    import pyarrow as pa

    for _ in batches:
        yield pa.record_batch({"interpreter": [sys.executable]})


def test_workers_are_this_python_and_know_the_tests(spark):
    found = spark.range(4, numPartitions=2).mapInArrow(interpreters, "interpreter string").distinct().collect()
    assert [row.interpreter for row in found] == [sys.executable]


def test_state_is_in_rocksdb(spark, tmp_path):
    spark.range(5).write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("id long").parquet(str(tmp_path / "in")).dropDuplicates(["id"])
    writer = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    (operator,) = query.lastProgress["stateOperators"]
    assert operator["numRowsTotal"] == 5
    assert operator["numShufflePartitions"] == 2
    assert any(name.startswith("rocksdb") for name in operator["customMetrics"])


def test_it_is_silent_and_local(spark):
    assert spark.sparkContext.master == "local[2]"
    assert spark.sparkContext.uiWebUrl is None
    assert spark.conf.get("spark.driver.host") == "127.0.0.1"
    assert not spark._jvm.org.slf4j.LoggerFactory.getLogger("org.apache.spark.X").isWarnEnabled()
