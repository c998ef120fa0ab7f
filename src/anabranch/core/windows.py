"""Window constraints as one closed matrix of difference bounds.

``closed[i, j]`` says how much later than stream i stream j may be:
``t[j] - t[i] <= closed[i, j]``.  Every form of time window is a set of such
bounds, and closing the matrix over shortest paths makes every implied bound
explicit.  The closed matrix then answers all questions about time: a negative
diagonal is a contradiction, an infinite entry is state that never ends, a row is
a probe range, and a column against the frontiers is what may be forgotten.

Cost: n cubed once a query; n is the number of streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, NEVER, minus, plus

Matrix = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bound:
    """``t[later] - t[earlier] <= ticks``, with the words of the user that say so and where they stand."""

    earlier: str
    later: str
    ticks: int
    clause: str = ""
    at: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Windows:
    """The windows of one query over its streams (by alias), never contradictory."""

    streams: tuple[str, ...]
    bounds: tuple[Bound, ...] = ()
    counts: tuple[int | None, ...] = ()

    @classmethod
    def of(
        cls, streams: Sequence[str], bounds: Iterable[Bound] = (), counts: Mapping[str, int] | None = None
    ) -> Windows:
        """Close the matrix; refuse windows that no times at all can satisfy."""
        rows = counts or {}
        windows = cls(tuple(streams), tuple(bounds), tuple(rows.get(s) for s in streams))
        cycle = windows._contradiction()
        if cycle:
            clauses = " and ".join(dict.fromkeys(bound.clause or _spelled(bound) for bound in cycle))
            total = sum(bound.ticks for bound in cycle)
            raise Refused(
                f"the windows contradict each other: {clauses}",
                f"around {' -> '.join([b.earlier for b in cycle] + [cycle[0].earlier])} the bounds add up to {total},"
                " which must not be negative",
                min((bound.at for bound in cycle if bound.at), default=None),
            )
        return windows

    @cached_property
    def given(self) -> Matrix:
        """The tightest bound that the user gave for each pair; FOREVER where there is none."""
        place = {stream: i for i, stream in enumerate(self.streams)}
        matrix = np.full((len(place), len(place)), FOREVER, np.int64)
        np.fill_diagonal(matrix, 0)
        for bound in self.bounds:
            i, j = place[bound.earlier], place[bound.later]
            matrix[i, j] = min(int(matrix[i, j]), bound.ticks)
        return matrix

    @cached_property
    def closed(self) -> Matrix:
        """All-pairs shortest paths over ``given``."""
        matrix = [[int(v) for v in row] for row in self.given]
        n = len(matrix)
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    if matrix[i][k] != FOREVER and matrix[k][j] != FOREVER:
                        matrix[i][j] = min(matrix[i][j], plus(matrix[i][k], matrix[k][j]))
        return np.array(matrix, np.int64).reshape(n, n)

    def unbounded(self) -> list[tuple[str, str]]:
        """Pairs (i, j) such that i can never forget because of j: no bound, and no count window on i."""
        return [
            (self.streams[i], self.streams[j])
            for i, j in zip(*np.nonzero(self.closed == FOREVER), strict=True)
            if self.counts[i] is None
        ]

    def probe(self, stream: int, times: Mapping[int, int]) -> tuple[int, int]:
        """The closed range of times in which *stream* can join members with these *times*."""
        low, high = NEVER, FOREVER
        for a, t in times.items():
            low = max(low, minus(t, int(self.closed[stream, a])))
            high = min(high, plus(t, int(self.closed[a, stream])))
        return low, high

    def horizon(self, stream: int, frontiers: Sequence[int]) -> int:
        """Tuples of *stream* older than this can take part in no new match; FOREVER if none can.

        A stored u may still match while, for some other unfinished j,
        ``frontier[j] <= t[u] + closed[stream, j]``.
        """
        return min(
            (
                minus(frontier, int(self.closed[stream, j]))
                for j, frontier in enumerate(frontiers)
                if j != stream and frontier != FOREVER
            ),
            default=FOREVER,
        )

    def _contradiction(self) -> list[Bound]:
        """The bounds of one negative cycle (Bellman-Ford from everywhere), or nothing."""
        distance = dict.fromkeys(self.streams, 0)
        via: dict[str, Bound] = {}
        last: str | None = None
        for _ in range(len(self.streams) + 1):
            last = None
            for bound in self.bounds:
                if bound.ticks != FOREVER and distance[bound.earlier] + bound.ticks < distance[bound.later]:
                    distance[bound.later] = distance[bound.earlier] + bound.ticks
                    via[bound.later], last = bound, bound.later
            if last is None:
                return []
        assert last is not None
        for _ in self.streams:  # step back until surely inside the cycle
            last = via[last].earlier
        cycle = [via[last]]
        while cycle[-1].earlier != last:
            cycle.append(via[cycle[-1].earlier])
        return cycle[::-1]


def _spelled(bound: Bound) -> str:
    return f"{bound.later} - {bound.earlier} <= {bound.ticks}"
