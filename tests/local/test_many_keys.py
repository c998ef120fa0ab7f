"""Streams that are equal in more columns than an index, or a mask, has room for."""

import pyarrow as pa
import pytest

from anabranch import local


@pytest.mark.parametrize("columns", [16, 17, 62, 70])
@pytest.mark.parametrize("text", [False, True])
def test_all_of_many_columns_are_equal(columns: int, text: bool) -> None:
    names = [f"k{i}" for i in range(columns)]
    rows = [[n % 2 if i == columns - 1 else 7 for n in range(4)] for i in range(columns)]  # they differ in the last
    keys = [pa.array(map(str, row)) if text else pa.array(row) for row in rows]
    table = pa.table([*keys, pa.array(range(4)), pa.array(range(4))], names=[*names, "id", "ts"])
    on = " AND ".join(f"A.{name} = B.{name}" for name in names)
    found = local.sql(f"SELECT A.id AS a, B.id AS b FROM s A, s B WHERE {on} WINDOW = 9", {"s": table})
    assert sorted((row["a"], row["b"]) for row in found.to_pylist()) == [
        (a, b) for a in range(4) for b in range(4) if a % 2 == b % 2
    ]
