"""What must come out of a timeline, and when, worked out the slow and obvious way.

The matches are those of ``joins.definition`` over the accepted tuples; which tuples
are late, when a match is final and what may be forgotten follow here, row by row,
from the frontiers alone.  Nothing is shared with the engine but the definition and
the closed windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from anabranch.core.ticks import FOREVER
from anabranch.joins.definition import Tuple, definition
from anabranch.testing.predicates import PREDICATES
from anabranch.testing.timeline import Batch, Case, End, Heartbeat, Row, stream_of

Found = tuple[int, ...]  # a match by the numbers of its members, each in its stream


@dataclass(frozen=True)
class Member:
    """An accepted tuple: its number in its stream, its time, its row, and the event that brought it."""

    number: int
    time: int
    row: Row
    event: int


@dataclass
class _Promise:
    lateness: int
    idle: float
    newest: float = -inf
    heartbeat: float = -inf
    ended: bool = False

    def frontier(self, others: float) -> float:
        return inf if self.ended else max(self.heartbeat, self.newest - self.lateness, others - self.idle)


@dataclass(frozen=True)
class Answer:
    """The answer to a case; after the last event one more ends all streams."""

    case: Case
    accepted: Mapping[str, list[Member]]
    late: tuple[tuple[str, int], ...]  # (stream, number)
    bad: tuple[tuple[str, int], ...]
    frontiers: list[Mapping[str, float]] = field(repr=False)  # after each event

    @cached_property
    def matches(self) -> Mapping[Found, int]:
        """Every match, with the event at which it is final: its last member is there, and its positions are certain."""
        members = [self.accepted[stream_of(alias)] for alias in self.case.aliases]
        streams = [[Tuple(member.time, member.row) for member in stream] for stream in members]
        holds = PREDICATES[self.case.predicate].holds
        found = {}
        for places in definition(streams, self.case.windows, lambda *rows: holds(rows)):
            match = [stream[place] for stream, place in zip(members, places, strict=True)]
            newest = max(member.time for member in match)
            event = max(member.event for member in match)
            while not all(self.frontiers[event][stream] > newest for stream in self._counting):
                event += 1
            found[tuple(member.number for member in match)] = event
        return found

    @property
    def _counting(self) -> list[str]:
        counts = zip(self.case.aliases, self.case.windows.counts, strict=True)
        return [stream_of(alias) for alias, count in counts if count is not None]

    def needed(self, event: int, alias: str) -> tuple[int, int]:
        """What must be remembered of *alias* after an event: how many tuples, and how many from the first of them on.

        The second is what a buffer holds that can only forget from its older end.
        """
        frontiers, windows = self.frontiers[event], self.case.windows
        place = windows.streams.index(alias)
        gate = min([frontiers[stream] for stream in self._counting], default=inf)
        here = [m for m in self.accepted[stream_of(alias)] if m.event <= event]
        others = [
            (
                min(frontiers[stream_of(other)], gate),
                int(windows.closed[place, j]),
            )  # what has ended may wait at the gate
            for j, other in enumerate(windows.streams)
            if j != place
        ]
        least = min(f for f, _ in others)
        count = windows.counts[place]
        passed = sorted((m.time, m.number) for m in here if m.time < gate)

        def alive(m: Member) -> bool:
            if m.time >= gate:
                return True  # not even joined yet
            if count is not None:
                later = sum(1 for t, number in passed if (t, number) > (m.time, m.number) and t <= least)
                if later >= count:
                    return False
            return any(f != inf and f <= m.time + (inf if d == FOREVER else d) for f, d in others)

        order = (
            sorted(here, key=lambda m: (m.time >= gate, m.event, m.time))
            if count is None
            else sorted(here, key=lambda m: (m.time, m.number))
        )
        living = [alive(m) for m in order]
        first = living.index(True) if any(living) else len(order)
        return sum(living), len(order) - first


def answer(case: Case, by_row: bool = True) -> Answer:
    """Work the case out; lateness is judged row by row, or else by the frontiers before a batch."""
    promises = {stream: _Promise(case.lateness.get(stream, 0), case.idle.get(stream, inf)) for stream in case.streams}
    accepted: dict[str, list[Member]] = {stream: [] for stream in case.streams}
    numbers = dict.fromkeys(case.streams, 0)
    late: list[tuple[str, int]] = []
    bad: list[tuple[str, int]] = []
    frontiers: list[Mapping[str, float]] = []

    def frontier(stream: str) -> float:
        return promises[stream].frontier(max((p.newest for s, p in promises.items() if s != stream), default=-inf))

    for place, event in enumerate(case.events):
        if isinstance(event, Heartbeat):
            promise = promises[event.stream]
            promise.heartbeat = max(promise.heartbeat, event.time)
        elif isinstance(event, End):
            promises[event.stream].ended = True
        elif isinstance(event, Batch):
            before = {stream: frontier(stream) for stream in case.streams}
            for arrival in sorted(event.arrivals, key=lambda arrival: case.streams.index(arrival.stream)):
                stream, number = arrival.stream, numbers[arrival.stream]
                numbers[stream] += 1
                if arrival.time is None:
                    bad.append((stream, number))
                    continue
                if arrival.time < (frontier(stream) if by_row else before[stream]):
                    late.append((stream, number))
                else:
                    accepted[stream].append(Member(number, arrival.time, arrival.row, place))
                promises[stream].newest = max(promises[stream].newest, arrival.time)
        frontiers.append({stream: frontier(stream) for stream in case.streams})
    frontiers.append(dict.fromkeys(case.streams, inf))
    return Answer(case, accepted, tuple(late), tuple(bad), frontiers)
