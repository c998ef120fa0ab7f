"""Compiled conditions over awkward numbers: the same rows as the SQL engine keeps of all candidates."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from anabranch import local
from anabranch.engine.duck import Refine
from anabranch.plan.lower import lower
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse
from anabranch.plan.sql.dialect import Anabranch

LONGS = [0, 1, -1, 2, -3, 7, 2**31, 2**40, -(2**40), 2**63 - 1, -(2**63), None]
INTS = [0, 1, -1, 2, -3, 7, 9, 46341, -46341, 2**31 - 1, -(2**31), None]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.0, 3.0, math.nan, math.inf, -math.inf, None]
ROWS = pa.table(
    {
        "ts": pa.array([0] * 12),
        "id": pa.array(range(12)),
        "l": pa.array(LONGS, pa.int64()),
        "i": pa.array(INTS, pa.int32()),
        "d": pa.array(DOUBLES),
    }
)
STREAMS = {name: Stream(name, ROWS.schema) for name in ("one", "two")}


def compiled(condition: str) -> set[tuple[int, int]]:
    """Pairs that the loop keeps; the condition has to be in it."""
    query = f"SELECT A.id AS a, B.id AS b FROM one A, two B WHERE {condition} WINDOW = 0"
    assert len(lower(parse(query, STREAMS).joins[0]).compiled) == 1
    return {(row["a"], row["b"]) for row in local.sql(query, {"one": ROWS, "two": ROWS}).to_pylist()}


def refined(condition: str) -> set[tuple[int, int]]:
    """Pairs that the SQL engine keeps."""
    pairs = [(a, b) for a in range(len(ROWS)) for b in range(len(ROWS))]
    columns = {f"A.{name}": ROWS.column(name).take(pa.array([a for a, _ in pairs])) for name in ("l", "i", "d")}
    columns |= {f"B.{name}": ROWS.column(name).take(pa.array([b for _, b in pairs])) for name in ("l", "i", "d")}
    candidates = pa.table(columns)
    select = sqlglot.parse_one(f"SELECT {condition}", dialect=Anabranch)
    assert isinstance(select, exp.Select)
    kept = Refine(select.expressions, candidates.schema).mask(candidates)
    return {pair for pair, keep in zip(pairs, kept, strict=True) if keep}


@pytest.mark.parametrize(
    "condition",
    [
        "A.l + B.l <= 100",
        "A.l - B.l <= 100",
        "A.l * B.l <= 100",
        "A.l * B.l IS NULL",
        "NOT A.l * B.l <= 100",
        "-(A.l * B.l) <= 100",
        "abs(A.l + B.l) > 1",
        "A.l * A.l * B.l = 0",
        "A.l % B.l < 0",
        "A.l div B.l <= 0",
        "A.i * B.i <= 100",
        "A.i + B.i <= 100",
        "A.i * 65536 - B.i > 3",
        "A.l * B.i <= 7",
        "CAST(A.d * B.i AS INT) < 2",
        "pow(A.d, B.d) <= 1",
        "pow(A.d, B.d) > 1",
        "pow(A.i, B.d) = 1",
        "A.d / B.d > 1",
        "A.d % B.d <= 1",
        "CAST(A.d * 9223372036854775807D AS BIGINT) > B.l",
    ],
)
def test_the_loop_and_the_sql_engine_agree(condition: str) -> None:
    assert compiled(condition) == refined(condition)
