"""``hash``: the hash window join that is driven by arrivals (HW-join, hash BEW-join).

As ``nested_loop``, but the arriving tuple probes a bucket of each stream's hash table
instead of scanning the stream.  A bucket is cleared of expired tuples when it is probed;
for the buckets that nobody probes, an update routine clears a whole stream once as many
tuples have arrived as it has buckets.

Exact for the same reason as ``nested_loop``: an expired tuple that is still in its bucket
lies outside of every period.  It needs an equality from each stream to the ones before it.
Cost: each arrival touches one bucket a stream and partial match.

Report on W-joins, 3.1.2; SSDBM 2003, hash implementation of "backward evaluation".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anabranch.core.cache import kernel
from anabranch.core.lists import ALL, Array, places_at, time
from anabranch.core.program import Program
from anabranch.core.words import keep, word
from anabranch.joins.listed import Listed
from anabranch.joins.loops import search
from anabranch.joins.options import Buckets, Options, buckets_by_stream
from anabranch.joins.partial import (
    LIST,
    RESUME,
    STREAM,
    arrival,
    begin,
    bind,
    chain_for,
    expire,
    expire_chain,
    hang,
    over,
    query_at,
    step_at,
)

BUCKETS = 1_024


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        t, s = arrival(q, i)
        matches = begin(q, counts)
        bind(p, q, s, t)
        for depth in range(1, q.n):
            step = step_at(q, s, depth)
            k, which = word(step, STREAM), word(step, LIST)
            since = word(q.extra, k) + 1  # arrivals since the update routine went through the stream
            if since > word(q.extra, q.n + k):
                expire(p, q, counts, k, time(p, t))
                since = 0
            elif depth == 1 and which != ALL:
                expire_chain(p, q, counts, k, chain_for(p, q, None, s, depth), which, time(p, t))
            keep(q.extra, k, since)
        search(p, q, counts, s, i, i + 1)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)


class Hash(Listed):
    name = "hash"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
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

    def extras(self) -> Array:
        """Arrivals since the last update of each stream, and how many there may be: one a bucket."""
        return np.array([0] * self.program.n + self.buckets_of, np.int64)


def keyed_order(program: Program, arriving: int) -> list[int]:
    """The streams in turn from the arriving one on, those first that share a key with one before."""
    n = program.n
    order, rest = [arriving], [(arriving + i) % n for i in range(1, n)]
    while rest:
        k = next((k for k in rest if shared(program, order, k)), rest[0])
        order.append(k)
        rest.remove(k)
    return order


def shared(program: Program, bound: list[int], k: int) -> bool:
    """Whether some equality holds between a stream and a bound one."""
    return any(lanes[k] >= 0 and any(lanes[a] >= 0 for a in bound) for lanes in program.keys)


def no_keys(program: Program) -> tuple[str, str] | None:
    """Why a query cannot be answered by hashing alone."""
    order = keyed_order(program, 0)
    for depth in range(1, program.n):
        if not shared(program, order[:depth], order[depth]):
            name = program.windows.streams[order[depth]]
            return f"no equality leads to {name}", "nested_loop needs none, hybrid hashes where it can"
    return None
