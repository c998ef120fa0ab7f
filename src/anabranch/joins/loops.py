"""The nested for-loops: one stream after another, and inside each the next.

The loop of a stream walks its whole list, or the bucket of the key that is bound; it
passes what lies before the period of the tuples bound so far and ends behind it (lists
are in the order of time, whatever the order of arrival was).  The loop of the stream that
is being served walks only its new tuples, wherever in the order it stands.

A match is found from the one of its members that is last in turn: in the loop of the new
tuples all that is bound has to come before in turn, and so has every candidate inside.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from anabranch.core.lists import NEWER, NOTHING, neighbour, oldest, time, turn
from anabranch.core.tally import SCANNED, tally
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import keep, word
from anabranch.joins.partial import (
    HIGH,
    LATEST,
    LIST,
    LOW,
    RAISED,
    STREAM,
    arrival,
    bind,
    chain_for,
    counts_still,
    emit,
    fits,
    period,
    step_at,
)

# columns of a loop: the next tuple (or arrival), its period, the newest time outside it, whose turn candidates precede
CURSOR, FROM, TO, NEWEST, BEFORE, LOOP_COLUMNS = range(6)


@njit
def search(p: Any, q: Any, counts: int | None, s: int, first: int, last: int) -> None:
    """The matches of the arrivals first .. last - 1, all of stream *s*, by the loops of its order."""
    depth = 0
    enter(p, q, counts, s, 0, first)
    while depth >= 0:
        if not advance(p, q, counts, s, depth, last):
            depth -= 1  # this loop has ended: on with the one outside
        elif depth == q.n - 1:
            emit(q)
        else:
            depth += 1
            enter(p, q, counts, s, depth, first)
        if word(q.state, RAISED):
            return


@njit
def enter(p: Any, q: Any, counts: int | None, s: int, depth: int, first: int) -> None:
    """Begin the loop at a depth."""
    loop = q.loops + 8 * depth * LOOP_COLUMNS
    period(p, q, s, depth)
    keep(loop, FROM, word(q.state, LOW))
    keep(loop, TO, word(q.state, HIGH))
    keep(loop, NEWEST, word(q.state, LATEST))
    if word(step_at(q, s, depth), STREAM) == s:
        keep(loop, CURSOR, first)
    else:
        keep(loop, CURSOR, oldest(p, chain_for(p, q, counts, s, depth)))
    before = FOREVER
    for d in range(depth):
        if word(step_at(q, s, d), STREAM) == s:
            before = turn(p, word(q.member, s))
    keep(loop, BEFORE, before)


@njit
def advance(p: Any, q: Any, counts: int | None, s: int, depth: int, last: int) -> bool:
    """Bind the next tuple that fits; False when there is none."""
    loop, step = q.loops + 8 * depth * LOOP_COLUMNS, step_at(q, s, depth)
    low, high, latest, before = word(loop, FROM), word(loop, TO), word(loop, NEWEST), word(loop, BEFORE)
    if word(step, STREAM) == s:
        i = word(loop, CURSOR)
        while i < last:
            k, _ = arrival(q, i)
            i += 1
            keep(loop, CURSOR, i)
            if low <= time(p, k) <= high and counts_still(p, k, latest) and last_in_turn(p, q, s, depth, turn(p, k)):
                if depth == 0:
                    bind(p, q, s, k)
                    return True
                tally(counts, SCANNED, 1)
                if fits(p, q, counts, s, depth, k) != 0:
                    return not word(q.state, RAISED)
        return False
    which, u = word(step, LIST), word(loop, CURSOR)
    while u != NOTHING and time(p, u) <= high:
        tally(counts, SCANNED, 1)
        newer = neighbour(p, u, which, NEWER)
        if time(p, u) >= low and turn(p, u) < before and counts_still(p, u, latest):
            if depth == 0:
                bind(p, q, word(step, STREAM), u)
                keep(loop, CURSOR, newer)
                return True
            if fits(p, q, counts, s, depth, u) != 0:
                keep(loop, CURSOR, newer)
                return not word(q.state, RAISED)
        u = newer
    return False


@njit
def last_in_turn(p: Any, q: Any, s: int, depth: int, new: int) -> bool:
    """Whether all that is bound had its turn before the new tuple."""
    latest = NEVER
    for d in range(depth):
        latest = max(latest, turn(p, word(q.member, word(step_at(q, s, d), STREAM))))
    return latest < new
