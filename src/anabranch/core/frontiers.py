"""The frontier of each stream: a promise that nothing older is still to come.

A stream in order promises its newest time; one with allowed lateness L promises
``newest - L``; a heartbeat may promise more, and a finished stream promises
everything.  A tuple below its stream's frontier is late: it is set apart, with how
far it lags behind the newest.

An idle stream holds results and memory back, because that is exact.  A stream with
an *idle* policy gives that up: its frontier follows the newest tuple of the others
at that distance, and ``given_up`` counts how often this went beyond its promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anabranch.core.ticks import FOREVER, NEVER, minus
from anabranch.core.times import span

Times = npt.NDArray[np.int64]


@dataclass
class Frontier:
    """One stream's promise; ``lateness`` and ``idle`` are in ticks."""

    lateness: int = 0
    idle: int | None = None
    newest: int = NEVER
    promised: int = NEVER  # what the stream itself has promised, idle or not
    given_up: int = 0

    def reach(self, time: int) -> None:
        """The stream has shown a tuple of this time."""
        if time > self.newest:
            self.newest = time
            self.promise(minus(time, self.lateness))

    def promise(self, time: int) -> None:
        """Nothing older than *time* is still to come; FOREVER ends the stream."""
        self.promised = max(self.promised, time)

    @property
    def finished(self) -> bool:
        """Whether nothing at all is still to come."""
        return self.promised == FOREVER


@dataclass
class Frontiers:
    """The frontiers of all streams of a query."""

    streams: list[Frontier] = field(default_factory=list)

    def accept(self, s: int, times: Times) -> Times | None:
        """Judge arriving tuples one by one: by how much each late one lags behind the newest, 0 if it is not late.

        None when none is late.
        """
        stream = self.streams[s]
        if not len(times):
            return None
        floor, before = self.value(s), stream.newest
        least, greatest = span(times)
        stream.reach(greatest)
        if least >= max(floor, minus(stream.newest, stream.lateness)):
            return None  # none lags more than the lateness behind the newest of all
        newest = np.maximum.accumulate(np.concatenate([np.array([before], np.int64), times[:-1]]))
        first = NEVER + stream.lateness if stream.lateness < FOREVER else FOREVER
        promised = np.where(newest < first, NEVER, newest - stream.lateness)
        late = times < np.maximum(promised, floor)
        if not late.any():
            return None
        lags = np.where((newest > times) & (newest - times < 0), FOREVER, newest - times)  # saturating
        return np.where(late, np.maximum(lags, 1), 0)

    def value(self, s: int) -> int:
        """The frontier of stream *s*."""
        stream = self.streams[s]
        promised = stream.promised
        if stream.idle is None:
            return promised
        if promised != FOREVER:
            others = max((other.newest for i, other in enumerate(self.streams) if i != s), default=NEVER)
            followed = minus(others, stream.idle)
            if followed > promised:
                stream.given_up += 1
                stream.promised = promised = followed
        return promised

    def values(self) -> list[int]:
        """The frontiers of all streams."""
        return [self.value(s) for s in range(len(self.streams))]

    def holder(self) -> int:
        """The stream that holds the others back: the one with the least frontier."""
        values = self.values()
        return values.index(min(values))


def result(frontiers: Sequence[int]) -> int:
    """The frontier of the matches: none to come has its newest member below it."""
    return min(frontiers)
