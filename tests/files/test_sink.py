from __future__ import annotations

import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.core.errors import Refused
from anabranch.files import open_sink, open_source
from anabranch.files.sink import GROUP, SLICE

ENDINGS = ["parquet", "csv", "jsonl"]

TABLE = pa.table(
    {
        "ts": pa.array([0, 1, None], pa.timestamp("us", "UTC")),
        "i": pa.array([2**63 - 1, None, 3]),
        "x": pa.array([1.0, float("inf"), 0.1]),
        "b": pa.array([True, None, False]),
        "s": pa.array(['a "quoted", text\r\nand more', "", None]),
    }
)


def put(path: Path, *tables: pa.Table) -> Path:
    with open_sink(str(path), tables[0].schema) as sink:
        for table in tables:
            sink.write(table)
    return path


def got(path: Path) -> pa.Table:
    source = open_source("A", str(path))
    parts = list(source.batches())
    assert not any(bad for _, bad in parts)
    return pa.Table.from_batches([batch for batch, _ in parts], source.schema)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_again(tmp_path: Path, ending: str) -> None:
    path = put(tmp_path / f"a.{ending}", TABLE, TABLE.slice(1))
    assert got(path).equals(pa.concat_tables([TABLE, TABLE.slice(1)]))
    assert os.listdir(tmp_path) == [f"a.{ending}"]


def test_csv_as_text(tmp_path: Path) -> None:
    table = TABLE.append_column("l", pa.array([[1, None], None, []])).append_column(
        "d, of course", pa.array([date(2026, 1, 31), None, date(1, 1, 1)])
    )
    assert put(tmp_path / "a.csv", table).read_bytes().decode() == (
        'ts,i,x,b,s,l,"d, of course"\n'
        "1970-01-01T00:00:00.000000Z,9223372036854775807,1.0,true,"
        '"a ""quoted"", text\r\nand more","[1, null]",2026-01-31\n'
        '1970-01-01T00:00:00.000001Z,,Infinity,,"",,\n'
        ",3,0.1,false,,[],0001-01-01\n"
    )


def test_json_lines_as_text(tmp_path: Path) -> None:
    table = pa.table({"n": [Decimal("1.50")], "l": [[{"é": None}]], "d": pa.array(["x"]).dictionary_encode()})
    assert put(tmp_path / "a.jsonl", table).read_text("utf-8") == '{"n": 1.50, "l": [{"é": null}], "d": "x"}\n'


def test_one_column_has_no_lines_with_nothing_in_them(tmp_path: Path) -> None:
    assert put(tmp_path / "a.csv", pa.table({"n": [1, None, 3]})).read_text() == 'n\n1\n""\n3\n'
    assert put(tmp_path / "a.csv", pa.table({"s": ["a", None, ""]})).read_text() == 's\na\n""\n""\n'


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_are_there_even_without_rows(tmp_path: Path, ending: str) -> None:
    path = put(tmp_path / f"a.{ending}", TABLE.slice(0, 0))
    if ending == "parquet":
        assert pq.read_table(path).equals(TABLE.slice(0, 0))
    else:
        assert path.read_text() == ("ts,i,x,b,s\n" if ending == "csv" else "")


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_seen_before_the_end(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text("old")
    sink = open_sink(str(path), TABLE.schema)
    sink.write(TABLE)
    assert path.read_text() == "old"
    assert all(name.startswith((".", "a.")) for name in os.listdir(tmp_path)), "a folder in the making can be read"
    sink.discard()
    assert path.read_text() == "old" and len(os.listdir(tmp_path)) == 1
    put(path, TABLE)
    assert got(path).num_rows == 3


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    sink = open_sink(str(tmp_path / "a.csv"), TABLE.schema)
    sink.close()
    sink.close()
    assert os.listdir(tmp_path) == ["a.csv"]


def stop(path: Path) -> None:
    with open_sink(str(path), TABLE.schema) as sink:
        sink.write(TABLE)
        raise KeyError


def test_a_run_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        stop(tmp_path / "a.parquet")
    assert os.listdir(tmp_path) == []


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    put(tmp_path / "link.csv", TABLE)
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "real.csv").read_text().startswith("ts,")


def test_a_link_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to(tmp_path / "gone" / "b.csv")
    said = f"^the output '.*a.csv' is a link to '{tmp_path}/gone/b.csv', whose folder is not there; make it first$"
    with pytest.raises(Refused, match=said):
        open_sink(str(tmp_path / "a.csv"), TABLE.schema)


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(name: str) -> str:
        with pytest.raises(Refused) as refused:
            open_sink(str(tmp_path / name), TABLE.schema)
        return str(refused.value).replace(str(tmp_path), "")

    (tmp_path / "d.csv").mkdir()
    os.mkfifo(tmp_path / "f.csv")
    assert (
        refusal("a.txt") == "the output '/a.txt' has no known format; its name should end in .parquet, .csv or .jsonl"
    )
    assert refusal("a") == "the output '/a' has no known format; its name should end in .parquet, .csv or .jsonl"
    assert refusal("d.csv") == "the output '/d.csv' is a folder; name a file"
    assert refusal("f.csv") == "the output '/f.csv' is not a file that could be replaced; name a file"
    assert refusal("no/a.csv") == "there is no folder '/no' for the output '/no/a.csv'; make it first"
    monkeypatch.setattr("builtins.open", forbidden)
    assert refusal("a.csv") == "the output '/a.csv' cannot be written: Permission denied"


def forbidden(*args: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_types_that_parquet_does_not_have(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.month_day_nano_interval())])
    with pytest.raises(
        Refused, match=r"^the output '.*a.parquet' cannot hold these columns: .*; write .jsonl, or cast"
    ):
        open_sink(str(tmp_path / "a.parquet"), schema)
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = open_sink(str(tmp_path / "a.jsonl"), TABLE.schema)

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anabranch.files.sink.rows_json", full)
    with pytest.raises(Refused, match=r"^the output '.*a.jsonl' cannot be written: No space left on device$"):
        sink.write(TABLE)
    assert os.listdir(tmp_path) == []


def test_small_tables_make_large_row_groups(tmp_path: Path) -> None:
    part = pa.table({"ts": range(GROUP // 8)})
    path = put(tmp_path / "a.parquet", *[part] * 12)
    groups = pq.ParquetFile(path).metadata
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [GROUP, GROUP // 2]


@pytest.mark.parametrize("ending", ENDINGS)
def test_many_rows(tmp_path: Path, ending: str) -> None:
    table = pa.table({"ts": range(3 * SLICE + 1), "s": [f"é{i}" for i in range(3 * SLICE + 1)]})
    assert got(put(tmp_path / f"a.{ending}", table)).equals(table)


@given(st.lists(st.one_of(st.none(), st.text()), min_size=1, max_size=6), st.sampled_from(ENDINGS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives(tmp_path: Path, texts: list[str | None], ending: str) -> None:
    table = pa.table({"ts": range(len(texts)), "s": pa.array(["x", *texts], pa.string()).slice(1)})
    read = got(put(tmp_path / f"a.{ending}", table))
    if read.schema == table.schema:  # digits alone are read as numbers
        assert read.equals(table)
