"""Two small streams, the query that joins them and its answer, and ways to write and read them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

UTC_US = pa.timestamp("us", "UTC")
BASE = datetime(2024, 1, 1, tzinfo=UTC)
QUERY = "SELECT A.k AS k, A.v AS a, B.v AS b FROM one A, two B WHERE A.k = B.k WINDOW = 5"
ONE = [(0, 1, 1.0), (10, 1, 2.0), (12, 2, 3.0), (30, 2, None)]
TWO = [(4, 1, 5.0), (15, 2, 6.0), (16, 1, 7.0), (35, 2, 8.0), (36, 2, 9.0)]
LATE = [(0, 1, 1.0), (20, 1, 2.0), (14, 1, 3.0), (21, 1, 4.0)]
MATCHES = [(1, 1.0, 5.0), (2, 3.0, 6.0), (2, None, 8.0)]

Row = tuple[Any, ...]


def stream(path: str, rows: Sequence[Row], **types: pa.DataType) -> str:
    """A Parquet file of ``ts, k, v``."""
    names, kinds = ("ts", "k", "v"), {"ts": pa.int64(), "k": pa.int64(), "v": pa.float64(), **types}
    columns = [pa.array([row[place] for row in rows], kinds[name]) for place, name in enumerate(names)]
    pq.write_table(pa.table(columns, names=list(names)), path)
    return path


def at(rows: Sequence[Row]) -> list[Row]:
    """The rows with seconds of a day for their ticks."""
    return [(BASE + timedelta(seconds=row[0]), *row[1:]) for row in rows]


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def rows(path: str) -> list[Row]:
    return sorted((tuple(row.values()) for row in pq.read_table(path).to_pylist()), key=repr)


def printed(out: str) -> list[list[str]]:
    """The words of a table on standard output, without its rule."""
    return [line.split() for line in out.splitlines() if not set(line) <= {"-", " "}]


PAIRS = [(a, b) for a in ONE for b in TWO if a[1] == b[1] and abs(a[0] - b[0]) <= 5]
