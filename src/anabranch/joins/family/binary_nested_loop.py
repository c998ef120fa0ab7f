"""``binary_nested_loop``: the windowed nested-loop join of two streams (WNL).

A tuple arrives: expired tuples are taken from the old end of the opposite window, the rest of
it is scanned for matches, and the tuple is put into the window of its own stream.  Taking
expired tuples from there too costs one look more and keeps that window small when the other
stream is slow.

Exact because every match is found from its member that arrives last, and the times are
tested however stale a window is: a tuple that has expired may stay until somebody looks,
it never matches.  The paper takes stamps to be in the order of arrival; here a window is in
the order of time, and expires by what both streams have promised.
Cost: ``(la + lb)(ci + cn) + la lb (Ta + Tb) cs`` for the rates, the windows, and what it costs
to invalidate, to insert and to scan one tuple.

Kostowski and Claypool, 2 (figure 2) and 3.1 (equation 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from anabranch.core.cache import kernel
from anabranch.core.lists import Array, places_at, time
from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER
from anabranch.core.words import word
from anabranch.joins.listed import Listed
from anabranch.joins.loops import search
from anabranch.joins.options import Options
from anabranch.joins.partial import RESUME, arrival, begin, expire, hang, over, query_at


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    for i in range(word(q.state, RESUME), q.arrived):
        t, s = arrival(q, i)
        matches = begin(q, counts)
        expire(p, q, counts, 1 - s, time(p, t))
        search(p, q, counts, s, i, i + 1)
        if over(q, counts, i, matches):
            return
        hang(p, q, i)
        if word(q.extra, 0):
            expire(p, q, counts, s, time(p, t))


class BinaryNestedLoop(Listed):
    name = "binary_nested_loop"
    run = run

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        invalidation: Literal["probe", "probe_insert"] = "probe"  # where a tuple that arrives looks for expired ones

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It joins two streams."""
        return None if program.n == 2 else (f"it joins two streams, not {program.n}", "nested_loop joins any number")

    def extras(self) -> Array:
        return np.array([self.options.invalidation == "probe_insert"], np.int64)

    def let_go(self, frontiers: Sequence[int]) -> None:
        """Nothing, until a stream has ended: then nobody looks any more."""
        if FOREVER in frontiers:
            super().let_go(frontiers)
