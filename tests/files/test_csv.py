from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.core.errors import Refused
from anabranch.files import csv_records, infer, open_source
from anabranch.files.csv import CsvFiles, _parsed
from anabranch.files.csv_records import fields, first_record, sieve

Read = Callable[..., Any]


def test_types_are_told_by_the_values(read: Read) -> None:
    got = read("a.csv", "ts,x,b,t,s\n1,1.5,true,2026-01-31,a\n2,,FALSE,2026-01-31 12:00,\n")
    assert got.types == ["int64", "double", "bool", "timestamp[us]", "string"]
    assert got.rows == [
        (1, 1.5, True, datetime(2026, 1, 31), "a"),
        (2, None, False, datetime(2026, 1, 31, 12), None),
    ]
    assert (got.bad, got.source.time, got.source.rows_hint) == ([], "ts", 2)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("ts,s\n1,a\n", [(1, "a")]),
        ("ts,s\n1,a", [(1, "a")]),
        ("ts,s\r\n1,a\r\n2,b\r\n", [(1, "a"), (2, "b")]),
        ("ts,s\r1,a\r2,b", [(1, "a"), (2, "b")]),
        ("\ufeffts,s\n1,a\n", [(1, "a")]),
        ("\n\nts,s\n\n1,a\n\n\n2,b\n\n", [(1, "a"), (2, "b")]),
        ('ts,s\n1,"a\nb"\n2,"c\r\n""d"", e"\n', [(1, "a\nb"), (2, 'c\r\n"d", e')]),
        ('"ts","s"\n"1","a"\n', [(1, "a")]),
        ('ts,s\n1,""\n2,\n', [(1, ""), (2, None)]),
        ('ts,s\n1,a\n"",b\n2,c\n', [(1, "a"), (None, "b"), (2, "c")]),
        ("ts, s \n 1,é \n", [(1, "é ")]),
        ('ts,s\n1,5" pipe\n2,6"\n', [(1, '5" pipe'), (2, '6"')]),
        ("ts,s\n1,a\0b\n", [(1, "a\0b")]),
        ("ts\n1\n2\n", [(1,), (2,)]),
    ],
)
def test_rows(read: Read, text: str, rows: list[tuple[object, ...]]) -> None:
    got = read("a.csv", text)
    assert (got.rows, got.bad) == (rows, [])


GOOD = b"1,1.5,a\n2,2.5,b\n3,3.5,c\n4,4.5,d\n"


@pytest.mark.parametrize(
    ("line", "reason", "row"),
    [
        (b"5,abc,e", "column x: 'abc' is not a number", {"ts": 5, "x": "abc", "s": "e"}),
        (b"5,1e999,e", "column x: '1e999' is outside double", {"ts": 5, "x": "1e999", "s": "e"}),
        (b"abc,NaN,", "column ts: 'abc' is not an integer", {"ts": "abc", "x": "NaN", "s": None}),
        (b"9223372036854775808,1,e", "column ts: '9223372036854775808' is outside int64",
         {"ts": "9223372036854775808", "x": 1.0, "s": "e"}),
        (b"x,y,z", "column ts: 'x' is not an integer", {"ts": "x", "x": "y", "s": "z"}),
        (b"5,1,\xff", "column s: is not UTF-8", {"ts": 5, "x": 1.0, "s": "\\xff"}),
        (b"\xff,1,e", "column ts: '\\xff' is not an integer", {"ts": "\\xff", "x": 1.0, "s": "e"}),
        (b"5,1", "2 fields where the header has 3", "5,1"),
        (b"5", "1 field where the header has 3", "5"),
        (b"5,1,e,f", "4 fields where the header has 3", "5,1,e,f"),
        (b'5,1,"e\nf",g', "4 fields where the header has 3", '5,1,"e\nf",g'),
        (b"5,1,e,\xff", "4 fields where the header has 3", "5,1,e,\\xff"),
        (b'5,1,"e', "a quote is not closed", '5,1,"e'),
        (b'5,1,"e"f', "text follows a closing quote", '5,1,"e"f'),
    ],
)  # fmt: skip
def test_a_bad_record_goes_apart_and_the_others_stay(read: Read, line: bytes, reason: str, row: object) -> None:
    for text in (b"ts,x,s\n" + GOOD + line + b"\n" + b"6,1,g\n", b"ts,x,s\r\n" + GOOD + b"6,1,g\n" + line):
        got = read("a.csv", text)
        assert [values[0] for values in got.rows] == [1, 2, 3, 4, 6]
        assert got.reasons == [reason] and json.loads(got.bad[0].row) == row


