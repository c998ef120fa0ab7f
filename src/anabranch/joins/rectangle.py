"""Loops that know of no windows: how joins that were made for whole streams go through what is remembered.

An arriving tuple is combined with all that has been seen of the other streams, the newest side
of a rectangle of as many dimensions as there are streams.  No loop begins or ends
with a period; windows are one more condition, on what the predicate has let through:
on each partial match, as a tree of binary joins tests them, or on complete ones alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from anabranch.core.errors import Refused
from anabranch.core.lists import NEWER, NOTHING, Array, neighbour, oldest, time
from anabranch.core.tally import SCANNED, tally
from anabranch.core.ticks import FOREVER
from anabranch.core.words import keep, word
from anabranch.joins.listed import Listed
from anabranch.joins.loops import CURSOR, LOOP_COLUMNS
from anabranch.joins.options import Options
from anabranch.joins.partial import (
    HIGH,
    LATEST,
    LIST,
    LOW,
    RAISED,
    STREAM,
    bind,
    chain_for,
    counts_still,
    emit,
    expire,
    fits,
    period,
    step_at,
)


@njit
def sweep(p: Any, q: Any, counts: int | None, s: int, u: int, partial: bool) -> None:
    """The matches of a tuple with all that is remembered; *partial*: the windows are tested on partial matches."""
    bind(p, q, s, u)
    depth = 1
    _enter(p, q, counts, s, depth)
    while depth > 0:
        if not _advance(p, q, counts, s, depth, partial):
            depth -= 1
        elif depth < q.n - 1:
            depth += 1
            _enter(p, q, counts, s, depth)
        elif partial or _all_within(p, q, s):
            emit(q)
        if word(q.state, RAISED):
            return


@njit
def _enter(p: Any, q: Any, counts: int | None, s: int, depth: int) -> None:
    keep(q.loops + 8 * depth * LOOP_COLUMNS, CURSOR, oldest(p, chain_for(p, q, counts, s, depth)))


@njit
def _advance(p: Any, q: Any, counts: int | None, s: int, depth: int, partial: bool) -> bool:
    """Bind the next tuple that satisfies the predicate; False when there is none."""
    loop, which = q.loops + 8 * depth * LOOP_COLUMNS, word(step_at(q, s, depth), LIST)
    u = word(loop, CURSOR)
    while u != NOTHING:
        tally(counts, SCANNED, 1)
        newer = neighbour(p, u, which, NEWER)
        verdict = fits(p, q, counts, s, depth, u)
        if verdict != 0 and (verdict < 0 or not partial or _within(p, q, s, depth)):
            keep(loop, CURSOR, newer)
            return verdict > 0
        u = newer
    return False


@njit
def _within(p: Any, q: Any, s: int, depth: int) -> bool:
    """Whether the tuple that is bound at a depth is in the windows of those before it."""
    period(p, q, s, depth)
    u = word(q.member, word(step_at(q, s, depth), STREAM))
    return word(q.state, LOW) <= time(p, u) <= word(q.state, HIGH) and counts_still(p, u, word(q.state, LATEST))


@njit
def _all_within(p: Any, q: Any, s: int) -> bool:
    depth = 1
    while depth < q.n and _within(p, q, s, depth):
        depth += 1
    return depth == q.n


@njit
def purge(p: Any, q: Any, counts: int | None, now: int) -> None:
    """Count an arrival, and clear all buffers of expired tuples once there were enough."""
    since = word(q.extra, 0) + 1
    if since >= word(q.extra, 1):
        for s in range(q.n):
            expire(p, q, counts, s, now)
        since = 0
    keep(q.extra, 0, since)


class Rectangle(Listed):
    """What the members over such loops share: buffers that are purged now and then."""

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        purge: int = 10_000  # tuples that arrive between two purges of the buffers

    def extras(self) -> Array:
        """Arrivals since the last purge, and how many there may be."""
        if self.options.purge < 1:
            raise Refused(f"{self.name}(purge={self.options.purge}) is no number of tuples", "write 1 or more")
        return np.array([0, self.options.purge], np.int64)

    def let_go(self, frontiers: Sequence[int]) -> None:
        """Nothing between two purges, until all streams have ended."""
        if min(frontiers) == FOREVER:
            super().let_go(frontiers)
