"""``nested_loop``: the nested-loop window join that is driven by arrivals (NLW-join, BEW-join).

The arriving tuple opens a period; the buffers of the other streams are iterated over one
after another, in turn from the arriving stream on.  Each tuple that lies inside the period
and satisfies the predicate shrinks the period for the next stream; when a stream has no
more, the search steps back.  While a buffer is visited, tuples at its old end that are out
of reach of the newest tuples of all other streams are deleted.

Exact because every match is found from its member that arrives last, when the others
are in their buffers, and a tuple is deleted only where the closed matrix and the newest
times say that none to come can reach it.  It never waits for a stream.
Cost: each arrival scans the others' buffers, once for each partial match.

Report on W-joins, 3.1.1, figures 2, 3 and 5; SSDBM 2003, "backward evaluation".
"""

from __future__ import annotations

from anabranch.core.cache import kernel
from anabranch.core.lists import places_at, time
from anabranch.core.words import word
from anabranch.joins.listed import Listed
from anabranch.joins.loops import search
from anabranch.joins.partial import RESUME, STREAM, arrival, begin, expire, hang, over, query_at, step_at


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        t, s = arrival(q, i)
        matches = begin(q, counts)
        for depth in range(1, q.n):  # delete what is out of reach of all that has come
            expire(p, q, counts, word(step_at(q, s, depth), STREAM), time(p, t))
        search(p, q, counts, s, i, i + 1)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)


class NestedLoop(Listed):
    name = "nested_loop"
    run = run
