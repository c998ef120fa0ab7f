"""Seams in reach: panes, rounds and rooms made so small that a dozen tuples cross them.

The engine cuts its work at sizes in the thousands.  Within ``seams`` it cuts at the
sizes given, so that a random timeline of a few tuples closes panes, rebuilds tables,
fills the room for matches and splits batches into rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from anabranch.core import buffers, driver
from anabranch.joins import liveness, partials
from anabranch.joins.family import nway


@contextmanager
def seams(pane: int = 2, round_: int = 4, room: int = 3, reorder: int = 2, sweep: int = 1) -> Iterator[None]:
    """Rows of a pane and of a round, matches (partial ones too) that have room, insertions between two orders.

    *sweep* is how few tuples make it worth while to look for those that have waited in vain.
    """
    with ExitStack() as stack:
        stack.enter_context(patch.multiple(buffers, SMALLEST_PANE=pane, LARGEST_PANE=pane))
        stack.enter_context(patch.multiple(driver, SMALLEST_ROUND=round_, LARGEST_ROUND=round_))
        stack.enter_context(patch.multiple(nway, ROOM=room, REORDER_EVERY=reorder))
        stack.enter_context(patch.multiple(partials, SMALLEST=room))
        stack.enter_context(patch.multiple(liveness, FEWEST=sweep))
        yield
