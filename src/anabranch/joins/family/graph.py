"""``graph``: the nested-loop join for windows that bind only some pairs (the variation of BEW-join).

As ``nested_loop``, but a period comes from the windows that the user gave, each between
two streams, instead of what they imply for every pair; the streams follow along the graph
of these windows, from the arriving one.  Whatever has one window with a stream that is
bound is bounded by it.

Exact because every given window is tested when the second of its two streams is bound, so
a complete match has passed all of them and nothing is left to refine.  The paper drops a
tuple when the newest ones are out of the windows that its stream takes part in.  That loses
matches (AB=5, BC=8: when b@6 comes a@0 goes, and c@13 finds no a for b@5; 1,279 of 5,000
random paths), so tuples are dropped by the closed matrix, which knows A and C are bound too.
Cost: as ``nested_loop``, with fewer bounds a period and wider periods where windows that
are only implied would have been narrower.

SSDBM 2003, "variations of W-join", "variation of BEW-join"; Report on W-joins, 5.2.
"""

from __future__ import annotations

from anabranch.core.lists import Array
from anabranch.core.ticks import FOREVER
from anabranch.joins.family.nested_loop import NestedLoop


class Graph(NestedLoop):
    name = "graph"

    def order(self, arriving: int) -> list[int]:
        """Those in turn that a window binds to one before; then those that none does."""
        n, bounds = self.program.n, self.program.windows.given
        bound = (bounds != FOREVER) | (bounds != FOREVER).T
        order, rest = [arriving], [(arriving + i) % n for i in range(1, n)]
        while rest:
            k = next((k for k in rest if bound[k, order].any()), rest[0])
            order.append(k)
            rest.remove(k)
        return order

    def bounds(self) -> Array:
        """The given windows alone."""
        given: Array = self.program.windows.given
        return given