def test_bad_records_of_all_kinds_at_once(read: Read) -> None:
    got = read("a.csv", b'ts,s\n1,a\n2\n3,\xff\nx,b\n4,c,d,\xff\n5,"e\n6,f\n7,g\n8,h\n')
    assert [row[0] for row in got.rows] == [1, 6, 7, 8]
    assert len(got.bad) == 5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "'.*a.csv' has no header; its first line should name its columns"),
        (b"\n\r\n", "'.*a.csv' has no header; .*"),
        (b"\xef\xbb\xbf", "'.*a.csv' has no header; .*"),
        (b"ts,a,ts\n", "the header of '.*a.csv' names 'ts' twice; give every column a name of its own"),
        (b'"ts,a\n1,2\n', "the header of '.*a.csv' has a quote that is not closed .*"),
        (b"ts,\xff\n", "the header of '.*a.csv' is not UTF-8; save it as UTF-8"),
        ("ts,a\n1,2\n".encode("utf-16"), "the header of '.*a.csv' has NUL bytes, as UTF-16 has; save it as UTF-8"),
        ("ts,a\n1,2\n".encode("utf-16-be"), "the header of '.*a.csv' has NUL bytes, .*"),
    ],
)
def test_no_header_no_stream(read: Read, data: bytes, message: str) -> None:
    with pytest.raises(Refused, match=f"^{message}$"):
        read("a.csv", data)


def test_a_column_without_a_name_gets_one(read: Read) -> None:
    assert read("a.csv", ",ts,\n1,2,3\n").table.column_names == ["_c0", "ts", "_c2"]


def test_a_header_alone_is_a_stream_without_rows(read: Read) -> None:
    got = read("a.csv", "id,ts\n")
    assert (got.types, got.rows, got.bad) == (["null", "null"], [], [])


def test_only_the_first_thousand_values_tell_the_type(read: Read) -> None:
    lines = [f"{i},{'' if i % 3 else i}" for i in range(3 * infer.VALUES)]
    got = read("a.csv", "ts,x\n" + "\n".join(lines) + "\n" + "0,x\n" * 9_000)
    assert got.types == ["int64", "int64"] and len(got.rows) == 3 * infer.VALUES
    assert set(got.reasons) == {"column x: 'x' is not an integer"} and len(got.bad) == 9_000


def test_values_are_looked_for_beyond_the_first_records(read: Read) -> None:
    assert read("a.csv", "ts,x\n" + "1,\n" * 50_000 + "1,5\n").types == ["int64", "int64"]


def test_an_empty_column_costs_no_pass_over_the_file(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infer, "RECORDS", 10)
    assert read("a.csv", "ts,x\n" + "1,\n" * 10 + "1,5\n").types == ["int64", "string"]


def test_batches_have_the_rows_that_were_asked_for(read: Read) -> None:
    source = read("a.csv", "ts,s\n" + "1,a\n" * 25 + "x,b\n" + "2,c\n" * 4).source
    sizes = [(batch.num_rows, len(bad)) for batch, bad in source.batches(10)]
    assert sizes == [(10, 0), (10, 0), (9, 1)]
    assert [batch.schema.names for batch, _ in source.batches(columns=["s"])] == [["s"]]


def test_a_row_is_bad_whatever_columns_are_asked_for(read: Read) -> None:
    text = "ts,x\n" + "1,1\n" * 9 + "2,y\n"
    assert read("a.csv", text, columns=["ts"]).reasons == ["column x: 'y' is not an integer"]


def test_small_blocks_change_nothing(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'ts,s\n1,"a\nb"\n2,\xff\n3\n4,"d\n5,e\n6,"f"\n7,g\n8,h\n'
    whole = read("a.csv", text)
    monkeypatch.setattr("anabranch.files.csv.blocks", lambda file: csv_records.blocks(file, 3))
    small = read("a.csv", text)
    assert small.rows == whole.rows and sorted(map(str, small.bad)) == sorted(map(str, whole.bad))


def test_a_folder_is_one_stream_in_the_order_of_names(tmp_path: Path, read: Read) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, rows in {"b.csv": "2,b\n", "a.CSV": "3,a", "B.csv": "1,B\n"}.items():
        (folder / name).write_text("ts,s\n" + rows)
    table = pa.Table.from_batches([batch for batch, _ in open_source("A", str(folder)).batches()])
    assert table["s"].to_pylist() == ["B", "a", "b"]


def test_files_of_a_folder_share_their_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ts,s\n1,a\n")
    (tmp_path / "b.csv").write_text("s,ts\na,1\n")
    with pytest.raises(Refused, match=r"'.*b.csv' has another header than '.*a.csv'"):
        CsvFiles.open([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], "ts")


@given(st.lists(st.lists(st.text(alphabet='ab,"\n\r é', max_size=4), min_size=2, max_size=2), max_size=8))
def test_what_python_writes_is_read(table: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(table)
    read, bad = _parsed(written.getvalue().encode(), ["a", "b"])
    assert [[value.decode() for value in row.values()] for row in read.to_pylist()] == table and not bad


@given(st.text(alphabet='a,"\n\r', max_size=40).map(str.encode))
def test_the_parser_sees_the_records_that_the_cutter_sees(text: bytes) -> None:
    good = sieve(text, final=True, width=2)[0].records
    read, bad = _parsed(good, ["a", "b"])
    assert not bad
    records = []
    place = good
    while place:
        head, used = first_record(io.BytesIO(place))
        assert head is not None
        if head:
            records.append([field or None for field in fields(head)])
        place = place[used:]
    assert [[value or None for value in row.values()] for row in read.to_pylist()] == records
