"""``chain``: a tree of two-way joins that stores intermediate matches: what is usually written by hand.

The first two streams are joined, their matches with the third stream, and so on; each join
is a symmetric hash join over the matches below it and one stream.  A tuple of the k-th
stream probes the stored matches of the streams before it, what it finds is stored for
the next join and probes the stream of that, and so on up to the last.  It is here to show what one
operator for all streams saves.

Exact because a match is found from its member that arrives last: the partial match of the
streams before it in the tree is stored, and those after it are in their lists.  Written by hand a
chain knows the windows of neighbours alone; here every join and every store goes by the
closed matrix, so it is the best that such a chain can be.
Cost: fewer probes than without stored matches where streams far down the tree are slow;
each partial match is made, stored and forgotten, and their number is the product of
what matches.

The binary join is that of Kostowski and Claypool, 2.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import NOTHING, code_of, places_at
from anabranch.core.tally import PROBED, tally
from anabranch.core.words import word
from anabranch.joins.family.hash import BUCKETS, keyed_order
from anabranch.joins.options import buckets_by_stream
from anabranch.joins.partial import LIST, RAISED, RESUME, arrival, begin, hang, once_more, over, query_at, step_at
from anabranch.joins.partials import NEXT, bind_row, erase, first_row, full, level_at, row_at, settle
from anabranch.joins.tree import LEVELS, PLACE, ROOT, Tree, extend


@njit
def search(p: Any, q: Any, counts: int | None, i: int) -> None:
    """The matches of an arrival, and the partial matches that are to be stored."""
    u, s = arrival(q, i)
    root, k = word(q.extra, ROOT), word(q.extra, PLACE + s)
    if k < 2:
        extend(p, q, counts, s, 0, q.n - 1, i)
        return
    level = level_at(word(q.extra, LEVELS), k)
    tally(counts, PROBED, 1)
    r = first_row(level, code_of(p, s, word(step_at(q, root, k), LIST), u))
    while r != NOTHING and not word(q.state, RAISED):
        row = row_at(level, k, r)
        bind_row(p, q, root, k, row)
        extend(p, q, counts, s, k, q.n - 1, i)
        r = word(row, NEXT)


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    levels = word(q.extra, LEVELS)
    for i in range(word(q.state, RESUME), q.arrived):
        matches = begin(q, counts)
        erase(levels, q.n)
        search(p, q, counts, i)
        if over(q, counts, i, matches):
            return
        if full(levels, q.n):
            once_more(q, counts, i, matches)
            return
        settle(levels, q.n)
        hang(p, q, i)


class Chain(Tree):
    name = "chain"
    run = run

    def tree(self) -> list[int]:
        """As told, or as in FROM, but first those that an equality leads to."""
        return super().tree() if self.options.order else keyed_order(self.program, 0)

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, BUCKETS)
