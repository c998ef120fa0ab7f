"""``hybrid``: nested loops with hash tables where an equality gives them, scans elsewhere, in one operator.

When a tuple arrives it is the outermost loop.  The streams that no equality leads to are
scanned next; those with a hash table come innermost, where loops repeat the most, first
those of which a key is bound.  Which streams are indexed is a choice where memory is
scarce: once ``buckets`` names some, the others are scanned.

Exact as ``eager`` is: only the lists that the loops walk differ.
Cost: as ``eager``, where a stream's size is divided by its buckets if it has any.

Golab and Ozsu, 3.5, and 5.4 for the order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anabranch.core.cache import kernel
from anabranch.core.lists import places_at, time
from anabranch.core.words import word
from anabranch.joins.family.hash import BUCKETS, shared
from anabranch.joins.listed import Listed
from anabranch.joins.loops import search
from anabranch.joins.options import Buckets, Options, Order, buckets_by_stream, streams_in_order
from anabranch.joins.partial import RESUME, arrival, begin, expire, hang, over, query_at


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        k, s = arrival(q, i)
        matches = begin(q, counts)
        for other in range(q.n):
            expire(p, q, counts, other, time(p, k))
        search(p, q, counts, s, i, i + 1)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)


class Hybrid(Listed):
    name = "hybrid"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        order: Order = ()  # the global order of the streams; if none is given, those that are scanned come first
        buckets: Buckets = field(default_factory=dict)  # of the streams with a hash table; if none is named, of all

    def order(self, arriving: int) -> list[int]:
        """The arriving stream first, then the global order, or the scans before the indexes."""
        every = streams_in_order(self.name, self.program.windows.streams, self.options.order)
        rest = [s for s in every if s != arriving]
        if self.options.order:
            return [arriving, *rest]
        indexed = [s for s in rest if self.buckets_of[s] and any(lanes[s] >= 0 for lanes in self.program.keys)]
        order = [arriving, *(s for s in rest if s not in indexed)]
        while indexed:
            order.append(next((s for s in indexed if shared(self.program, order, s)), indexed[0]))
            indexed.remove(order[-1])
        return order

    def buckets(self) -> list[int]:
        named = self.options.buckets
        return buckets_by_stream(self.name, self.program.windows.streams, named, 0 if named else BUCKETS)
