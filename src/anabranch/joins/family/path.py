"""``path``: the nested-loop join along a path of windows.

The given windows lead from stream to stream: an object passes A, then B, then C.  From
the stream of the arriving tuple the search goes outwards, to one end of the path and then
from the other side of the arriving tuple to the other end.  Each tuple that is bound
propagates a period for the next stream, which it controls alone: ``[t(b), t(b) + W]``
for a window of W from B to C.

Exact because every given window is between neighbours, and is tested when the second of
them is bound; tuples are dropped by the closed matrix, as in ``graph``.  It answers one
direction, or windows that go both ways; the two directions of a path are two queries in a
UNION ALL (a match whose times are all equal answers both).
Cost: as ``nested_loop``, but a period costs one tuple's time, however many are bound.

Report on W-joins, 5.2, figure 12.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import Array, oldest, places_at, time
from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import after, before, keep, word
from anabranch.joins.listed import Listed
from anabranch.joins.loops import BEFORE, CURSOR, FROM, LOOP_COLUMNS, NEWEST, TO, advance
from anabranch.joins.partial import (
    RAISED,
    RESUME,
    STREAM,
    arrival,
    begin,
    bind,
    chain_for,
    distance,
    emit,
    expire,
    hang,
    over,
    query_at,
    step_at,
)


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        t, s = arrival(q, i)
        matches = begin(q, counts)
        for k in range(q.n):
            if k != s:
                expire(p, q, counts, k, time(p, t))
        follow(p, q, counts, s, t)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)


@njit
def follow(p: Any, q: Any, counts: int | None, s: int, t: int) -> None:
    """The matches of an arriving tuple."""
    bind(p, q, s, t)
    depth = 1
    enter(p, q, counts, s, depth)
    while depth > 0:
        if not advance(p, q, counts, s, depth, 0):
            depth -= 1
        elif depth == q.n - 1:
            emit(q)
        else:
            depth += 1
            enter(p, q, counts, s, depth)
        if word(q.state, RAISED):
            return


@njit
def enter(p: Any, q: Any, counts: int | None, s: int, depth: int) -> None:
    """Begin the loop at a depth, in the period that the neighbour of its stream leaves."""
    k, a = word(step_at(q, s, depth), STREAM), word(q.extra, s * q.n + depth)
    t, loop = time(p, word(q.member, a)), q.loops + 8 * depth * LOOP_COLUMNS
    keep(loop, CURSOR, oldest(p, chain_for(p, q, counts, s, depth)))
    keep(loop, FROM, before(t, distance(q, k, a)))
    keep(loop, TO, after(t, distance(q, a, k)))
    keep(loop, NEWEST, NEVER)
    keep(loop, BEFORE, FOREVER)


class Path(Listed):
    name = "path"
    run = run

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It cannot unless the windows join each stream to the next, along one path, and nothing else."""
        if any(count is not None for count in program.windows.counts):
            return "it has a count window", "graph takes it"
        if not _path(program):
            return "its windows are no path from stream to stream", "graph takes windows between any pairs"
        return None

    def order(self, arriving: int) -> list[int]:
        """From the arriving stream along the path to its end, then back the other way."""
        path = _path(self.program)
        at = path.index(arriving)
        return path[at:] + path[:at][::-1]

    def bounds(self) -> Array:
        """The given windows alone."""
        given: Array = self.program.windows.given
        return given

    def extras(self) -> Array:
        """By arriving stream and depth: the neighbour that controls the period."""
        linked = _linked(self.program)
        return np.array(
            [[next((a for a in order[:d] if linked[a, k]), k) for d, k in enumerate(order)] for order in self.orders],
            np.int64,
        )


def _linked(program: Program) -> Array:
    """Which pairs of streams have a window."""
    given = program.windows.given != FOREVER
    linked: Array = (given | given.T) & ~np.eye(program.n, dtype=np.bool_)
    return linked


def _path(program: Program) -> list[int]:
    """The streams from one end of the path to the other; nothing if it is none."""
    linked, n = _linked(program), program.n
    ends = [s for s in range(n) if linked[s].sum() < 2]
    path = ends[:1]
    while path and (more := [k for k in range(n) if linked[path[-1], k] and k not in path]):
        path.append(more[0])
    return path if len(path) == n and linked.sum() == 2 * (n - 1) else []
