"""What all joins share between the arrival of rows and the operator.

The driver puts a batch of rows in time order and cuts it into *rounds*, slices of
time over all streams, so that a batch of millions needs no more state than its
windows; between two rounds everything that lies behind is forgotten.  With count
windows it holds rows back until every stream that counts has promised that nothing
older will come, because only then are positions final; and so it does for an operator
that joins in the order of time, or not until a slice of time is over.

Exact: a round is complete up to its cut for every row of this batch, and the
frontier handed to the operator after it is the least of the cut and of what the
stream has promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from anabranch.core.operator import Matches, Operator, Rows
from anabranch.core.ticks import FOREVER

SMALLEST_ROUND, LARGEST_ROUND = 8_192, 262_144  # rows of all streams


@dataclass
class Driver:
    """Feeds one operator; ``source[a]`` is the number of the stream behind alias a."""

    operator: Operator
    source: Sequence[int]
    held: list[Rows | None] = field(init=False)

    def __post_init__(self) -> None:
        counts = self.operator.program.windows.counts
        self.held = [None] * len(counts)
        self._counting = [a for a, count in enumerate(counts) if count is not None]

    def push(self, batch: Sequence[Rows | None], frontiers: Sequence[int]) -> list[Matches]:
        """Join a batch of accepted rows (by alias, as they arrived); *frontiers* by stream are those after it."""
        batch, after = self._held_back(batch, [frontiers[s] for s in self.source])
        ready = [_in_order(rows) for rows in batch]
        if sum(len(rows.times) for rows in ready if rows) <= SMALLEST_ROUND:
            return [*self.operator.insert(ready), *self.operator.advance(after)]
        found: list[Matches] = []
        place = [0] * len(ready)
        while True:
            cut, place, part = self._round(ready, place)
            found += self.operator.insert(part)
            found += self.operator.advance([min(cut, f) for f in after])
            if cut == FOREVER:
                self.operator.buffers.reserve([0] * len(batch))  # give back what only the rounds needed
                return found

    def restore(self, batch: Sequence[Rows | None], frontiers: Sequence[int]) -> None:
        """Remember rows that were pushed before, perhaps by another process, up to these frontiers."""
        batch, after = self._held_back(batch, [frontiers[s] for s in self.source])
        self.operator.remember([_in_order(rows) for rows in batch])
        found = self.operator.advance(after)
        assert not found, "what is restored has been joined"

    def needed(self, frontiers: Sequence[int]) -> list[int]:
        """By alias, the time below which a row can take part in no match any more; FOREVER if none can.

        What is not below it is enough to restore from.  A stream that counts needs its
        last tuples whatever their filters say, since each of them has a position.
        """
        after = [frontiers[s] for s in self.source]
        gate = self._gate(after)
        after = [min(gate, f) for f in after]
        windows, buffers = self.operator.program.windows, self.operator.buffers
        needed = [windows.horizon(a, after) for a in range(len(after))]
        for a in self._counting:
            needed[a] = max(needed[a], buffers.counted_from(a, min(after[:a] + after[a + 1 :])))
        return [min(gate, time) for time in needed]

    def waiting(self) -> int:
        """Rows held back."""
        return sum(len(rows.times) for rows in self.held if rows)

    def _gate(self, after: Sequence[int]) -> int:
        """What is not older waits: for the frontiers of all counting streams, and for what the operator asks for."""
        return min([self.operator.gate(after), *(after[a] for a in self._counting)])

    def _held_back(self, batch: Sequence[Rows | None], after: list[int]) -> tuple[list[Rows | None], list[int]]:
        """Let through what is older than the gate; keep the rest."""
        gate = self._gate(after)
        passed: list[Rows | None] = []
        for a, rows in enumerate(batch):
            rows = _joined(self.held[a], rows)
            here = None if rows is None or gate == FOREVER else rows.times < gate
            if rows is None or here is None or here.all():
                passed.append(rows)
                self.held[a] = None
            else:
                passed.append(rows.take(np.nonzero(here)[0]))
                self.held[a] = rows.take(np.nonzero(~here)[0])
        return passed, [min(gate, f) for f in after]

    def _round(self, batch: Sequence[Rows | None], place: list[int]) -> tuple[int, list[int], list[Rows | None]]:
        """The next slice of time: what all later rows are not older than, where they start, and the slice."""
        left = [len(rows.times) - at if rows else 0 for rows, at in zip(batch, place, strict=True)]
        live = self.operator.buffers.tuples()
        pieces = -(-sum(left) // max(SMALLEST_ROUND, min(LARGEST_ROUND, 2 * live)))
        if pieces <= 1:
            return (
                FOREVER,
                place,
                [rows and rows.slice(at, len(rows.times)) for rows, at in zip(batch, place, strict=True)],
            )
        longest = left.index(max(left))
        rows = batch[longest]
        assert rows is not None
        cut = int(rows.times[place[longest] + left[longest] // pieces])
        if cut == rows.times[place[longest]]:  # many tuples of one time stay together
            beyond = int(np.searchsorted(rows.times, cut, "right"))
            cut = int(rows.times[beyond]) if beyond < len(rows.times) else FOREVER
        after = [int(np.searchsorted(rows.times, cut)) if rows else 0 for rows in batch]
        part = [
            rows.slice(start, stop) if rows and start < stop else None
            for rows, start, stop in zip(batch, place, after, strict=True)
        ]
        return cut, after, part


def _in_order(rows: Rows | None) -> Rows | None:
    """Rows by time; those of one time stay in the order of their arrival."""
    if rows is None or not len(rows.times):
        return None
    if len(rows.times) == 1 or (rows.times[1:] >= rows.times[:-1]).all():
        return rows
    return rows.take(np.argsort(rows.times, kind="stable"))


def _joined(first: Rows | None, second: Rows | None) -> Rows | None:
    if first is None or second is None:
        return second if first is None else first
    return first.followed_by(second)
