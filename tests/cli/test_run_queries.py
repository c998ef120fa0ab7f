"""Queries of every shape, and the user's functions in them, through the command line."""

from __future__ import annotations

import math
import os
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Run
from tests.cli.streams import BASE, ONE, PAIRS, TWO, UTC_US, Row, at, rows, stream


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT A.ts AS a, B.ts AS b FROM one A, one B WINDOW = 2",
            [(t, t) for t, _, _ in ONE] + [(10, 12), (12, 10)],
        ),
        (
            "SELECT A.ts AS t FROM one A, two B WHERE A.k = B.k DWINDOW (A, B) = 5"
            " UNION ALL SELECT B.ts AS t FROM one A, two B WHERE A.k = B.k DWINDOW (B, A) = 6",
            [(a[0],) for a, b in PAIRS if a[0] <= b[0]]
            + [(b[0],) for a in ONE for b in TWO if a[1] == b[1] and 0 <= a[0] - b[0] <= 6],
        ),
        (
            "WITH near AS (SELECT A.k AS k, B.ts - A.ts AS lag FROM one A, two B WHERE A.k = B.k WINDOW = 5)"
            " SELECT k, lag FROM near WHERE lag > 3",
            [(a[1], b[0] - a[0]) for a, b in PAIRS if b[0] - a[0] > 3],
        ),
        (
            "CREATE VIEW near AS SELECT A.k AS k FROM one A JOIN two B ON A.k = B.k WINDOW = 5",
            [(a[1],) for a, _ in PAIRS],
        ),
        (
            "SELECT A.k AS k, count(*) AS n, max(B.v) AS m FROM one A, two B WHERE A.k = B.k WINDOW = 5 GROUP BY A.k",
            [(1, 1, 5.0), (2, 2, 8.0)],
        ),
        (
            "SELECT A.ts AS a, B.ts AS b FROM one A, two B WHERE A.k = B.k WINDOW = 5 ORDER BY B.ts DESC LIMIT 2",
            [(30, 35), (12, 15)],
        ),
        (
            "SELECT match_start() AS s, match_time() AS t FROM one A, two B WHERE A.k = B.k WINDOW = 5",
            [(min(a[0], b[0]), max(a[0], b[0])) for a, b in PAIRS],
        ),
        (
            "SELECT A.ts AS a, B.ts AS b, C.ts AS c FROM one A, two B, two C WHERE A.k = B.k WINDOW = 5",
            [(a[0], b[0], c[0]) for a, b in PAIRS for c in TWO if abs(a[0] - c[0]) <= 5 and abs(b[0] - c[0]) <= 5],
        ),
    ],
    ids=["self-join", "both directions", "CTE", "view", "group", "order", "match time", "no key"],
)
def test_queries(run: Run, query: str, expected: list[Row]) -> None:
    done = run(query)
    assert done.status == 0, done.err
    assert rows("out.parquet") == sorted(expected, key=repr)


def test_order_is_kept(run: Run) -> None:
    query = "SELECT A.ts AS a, B.ts AS b FROM one A, two B WHERE A.k = B.k WINDOW = 5 ORDER BY B.ts DESC, a"
    run(query)
    found = [tuple(row.values()) for row in pq.read_table("out.parquet").to_pylist()]
    assert found == sorted(((a[0], b[0]) for a, b in PAIRS), key=lambda row: -row[1])


def test_groups_by_a_window_of_time(run: Run) -> None:
    streams = {"one": stream("one.parquet", at(ONE), ts=UTC_US), "two": stream("two.parquet", at(TWO), ts=UTC_US)}
    query = (
        "SELECT window.start AS begun, count(*) AS n FROM one A, two B WHERE A.k = B.k WINDOW = 5 SECONDS"
        " GROUP BY window(match_time(), '30 seconds')"
    )
    done = run(query, streams=streams)
    assert done.status == 0, done.err
    expected: dict[datetime, int] = {}
    for a, b in PAIRS:
        begun = BASE + timedelta(seconds=max(a[0], b[0]) // 30 * 30)
        expected[begun] = expected.get(begun, 0) + 1
    assert dict(rows("out.parquet")) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("A.v % 2 = -1.5", [-5.5]),
        ("A.v % 2 > 1", [1.5, math.nan, math.inf]),  # of infinity it is NaN, which is the greatest
        ("A.v % (A.v - A.v) > 0", [math.nan, math.inf]),
        ("ln(A.v) > 1", [math.nan, math.inf]),
        ("ln(A.v) < 1", [1.5]),
        ("sqrt(A.v) < 1", [0.0]),
        ("sqrt(A.v) > 2", [-5.5, math.nan, math.inf]),
    ],
)
def test_conditions_on_doubles(run: Run, condition: str, expected: list[float]) -> None:
    values = [1.5, -5.5, 0.0, math.nan, math.inf, None]
    streams = {"one": stream("one.parquet", [(0, 1, value) for value in values])}
    done = run(f"SELECT A.v AS v FROM one A, one [ROWS 1] B WHERE {condition} WINDOW = 0", streams=streams)
    assert done.status == 0, done.err
    assert sorted(map(repr, (row[0] for row in rows("out.parquet")))) == sorted(map(repr, expected))


# -- functions --------------------------------------------------------------------------------

