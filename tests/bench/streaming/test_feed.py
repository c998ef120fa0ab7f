from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench.streaming.feed import EPOCH, TICK, Feed

SMALL = Feed(streams="abc", rows=30, keys=5, ticks=12, batches=4, warm_up=1)


def ticks(table: pa.Table) -> list[int]:
    return [(ts - EPOCH) // TICK for ts in table["ts"].cast(pa.int64()).to_pylist()]


@pytest.fixture
def tables(tmp_path):
    return {
        stream: [pq.read_table(path) for path in sorted(folder.iterdir())]
        for stream, folder in SMALL.folders(tmp_path).items()
    }


def test_a_batch_is_one_file_of_each_stream(tables):
    assert {stream: [table.num_rows for table in files] for stream, files in tables.items()} == {
        stream: [10] * 4 for stream in "abc"
    }


def test_there_is_one_row_a_tick_over_all_streams(tables):
    assert sorted(tick for files in tables.values() for table in files for tick in ticks(table)) == list(range(120))


def test_a_stream_is_in_order_of_time(tables):
    for files in tables.values():
        told = [tick for table in files for tick in ticks(table)]
        assert told == sorted(told)


def test_ids_are_those_of_a_stream(tables):
    for files in tables.values():
        assert np.array_equal(pa.concat_tables(files)["id"], np.arange(40))


def test_files_are_older_the_earlier_they_are_to_be_read(tmp_path):
    for folder in SMALL.folders(tmp_path).values():
        times = [path.stat().st_mtime for path in sorted(folder.iterdir())]
        assert times == sorted(set(times))


def test_every_process_makes_the_same_feed(tmp_path):
    one, other = (SMALL.folders(tmp_path / name)["b"] for name in ("one", "other"))
    assert pq.read_table(one) == pq.read_table(other)


def test_a_feed_is_written_once(tmp_path):
    made = SMALL.folders(tmp_path)["a"] / "00000.parquet"
    before = made.stat().st_ino
    replace(SMALL, ticks=99, warm_up=2).folders(tmp_path)
    assert made.stat().st_ino == before


def test_a_part_of_a_feed_has_as_many_partners_a_row():
    part = Feed("abcd", 1_000_000, 1_000_000, 400_000, 8, 3).scaled(0.01)
    assert (part.rows, part.keys, part.ticks, part.batches) == (10_000, 10_000, 4_000, 8)
    assert part.scaled(1) == part
