"""``lazy``: the lazy multi-way nested-loop join: every tau the new tuples, each in the outermost loop.

Tuples are put into their windows as they arrive and joined when the query is re-executed:
for each stream, for each of its new tuples, the other streams follow in the global order,
as in ``eager``.  Expiry is lazy too, at most as often as execution.

Batches are ``[k tau, (k + 1) tau)``.  The paper's ``NOW - tau <= k.ts <= NOW`` puts a tuple
that comes at NOW into two batches, and lets two new tuples find each other twice: here a
tuple has one batch, and only partners count whose turn came before; turns go by time, and
by arrival among equals.  (With the paper's bounds 1,568 of 2,000 random cases were wrong.)
For the same reason one comparison with the new tuple is not enough but for one common
equality; all conjuncts that a candidate decides are tested.

Exact because of any match the member with the last turn finds the others, and no other
member finds all of them.  A row waits until its batch is over, so for results of a batch of
tau the frontier of the fastest stream has to pass it.
Cost: as ``eager``, in windows that are longer by up to tau.

Golab and Ozsu, 3.3 (LAZY MULTI-WAY NLJ), and 3.4 with buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from anabranch.core.cache import kernel
from anabranch.core.lists import Array, places_at
from anabranch.core.words import word
from anabranch.joins.listed import Listed
from anabranch.joins.loops import search
from anabranch.joins.options import Buckets, Options, Order, Ticks, buckets_by_stream, streams_in_order
from anabranch.joins.partial import RESUME, arrival, begin, over, query_at
from anabranch.joins.slices import arranged, enter, gate


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        _, s = arrival(q, i)
        matches = begin(q, counts)
        enter(p, q, counts, i)
        search(p, q, counts, s, i, i + 1)
        if over(q, counts, i, matches):
            return


class Lazy(Listed):
    name = "lazy"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        tau: Ticks = Ticks(0)  # the time between two executions; 0 executes with every batch
        order: Order = ()  # the global order of the streams; as in FROM if none is given
        buckets: Buckets = field(default_factory=dict)  # of a stream's hash table; none is a scan

    def order(self, arriving: int) -> list[int]:
        """The arriving stream first, then the global order."""
        every = streams_in_order(self.name, self.program.windows.streams, self.options.order)
        return [arriving, *(s for s in every if s != arriving)]

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, 0)

    def gate(self, frontiers: Sequence[int]) -> int:
        return gate(self.options.tau, frontiers)

    def arranged(self, sequence: Array, times: Array) -> Array:
        sequence, self._extra = arranged(self.options.tau, sequence, times)
        return sequence

    def extras(self) -> Array:
        return np.zeros(1, np.int64)
