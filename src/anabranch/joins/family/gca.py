"""``gca``: the merge join for windows that differ, by the largest of them (global conservative approach).

The plane sweep of ``merge`` (``joins/sweep.py``) filters: with one window, the largest that
any pair has after closure, it finds every match, and combinations that are none.  Each
complete one is then *refined*: held against all windows, and those that count.

Exact because the largest window includes every other, and what passes is tested.
Cost: as ``merge`` at its largest window, and n squared comparisons a candidate.  One wide
pair makes all streams pay; ``lca`` is for that.

Report on W-joins, 5.1 (and 5.2 for windows that are not given: the shortest path); SSDBM
2003, "variations of W-join".
"""

from __future__ import annotations

import numpy as np

from anabranch.core.lists import Array
from anabranch.joins.family.lca import LCA


class GCA(LCA):
    name = "gca"

    def keeps(self) -> Array:
        """One window for all."""
        closed = super().keeps()
        return np.full_like(closed, closed.max())
