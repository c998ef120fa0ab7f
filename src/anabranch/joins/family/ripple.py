"""``ripple``: the ripple join, adapted to windows: a baseline.

The published join draws from its inputs in turn and combines each tuple with all that have
been drawn of the others, so that the part of the cross product that is done grows as
a rectangle; the whole prefix of every stream is kept.  Adapted as the reports adapt it:
whatever the predicate lets through is held to the windows when it is complete, and expired
tuples are purged from the buffers every 10,000 arrivals.  It is here to be
compared with ``nested_loop``, which carries a period from loop to loop.

Exact because every match is found from its member that arrives last, and all its times are
tested.  The predicate is asked about tuples that are not within a window of each other: a
function of the user's must bear that.
Cost: each arrival scans all that the others' buffers hold, dead or alive, once for each
partial match.

Report on W-joins, 4 (figure 7); Haas and Hellerstein 1999.
"""

from __future__ import annotations

from anabranch.core.cache import kernel
from anabranch.core.lists import places_at, time
from anabranch.core.words import word
from anabranch.joins.partial import RESUME, arrival, begin, hang, over, query_at
from anabranch.joins.rectangle import Rectangle, purge, sweep


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        t, s = arrival(q, i)
        matches = begin(q, counts)
        sweep(p, q, counts, s, t, False)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)
        purge(p, q, counts, time(p, t))


class Ripple(Rectangle):
    name = "ripple"
    run = run
