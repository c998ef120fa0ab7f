"""A timeline on an operator, behind the driver that all operators share.

A crash is what it will be on any runtime: the records and the rows held back go
through a pickle, and a new operator loads them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence

import numpy as np

from anabranch.core.driver import Driver
from anabranch.core.frontiers import Frontier, Frontiers
from anabranch.core.lanes import lane
from anabranch.core.operator import Matches, Operator, Rows
from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER
from anabranch.joins.family.nway import NWay
from anabranch.testing.oracle import Found
from anabranch.testing.play import Numbered, Played, play
from anabranch.testing.query import program, schema
from anabranch.testing.timeline import Case, stream_of
from anabranch.testing.tuples import table


class OnOperator:
    """The runtime of a case at the level of the core."""

    def __init__(self, case: Case, operator: Callable[[Program], Operator] = NWay) -> None:
        self.case, self.program, self.make = case, program(case), operator
        self.streams = list(case.streams)
        self.source = [self.streams.index(stream_of(alias)) for alias in case.aliases]
        self.frontiers = Frontiers([Frontier(case.lateness.get(s, 0), case.idle.get(s)) for s in self.streams])
        self.driver = Driver(operator(self.program), self.source)
        self.late: list[tuple[str, int]] = []
        self.bad: list[tuple[str, int]] = []
        places = [self.program.output.index((s, self._lane(s, "id"))) for s in range(self.program.n)]
        self._ids = np.array(places, np.intp)

    def push(self, arrivals: dict[str, list[Numbered]]) -> list[Found]:
        accepted: dict[str, list[Numbered]] = {}
        for stream, numbered in arrivals.items():
            self.bad += [(stream, number) for number, arrival in numbered if arrival.time is None]
            rows = [(number, arrival) for number, arrival in numbered if arrival.time is not None]
            times = np.array([arrival.time for _, arrival in rows], np.int64)
            late = self.frontiers.accept(self.streams.index(stream), times)
            marks = np.zeros(len(rows), np.bool_) if late is None else late
            self.late += [(stream, number) for (number, _), apart in zip(rows, marks, strict=True) if apart]
            accepted[stream] = [row for row, apart in zip(rows, marks, strict=True) if not apart]
        batch = [
            self._rows(s, accepted[stream_of(alias)]) if accepted.get(stream_of(alias)) else None
            for s, alias in enumerate(self.case.aliases)
        ]
        return self._found(self.driver.push(batch, self.frontiers.values()))

    def heartbeat(self, stream: str, time: int) -> list[Found]:
        self.frontiers.streams[self.streams.index(stream)].promise(time)
        return self.push({})

    def end(self, streams: Sequence[str]) -> list[Found]:
        for stream in streams:
            self.frontiers.streams[self.streams.index(stream)].promise(FOREVER)
        return self.push({})

    def crash(self) -> None:
        state = [self.driver.operator.buffers.export(s) for s in range(self.program.n)]
        state, held = pickle.loads(pickle.dumps((state, self.driver.held)))
        self.driver = Driver(self.make(self.program), self.source)
        self.driver.held = held
        for s, parts in enumerate(state):
            self.driver.operator.buffers.load(s, *parts)

    def kept(self) -> list[int]:
        held = [0 if rows is None else len(rows.times) for rows in self.driver.held]
        return [self.driver.operator.buffers.live(s) + held[s] for s in range(self.program.n)]

    def _lane(self, s: int, column: str) -> int:
        return next(i for i, lane in enumerate(self.program.lanes[s]) if lane.column == column)

    def _rows(self, s: int, rows: list[Numbered]) -> Rows:
        columns = table(rows, schema(True))
        packed = [lane(columns.column(each.column), each.kind) for each in self.program.lanes[s]]
        times = np.array([arrival.time for _, arrival in rows], np.int64)
        return Rows(times, tuple(words for words, _ in packed), tuple(null for _, null in packed))

    def _found(self, found: list[Matches]) -> list[Found]:
        return [tuple(row) for matches in found for row in matches.words[self._ids].T.tolist()]


def on_operator(case: Case, operator: Callable[[Program], Operator] = NWay) -> Played:
    """Play a case on an operator."""
    return play(case, OnOperator(case, operator))
