"""``eager``: the eager multi-way nested-loop join, and with buckets the multi-way hash join.

When a tuple arrives it is the outermost loop, of one tuple; the other streams follow in
one global order.  So a stream is scanned only for tuples that the new one joins with,
where ``naive`` scans the streams before it for nothing.  With buckets each loop scans one
bucket of its stream instead.

Exact because a match is found from its member that arrives last, and the times of every
candidate are tested, so tuples that have not expired yet do no harm: expiry is eager (of
all streams, with each arrival) or lazy (when a batch ends).
Cost: in comparisons an arrival, ``|S1| + |S1 x k| |S2| + ...`` over the global order; with
buckets each size is divided by their number.

Golab and Ozsu, 3.2 (EAGER MULTI-WAY NLJ, COMPUTEJOIN), 3.4 (MULTI-WAY HASH JOIN), 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anabranch.core.cache import kernel
from anabranch.core.lists import Array, places_at, time
from anabranch.core.words import word
from anabranch.joins.listed import Listed
from anabranch.joins.loops import search
from anabranch.joins.options import Buckets, Expiry, Options, Order, buckets_by_stream, streams_in_order
from anabranch.joins.partial import RESUME, arrival, begin, expire, hang, over, query_at


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        k, s = arrival(q, i)
        matches = begin(q, counts)
        if word(q.extra, 0):  # eager expiry
            for other in range(q.n):
                expire(p, q, counts, other, time(p, k))
        search(p, q, counts, s, i, i + 1)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)


class Eager(Listed):
    name = "eager"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        order: Order = ()  # the global order of the streams; as in FROM if none is given
        buckets: Buckets = field(default_factory=dict)  # of a stream's hash table; none is a scan
        expiry: Expiry = "eager"  # eager: with each arrival; lazy: when a batch ends

    def order(self, arriving: int) -> list[int]:
        """The arriving stream first, then the global order."""
        every = streams_in_order(self.name, self.program.windows.streams, self.options.order)
        return [arriving, *(s for s in every if s != arriving)]

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, 0)

    def extras(self) -> Array:
        return np.array([self.options.expiry == "eager"], np.int64)
