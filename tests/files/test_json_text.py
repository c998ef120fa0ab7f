from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.files import row_json, rows_json
from anabranch.files.json_text import json_texts

M = datetime(2026, 1, 31, 12, 0, 0, 5)

VALUES = [
    (pa.array([2**63 - 1, None, -1]), ["9223372036854775807", "null", "-1"]),
    (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
    (pa.array([1.0, 0.1, 1e300, -0.0]), ["1.0", "0.1", "1e+300", "-0.0"]),
    (pa.array([float("nan"), float("inf"), float("-inf")]), ['"NaN"', '"Infinity"', '"-Infinity"']),
    (pa.array([0.1, None], pa.float32()), ["0.1", "null"]),
    (pa.array([1.5], pa.float16()), ["1.5"]),
    (pa.array([True, None]), ["true", "null"]),
    (pa.array(["é", 'a"b', "\n\0\\", "", None]), ['"é"', '"a\\"b"', '"\\n\\u0000\\\\"', '""', "null"]),
    (pa.array(["x"], pa.large_string()), ['"x"']),
    (pa.array(["x", None], pa.string_view()), ['"x"', "null"]),
    (pa.array(["x", None]).dictionary_encode(), ['"x"', "null"]),
    (pa.array([b"\xff\x00", None]), ['"/wA="', "null"]),
    (pa.array([b"ab"], pa.binary(2)), ['"YWI="']),
    (pa.array([Decimal("12345678901234567890.10")]), ["12345678901234567890.10"]),
    (pa.array([M, None]), ['"2026-01-31T12:00:00.000005"', "null"]),
    (pa.array([M], pa.timestamp("us", "UTC")), ['"2026-01-31T12:00:00.000005Z"']),
    (pa.array([0], pa.timestamp("s", "Asia/Tokyo")), ['"1970-01-01T00:00:00Z"']),
    (pa.array([-1], pa.timestamp("ns")), ['"1969-12-31T23:59:59.999999999"']),
    (pa.array([2**62, -(2**63)], pa.timestamp("us")), ["4611686018427387904", "-9223372036854775808"]),
    (pa.array([2**62, 0], pa.timestamp("us", "UTC")), ["4611686018427387904", '"1970-01-01T00:00:00.000000Z"']),
    (pa.array([date(2026, 1, 31)]), ['"2026-01-31"']),
    (pa.array([2**31 - 1], pa.date32()), ["2147483647"]),
    (pa.array([time(12, 30)]), ['"12:30:00.000000"']),
    (pa.array([timedelta(seconds=5)], pa.duration("ms")), ["5000"]),
    (pa.array([[1, None], [], None]), ["[1, null]", "[]", "null"]),
    (pa.array([[[M]]]), ['[["2026-01-31T12:00:00.000005"]]']),
    (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), ["[1, 2]", "null"]),
    (pa.array([{"a": 1, "b": ["x"]}, None]), ['{"a": 1, "b": ["x"]}', "null"]),
    (pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())), ['{"k": 1}', "null", "{}"]),
    (pa.array([[(1, "v")]], pa.map_(pa.int64(), pa.string())), ['[[1, "v"]]']),
    (pa.nulls(2), ["null", "null"]),
]


@pytest.mark.parametrize(
    ("column", "texts"), VALUES, ids=[f"{column.type} {i}" for i, (column, _) in enumerate(VALUES)]
)
def test_values(column: pa.Array, texts: list[str]) -> None:
    assert json_texts(column).to_pylist() == texts
    padded = pa.concat_arrays([column, column]).slice(1, len(column))
    assert json_texts(padded).to_pylist() == (texts + texts)[1 : len(texts) + 1]
    for text in texts:
        json.loads(text)


def test_rows() -> None:
    batch = pa.record_batch({"a": [1, 2], 'b"': ["x", None]})
    assert rows_json(batch).to_pylist() == ['{"a": 1, "b\\"": "x"}', '{"a": 2, "b\\"": null}']
    assert row_json(batch, 1) == '{"a": 2, "b\\"": null}'
    assert rows_json(batch.select([])).to_pylist() == ["{}", "{}"]
    assert rows_json(batch.slice(0, 0)).to_pylist() == []


scalars = st.one_of(st.integers(-(2**63), 2**63 - 1), st.none())


@given(st.lists(st.tuples(scalars, st.text(), st.floats(allow_nan=False, allow_infinity=False)), max_size=5))
@settings(max_examples=30)
def test_python_reads_back_what_was_written(rows: list[tuple[int | None, str, float]]) -> None:
    batch = pa.record_batch([pa.array(c) for c in zip(*rows, strict=True)] if rows else [], names="isf" if rows else [])
    assert [tuple(json.loads(text).values()) for text in rows_json(batch).to_pylist()] == rows
