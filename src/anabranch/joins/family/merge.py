"""``merge``: the merge window join, which tests windows only where a tuple comes in (MW-join, FEW-join).

Mode 1 sweeps the time axis to the first tuples of all streams within one window of each
other; Mode 2 admits what follows them inside their period and joins it with no test of
times.  ``joins/sweep.py`` has both, and why they are exact.

All that is admitted lies within one window of all else, so what the loops bind is a match
as soon as the predicate says so.  It needs one window for all pairs; ``lca`` does not.
Cost: one comparison of times a tuple instead of one a candidate.  It waits for the slowest
stream: latency for throughput.

Report on W-joins, 3.2, figure 6; SSDBM 2003, "forward evaluation".  Their "oldest
starting tuple" that goes at the end of a period is the one that ends it.
"""

from __future__ import annotations

import numpy as np

from anabranch.core.cache import kernel
from anabranch.core.lists import places_at
from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER
from anabranch.joins.partial import query_at
from anabranch.joins.sweep import Sweep, sweep


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    sweep(places_at(places), query_at(query), counts, False)


class Merge(Sweep):
    name = "merge"
    run = run

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It cannot without one finite window for all pairs."""
        windows = program.windows
        if any(count is not None for count in windows.counts):
            return "it has a count window", "lca holds count windows against complete matches"
        bounds = windows.closed[~np.eye(program.n, dtype=np.bool_)]
        if (bounds == FOREVER).any() or len(np.unique(bounds)) > 1:
            return "there is no one window for all pairs of its streams", "lca takes a window for each stream"
        return None
