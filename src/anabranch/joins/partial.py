"""Partial matches: what the nested loops of all members of the family do at each depth.

A search binds one stream after another in an *order*, a row of steps.  The tuples bound
so far leave a *period* for the next stream: with the closed matrix, the times from
``max(t[a] - D[k][a])`` to ``min(t[a] + D[a][k])``; for one window ``w`` that is the
reports' ``[max t - w, min t + w]``, which shrinks from stream to stream.  A candidate
inside it *fits* when the equalities with bound tuples hold and so does every conjunct
that it decides.  A tuple *expires* by the same matrix and the frontiers.

Shared because the members differ in which list they walk, in which order, and when
they test what; not in any of this.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import (
    ALL,
    FIRST_CHAIN,
    NEWER,
    NOTHING,
    add,
    bucket,
    drop,
    list_field,
    neighbour,
    oldest,
    places_at,
    record,
    time,
    until,
    whole,
)
from anabranch.core.lists import BUCKETS as BUCKETS_OF
from anabranch.core.tally import BUCKETS, COMPARED, EXPIRED, PROBED, back, mark, tally
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import after, before, call_admit, keep, mix, word

# columns of a step: the stream, the list to find it by, the conjuncts that it decides, the equalities with bound
# streams, and of these as many as make up the key of the list; from PART on: bound stream, its word, our word
STREAM, LIST, MASK, PARTS, KEYS, PART = range(6)
PART_COLUMNS = 3
STEP_COLUMNS = PART + 16 * PART_COLUMNS

# columns of the state of a search
FOUND, RESUME, HUNG, RAISED, NEEDED, LOW, HIGH, LATEST, STATE_COLUMNS = range(9)


class Query(NamedTuple):
    """What a kernel needs to know of a query and of the batch, as addresses and sizes."""

    admit: int
    bound: int  # two matrices of windows: what periods go by, and what tuples are kept by
    steps: int  # by arriving stream: n steps, STEP_COLUMNS each
    frontiers: int  # by stream, as they are after the batch
    sequence: int  # the batch in time order: tuple and stream
    member: int  # by stream: the tuple that is bound
    at: int  # by stream: its record, for ``admit``
    found: int  # matches, a tuple of each stream
    state: int  # FOUND ... LATEST
    loops: int  # by depth: where its loop stands
    extra: int  # what one member alone needs; its own business
    pairs: int  # by two streams: how many keys they share, and the words of both
    n: int
    arrived: int  # tuples in the sequence
    room: int  # matches that ``found`` has room for
    keys: int  # that two streams share at most


@njit(forceinline=True)
def query_at(at: int) -> Any:
    """The ``Query`` that stands as words at one address."""
    return Query(
        word(at, 0), word(at, 1), word(at, 2), word(at, 3), word(at, 4), word(at, 5), word(at, 6), word(at, 7),
        word(at, 8), word(at, 9), word(at, 10), word(at, 11), word(at, 12), word(at, 13), word(at, 14), word(at, 15),
    )  # fmt: skip


@njit(forceinline=True)
def step_at(q: Any, arriving: int, depth: int) -> int:
    """Where the step at a depth of the order for an arriving stream stands."""
    return q.steps + 8 * (arriving * q.n + depth) * STEP_COLUMNS


@njit(forceinline=True)
def distance(q: Any, i: int, j: int) -> int:
    """How much later than stream i stream j may be."""
    return word(q.bound, i * q.n + j)


@njit(forceinline=True)
def kept(q: Any, i: int, j: int) -> int:
    """How much later than a tuple of stream i one of stream j may be for whose sake it is kept."""
    return word(q.bound, (q.n + i) * q.n + j)


@njit(forceinline=True)
def bind(p: Any, q: Any, s: int, u: int) -> None:
    """Make a tuple the member of its stream."""
    keep(q.member, s, u)
    keep(q.at, s, record(p, u))


@njit
def period(p: Any, q: Any, arriving: int, depth: int) -> None:
    """Leave the period for the stream at this depth in LOW and HIGH, and the newest time so far in LATEST.

    A bound tuple that leaves its count window ends the period just before.
    """
    k = word(step_at(q, arriving, depth), STREAM)
    low, high, latest, end = NEVER, FOREVER, NEVER, FOREVER
    for d in range(depth):
        a = word(step_at(q, arriving, d), STREAM)
        u = word(q.member, a)
        t = time(p, u)
        low = max(low, before(t, distance(q, k, a)))
        high = min(high, after(t, distance(q, a, k)))
        latest = max(latest, t)
        end = min(end, until(p, u))
    if end != FOREVER:
        high = NEVER if end <= latest else min(high, end - 1)
    keep(q.state, LOW, low)
    keep(q.state, HIGH, high)
    keep(q.state, LATEST, latest)


@njit(forceinline=True)
def counts_still(p: Any, u: int, latest: int) -> bool:
    """Whether a tuple is in its count window at the newest time of a match that it would be part of."""
    end = until(p, u)
    return end == FOREVER or end > max(time(p, u), latest)


@njit
def fits(p: Any, q: Any, counts: int | None, arriving: int, depth: int, u: int) -> int:
    """Bind a candidate and test all that can be told now: 1, 0, or -1 when the user's function raised."""
    tally(counts, COMPARED, 1)
    step = step_at(q, arriving, depth)
    ours = record(p, u)
    for i in range(word(step, PARTS)):
        part = PART + PART_COLUMNS * i
        theirs = word(q.at, word(step, part))
        if word(p.arena, ours + word(step, part + 2)) != word(p.arena, theirs + word(step, part + 1)):
            return 0
    bind(p, q, word(step, STREAM), u)
    mask = word(step, MASK)
    verdict = 1 if mask == 0 else call_admit(q.admit, mask, p.arena, q.at)
    if verdict < 0:
        keep(q.state, RAISED, 1)
    return verdict


