from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anabranch.core.errors import Refused
from anabranch.files import open_source


def rows_of(path: Path, **options: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    parts = list(open_source("A", str(path)).batches(**options))
    return [row for batch, _ in parts for row in batch.to_pylist()], [bad for _, rows in parts for bad in rows]


TABLE = pa.table(
    {
        "id": [1, 2, 3],
        "ts": pa.array([1, 2, 3], pa.timestamp("ns", "Europe/Paris")),
        "d": pa.array(["x", None, "x"]).dictionary_encode(),
        "v": [[1.5], [], None],
        "a.b": [7, 8, 9],
        "a": [{"b": 1}] * 3,
    }
)


def test_columns_keep_their_types_and_dictionaries_are_decoded(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=2)
    source = open_source("A", str(tmp_path / "a.parquet"))
    expected = TABLE.set_column(2, "d", TABLE["d"].cast(pa.string()))
    assert source.schema.types == expected.schema.types
    read = pa.Table.from_batches([batch for batch, _ in source.batches()])
    assert read.combine_chunks().equals(expected.combine_chunks())
    assert source.rows_hint == 3


@pytest.mark.parametrize("columns", [["ts"], ["id", "ts"], ["ts", "id"], ["a"], ["a.b", "ts"], []])
def test_only_the_columns_that_are_asked_for(tmp_path: Path, columns: list[str]) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (batch, _), *more = open_source("A", str(tmp_path / "a.parquet")).batches(columns=columns)
    assert (batch.schema.names, batch.num_rows, more) == (columns, 3, [])


def test_batches_have_the_rows_that_were_asked_for(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": range(100)}), tmp_path / "a.parquet", row_group_size=30)
    sizes = [batch.num_rows for batch, _ in open_source("A", str(tmp_path / "a.parquet")).batches(40)]
    assert sum(sizes) == 100 and max(sizes) <= 40 and min(sizes) > 0


def test_a_file_without_rows_is_a_stream_without_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    assert rows_of(tmp_path / "a.parquet") == ([], [])


def test_old_timestamps_do_not_wrap_around(tmp_path: Path) -> None:
    moments = [datetime(1, 1, 1), datetime(9999, 12, 31)]
    table = pa.table({"ts": pa.array(moments, pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    assert [row["ts"] for row in rows_of(tmp_path / "a.parquet")[0]] == moments


def test_text_that_is_not_utf8_makes_its_row_bad(tmp_path: Path) -> None:
    text = pa.array([b"a", b"\xff", None, b"b"]).view(pa.string())
    pq.write_table(pa.table({"ts": [1, 2, 3, 4], "s": text}), tmp_path / "a.parquet")
    rows, bad = rows_of(tmp_path / "a.parquet")
    assert [row["s"] for row in rows] == ["a", None, "b"]
    assert [(row.reason, json.loads(row.row)) for row in bad] == [("column s: is not UTF-8", {"ts": 2, "s": "\\xff"})]
    assert len(rows_of(tmp_path / "a.parquet", columns=["ts"])[0]) == 4


def broken(path: Path, how: str) -> None:
    pq.write_table(pa.table({"ts": range(1000)}), path, use_dictionary=False)
    whole = path.read_bytes()
    path.write_bytes(
        {
            "truncated": whole[:-5],
            "empty": b"",
            "text": b"ts\n1\n",
            "page": whole[:100] + b"\xff" * 500 + whole[600:],
        }[how]
    )


@pytest.mark.parametrize("how", ["truncated", "empty", "text", "page"])
def test_a_broken_file_is_refused_in_one_line_that_names_it(tmp_path: Path, how: str) -> None:
    broken(tmp_path / "a.parquet", how)
    with pytest.raises(Refused, match=r"^'[^\n]*a.parquet' cannot be read[^\n]*$"):
        rows_of(tmp_path / "a.parquet")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["ts", "ts"]), tmp_path / "a.parquet")
    with pytest.raises(Refused, match=r"'.*a.parquet' has two columns 'ts'; give every column a name of its own"):
        rows_of(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"ts": pa.array([1], pa.int32()), "s": ["a"]}, "'ts' is int32 instead of int64"),
        ({"ts": [1]}, "'s' is missing"),
        ({"ts": [1], "s": ["a"], "x": [1]}, "'x' is new"),
        ({"s": ["a"], "ts": [1]}, "they come in another order"),
    ],
)
def test_files_of_a_folder_share_their_columns(tmp_path: Path, other: dict[str, object], difference: str) -> None:
    pq.write_table(pa.table({"ts": [1], "s": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table(other), tmp_path / "b.parquet")
    with pytest.raises(Refused, match=f"^'.*b.parquet' has other columns than '.*a.parquet': {difference}; .*"):
        rows_of(tmp_path)


def test_a_folder_is_one_stream(tmp_path: Path) -> None:
    for name, first in {"b": 10, "a": 20, "_metadata": 30, ".hidden": 40}.items():
        pq.write_table(pa.table({"ts": [first, first + 1]}), tmp_path / f"{name}.parquet")
    assert [row["ts"] for row in rows_of(tmp_path)[0]] == [20, 21, 10, 11]
    assert open_source("A", str(tmp_path)).rows_hint == 4


def test_dictionaries_and_plain_text_are_one_type(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": [1], "s": pa.array(["a"]).dictionary_encode()}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"ts": [2], "s": ["b"]}), tmp_path / "b.parquet")
    assert [row["s"] for row in rows_of(tmp_path)[0]] == ["a", "b"]
