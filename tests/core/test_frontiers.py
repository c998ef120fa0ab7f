from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anabranch.core.frontiers import Frontier, Frontiers, result
from anabranch.core.ticks import FOREVER, NEVER

TIMES = st.integers(-9, 9) | st.sampled_from([NEVER + 1, NEVER + 5, FOREVER - 5, FOREVER - 1])
LATENESS = st.integers(0, 9) | st.sampled_from([FOREVER - 1, FOREVER])


def accepted(frontiers: Frontiers, s: int, times: list[int]) -> list[bool]:
    """Which of the times are not late."""
    late = frontiers.accept(s, np.array(times, np.int64))
    return [True] * len(times) if late is None else [not each for each in late]


def floor(newest: int, lateness: int, heartbeat: int) -> int:
    """The frontier, in unbounded integers."""
    return max(heartbeat, NEVER if newest == NEVER or lateness == FOREVER else max(NEVER, newest - lateness))


@given(LATENESS, st.lists(TIMES | st.tuples(TIMES)), st.lists(st.integers(1, 4)))
def test_rows_are_judged_one_by_one(lateness: int, moves: list[int | tuple[int]], cuts: list[int]) -> None:
    """A number is a tuple, a tuple of one number a heartbeat; the tuples between come in batches."""
    frontiers = Frontiers([Frontier(lateness), Frontier()])
    newest, heartbeat, batch, expected = NEVER, NEVER, [], []
    sizes = iter(cuts)
    size = next(sizes, 99)
    for move in [*moves, (NEVER,)]:
        if isinstance(move, int):
            batch.append(move)
            expected.append(move >= floor(newest, lateness, heartbeat))
            newest = max(newest, move)
        if not isinstance(move, int) or len(batch) == size:
            assert accepted(frontiers, 0, batch) == expected
            batch, expected, size = [], [], next(sizes, 99)
        if not isinstance(move, int):
            heartbeat = max(heartbeat, move[0])
            frontiers.streams[0].promise(move[0])
        if not batch:
            assert frontiers.value(0) == floor(newest, lateness, heartbeat)
            assert frontiers.streams[0].newest == newest


def test_before_the_first_tuple_nothing_is_promised() -> None:
    frontiers = Frontiers([Frontier(), Frontier(5)])
    assert frontiers.values() == [NEVER, NEVER]
    assert accepted(frontiers, 0, [NEVER + 1]) == [True]
    assert frontiers.accept(0, np.array([], np.int64)) is None
    assert frontiers.value(0) == NEVER + 1


def test_as_old_as_the_frontier_is_not_late() -> None:
    frontiers = Frontiers([Frontier(2)])
    assert accepted(frontiers, 0, [5, 3, 2, 6, 4, 3]) == [True, True, False, True, True, False]
    assert frontiers.value(0) == 4


def test_streams_do_not_judge_each_other() -> None:
    frontiers = Frontiers([Frontier(), Frontier()])
    accepted(frontiers, 0, [100])
    assert accepted(frontiers, 1, [1]) == [True]
    assert frontiers.values() == [100, 1]
    assert frontiers.holder() == 1
    assert result(frontiers.values()) == 1


def test_what_has_ended_promises_everything() -> None:
    frontiers = Frontiers([Frontier(), Frontier()])
    frontiers.streams[0].promise(FOREVER)
    frontiers.streams[1].reach(7)
    assert [stream.finished for stream in frontiers.streams] == [True, False]
    assert frontiers.values() == [FOREVER, 7]
    assert frontiers.holder() == 1


def test_an_idle_stream_follows_the_newest_of_the_others_and_says_so() -> None:
    frontiers = Frontiers([Frontier(), Frontier(idle=10), Frontier()])
    accepted(frontiers, 0, [100])
    accepted(frontiers, 2, [50])
    assert frontiers.value(1) == 90
    assert frontiers.streams[1].given_up == 1
    assert frontiers.value(1) == 90
    assert frontiers.streams[1].given_up == 1, "nothing more was given up"
    assert accepted(frontiers, 1, [89, 90, 100]) == [False, True, True]
    assert frontiers.value(1) == 100
    assert frontiers.streams[1].given_up == 1
    assert frontiers.streams[0].given_up == 0


def test_an_idle_stream_that_keeps_up_gives_nothing_up() -> None:
    frontiers = Frontiers([Frontier(idle=10), Frontier(idle=10)])
    frontiers.streams[0].reach(0)
    frontiers.streams[1].reach(3)
    for t in range(7, 100, 7):
        assert accepted(frontiers, 0, [t]) == accepted(frontiers, 1, [t + 3]) == [True]
        frontiers.values()
    assert [stream.given_up for stream in frontiers.streams] == [0, 0]


def test_a_late_row_lags_behind_the_newest_that_came_before_it() -> None:
    frontiers = Frontiers([Frontier(1)])
    lags = frontiers.accept(0, np.array([10, 3, 20, 19, 18]))
    assert lags is not None
    assert lags.tolist() == [0, 7, 0, 0, 2]


def test_a_lag_saturates() -> None:
    lags = Frontiers([Frontier()]).accept(0, np.array([FOREVER - 1, NEVER + 1]))
    assert lags is not None
    assert lags.tolist() == [0, FOREVER]
