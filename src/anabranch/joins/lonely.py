"""Tuples that wait in vain: liveness for the members of the family.

A tuple u of stream i is dead when, for some k, the frontier of k has passed
``t[u] + D[i][k]`` and k remembers no tuple in ``[t[u] - D[k][i], t[u] + D[i][k]]`` that is equal
in the keys that both have: its partner is neither here nor still to come.

Cost: a walk over the lists, and for each tuple that another stream can bring no partner
for any more a walk over that stream's tuples up to the first partner.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import ALL, NEWER, NOTHING, drop, neighbour, oldest, places_at, record, time, whole
from anabranch.core.tally import EXPIRED, tally
from anabranch.core.ticks import FOREVER
from anabranch.core.words import after, before, word
from anabranch.joins.partial import kept, query_at


@njit
def equal(p: Any, q: Any, s: int, u: int, k: int, v: int) -> bool:
    """Whether two tuples are equal in all keys that their streams share."""
    at = q.pairs + 8 * (s * q.n + k) * (1 + 2 * q.keys)
    for i in range(word(at, 0)):
        ours, theirs = word(at, 1 + 2 * i), word(at, 2 + 2 * i)
        if word(p.arena, record(p, u) + ours) != word(p.arena, record(p, v) + theirs):
            return False
    return True


@njit
def lonely(p: Any, q: Any, s: int, u: int) -> bool:
    """Whether some other stream has no partner for a tuple and can bring none."""
    t = time(p, u)
    for k in range(q.n):
        high = after(t, kept(q, s, k))
        frontier = word(q.frontiers, k)
        if k == s or (frontier != FOREVER and frontier <= high):
            continue
        low, v, found = before(t, kept(q, k, s)), oldest(p, whole(p, k)), False
        while v != NOTHING and time(p, v) <= high and not found:
            found = time(p, v) >= low and equal(p, q, s, u, k, v)
            v = neighbour(p, v, ALL, NEWER)
        if not found:
            return True
    return False


@kernel()
def drop_lonely(places: int, query: int, counts: int | None) -> None:
    """Let go of all tuples that wait in vain."""
    p, q = places_at(places), query_at(query)
    for s in range(q.n):
        u = oldest(p, whole(p, s))
        while u != NOTHING:
            newer = neighbour(p, u, ALL, NEWER)
            if lonely(p, q, s, u):
                drop(p, s, u)
                tally(counts, EXPIRED, 1)
            u = newer
