from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.core import memory as at
from anabranch.core.buffers import Buffers
from anabranch.core.memory import Array
from anabranch.core.operator import Rows
from anabranch.core.program import TIME, Program, lane_word
from anabranch.core.records import Packed
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.joins.order import indexes_of, orders
from anabranch.testing.query import program
from anabranch.testing.seams import seams
from anabranch.testing.timeline import timeline

KEYED = program(timeline("a-b 5, where same | |"))
SCANNED = program(timeline("a-b 5 | |"))
COUNTED = program(timeline("a#3, a-b 50, where same | |"))
BANDED = program(timeline("a-b 5, where near | |"))
TWO_KEYS = program(timeline("a-b-c 5, where chain | |"))


class Stored(NamedTuple):
    time: int
    key: int
    number: int


def made(of: Program) -> Buffers:
    return Buffers(of, indexes_of(orders(of)))


def put(buffers: Buffers, s: int, tuples: list[Stored]) -> None:
    """Remember tuples that are in time order."""
    of, row = buffers.program, buffers.memory.streams[s]
    times = np.array([each.time for each in tuples], np.int64)
    lanes = [
        np.array([each.number if lane.column == "id" else each.key for each in tuples], np.float64).view(np.int64)
        if lane.kind == "real"
        else np.array([each.number if lane.column == "id" else each.key for each in tuples], np.int64)
        for lane in of.lanes[s]
    ]
    packed = Packed()
    records = packed.pack(Rows(times, tuple(lanes), tuple(None for _ in lanes)), int(row[at.WIDTH]))
    buffers.reserve([len(tuples) if i == s else 0 for i in range(of.n)])
    if row[at.ROWS]:
        rank = buffers.count(s, times)
        records[:, row[at.RANK]] = np.arange(rank, rank + len(tuples))
    buffers.store(s, packed.at, len(tuples))


def numbers(buffers: Buffers, s: int, records: Array | None = None) -> list[int]:
    """The ids of what is remembered, in the order of positions (or of these records)."""
    lanes = buffers.program.lanes[s]
    word = lane_word(len(lanes), next(i for i, lane in enumerate(lanes) if lane.column == "id"))
    found: list[int] = (buffers.records(s) if records is None else records)[:, word].tolist()
    return found


def steps(first: int, n: int, keys: int = 7) -> list[Stored]:
    """A tuple a tick."""
    return [Stored(i, i * 5 % keys, i) for i in range(first, first + n)]


@settings(max_examples=60)
@given(
    st.sampled_from([KEYED, SCANNED, COUNTED, BANDED, TWO_KEYS]),
    st.sampled_from([1, 3, 7]),
    st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(-8, 9), max_size=12), st.integers(0, 6)), max_size=25),
)
def test_what_is_needed_is_remembered_and_little_else(
    of: Program, pane: int, moves: list[tuple[int, list[int], int]]
) -> None:
    """A model in lists: each move stores a batch, perhaps older than those before, and moves the frontiers on."""
    clock, count = 0, 0
    with seams(pane):
        buffers = made(of)
        model: list[list[Stored]] = [[] for _ in range(of.n)]
        for s, offsets, step in moves:
            s %= of.n
            clock += step
            lags = [0 if of.windows.counts[s] else each for each in offsets]
            batch = sorted(Stored(clock + lag, lag % 3, count + i) for i, lag in enumerate(lags))
            count += len(batch)
            if batch:
                put(buffers, s, batch)
            model[s] += batch
            frontiers = [clock - 9] * of.n
            buffers.expire(frontiers)
            for q in range(of.n):
                horizon = of.windows.horizon(q, frontiers)
                alive = [each.number for each in model[q] if each.time >= horizon]
                kept = numbers(buffers, q)
                assert buffers.live(q) == len(kept)
                if of.windows.counts[q] is None:
                    assert set(alive) <= set(kept)
                first = next((i for i, each in enumerate(model[q]) if each.time >= horizon), len(model[q]))
                assert len(kept) <= len(model[q]) - first + pane
                assert not Counter(kept) - Counter(each.number for each in model[q])
                check_panes(buffers, q)
                if first == len(model[q]):
                    model[q].clear() if not kept else None
        assert buffers.expire([FOREVER] * of.n) >= 0
        assert buffers.tuples() == 0