FUNCTIONS = """
import math

import numpy as np

from anabranch.plan.functions import vectorized

def near(x, y):
    return abs(x - y) < 4.5

def alike(x, y):
    return {1: "one", 2: "two"}[x] == {"one": "one", "two": "two"}[y] if x < 3 else None

@vectorized
def far(x, y):
    return np.abs(x - y) > 4.5

def raises(x, y):
    if x > 2:
        raise ValueError("no")
    return True

def interpreted(x, y):
    return {}[str(x)]

def divides(x, y):
    return 1 // (x - x) > 0

def leaves(x, y):
    import sys

    sys.exit("enough")

def words(x):
    return len(str(x))  # numba has no text of numbers

def always():
    return str(1) == "1"

def odd(x, y):
    return {1.0: None, 2.0: math.nan, 3.0: "text"}.get(x, x > y)

def huge(x, y):
    return int(str(2**53 + 1))

def imports(x, y):
    from operator import eq

    return eq(x, y)
"""
NAMES = {1: "one", 2: "two"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("near(A.v, B.v)", [a[2] for a, b in PAIRS if a[2] is not None and abs(a[2] - b[2]) < 4.5]),
        ("far(A.v, B.v)", [a[2] for a, b in PAIRS if a[2] is not None and abs(a[2] - b[2]) > 4.5]),
        ("alike(A.k, B.name)", [a[2] for a, b in PAIRS]),
        ("imports(A.k, B.k)", [a[2] for a, b in PAIRS]),
        ("(A.k = 1 OR alike(A.k, B.name))", [a[2] for a, b in PAIRS]),
        ("NOT (alike(A.k, B.name))", []),
        ("alike(A.k, B.name) = TRUE", [a[2] for a, b in PAIRS]),
        ("alike(A.k, B.name) <> (A.v > 0)", []),
        ("words(A.k) = words(B.k)", [a[2] for a, b in PAIRS]),
        ("words(-2.5) = 4 AND words(TRUE) = 4", [a[2] for a, b in PAIRS]),
        ("always()", [a[2] for a, b in PAIRS]),
        ("words(NULL) IS NULL", [a[2] for a, b in PAIRS]),
        ("words(A.k) IN (1, 2)", [a[2] for a, b in PAIRS]),
        ("-words(A.k) < 0", [a[2] for a, b in PAIRS]),
        ("NOT odd(A.k, B.v)", []),
        ("odd(A.k, B.v) IS NULL", [a[2] for a, b in PAIRS]),
        (
            "(NOT near(A.v, B.v) OR near(A.v, 1))",
            [a[2] for a, b in PAIRS if a[2] is not None and (abs(a[2] - b[2]) >= 4.5 or abs(a[2] - 1) < 4.5)],
        ),
    ],
)
def test_functions(run: Run, condition: str, expected: list[float]) -> None:
    Path("mine.py").write_text(FUNCTIONS, encoding="utf-8")
    two = pq.read_table(stream("two.parquet", TWO))
    pq.write_table(two.append_column("name", pa.array([NAMES[k] for _, k, _ in TWO])), "two.parquet")
    query = f"SELECT A.v AS v FROM one A, two B WHERE A.k = B.k AND {condition} WINDOW = 5"
    streams = {"one": stream("one.parquet", ONE), "two": "two.parquet"}
    done = run(query, "--functions", "mine.py", "--output", "out.parquet", streams=streams)
    assert done.status == 0, done.err
    assert [row[0] for row in rows("out.parquet")] == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("odd(A.k + 0, B.v)", "line 1, column 45: the argument A.k + 0 of a Python function is neither a column"),
        ("odd(A.k)", "line 1, column 41: odd() does not take 1 argument: missing a required argument: 'y'; it is"),
        ("near(A.k, B.k, 1)", "near() does not take 3 arguments: too many positional arguments; it is near(x, y)"),
        ("NOT odd(3, B.v)", "'odd' returned 'text', which is neither a boolean nor a number"),
        ("odd(3, B.v) > 0", "'odd' returned 'text', which is no number that a double can hold"),
        ("huge(A.k, B.v) > 0", "'huge' returned 9007199254740993, which is no number that a double can hold"),
    ],
)
def test_what_a_function_may_not_be_given_or_return(run: Run, condition: str, said: str) -> None:
    Path("mine.py").write_text(FUNCTIONS, encoding="utf-8")
    done = run(f"SELECT A.v AS v FROM one A, two B WHERE {condition} WINDOW = 5", "--functions", "mine.py", "--quiet")
    assert (done.status, done.out) == (1, "")
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("name", ["raises", "interpreted", "divides", "leaves"])
def test_a_function_that_raises_ends_the_run(run: Run, name: str) -> None:
    Path("mine.py").write_text(FUNCTIONS, encoding="utf-8")
    done = run(
        f"SELECT A.v AS v FROM one A, two B WHERE {name}(A.v, B.k) WINDOW = 5",
        "--functions",
        "mine.py",
        "--output",
        "out.csv",
    )
    assert done.status == 1
    assert f"'{name}' raised" in done.err
    assert done.err.startswith("anabranch: ")
    assert done.err.count("\n") == 1
    assert not [file for file in os.listdir() if "out" in file]
