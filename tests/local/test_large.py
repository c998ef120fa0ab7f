"""Tables large enough for real panes, rounds and rebuilt indexes, against DuckDB."""

from functools import lru_cache

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from anabranch import local

ROWS = 20_000  # of each stream: two rounds and more, hundreds of panes
AB, BC, AC = "abs(A.ts - B.ts)", "abs(B.ts - C.ts)", "abs(A.ts - C.ts)"
QUERIES = {  # FROM, WHERE, the windows, and what they mean
    "a key": (
        "a A, b B, c C",
        "A.k = B.k AND B.k = C.k",
        "WINDOW = 900",
        f"{AB} <= 900 AND {BC} <= 900 AND {AC} <= 900",
    ),
    "a key of two columns": ("a A, b B", "A.k = B.k AND A.g = B.g", "WINDOW (A, B) < 8000", f"{AB} < 8000"),
    "a path": (
        "a A, b B, c C",
        "A.k = B.k AND B.g = C.k",
        "DWINDOW (A, B) = 2000 AND WINDOW (B, C) = 300",
        f"B.ts - A.ts BETWEEN 0 AND 2000 AND {BC} <= 300",
    ),
    "a band": (
        "a A, b B",
        "abs(A.v - B.v) <= 0.001",
        "WINDOW (A, B) BETWEEN 100 AND 2000",
        "B.ts - A.ts BETWEEN 100 AND 2000",
    ),
    "windows alone": ("a A, b B", "true", "WINDOW = 3", f"{AB} <= 3"),
    "a text": ("a A, b B", "A.s = B.s", "WINDOW = 900", f"{AB} <= 900"),
    "a self-join": ("a A, a B", "A.k = B.k AND A.id < B.id", "WINDOW = 2000", f"{AB} <= 2000"),
}


def stream(seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    key = random.integers(0, 300, ROWS)
    return pa.table(
        {
            "ts": np.sort(random.integers(0, 3 * ROWS, ROWS)) - random.integers(0, 50, ROWS),
            "id": np.arange(ROWS),
            "k": pa.array(key, mask=random.random(ROWS) < 0.01),
            "g": random.integers(0, 300, ROWS),
            "v": random.random(ROWS),
            "s": pa.array([f"key {each}" for each in key]),
        }
    )


TABLES = {name: stream(seed) for seed, name in enumerate("abc")}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("pushes", [1, 37])
def test_large_tables_agree_with_duckdb(name: str, pushes: int) -> None:
    tables, where, window, meaning = QUERIES[name]
    aliases = [part.split()[1] for part in tables.split(", ")]
    ids = ", ".join(f"{alias}.id AS {alias}" for alias in aliases)
    right = answered(f"SELECT {ids} FROM {tables} WHERE {where} AND {meaning} ORDER BY ALL")
    text = f"SELECT {ids} FROM {tables} WHERE {where} {window}"
    found = local.sql(text, TABLES) if pushes == 1 else pushed(text, pushes)
    assert found.num_rows > 1_000
    assert found.sort_by([(alias, "ascending") for alias in aliases]).equals(right)


@lru_cache
def answered(text: str) -> pa.Table:
    """What DuckDB says."""
    connection = duckdb.connect(config={"threads": 1})
    for each, rows in TABLES.items():
        connection.register(each, rows)
    return connection.sql(text).to_arrow_table()


def pushed(text: str, pushes: int) -> pa.Table:
    """The answer of a session that gets the rows little by little."""
    streams = {name: rows for name, rows in TABLES.items() if f"{name} " in text}
    lateness = dict.fromkeys(streams, 50)
    session = local.start(text, {n: t.schema for n, t in TABLES.items()}, options=local.Options(lateness=lateness))
    found, most = [], 0
    for i in range(pushes):
        start, stop = ROWS * i // pushes, ROWS * (i + 1) // pushes
        found += session.push({name: rows.slice(start, stop - start).to_batches()[0] for name, rows in streams.items()})
        most = max(most, session.metrics.buffered_tuples)
    assert most < len(streams) * ROWS / 2, "nothing is forgotten"
    assert all(stream.late == 0 for stream in session.metrics.streams.values())
    return pa.concat_tables([session.schema.empty_table(), *found, *session.finish()])