def check_panes(buffers: Buffers, s: int) -> None:
    """Closed panes cover what is live before the open one; keys are contiguous and in time order in each."""
    row, panes = buffers.memory.streams[s], buffers.memory.panes[s]
    start = int(row[at.TAIL])
    records = buffers.records(s)
    for number in range(int(row[at.FIRST_PANE]), int(row[at.PANE_END])):
        pane = panes[number % len(panes)]
        assert pane[at.PANE_AT] == start
        start = int(pane[at.PANE_TO])
        part = records[pane[at.PANE_AT] - row[at.TAIL] : start - row[at.TAIL]]
        assert part[:, TIME].min() == pane[at.PANE_MIN]
        assert part[:, TIME].max() == pane[at.PANE_MAX]
        if row[at.INDEXES]:
            (word,) = buffers.memory.indexes[s, 0, at.PART : at.PART + 1]
            runs = [key for i, key in enumerate(part[:, word]) if i == 0 or key != part[i - 1, word]]
            assert len(runs) == len(set(runs)), "the tuples of a key lie apart"
            assert all(one[TIME] <= two[TIME] for one, two in pairwise(part) if one[word] == two[word])
        elif row[at.SORT] < 0:
            assert (np.diff(part[:, TIME]) >= 0).all()
    assert row[at.OPEN] == start
    opened = records[start - row[at.TAIL] :]
    if len(opened):
        assert opened[:, TIME].min() == row[at.OPEN_MIN]
        assert opened[:, TIME].max() == row[at.OPEN_MAX]


def test_the_ring_wraps_without_growing() -> None:
    buffers = made(KEYED)
    arenas = set()
    for i in range(0, 60_000, 60):
        put(buffers, 0, steps(i, 60))
        buffers.expire([i + 60 - 300, i + 60 - 300])
        kept = numbers(buffers, 0)
        assert sorted(kept) == list(range(i + 60 - len(kept), i + 60))
        if i > 6_000:
            assert 300 <= len(kept) <= 2 * 305 + 64, "a pane is at most half of what is remembered"
            arenas.add(len(buffers.memory.arena))
    assert len(arenas) == 1
    assert buffers.memory.streams[0, at.ORIGIN] > 50_000, "the ring has gone round many times"


@pytest.mark.parametrize("of", [KEYED, TWO_KEYS, SCANNED, BANDED], ids=["a key", "two keys", "none", "a band"])
def test_room_that_is_not_needed_any_more_is_given_back(of: Program) -> None:
    buffers = made(of)
    for round_ in range(3):
        start = round_ * 1_000_000
        put(buffers, 0, steps(start, 100_000, keys=75_000))
        large = buffers.memory.arena.nbytes
        assert large >= 100_000 * 3 * 8
        buffers.expire([start + 100_000 - 50] * of.n)
        for i in range(start + 200_000, start + 200_200):
            put(buffers, 0, steps(i, 1))
            buffers.expire([i - 50] * of.n)
        assert buffers.memory.arena.nbytes < large / 4


def test_a_table_forgets_dead_keys() -> None:
    """Keys that never come back do not fill the table, however long it runs."""
    buffers, seen = made(TWO_KEYS), 0
    for i in range(0, 100_000, 20):
        for s in range(3):
            put(buffers, s, [Stored(t, t, t) for t in range(i, i + 20)])
        buffers.expire([i] * 3)
        seen = max(seen, int(buffers.memory.tables[:, at.TABLE_CAP].max()))
    assert seen < 4_000


