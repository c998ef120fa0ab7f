"""Queries that another program has written: thousands of conditions, long lists, long sums."""

from __future__ import annotations

import pyarrow as pa
import pytest

from anabranch import local
from anabranch.core.errors import Refused
from anabranch.plan.lower import MOST_COMPILED, lower
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse

ROWS = pa.table({"ts": range(9), "k": range(9), "s": [str(k) for k in range(9)]})
MANY = range(2, 1_000)


def answer(where: str) -> list[tuple[int, int]]:
    """The keys of A and B that match, where times are equal."""
    query = f"SELECT A.k AS a, B.k AS b FROM one A, two B WHERE A.ts = B.ts AND {where} WINDOW = 5"
    return sorted(tuple(row.values()) for row in local.sql(query, {"one": ROWS, "two": ROWS}).to_pylist())


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        (" AND ".join(f"A.k <> {k}" for k in MANY), [0, 1]),
        (" AND ".join(f"A.k + B.k <> {k}" for k in MANY), [0]),
        (" AND ".join(f"A.s <> '{k}' AND B.k <> {k} - 1" for k in MANY), [0]),
        (f"({' OR '.join(f'A.k = {k}' for k in MANY)})", [2, 3, 4, 5, 6, 7, 8]),
        (f"({' OR '.join(f'A.k + B.k = {k}' for k in MANY)})", [1, 2, 3, 4, 5, 6, 7, 8]),
        (f"A.k IN ({', '.join(map(str, MANY))})", [2, 3, 4, 5, 6, 7, 8]),
        (" AND ".join(["A.k = B.k"] * 100), [*range(9)]),
        (" AND ".join(["A.s = B.s"] * 100), [*range(9)]),
        ("+".join(["A.k"] * 20) + " > 100", [6, 7, 8]),
    ],
    ids=["filters", "between streams", "texts", "or", "or between streams", "in", "keys", "hashes", "sum"],
)
def test_it_is_answered(where: str, kept: list[int]) -> None:
    assert answer(where) == [(k, k) for k in kept]


def test_equalities_are_keys_however_many_conditions_come_first() -> None:
    where = " AND ".join(f"A.k <> {k} AND B.s <> '{k}'" for k in MANY)
    query = f"SELECT A.k FROM one A, two B WHERE {where} AND A.k > B.ts AND A.k = B.k WINDOW = 5"
    streams = {name: Stream(name, ROWS.schema) for name in ("one", "two")}
    program = lower(parse(query, streams).joins[0]).program
    assert program.conjuncts[0].key == 0 and len(program.conjuncts) == MOST_COMPILED
    assert [lane.kind for lane in program.lanes[0]].count("filter") == 1
    assert [lane.kind for lane in program.lanes[1]].count("filter") == 1
    assert any(len(conjunct.streams) == 2 and conjunct.key is None for conjunct in program.conjuncts)


def test_a_count_window_counts_rows_that_fail_a_filter() -> None:
    query = "SELECT A.k AS a FROM one [ROWS 2] A, two B WHERE A.s <> '8' AND B.ts = 8 WINDOW = 5"
    assert local.sql(query, {"one": ROWS, "two": ROWS}).to_pylist() == [{"a": 7}]


@pytest.mark.parametrize("sum_of", [110, 400])
def test_long_sums_are_refused(sum_of: int) -> None:
    long = "+".join(["A.k"] * sum_of)
    with pytest.raises(
        Refused, match=r"^line 1, column [0-9]+: a condition is nested too deeply; compute a part of it"
    ):
        answer(f"{long} > 3")


def test_long_sums_in_the_select_list_are_refused_in_one_line() -> None:
    with pytest.raises(Refused, match=r"^an expression is nested too deeply; compute a part of it in a CTE$"):
        local.sql(f"SELECT {'+'.join(['A.k'] * 300)} AS x FROM one A, two B WINDOW = 5", {"one": ROWS, "two": ROWS})