@njit
def bound_code(p: Any, q: Any, arriving: int, depth: int) -> int:
    """The code of the key that what is bound has for the stream at this depth."""
    step, code = step_at(q, arriving, depth), 0
    for i in range(word(step, KEYS)):
        part = PART + PART_COLUMNS * i
        code = mix(code * 31 + word(p.arena, word(q.at, word(step, part)) + word(step, part + 1)))
    return code


@njit
def chain_for(p: Any, q: Any, counts: int | None, arriving: int, depth: int) -> int:
    """The chain to walk at this depth: the whole stream, or the bucket of the key that is bound."""
    step = step_at(q, arriving, depth)
    k, which = word(step, STREAM), word(step, LIST)
    tally(counts, PROBED, 1)
    if which == ALL:
        return whole(p, k)
    tally(counts, BUCKETS, 1)
    first, buckets = list_field(p, k, which, FIRST_CHAIN), list_field(p, k, which, BUCKETS_OF)
    if buckets == 1:
        return first
    return first + bucket(bound_code(p, q, arriving, depth), buckets)


@njit
def emit(q: Any) -> None:
    """Write the bound tuples as a match; where there is no room it is only counted, and searched for once more."""
    found = word(q.state, FOUND)
    if found < q.room:
        for s in range(q.n):
            keep(q.found, found * q.n + s, word(q.member, s))
    keep(q.state, FOUND, found + 1)


@njit(forceinline=True)
def arrival(q: Any, i: int) -> tuple[int, int]:
    """The tuple and the stream of an arrival."""
    return word(q.sequence, 2 * i), word(q.sequence, 2 * i + 1)


@njit
def hang(p: Any, q: Any, i: int) -> None:
    """Put an arrival into the lists of its stream, once, however often its matches are searched for."""
    if i >= word(q.state, HUNG):
        add(p, word(q.sequence, 2 * i + 1), word(q.sequence, 2 * i))
        keep(q.state, HUNG, i + 1)


@njit(forceinline=True)
def begin(q: Any, counts: int | None) -> int:
    """The number of matches before an arrival is searched for."""
    mark(counts)
    return word(q.state, FOUND)


@njit(forceinline=True)
def over(q: Any, counts: int | None, i: int, matches: int) -> bool:
    """Whether the kernel has to return: the predicate raised, or what arrival *i* found had no room.

    In the second case it is called again, from this arrival on, when what was found before has been taken away.
    """
    if word(q.state, RAISED):
        return True
    if word(q.state, FOUND) <= q.room:
        return False
    once_more(q, counts, i, matches)
    return True


@njit
def once_more(q: Any, counts: int | None, i: int, matches: int) -> None:
    """Forget what arrival *i* has found: when there is room for it, it is searched for once more."""
    back(counts)
    keep(q.state, NEEDED, max(1, word(q.state, FOUND) - matches))
    keep(q.state, FOUND, matches)
    keep(q.state, RESUME, i)


@njit
def horizon(q: Any, s: int, now: int) -> int:
    """Tuples of a stream older than this can match nothing any more.

    *now* is what all later tuples of the batch are not older than; the frontiers say it for those of later batches.
    """
    bound = FOREVER
    for j in range(q.n):
        frontier = min(now, word(q.frontiers, j))
        if j != s and frontier != FOREVER:
            bound = min(bound, before(frontier, kept(q, s, j)))
    return bound


@njit
def least_other(q: Any, s: int, now: int) -> int:
    """What all tuples of the other streams still to come are not older than."""
    least = FOREVER
    for j in range(q.n):
        if j != s:
            least = min(least, now, word(q.frontiers, j))
    return least


@njit
def expire_chain(p: Any, q: Any, counts: int | None, s: int, chain: int, which: int, now: int) -> None:
    """``expire`` for one chain of a stream."""
    limit, least = horizon(q, s, now), least_other(q, s, now)
    u = oldest(p, chain)
    if which != ALL:
        tally(counts, BUCKETS, 1)
    while u != NOTHING and (time(p, u) < limit or until(p, u) <= least):
        newer = neighbour(p, u, which, NEWER)
        drop(p, s, u)
        tally(counts, EXPIRED, 1)
        u = newer


@njit
def expire(p: Any, q: Any, counts: int | None, s: int, now: int) -> None:
    """Let go of the tuples of a stream that can match nothing any more: they are its oldest."""
    expire_chain(p, q, counts, s, whole(p, s), ALL, now)


@kernel()
def expire_all(places: int, query: int, counts: int | None) -> None:
    """Let go of all that the frontiers have left behind."""
    p, q = places_at(places), query_at(query)
    for s in range(q.n):
        expire(p, q, counts, s, FOREVER)
