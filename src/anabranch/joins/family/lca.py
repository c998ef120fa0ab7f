"""``lca``: the merge join for windows that differ, by the largest of each stream (local conservative approach).

The plane sweep of ``merge`` (``joins/sweep.py``) filters: a stream's reach is the largest
bound in its row of the closed matrix, so a tuple's part of the period is as long as any
partner of it may be later.  Each complete combination is then *refined*: held against
all windows, and those that count.

Exact because a tuple is dropped only when it reaches no other stream's next tuple, and
what passes is tested.  When a period ends the paper drops the oldest starting tuple; with
reaches that differ that one may still have partners (29 of 6,000 random cases lost
matches), so the one with the least ``t + reach`` goes.
Cost: as ``merge``, with n squared comparisons a candidate; never more candidates than ``gca``.

Report on W-joins, 5.1, figure 10 (and 5.2 for windows that are not given: the shortest
path); SSDBM 2003, "variations of W-join".
"""

from __future__ import annotations

from anabranch.core.cache import kernel
from anabranch.core.lists import places_at
from anabranch.joins.partial import query_at
from anabranch.joins.sweep import Sweep, sweep


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    sweep(places_at(places), query_at(query), counts, True)


class LCA(Sweep):
    name = "lca"
    run = run
