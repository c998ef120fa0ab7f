"""``general_lazy``: the lazy join with the new tuples in any loop, not only the outermost.

Every tau, for each stream, its new tuples are joined in an order of the stream's own; they
stand wherever in it they do least harm.  A stream that is much faster than the others has
many new tuples at once: in the outermost loop they would drive all others, further in
they meet only what has survived.  A tuple bound before the loop of the new ones cannot be
held against their times yet; that waits for their loop.

Exact as ``lazy`` is: a match is found for the stream of its member with the last turn, from
that member, since in the loop of the new tuple all bound before must have had their turn
before it, and in the loops inside all candidates must.
Cost: never more than ``lazy`` in the best order; the space of orders is a superset of it.

Golab and Ozsu, 3.3 (GENERAL LAZY MULTI-WAY NLJ, GENERALCOMPUTEJOIN).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from anabranch.core.cache import kernel
from anabranch.core.errors import Refused
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
    i = word(q.state, RESUME)
    while i < q.arrived:
        _, s = arrival(q, i)
        last = i + 1
        while last < word(q.extra, 2 * i) and word(q.sequence, 2 * last + 1) == s:
            last += 1
        matches = begin(q, counts)
        enter(p, q, counts, i)
        search(p, q, counts, s, i, last)
        if over(q, counts, i, matches):
            return
        i = last


class GeneralLazy(Listed):
    name = "general_lazy"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        tau: Ticks = Ticks(0)  # the time between two executions; 0 executes with every batch
        orders: str = ""  # an order of all streams for the new tuples of each: A: B A C / B: B A C / C: B C A
        order: Order = ()  # the order for all streams that ``orders`` does not name; first the stream itself if none
        buckets: Buckets = field(default_factory=dict)  # of a stream's hash table; none is a scan

    def order(self, arriving: int) -> list[int]:
        """Its own order, or that of all, or the stream itself and then the others."""
        streams = self.program.windows.streams
        own = _orders(self.options.orders, streams).get(streams[arriving].lower(), self.options.order)
        if own:
            return streams_in_order(self.name, streams, own)
        return [arriving, *(s for s in range(len(streams)) if s != arriving)]

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, 0)

    def gate(self, frontiers: Sequence[int]) -> int:
        return gate(self.options.tau, frontiers)

    def arranged(self, sequence: Array, times: Array) -> Array:
        sequence, self._extra = arranged(self.options.tau, sequence, times)
        return sequence


def _orders(text: str, streams: Sequence[str]) -> dict[str, Order]:
    """By alias in lower case."""
    found: dict[str, Order] = {}
    for part in filter(str.strip, text.split("/")):
        alias, colon, order = part.partition(":")
        if not colon or alias.strip().lower() not in map(str.lower, streams):
            raise Refused(
                f"general_lazy(orders=...): '{part.strip()}' is no order of one stream's new tuples",
                f"write {streams[0]}: {' '.join(streams)} / ...",
            )
        found[alias.strip().lower()] = tuple(order.split())
    return found
