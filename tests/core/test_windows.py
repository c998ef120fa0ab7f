from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.windows import Bound, Windows

NAMES = "abcd"


@st.composite
def bounds(draw: st.DrawFn) -> tuple[str, list[Bound]]:
    streams = NAMES[: draw(st.integers(2, 4))]
    pair = st.sampled_from(list(permutations(streams, 2)))
    drawn = draw(st.lists(st.tuples(pair, st.integers(-4, 8) | st.just(FOREVER)), max_size=8))
    return streams, [Bound(a, b, ticks, f"{b} - {a} <= {ticks}") for (a, b), ticks in drawn]


def paths(streams: str, given: list[Bound], a: str, b: str) -> list[int]:
    """The length of every simple path from a to b (of every cycle through a, if they are one)."""
    least = {(x.earlier, x.later): x.ticks for x in sorted(given, key=lambda x: -x.ticks)}
    found = []
    for size in range(len(streams)):
        for middle in permutations([s for s in streams if s not in (a, b)], size):
            steps = list(zip((a, *middle), (*middle, b), strict=True))
            if steps != [(a, a)] and all(step in least and least[step] != FOREVER for step in steps):
                found.append(sum(least[step] for step in steps))
    return found


@given(bounds())
def test_closing_is_the_shortest_path(drawn: tuple[str, list[Bound]]) -> None:
    streams, given_ = drawn
    contradictory = any(min(paths(streams, given_, a, a), default=0) < 0 for a in streams)
    try:
        windows = Windows.of(streams, given_)
    except Refused:
        assert contradictory
        return
    assert not contradictory
    for (i, a), (j, b) in product(enumerate(streams), repeat=2):
        assert windows.closed[i, j] == (0 if a == b else min(paths(streams, given_, a, b), default=FOREVER))


@given(bounds())
def test_a_contradiction_names_a_cycle_of_clauses(drawn: tuple[str, list[Bound]]) -> None:
    streams, given_ = drawn
    try:
        Windows.of(streams, given_)
    except Refused as refusal:
        clauses = refusal.what.removeprefix("the windows contradict each other: ").split(" and ")
        named = [bound for bound in given_ if bound.clause in clauses]
        assert {bound.clause for bound in named} == set(clauses)
        total = int(refusal.hint.split("add up to ")[1].split(",")[0])
        assert total < 0
        assert total == sum({bound.clause: bound.ticks for bound in named}.values())
        around = refusal.hint.split("around ")[1].split(" the bounds")[0].split(" -> ")
        assert around[0] == around[-1]
        assert {(b.earlier, b.later) for b in named} == set(pairwise(around))


def test_a_contradiction_is_told_in_the_words_of_the_user() -> None:
    given_ = [Bound("A", "B", 5, "WINDOW (A, B) = 5"), Bound("B", "A", 5, "WINDOW (A, B) = 5")]
    with pytest.raises(Refused) as refusal:
        Windows.of("AB", [*given_, Bound("B", "A", -6, "B.ts > A.ts + 5")])
    assert str(refusal.value) == (
        "the windows contradict each other: WINDOW (A, B) = 5 and B.ts > A.ts + 5; around A -> B -> A the bounds add"
        " up to -1, which must not be negative"
    )


def test_a_bound_without_words_is_spelled() -> None:
    with pytest.raises(Refused, match=r"b - a <= -1 and a - b <= 0|a - b <= 0 and b - a <= -1"):
        Windows.of("ab", [Bound("a", "b", -1), Bound("b", "a", 0)])


def test_the_tightest_of_several_bounds_is_given() -> None:
    windows = Windows.of("ab", [Bound("a", "b", 7), Bound("a", "b", 5), Bound("a", "b", FOREVER), Bound("b", "a", 9)])
    assert windows.given.tolist() == windows.closed.tolist() == [[0, 5], [9, 0]]


def test_sums_beyond_the_axis_are_no_bound() -> None:
    long = FOREVER - 1
    windows = Windows.of("abc", [Bound("a", "b", long), Bound("b", "c", long)])
    assert windows.closed[0].tolist() == [0, long, FOREVER]


def test_what_can_never_forget() -> None:
    windows = Windows.of("abc", [Bound("a", "b", 5), Bound("b", "a", 5), Bound("c", "b", 1)])
    assert windows.unbounded() == [("a", "c"), ("b", "c")]
    counted = Windows.of("abc", windows.bounds, {"b": 3})
    assert counted.unbounded() == [("a", "c")]
    assert counted.counts == (None, 3, None)


@given(bounds(), st.data())
def test_a_probe_range_holds_exactly_what_the_bounds_allow(drawn: tuple[str, list[Bound]], data: st.DataObject) -> None:
    streams, given_ = drawn
    try:
        windows = Windows.of(streams, given_)
    except Refused:
        return
    k, *bound = data.draw(st.permutations(range(len(streams))))
    times = {a: data.draw(st.integers(-5, 5)) for a in bound[: data.draw(st.integers(0, len(bound)))]}
    low, high = windows.probe(k, times)
    for t in range(-20, 21):
        allowed = all(t - u <= windows.closed[a, k] and u - t <= windows.closed[k, a] for a, u in times.items())
        assert (low <= t <= high) == allowed


@given(bounds(), st.data())
def test_the_horizon_parts_the_living_from_the_dead(drawn: tuple[str, list[Bound]], data: st.DataObject) -> None:
    streams, given_ = drawn
    try:
        windows = Windows.of(streams, given_)
    except Refused:
        return
    frontiers = [data.draw(st.integers(-5, 5) | st.sampled_from([NEVER, FOREVER])) for _ in streams]
    for i in range(len(streams)):
        horizon = windows.horizon(i, frontiers)
        for t in range(-20, 21):
            alive = any(
                frontiers[j] != FOREVER
                and (frontiers[j] <= t + int(windows.closed[i, j]) or windows.closed[i, j] == FOREVER)
                for j in range(len(streams))
                if j != i
            )
            assert (t >= horizon) == (alive and horizon != FOREVER)
            assert alive == (t >= horizon)


def test_ranges_saturate_at_the_ends_of_the_axis() -> None:
    windows = Windows.of("ab", [Bound("a", "b", 5), Bound("b", "a", 5)])
    assert windows.probe(1, {0: FOREVER - 2}) == (FOREVER - 7, FOREVER)
    assert windows.probe(1, {0: NEVER + 2}) == (NEVER, NEVER + 7)
    assert windows.horizon(0, [0, NEVER + 2]) == NEVER
    assert windows.horizon(0, [0, FOREVER - 1]) == FOREVER - 6
    assert windows.horizon(0, [0, FOREVER]) == FOREVER


def test_windows_are_values() -> None:
    one, two = (Windows.of(["a", "b"], [Bound("a", "b", 5, "w")], {"a": 2}) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one.closed.dtype == np.int64
