"""``binary_hash``: the windowed hash join of two streams (WHJ), and when its buckets are cleared.

As ``binary_nested_loop``, but a window is a hash table, each bucket of it in the order of
time: the arriving tuple clears and scans one bucket of the opposite window.  Where else it
looks for expired tuples is the strategy of invalidation:

- ``probe``: nowhere; what the paper shows to be enough for a right answer.
- ``probe_insert``: in the bucket that it is put into; nearly as cheap, and hardly any
  tuple outstays its window.
- ``all_probe``: in all buckets of the opposite window.
- ``all_both``: in all buckets of both windows; least memory.

Exact because the times are tested with every strategy.
Cost: as nested loops, the scan divided by the number of buckets; an invalidation compares
once more than it removes, in each bucket.  Stale tuples of b between two invalidations of a
bucket: ``lb / la`` with ``probe``, ``lb / (la + lb)`` with ``probe_insert``.

Kostowski and Claypool, 2 (figure 3), 3.1 (equation 2) and 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import BUCKETS as BUCKETS_OF
from anabranch.core.lists import FIRST_CHAIN, Array, chain_of, list_field, places_at, time
from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER
from anabranch.core.words import word
from anabranch.joins.family.hash import BUCKETS, no_keys
from anabranch.joins.listed import Listed
from anabranch.joins.loops import search
from anabranch.joins.options import Buckets, Options, buckets_by_stream
from anabranch.joins.partial import (
    LIST,
    RESUME,
    arrival,
    begin,
    bind,
    chain_for,
    expire_chain,
    hang,
    over,
    query_at,
    step_at,
)

INSERT, ALL_PROBE, ALL_INSERT = 0, 1, 2  # of ``extra``: where else to look


@njit
def expire_buckets(p: Any, q: Any, counts: int | None, s: int, which: int, now: int) -> None:
    """Clear all buckets of a stream."""
    first = list_field(p, s, which, FIRST_CHAIN)
    for chain in range(first, first + list_field(p, s, which, BUCKETS_OF)):
        expire_chain(p, q, counts, s, chain, which, now)


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        t, s = arrival(q, i)
        now, matches = time(p, t), begin(q, counts)
        bind(p, q, s, t)
        probed, own = word(step_at(q, s, 1), LIST), word(step_at(q, 1 - s, 1), LIST)
        if word(q.extra, ALL_PROBE):
            expire_buckets(p, q, counts, 1 - s, probed, now)
        else:
            expire_chain(p, q, counts, 1 - s, chain_for(p, q, None, s, 1), probed, now)
        search(p, q, counts, s, i, i + 1)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)
        if word(q.extra, ALL_INSERT):
            expire_buckets(p, q, counts, s, own, now)
        elif word(q.extra, INSERT):
            expire_chain(p, q, counts, s, chain_of(p, s, own, t), own, now)


class BinaryHash(Listed):
    name = "binary_hash"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        buckets: Buckets = field(default_factory=dict)  # of each stream's hash table
        invalidation: Literal["probe", "probe_insert", "all_probe", "all_both"] = "probe_insert"

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It joins two streams by an equality."""
        if program.n != 2:
            return f"it joins two streams, not {program.n}", "hash joins any number"
        reason = no_keys(program)
        return reason and (reason[0], "binary_nested_loop needs none")

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, BUCKETS)

    def extras(self) -> Array:
        chosen = self.options.invalidation
        return np.array([chosen == "probe_insert", chosen in ("all_probe", "all_both"), chosen == "all_both"], np.int64)

    def let_go(self, frontiers: Sequence[int]) -> None:
        """Nothing, until a stream has ended: then nobody looks any more."""
        if FOREVER in frontiers:
            super().let_go(frontiers)
