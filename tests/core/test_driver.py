from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anabranch.core.driver import Driver
from anabranch.core.operator import Rows
from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.windows import Windows
from anabranch.testing.seams import seams


@dataclass
class Recorder:
    """An operator that checks what it is given and remembers nothing."""

    program: Program
    live: int = 0
    calls: list[tuple[list[list[int]], list[int]]] = field(default_factory=list)
    _batch: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.buffers: Any = self

    def tuples(self) -> int:
        return self.live

    def reserve(self, rows: list[int]) -> None:
        """Room is not its business."""

    def gate(self, frontiers: list[int]) -> int:
        return FOREVER

    def insert(self, batch: list[Rows | None]) -> list[Any]:
        self._batch = []
        for s, rows in enumerate(batch):
            times = [] if rows is None else rows.times.tolist()
            assert times == sorted(times)
            for _, frontiers in self.calls[-1:]:
                assert all(t >= frontiers[s] for t in times), "older than was promised"
            self._batch.append([] if rows is None else rows.lanes[0].tolist())
        return []

    def advance(self, frontiers: list[int]) -> list[Any]:
        self.calls.append((self._batch, list(frontiers)))
        return []

    @property
    def seen(self) -> list[list[int]]:
        """All ids by alias."""
        return [[number for batch, _ in self.calls for number in batch[s]] for s in range(self.program.n)]


def program(n: int, counts: dict[str, int] | None = None) -> Program:
    return Program(Windows.of("abcd"[:n], (), counts), tuple(() for _ in range(n)))


def rows(times: list[int], first: int = 0) -> Rows:
    ids = np.arange(first, first + len(times))
    return Rows(np.array(times, np.int64), (ids,), (None,))


TIMES = st.lists(st.integers(0, 6), max_size=14)


@given(st.lists(TIMES, min_size=2, max_size=3), st.integers(1, 9), st.integers(0, 9))
def test_a_batch_in_rounds_keeps_every_promise(batch: list[list[int]], round_: int, live: int) -> None:
    """Each row once, in time order, and none older than the frontiers that the operator was given before."""
    operator = Recorder(program(len(batch)), live)
    with seams(round_=round_):
        Driver(operator, range(len(batch))).push([rows(times) if times else None for times in batch], [20] * len(batch))
    for s, times in enumerate(batch):
        assert operator.seen[s] == sorted(range(len(times)), key=lambda i: times[i])
    assert operator.calls[-1][1] == [20] * len(batch), "in the end the streams' own promises"


def test_rounds_are_as_long_as_the_windows_ask_for() -> None:
    operator = Recorder(program(2))
    with seams(round_=10):
        Driver(operator, [0, 1]).push([rows(list(range(100))), rows(list(range(0, 100, 2)))], [100, 100])
    sizes = [sum(map(len, batch)) for batch, _ in operator.calls]
    assert sum(sizes) == 150
    assert 15 <= len(sizes) <= 20
    assert max(sizes) <= 12
    cuts = [frontiers[0] for _, frontiers in operator.calls]
    assert cuts == sorted(cuts)
    assert cuts[-1] == 100


def test_tuples_of_one_time_stay_in_one_round() -> None:
    operator = Recorder(program(2))
    with seams(round_=2):
        Driver(operator, [0, 1]).push([rows([3] * 20 + [4] * 5), rows([3] * 7)], [4, 9])
    assert [[len(part) for part in batch] for batch, _ in operator.calls] == [[20, 7], [5, 0]]
    assert [frontiers for _, frontiers in operator.calls] == [[4, 4], [4, 9]]


def test_a_frontier_behind_a_round_is_not_raised_by_it() -> None:
    operator = Recorder(program(2))
    with seams(round_=2):
        Driver(operator, [0, 1]).push([rows(list(range(10, 20))), None], [20, NEVER])
    assert all(frontiers[1] == NEVER for _, frontiers in operator.calls)


def test_two_aliases_of_a_stream_share_its_frontier() -> None:
    operator = Recorder(program(3))
    Driver(operator, [0, 1, 0]).push([rows([1]), None, rows([1])], [5, 7])
    assert operator.calls == [([[0], [], [0]], [5, 7, 5])]


def test_nothing_is_a_batch_too() -> None:
    operator = Recorder(program(2))
    Driver(operator, [0, 1]).push([None, rows([])], [3, 4])
    assert operator.calls == [([[], []], [3, 4])]


def test_without_count_windows_nothing_is_held_back() -> None:
    driver = Driver(Recorder(program(2)), [0, 1])
    driver.push([rows([100]), rows([5])], [NEVER, NEVER])
    assert driver.waiting() == 0


def test_with_count_windows_rows_wait_for_what_may_still_come_before_them() -> None:
    operator = Recorder(program(3, {"a": 2, "b": 2}))
    driver = Driver(operator, [0, 1, 2])
    driver.push([rows([1, 7, 4]), rows([3]), rows([2, 9])], [4, 3, NEVER])
    assert operator.seen == [[0], [], [0]]
    assert operator.calls[-1][1] == [3, 3, NEVER]
    assert driver.waiting() == 4
    driver.push([rows([5], first=3), None, None], [5, 9, 9])
    assert operator.seen == [[0, 2], [0], [0]], "what is as old as the frontier may still get a neighbour"
    assert operator.calls[-1][1] == [5, 5, 5], "what is held back is still to come"
    driver.push([None, None, None], [FOREVER, 9, FOREVER])
    assert operator.seen == [[0, 2, 3, 1], [0], [0]]
    driver.push([None, None, None], [FOREVER] * 3)
    assert operator.seen == [[0, 2, 3, 1], [0], [0, 1]]
    assert operator.calls[-1][1] == [FOREVER] * 3
    assert driver.waiting() == 0


@given(st.lists(st.tuples(TIMES, TIMES, st.integers(0, 4), st.integers(0, 4)), max_size=8), st.integers(1, 5))
def test_what_is_held_back_comes_once_and_in_order(
    moves: list[tuple[list[int], list[int], int, int]], round_: int
) -> None:
    """Stream a counts: its rows get to the operator sorted by time, then by arrival, over all batches together."""
    operator = Recorder(program(2, {"a": 1}))
    driver = Driver(operator, [0, 1])
    sent: list[list[tuple[int, int]]] = [[], []]
    frontiers = [0, 0]
    with seams(round_=round_):
        for a, b, more, other in moves:
            batch = []
            for s, offsets in enumerate((a, b)):
                times = [frontiers[s] + offset for offset in offsets]
                batch.append(rows(times, len(sent[s])) if times else None)
                sent[s] += [(t, len(sent[s]) + i) for i, t in enumerate(times)]
            frontiers = [frontiers[0] + more, frontiers[1] + other]
            driver.push(batch, frontiers)
            waiting = [t for stream in sent for t, _ in stream if t >= frontiers[0]]
            assert driver.waiting() == len(waiting)
            assert operator.seen[0] == [number for t, number in sorted(sent[0]) if t < frontiers[0]]
        driver.push([None, None], [FOREVER, FOREVER])
    assert operator.seen[0] == [number for _, number in sorted(sent[0])]
    assert Counter(operator.seen[1]) == Counter(number for _, number in sent[1])
