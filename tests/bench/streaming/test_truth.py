from itertools import product

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench.streaming.checksum import answer, checksum
from bench.streaming.feed import EPOCH, TICK, Feed
from bench.streaming.truth import Truth, truth

SMALL = Feed(streams="abc", rows=60, keys=4, ticks=9, batches=3, warm_up=1)
MATCHES = pa.table({"a": [1, 1, 2], "b": [5, 6, 5], "newest": [3, 7, 9]})


def test_the_truth_is_what_the_definition_says(tmp_path):
    folders = SMALL.folders(tmp_path)
    rows = {
        stream: [
            (row["id"], row["k"], (ts - EPOCH) // TICK)
            for row, ts in zip(table.to_pylist(), table["ts"].cast(pa.int64()).to_pylist(), strict=True)
        ]
        for stream, table in ((stream, pq.read_table(folder)) for stream, folder in folders.items())
    }
    expected = sorted(
        (*(row[0] for row in match), max(row[2] for row in match))
        for match in product(*rows.values())
        if len({row[1] for row in match}) == 1
        and max(row[2] for row in match) - min(row[2] for row in match) <= SMALL.ticks
    )
    found = truth(SMALL, folders).matches.to_pylist()
    assert expected
    assert sorted((row["a"], row["b"], row["c"], row["newest"]) for row in found) == expected


def test_an_answer_that_is_not_final_is_held_to_what_is():
    assert Truth("ab", MATCHES).answer(7) == answer(MATCHES.slice(0, 2), "ab")
    assert Truth("ab", MATCHES).answer() == answer(MATCHES, "ab")


def test_missing_and_surplus_matches_are_told(tmp_path):
    twice = MATCHES.take([0, 2, 2]).select(["b", "a"])
    (tmp_path / "part").mkdir()
    pq.write_table(twice, tmp_path / "part" / "1.parquet")
    assert Truth("ab", MATCHES).compared(tmp_path, None) == (1, 1)
    assert Truth("ab", MATCHES).compared(tmp_path, 3) == (0, 2)


def test_nothing_found_is_all_missing(tmp_path):
    assert Truth("ab", MATCHES).compared(tmp_path, None) == (3, 0)


def test_sql_adds_up_the_same_checksum():
    connection = duckdb.connect()
    connection.register("matches", MATCHES)
    ((total,),) = connection.execute(f"SELECT sum({checksum('ab')}) FROM matches").fetchall()
    assert answer(MATCHES, "ab").checksum == f"{int(total):016x}"


def test_a_checksum_fits_64_bits_for_large_ids():
    large = pa.table({stream: [2**34 - 1] for stream in "abcdef"})
    connection = duckdb.connect()
    connection.register("matches", large)
    ((total,),) = connection.execute(f"SELECT {checksum('abcdef')} FROM matches").fetchall()
    assert answer(large, "abcdef").checksum == f"{total:016x}"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"a": [1, 1], "b": [5, 6]}, id="one missing"),
        pytest.param({"a": [1, 1, 2, 2], "b": [5, 6, 5, 5]}, id="one twice"),
        pytest.param({"a": [1, 1, 2], "b": [5, 5, 6]}, id="partners exchanged"),
        pytest.param({"a": [5, 6, 5], "b": [1, 1, 2]}, id="members exchanged"),
        pytest.param({"a": [1, 2, 2], "b": [5, 6, 5]}, id="one id off"),
    ],
)
def test_a_different_bag_is_a_different_answer(other):
    assert answer(pa.table(other), "ab") != answer(MATCHES, "ab")
