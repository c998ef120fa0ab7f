"""Intermediate results: the partial matches that a left-deep tree of binary joins keeps between arrivals.

Level k holds partial matches of the first k streams of the tree, a row of k tuples each,
for the next stream to join with: hashed by the key that it has in common with them, or in one
chain where it has none.  The first stream and the last need no level, since single tuples
are in the lists and complete matches are out.

A row is *dead* when no tuple of the next stream is still to come for it: the closed
matrix and that stream's frontier say so, and they say it no later than they let any of
its tuples go.  The places of tuples are not given away while a row names them.

Kernels never allocate.  Rows are *noted* first, also where there is no room for them,
and take their places in the level when all that belongs to an arrival had room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import NOTHING, Array, bucket, time, turn, until
from anabranch.core.memory import I64
from anabranch.core.ticks import FOREVER
from anabranch.core.words import address, after, keep, word
from anabranch.joins.partial import STREAM, bind, bound_code, distance, step_at

# columns of a level: where its rows lie, the numbers of those that are free, the first row of each bucket; how many
# rows there is room for, how many buckets; how many rows are in use, and how many are noted
ROWS, FREE, FIRST, CAPACITY, BUCKETS, USED, NOTED, LEVEL_COLUMNS = range(8)
# columns of a row: the next of its bucket, the code of its key, its tuples
NEXT, CODE, TUPLES = range(3)

SMALLEST = 64


@njit(forceinline=True)
def level_at(levels: int, k: int) -> int:
    """Where a level stands."""
    return levels + 8 * k * LEVEL_COLUMNS


@njit(forceinline=True)
def row_at(level: int, k: int, r: int) -> int:
    """Where a row of level k stands."""
    return word(level, ROWS) + 8 * r * (TUPLES + k)


@njit(forceinline=True)
def first_row(level: int, code: int) -> int:
    """The first row with a key of this code, or NOTHING."""
    return word(word(level, FIRST), bucket(code, word(level, BUCKETS)))


@njit
def note(p: Any, q: Any, levels: int, root: int, k: int) -> None:
    """Note the first k bound tuples of the tree as a row; where there is no room it is only counted."""
    level = level_at(levels, k)
    i = word(level, USED) + word(level, NOTED)
    if i < word(level, CAPACITY):
        row = row_at(level, k, word(word(level, FREE), i))
        keep(row, CODE, bound_code(p, q, root, k))
        for d in range(k):
            keep(row, TUPLES + d, word(q.member, word(step_at(q, root, d), STREAM)))
    keep(level, NOTED, word(level, NOTED) + 1)


@njit
def full(levels: int, n: int) -> bool:
    """Whether some noted row had no room."""
    for k in range(2, n):
        level = level_at(levels, k)
        if word(level, USED) + word(level, NOTED) > word(level, CAPACITY):
            return True
    return False


@njit
def erase(levels: int, n: int) -> None:
    """Forget what is noted."""
    for k in range(2, n):
        keep(level_at(levels, k), NOTED, 0)


@njit
def settle(levels: int, n: int) -> None:
    """Put what is noted into the levels."""
    for k in range(2, n):
        level = level_at(levels, k)
        used = word(level, USED)
        for i in range(used, used + word(level, NOTED)):
            _push(level, k, word(word(level, FREE), i))
        keep(level, USED, used + word(level, NOTED))
        keep(level, NOTED, 0)


@njit(forceinline=True)
def latest_row(level: int) -> int:
    """The row that was put into a level last."""
    return word(word(level, FREE), word(level, USED) - 1)


@njit
def take_out(level: int, k: int, r: int, previous: int) -> None:
    """Take a row out of its bucket, in which it follows *previous*, and make it free."""
    row = row_at(level, k, r)
    if previous == NOTHING:
        keep(word(level, FIRST), bucket(word(row, CODE), word(level, BUCKETS)), word(row, NEXT))
    else:
        keep(row_at(level, k, previous), NEXT, word(row, NEXT))
    used = word(level, USED) - 1
    keep(word(level, FREE), used, r)
    keep(level, USED, used)


@njit
def bind_row(p: Any, q: Any, root: int, k: int, row: int) -> None:
    """Bind the tuples of a row."""
    for d in range(k):
        bind(p, q, word(step_at(q, root, d), STREAM), word(row, TUPLES + d))


@njit
def dead(p: Any, q: Any, root: int, k: int, row: int) -> bool:
    """Whether nothing that is still to come of the next stream can join a row."""
    ours = word(step_at(q, root, k), STREAM)
    frontier = word(q.frontiers, ours)
    if frontier == FOREVER:
        return True
    for d in range(k):
        s, u = word(step_at(q, root, d), STREAM), word(row, TUPLES + d)
        if after(time(p, u), distance(q, s, ours)) < frontier or until(p, u) <= frontier or turn(p, u) == FOREVER:
            return True
    return False


@njit
def sweep(p: Any, q: Any, levels: int, root: int) -> None:
    """Forget all rows that are dead, or of which a tuple has been let go."""
    for i in range(1, word(p.dropped, 0) + 1):
        keep(p.turn, word(p.dropped, i), FOREVER)  # nothing has this turn while it is remembered
    for k in range(2, q.n):
        level = level_at(levels, k)
        for b in range(word(level, BUCKETS)):
            previous, r = NOTHING, word(word(level, FIRST), b)
            while r != NOTHING:
                row = row_at(level, k, r)
                following = word(row, NEXT)
                if dead(p, q, root, k, row):
                    take_out(level, k, r, previous)
                else:
                    previous = r
                r = following


@njit
def _push(level: int, k: int, r: int) -> None:
    row = row_at(level, k, r)
    b = bucket(word(row, CODE), word(level, BUCKETS))
    keep(row, NEXT, word(word(level, FIRST), b))
    keep(word(level, FIRST), b, r)


@kernel(I64(I64, I64, I64, I64))
def _move(levels: int, k: int, first: int, buckets: int) -> int:
    """Hang the rows of so many old buckets into those that level k has now."""
    level = level_at(levels, k)
    for b in range(buckets):
        r = word(first, b)
        while r != NOTHING:
            following = word(row_at(level, k, r), NEXT)
            _push(level, k, r)
            r = following
    return buckets


class Partials:
    """The levels of one tree; *hashed* says of each position in it whether its stream is looked up by a key."""

    def __init__(self, hashed: Sequence[bool]) -> None:
        self._hashed = hashed
        self._levels = np.zeros((len(hashed), LEVEL_COLUMNS), np.int64)
        self._arrays: list[tuple[Array, Array, Array]] = []
        self.levels = address(self._levels)  # for kernels, once and for all
        self.clear()

    def clear(self) -> None:
        """Begin with no rows."""
        self._levels[:] = 0
        self._arrays = [(np.zeros(0, np.int64),) * 3 for _ in self._hashed]
        for k in range(2, len(self._hashed)):
            self._grow(k, SMALLEST)

    def make_room(self) -> None:
        """For the rows that were noted and had none."""
        for k in range(2, len(self._hashed)):
            wanted = int(self._levels[k, USED] + self._levels[k, NOTED])
            if wanted > self._levels[k, CAPACITY]:
                self._grow(k, 2 * wanted)

    def rows(self) -> int:
        """How many partial matches are kept."""
        return int(self._levels[:, USED].sum())

    @property
    def nbytes(self) -> int:
        """Bytes of all levels."""
        return sum(array.nbytes for arrays in self._arrays for array in arrays)

    def _grow(self, k: int, capacity: int) -> None:
        level, (rows, free, first) = self._levels[k], self._arrays[k]
        old, buckets = int(level[CAPACITY]), int(level[BUCKETS])
        more = np.zeros(capacity * (TUPLES + k), np.int64)
        more[: len(rows)] = rows
        free = np.concatenate([free, np.arange(old, capacity)])
        heads = np.full(capacity if self._hashed[k] else 1, NOTHING, np.int64)
        self._arrays[k] = more, free, heads
        level[ROWS], level[FREE], level[FIRST] = address(more), address(free), address(heads)
        level[CAPACITY], level[BUCKETS] = capacity, len(heads)
        _move(self.levels, k, address(first), buckets)
