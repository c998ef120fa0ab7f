"""A timeline as SQL text on a session of the embedded runtime.

The SELECT list asks for every column of every member, so that what comes back is
compared with what went in; with *computed* it is an expression, which takes the
road through the SQL engine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from anabranch import local
from anabranch.plan.algorithm import AUTO
from anabranch.testing.oracle import Found
from anabranch.testing.play import Numbered, Played, play
from anabranch.testing.query import SECOND, alias_in_sql, schema, sql
from anabranch.testing.timeline import Case, Row, stream_of
from anabranch.testing.tuples import table


class OnSession:
    """The runtime of a case as its users meet it."""

    def __init__(self, case: Case, integer: bool = True, computed: bool = False, algorithm: str = AUTO) -> None:
        self.case, self.integer, self.scale = case, integer, 1 if integer else SECOND
        self.schema = schema(integer)
        self.late: list[tuple[str, int]] = []
        self.bad: list[tuple[str, int]] = []
        self.rows: dict[str, dict[int, Row]] = {stream: {} for stream in case.streams}
        self.text = sql(case, _computed if computed else _plain, integer)
        self.session = local.start(
            self.text,
            dict.fromkeys(case.streams, self.schema),
            options=local.Options(
                lateness={stream: ticks * self.scale for stream, ticks in case.lateness.items()},
                idle={stream: ticks * self.scale for stream, ticks in case.idle.items()},
                late=lambda rows: self._apart(self.late, rows),
                dead=lambda rows: self._apart(self.bad, rows),
                algorithm=algorithm,
            ),
        )

    def push(self, arrivals: dict[str, list[Numbered]]) -> list[Found]:
        for stream, rows in arrivals.items():
            self.rows[stream] |= {number: arrival.row for number, arrival in rows}
        return self._found(self.session.push({name: table(rows, self.schema) for name, rows in arrivals.items()}))

    def heartbeat(self, stream: str, time: int) -> list[Found]:
        return self._found(self.session.heartbeat(stream, time * self.scale))

    def end(self, streams: Sequence[str]) -> list[Found]:
        return self._found(self.session.finish(*streams)) if streams else []

    def crash(self) -> None:
        raise NotImplementedError("a session cannot be restored")

    def kept(self) -> list[int]:
        (join,) = self.session.joins
        held = [0 if rows is None else len(rows.times) for rows in join.driver.held]
        return [join.operator.buffers.live(s) + held[s] for s in range(len(held))]

    def _apart(self, apart: list[tuple[str, int]], rows: pa.Table) -> None:
        apart += [(row["stream"], json.loads(row["row"])["id"]) for row in rows.to_pylist()]

    def _found(self, tables: list[pa.Table]) -> list[Found]:
        return [self._match(row) for found in tables for row in found.to_pylist()]

    def _match(self, row: dict[str, object]) -> Found:
        match = []
        for alias in self.case.aliases:
            name = alias_in_sql(alias)
            number = row[name]
            assert isinstance(number, int)
            came, went = Row(*(row[f"{name}_{column}"] for column in Row._fields)), self.rows[stream_of(alias)][number]  # type: ignore[arg-type]
            assert repr(came) == repr(went), f"{alias} came back as {came}"
            match.append(number)
        return tuple(match)


def _plain(name: str) -> str:
    return ", ".join([f"{name}.id AS {name}", *(f"{name}.{column} AS {name}_{column}" for column in Row._fields)])


def _computed(name: str) -> str:
    return _plain(name).replace(f"{name}.id AS", f"{name}.id + 0 AS", 1)


def on_session(case: Case, integer: bool = True, computed: bool = False, algorithm: str = AUTO) -> Played:
    """Play a case as a query in this process."""
    return play(case, OnSession(case, integer, computed, algorithm))
