"""``xjoin``: the symmetric hash join XJoin, adapted to windows: a baseline.

Each stream has a hash table that nothing leaves; an arriving tuple is put into its own and
probes those of the others, one after another.  Adapted as the reports adapt it: the
windows are tested on each pair and each longer partial match that is equal in
its keys, as each operator of a tree of binary joins would, and expired tuples are purged
from the tables every 10,000 arrivals.  All is kept in memory: what XJoin does on disk while its
inputs are silent has no part here.  It is here to be compared with ``hash``.

Exact because every match is found from its member that arrives last, and all its times are
tested.  The predicate is asked about tuples of one bucket that are not within a window of
each other: a function of the user's must bear that.
Cost: each arrival scans a bucket a stream and partial match, dead or alive, to its end.

Report on W-joins, 4 (figure 8); Urhan and Franklin 2000.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anabranch.core.cache import kernel
from anabranch.core.lists import places_at, time
from anabranch.core.program import Program
from anabranch.core.words import word
from anabranch.joins.family.hash import BUCKETS, keyed_order, no_keys
from anabranch.joins.options import Buckets, buckets_by_stream
from anabranch.joins.partial import RESUME, arrival, begin, hang, over, query_at
from anabranch.joins.rectangle import Rectangle, purge, sweep


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        t, s = arrival(q, i)
        matches = begin(q, counts)
        sweep(p, q, counts, s, t, True)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)
        purge(p, q, counts, time(p, t))


class XJoin(Rectangle):
    name = "xjoin"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Rectangle.Options):
        buckets: Buckets = field(default_factory=dict)  # of each stream's hash table

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It cannot without an equality that leads from stream to stream."""
        return no_keys(program)

    def order(self, arriving: int) -> list[int]:
        """In turn, but first those that an equality leads to."""
        return keyed_order(self.program, arriving)

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, BUCKETS)