def test_a_table_holds_what_is_alive_and_no_more() -> None:
    """A slot that was never used is not taken for a live key when the table is rebuilt."""
    buffers = made(TWO_KEYS)
    for i in range(0, 50_000, 500):
        for s in range(3):
            put(buffers, s, [Stored(t, t, t) for t in range(i, i + 500)])
    assert (buffers.memory.tables[:, at.TABLE_USED] == 50_000).all()
    assert (buffers.memory.tables[:, at.TABLE_CAP] < 50_000 * 2).all()


@pytest.mark.parametrize("of", [KEYED, SCANNED, COUNTED, BANDED, TWO_KEYS])
@pytest.mark.parametrize("n", [0, 1, 5, 1_000])
def test_a_snapshot_is_the_same_again(of: Program, n: int) -> None:
    buffers = made(of)
    for i in range(0, n, 10):
        for s in range(of.n):
            put(buffers, s, steps(i, min(n - i, 10)))
            buffers.expire([i - 800] * of.n)
    restored = made(of)
    for s in range(of.n):
        restored.load(s, *buffers.export(s))
    for s in range(of.n):
        for one, two in zip(buffers.export(s), restored.export(s), strict=True):
            assert np.array_equal(one, two)
        check_panes(restored, s)
    buffers.expire([n - 90] * of.n)
    restored.expire([n - 90] * of.n)
    for s in range(of.n):
        both = {tuple(sorted(numbers(each, s)))[-90:] for each in (buffers, restored)}
        assert len(both) == 1


def test_a_snapshot_keeps_the_order_of_positions_among_equal_times() -> None:
    buffers = made(COUNTED)
    put(buffers, 0, [Stored(1, key, number) for number, key in enumerate([5, 3, 9, 1, 7] * 30)])
    records, counts, first = buffers.export(0)
    assert numbers(buffers, 0, records) == list(range(150))
    assert counts.tolist() == [1] * 150
    assert first == 0


def test_positions_are_counted_although_nothing_is_stored() -> None:
    """The times that a count window needs stay few, even when a filter lets nothing through."""
    buffers = made(COUNTED)
    for i in range(0, 100_000, 100):
        assert buffers.count(0, np.arange(i, i + 100)) == i
        buffers.expire([i, i])
    row = buffers.memory.streams[0]
    assert row[at.COUNT_END] == 100_000
    assert row[at.COUNT_END] - row[at.COUNT_FIRST] < 1_000
    assert len(buffers.memory.counts) < 3_000


def test_a_count_window_forgets_by_position() -> None:
    with seams(pane=1):
        buffers = made(COUNTED)
        for i in range(10):
            put(buffers, 0, steps(i, 1))
        buffers.expire([5, 5])
        assert numbers(buffers, 0) == list(range(3, 10)), "of those up to 5 the last three, and what is newer"
        buffers.expire([9, 9])
        assert numbers(buffers, 0) == [7, 8, 9]


def test_the_horizon_itself_is_alive() -> None:
    with seams(pane=1):
        buffers = made(KEYED)
        put(buffers, 0, steps(0, 10))
        buffers.expire([NEVER, 9])
        assert numbers(buffers, 0) == [4, 5, 6, 7, 8, 9]
        buffers.expire([NEVER, 10])
        assert numbers(buffers, 0) == [5, 6, 7, 8, 9]
        buffers.expire([NEVER, FOREVER])
        assert numbers(buffers, 0) == []


def test_the_band_orders_the_panes_of_a_stream_without_key() -> None:
    with seams(pane=8):
        buffers = made(BANDED)
        put(buffers, 0, [Stored(i, key, i) for i, key in enumerate([5, -3, 9, 0, -7, 2, 2, -3])])
    word = int(buffers.memory.streams[0, at.SORT])
    assert buffers.records(0)[:, word].view(np.float64).tolist() == [-7, -3, -3, 0, 2, 2, 5, 9]
