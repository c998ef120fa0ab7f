"""``naive``: the multi-way nested-loop join in one fixed order, whatever stream the new tuple is of.

Binary incremental joins extended in the obvious way: the loops stand in the global order,
and the arriving tuple takes the place of its whole stream in its own loop.  A stream
that stands before the arriving one is scanned in full, for partial matches that the new
tuple then refuses.  It is here to be compared with ``eager``.

Exact as ``eager`` is.
Cost: ``|S1| |S2| ...`` down to the loop of the new tuple; the gap to ``eager`` widens with
every stream.

Golab and Ozsu, 3.1 (NAIVE MULTI-WAY NLJ).
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


class Naive(Listed):
    name = "naive"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        order: Order = ()  # the order of the loops; as in FROM if none is given
        buckets: Buckets = field(default_factory=dict)  # of a stream's hash table; none is a scan
        expiry: Expiry = "eager"  # eager: with each arrival; lazy: when a batch ends

    def order(self, arriving: int) -> list[int]:
        """The same for all."""
        return streams_in_order(self.name, self.program.windows.streams, self.options.order)

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, 0)

    def extras(self) -> Array:
        return np.array([self.options.expiry == "eager"], np.int64)
