"""What a printed table shows: what the files would hold, whatever Python cannot."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest

from anabranch.cli.table import TablePrinter

FAR = 2**63 - 2  # microseconds: the year 294247

COLUMNS = [
    (pa.array([FAR, 0, None], pa.timestamp("us")), [str(FAR), "1970-01-01 00:00:00.000000", "NULL"]),
    (pa.array([FAR, 0], pa.timestamp("us", "UTC")), [str(FAR), "1970-01-01 00:00:00.000000Z"]),
    (pa.array([1], pa.timestamp("ns")), ["1970-01-01 00:00:00.000000001"]),
    (pa.array([0], pa.timestamp("s", "Asia/Tokyo")), ["1970-01-01 00:00:00Z"]),
    (pa.array([2**31 - 1, 0], pa.date32()), ["2147483647", "1970-01-01"]),
    (pa.array([1], pa.time64("ns")), ["00:00:00.000000001"]),
    (pa.array([5_000_000], pa.duration("us")), ["0:00:05"]),
    (pa.array([2**62], pa.duration("s")), [str(2**62)]),
    (pa.array([[2**62], None, [1]], pa.list_(pa.timestamp("us"))),
     [f"[{2**62}]", "NULL", '["1970-01-01T00:00:00.000001"]']),
    (pa.array([{"a": date(2026, 1, 31), "b": None}]), ['{"a": "2026-01-31", "b": null}']),
    (pa.array([True, None]), ["true", "NULL"]),
    (pa.array([1.0, 0.5]), ["1.0", "0.5"]),
    (pa.array(["T"]), ["T"]),
]  # fmt: skip


@pytest.mark.parametrize(("column", "texts"), COLUMNS, ids=[f"{column.type}" for column, _ in COLUMNS])
def test_values(column: pa.Array, texts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"x": column})
    printer = TablePrinter(table.schema)
    printer.write(table)
    printer.finish()
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[2:]] == texts
