"""One join over Arrow: batches in, tables of matches out; what every runtime runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.core import lanes
from anabranch.core.driver import Driver
from anabranch.core.operator import Matches, Raised, Rows
from anabranch.core.program import FILTER, Lane
from anabranch.core.records import TIME_LANE
from anabranch.core.tally import Tally
from anabranch.core.ticks import FOREVER
from anabranch.engine.refine import Filters, Refiner, told
from anabranch.engine.side import Side
from anabranch.plan.lower import Lowered, lower
from anabranch.plan.query import MATCH_START, MATCH_TIME, Join, matches_column

MATCH_END, MATCH_BEGIN = -1, -2  # instead of a place in the output


class Arrived(NamedTuple):
    """Accepted rows of one stream, one or more, in the order of their arrival."""

    times: npt.NDArray[np.int64]
    rows: pa.RecordBatch


class ArrowJoin:
    """The operator of one join, with everything around it that speaks Arrow."""

    def __init__(
        self,
        join: Join,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        timed: bool = True,
        tally: Tally | None = None,
    ) -> None:
        timed = timed or not join.columns  # a table without a column would forget how many rows it has
        self.lowered: Lowered = lower(join, functions, timed)
        self.functions = dict(functions or {})
        self.streams = list(dict.fromkeys(member.stream.name for member in join.members))
        integer = join.members[0].stream.integer_time
        self.operator = join.algorithm.operator(self.lowered.program, integer, tally)
        self.driver = Driver(self.operator, [self.streams.index(member.stream.name) for member in join.members])
        self.sides = {
            s: Side(pa.schema([_field(member.stream.schema, name) for name in columns]))
            for s, (member, columns) in enumerate(zip(join.members, self.lowered.side, strict=True))
            if columns
        }
        self.filters = Filters(self.lowered)
        self.refinement = Refiner(self.lowered, self.functions) if self.lowered.refined else None
        _, self.schema = self._carry(join.columns, timed)
        self._carried, self._carried_schema = self._carry(self.lowered.columns, timed)
        if self._carried_schema.equals(self.schema):
            self._carried_schema = self.schema

    def push(self, arrived: Mapping[str, Arrived], frontiers: Mapping[str, int]) -> list[pa.Table]:
        """Join what arrived; *frontiers* (by stream) are those after it.  The matches, in tables of ``schema``."""
        try:
            found = self.driver.push(self._batch(arrived), [frontiers[name] for name in self.streams])
        except Raised:
            raise told(self.lowered) from None
        tables = self._tables(Matches.gathered(found))
        self._forget()
        return tables

    def restore(self, arrived: Mapping[str, Arrived], frontiers: Mapping[str, int]) -> None:
        """Remember rows that were pushed before, of the columns in ``read``, up to these frontiers."""
        self.driver.restore(self._batch(arrived), [frontiers[name] for name in self.streams])
        self._forget()

    def needed(self, frontiers: Mapping[str, int]) -> dict[str, int]:
        """By stream, the time below which no row can take part in a match any more; FOREVER if none can."""
        by_alias = self.driver.needed([frontiers[name] for name in self.streams])
        needed = dict.fromkeys(self.streams, FOREVER)
        for member, time in zip(self.lowered.join.members, by_alias, strict=True):
            needed[member.stream.name] = min(needed[member.stream.name], time)
        return needed

    def buffered(self) -> tuple[int, int]:
        """Tuples and bytes that the join remembers now."""
        buffers = self.operator.buffers
        size = buffers.nbytes + sum(side.nbytes for side in self.sides.values())
        return buffers.tuples() + self.driver.waiting(), size

    def _forget(self) -> None:
        """Let go of side columns that no tuple needs any more."""
        for s, side in self.sides.items():
            kept = [n for n in (self.operator.buffers.oldest_row(s), _least(self.driver.held[s])) if n is not None]
            side.forget(min(kept, default=None))

    # -- in ----------------------------------------------------------------------

    def _batch(self, arrived: Mapping[str, Arrived]) -> list[Rows | None]:
        return [
            self._rows(s, arrived[member.stream.name]) if member.stream.name in arrived else None
            for s, member in enumerate(self.lowered.join.members)
        ]

    def _rows(self, s: int, arrived: Arrived) -> Rows:
        words, nulls = [], list[npt.NDArray[np.bool_] | None]()
        for lane in self.lowered.program.lanes[s]:
            if lane.kind == FILTER:
                passed = self.filters.outcome(s, arrived.rows)
                words.append(passed.astype(np.int64))
                nulls.append(~passed)
                continue
            values, null = lanes.lane(arrived.rows.column(lane.column), lane.kind)
            words.append(values)
            nulls.append(null)
        numbers = None
        if s in self.sides:
            numbers = self.sides[s].add(arrived.rows.select(list(self.lowered.side[s])))
        return Rows(arrived.times, tuple(words), tuple(nulls), numbers)

    # -- out ---------------------------------------------------------------------

    def _tables(self, found: list[Matches]) -> list[pa.Table]:
        """The matches as one table, a chunk for each part, after refinement; nothing if there are none."""
        if not found:
            return []
        table = pa.concat_tables(map(self._candidates, found)) if len(found) > 1 else self._candidates(found[0])
        if self.refinement is not None:
            table = table.filter(pa.array(self.refinement.passed(table)))
        if self._carried_schema is not self.schema:
            table = table.select(self.schema.names)
        return [table] if len(table) else []

    def _candidates(self, matches: Matches) -> pa.Table:
        sides = {s: self.sides[s].take(matches.numbers[i]) for i, s in enumerate(sorted(self.sides))}
        columns, some_null = [], bool(matches.nulls.any())
        for s, place, kind in self._carried:
            if s >= 0:
                columns.append(sides[s][place])
            elif place >= 0:
                columns.append(lanes.column(matches.words[place], matches.nulls[place] if some_null else None, kind))
            else:
                columns.append(lanes.column(matches.end if place == MATCH_END else matches.start, None, kind))
        return pa.Table.from_arrays(columns, schema=self._carried_schema)

    def _carry(
        self, columns: tuple[tuple[str, str], ...], timed: bool
    ) -> tuple[list[tuple[int, int, pa.DataType]], pa.Schema]:
        """How each column of the matches is made (from a side column of a stream, or from words), and their schema."""
        place_of = {member.alias: s for s, member in enumerate(self.lowered.join.members)}
        carried, fields = [], []
        for alias, name in columns:
            s = place_of[alias]
            field = _field(self.lowered.join.members[s].stream.schema, name)
            fields.append(field.with_name(matches_column(alias, name)))
            if name in self.lowered.side[s]:
                carried.append((s, self.lowered.side[s].index(name), field.type))
            else:
                carried.append((-1, self._output(s, name, lanes.kind_of(field.type)), field.type))
        for name, place in ((MATCH_TIME, MATCH_END), (MATCH_START, MATCH_BEGIN)) if timed else ():
            carried.append((-1, place, self.time_type))
            fields.append(pa.field(name, self.time_type))
        return carried, pa.schema(fields)

    def _output(self, s: int, name: str, kind: str) -> int:
        """Which entry of the program's output holds a column."""
        program = self.lowered.program
        for place, (stream, lane) in enumerate(program.output):
            if stream == s and lane != TIME_LANE and program.lanes[s][lane] == Lane(name, kind):
                return place
        return program.output.index((s, TIME_LANE))

    @property
    def time_type(self) -> pa.DataType:
        """The type of ``match_time()``."""
        return pa.int64() if self.lowered.join.members[0].stream.integer_time else pa.timestamp("us", "UTC")


def _field(schema: pa.Schema, name: str) -> pa.Field:
    field = schema.field(name)
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(name, kind)


def _least(rows: Rows | None) -> int | None:
    return None if rows is None or rows.numbers is None or not len(rows.numbers) else int(rows.numbers.min())
