"""From the window constraints of a query to difference bounds."""

from collections.abc import Mapping

import duckdb
import pytest

from anabranch.core.ticks import FOREVER
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse


@pytest.mark.table("windows.txt", "source, bounds")
def test_bounds(source: str, bounds: str, streams: Mapping[str, Stream]) -> None:
    windows = parse(f"SELECT count(*) FROM {source}", streams).joins[0].windows
    given = {
        (earlier, later): int(windows.given[i, j])
        for i, earlier in enumerate(windows.streams)
        for j, later in enumerate(windows.streams)
        if i != j and windows.given[i, j] != FOREVER
    }
    assert given == _bounds(bounds)


@pytest.mark.parametrize(
    "condition",
    [
        "B.ts - A.ts <= 5",
        "B.ts - A.ts < 5",
        "A.ts - B.ts >= -2.5",
        "-(A.ts - 1) > 3 - B.ts",
        "B.ts BETWEEN A.ts - 3 AND A.ts + 5",
        "abs(A.ts - B.ts + 1) < 4",
        "2 * B.ts <= 2 * A.ts + 7",
        "3 > (B.ts - A.ts) * 2",
        "A.ts + 2 = B.ts",
        "A.ts <=> B.ts",
    ],
)
def test_a_comparison_of_times_says_what_its_bounds_say(condition: str, streams: Mapping[str, Stream]) -> None:
    join = parse(f"SELECT A.id FROM tick1 A, tick2 B WHERE {condition}", streams, batch=True).joins[0]
    kept = f"SELECT A.ts, B.ts FROM range(-9, 10) A(ts), range(-9, 10) B(ts) WHERE {join.where[0].sql('duckdb')}"
    bounds = [(bound.earlier, bound.later, bound.ticks) for bound in join.windows.bounds]
    within = {
        (a, b)
        for a in range(-9, 10)
        for b in range(-9, 10)
        if all((b - a if later == "B" else a - b) <= ticks for _, later, ticks in bounds)
    }
    assert set(duckdb.sql(kept).fetchall()) == within != set()


def test_a_bound_keeps_the_words_of_the_user(streams: Mapping[str, Stream]) -> None:
    query = "SELECT A.id FROM tick1 [RANGE  5] A, tick2 B WINDOW (A,B)\n = 7 WHERE abs(A.ts - B.ts) < 9"
    clauses = {bound.clause for bound in parse(query, streams).joins[0].windows.bounds}
    assert clauses == {"tick1 [RANGE 5]", "WINDOW (A,B) = 7", "abs(A.ts - B.ts) < 9"}


def test_batch_needs_no_bound(streams: Mapping[str, Stream]) -> None:
    join = parse("SELECT A.id FROM tick1 A, tick2 B", streams, batch=True).joins[0]
    assert join.windows.bounds == ()


def test_count_windows(streams: Mapping[str, Stream]) -> None:
    join = parse("SELECT A.id FROM tick1 [ROWS 3] A, tick2 B WINDOW = 5", streams).joins[0]
    assert join.windows.counts == (3, None)
    assert [member.rows for member in join.members] == [3, None]


def _bounds(text: str) -> dict[tuple[str, str], int]:
    """``A-B -3..5`` as bounds on both differences."""
    given: dict[tuple[str, str], int] = {}
    for band in text.split(","):
        pair, reach = band.split()
        a, b = pair.split("-")
        low, high = reach.split("..")
        given |= {(a, b): int(high)} if high else {}
        given |= {(b, a): -int(low)} if low else {}
    return given
