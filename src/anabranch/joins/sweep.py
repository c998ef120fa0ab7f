"""The plane sweep of the merge joins: two modes in turn, over streams that are read in the order of time.

*Mode 1* sweeps over the first tuple of each stream, round and round, until each lies
within the *reach* of each other.  What is left of the period of the others is dropped;
where a tuple is right of it, the period begins anew.  *Mode 2* admits tuples up to the
end of the period, the least ``t + reach`` of the first tuples; each is joined blindly,
with no test of times, with all that is admitted of the other streams.  When the next
tuple of each stream is right of the period, the first tuple that ends it goes (for one
window that is the oldest; for several the oldest loses matches), and Mode 1 follows.

Exact because rows wait until no stream can bring an older one.  Then a tuple is dropped
only when the next of some stream is beyond its reach; of any match one member is
admitted last and finds the others, once.  Reaches that are wider than the windows only
let candidates pass that a *refinement* then refuses.  What is remembered between two
batches counts as admitted: a batch ends when all is admitted, or when a stream has
nothing left, and then there is no match in what is left of the others; and what remains
lies within reach of all that can come.  So no place in any stream has to be remembered.
Cost: a comparison a tuple for the sweep; in Mode 2 no candidate is out of time.  In
return a tuple waits for the slowest stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from anabranch.core.lists import NEWER, NOTHING, Array, add, drop, neighbour, oldest, time, until, whole
from anabranch.core.tally import EXPIRED, MODE_1, MODE_2, SCANNED, tally, turn
from anabranch.core.tally import begin as start
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import after, keep, word
from anabranch.joins.listed import Listed
from anabranch.joins.partial import (
    LIST,
    RAISED,
    arrival,
    begin,
    bind,
    chain_for,
    distance,
    emit,
    fits,
    over,
    step_at,
)

# rows of ``extra``, a word a stream: where in the sequence its next tuple stands, where its tuples end, its reach
NEXT, END, REACH = range(3)


@njit
def sweep(p: Any, q: Any, counts: int | None, refine: bool) -> None:
    """Alternate between the modes until all that came is admitted, or one stream has no more."""
    start(counts)
    while True:
        ending = meet(p, q, counts)
        turn(counts, MODE_1)
        if ending == NOTHING:
            break
        finished = admit_period(p, q, counts, refine, end_of_reach(p, q, ending, first(p, q, ending)))
        turn(counts, MODE_2)
        if not finished or not pending(q):
            return
        drop_first(p, q, counts, ending)
    for s in range(q.n):
        while has_next(q, s):
            admit(p, q, s)


@njit
def meet(p: Any, q: Any, counts: int | None) -> int:
    """Mode 1: the stream that ends the first period with a tuple of each stream; NOTHING if one has no more."""
    s, inside, latest, end, ending = 0, 0, NEVER, FOREVER, 0
    while inside < q.n:
        u = first(p, q, s)
        if u == NOTHING:
            return NOTHING
        tally(counts, SCANNED, 1)
        t, reached = time(p, u), end_of_reach(p, q, s, u)
        if reached < latest:  # left of the period
            drop_first(p, q, counts, s)
            continue
        if t > end:  # right of it
            inside, end = 0, FOREVER
        latest = t if inside == 0 else max(latest, t)
        if reached <= end:
            end, ending = reached, s
        inside += 1
        s = (s + 1) % q.n
    return ending


@njit
def admit_period(p: Any, q: Any, counts: int | None, refine: bool, end: int) -> bool:
    """Mode 2: admit and join the tuples of one stream after another that are not right of the period.

    False when the kernel has to return.
    """
    for s in range(q.n):
        while has_next(q, s) and time(p, next_of(q, s)) <= end:
            matches = begin(q, counts)
            join(p, q, counts, refine, s, next_of(q, s))
            if over(q, counts, word(q.extra, NEXT * q.n + s), matches):
                return False
            admit(p, q, s)
    return True


@njit
def join(p: Any, q: Any, counts: int | None, refine: bool, s: int, u: int) -> None:
    """The matches of a new tuple with all that is admitted of the other streams."""
    bind(p, q, s, u)
    for k in range(q.n):
        if k != s and oldest(p, whole(p, k)) == NOTHING:
            return
    depth = 1
    keep(q.loops, depth, oldest(p, chain_for(p, q, counts, s, depth)))
    while depth > 0:
        v = word(q.loops, depth)
        if v == NOTHING:
            depth -= 1
            continue
        tally(counts, SCANNED, 1)
        keep(q.loops, depth, neighbour(p, v, word(step_at(q, s, depth), LIST), NEWER))
        if fits(p, q, counts, s, depth, v) == 0:
            continue
        if word(q.state, RAISED):
            return
        if depth < q.n - 1:
            depth += 1
            keep(q.loops, depth, oldest(p, chain_for(p, q, counts, s, depth)))
        elif not refine or holds(p, q):
            emit(q)


@njit
def holds(p: Any, q: Any) -> bool:
    """The refinement: whether the tuples that are bound satisfy every window."""
    latest, end = NEVER, FOREVER
    for i in range(q.n):
        u = word(q.member, i)
        latest, end = max(latest, time(p, u)), min(end, until(p, u))
        for j in range(q.n):
            if time(p, word(q.member, j)) > after(time(p, u), distance(q, i, j)):
                return False
    return end == FOREVER or latest < end


@njit
def first(p: Any, q: Any, s: int) -> int:
    """The first tuple of a stream, admitted or not."""
    u = oldest(p, whole(p, s))
    return next_of(q, s) if u == NOTHING and has_next(q, s) else u


@njit
def drop_first(p: Any, q: Any, counts: int | None, s: int) -> None:
    """Let go of the first tuple of a stream, admitted or not."""
    if oldest(p, whole(p, s)) == NOTHING:
        admit(p, q, s)
    drop(p, s, oldest(p, whole(p, s)))
    tally(counts, EXPIRED, 1)


@njit
def admit(p: Any, q: Any, s: int) -> None:
    """Put the next tuple of a stream into its lists."""
    add(p, s, next_of(q, s))
    keep(q.extra, NEXT * q.n + s, word(q.extra, NEXT * q.n + s) + 1)


@njit
def pending(q: Any) -> bool:
    """Whether any stream has tuples that are not admitted."""
    left = 0
    for s in range(q.n):
        left += word(q.extra, END * q.n + s) - word(q.extra, NEXT * q.n + s)
    return left > 0


@njit(forceinline=True)
def has_next(q: Any, s: int) -> bool:
    """Whether a stream has tuples that are not admitted."""
    return word(q.extra, NEXT * q.n + s) < word(q.extra, END * q.n + s)


@njit(forceinline=True)
def next_of(q: Any, s: int) -> int:
    """The next tuple of a stream that is not admitted."""
    u, _ = arrival(q, word(q.extra, NEXT * q.n + s))
    return u


@njit(forceinline=True)
def end_of_reach(p: Any, q: Any, s: int, u: int) -> int:
    """Up to when a tuple of a stream can meet others."""
    return after(time(p, u), word(q.extra, REACH * q.n + s))


class Sweep(Listed):
    """What the members that sweep share beside the kernel."""

    def gate(self, frontiers: Sequence[int]) -> int:
        """They read in the order of time, as far as the slowest stream has come."""
        return min(frontiers)

    def extras(self) -> Array:
        """The reach of a stream is its largest bound, and at least 0."""
        extra = np.zeros((3, self.program.n), np.int64)
        extra[REACH] = self.keeps().max(axis=1)
        return extra

    def arranged(self, sequence: Array, times: Array) -> Array:
        """Stream by stream."""
        ends = np.cumsum(np.bincount(sequence[:, 1], minlength=self.program.n))
        self._extra[NEXT, 1:], self._extra[END] = ends[:-1], ends
        self._extra[NEXT, 0] = 0
        return sequence[np.argsort(sequence[:, 1], kind="stable")]
