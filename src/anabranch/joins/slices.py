"""Slices of time: what the lazy members join at once.

With a tau, a batch is cut at its multiples, and rows of a slice that is not over yet
wait with the driver; without one a batch is a slice.  In each slice the new tuples come
stream by stream.  When one is entered, what no tuple of it can reach any more expires,
and all of its tuples are put into their windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from anabranch.core.lists import Array
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import word
from anabranch.joins.partial import expire, hang

END, LEAST = 0, 1  # of an arrival: where its slice ends, and the least time in it


def gate(tau: int, frontiers: Sequence[int]) -> int:
    """The begin of the slice that the fastest stream has reached."""
    latest = max(frontiers)
    return FOREVER if not tau or latest == FOREVER else latest if latest == NEVER else latest // tau * tau


def arranged(tau: int, sequence: Array, times: Array) -> tuple[Array, Array]:
    """A sequence by slice, stream and time, and END and LEAST of each arrival."""
    slices = times // tau if tau else np.zeros(len(times), np.int64)
    order = np.lexsort((times, sequence[:, 1], slices))
    first = np.searchsorted(slices, slices)  # both are in the order of time, and slices keep their places
    ends = np.searchsorted(slices, slices, "right")
    return sequence[order], np.ascontiguousarray(np.column_stack([ends, times[first]]))


@njit
def enter(p: Any, q: Any, counts: int | None, i: int) -> None:
    """Begin the slice of an arrival, if it is the first of it."""
    if i == 0 or word(q.extra, 2 * i + END) != word(q.extra, 2 * (i - 1) + END):
        for s in range(q.n):
            expire(p, q, counts, s, word(q.extra, 2 * i + LEAST))
        for j in range(i, word(q.extra, 2 * i + END)):
            hang(p, q, j)
