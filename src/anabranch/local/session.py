"""A query that runs in this process: rows in, rows out, for as long as the caller likes.

The session accepts each stream's rows (bad ones to the dead letters, late ones set
apart, both counted), lets every join of the query see them, and turns matches into
the rows of the SELECT list.  A SELECT list that needs the end of its input, such as
an aggregate, answers when all streams have finished.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anabranch.core.errors import Refused
from anabranch.core.frontiers import Frontier, Frontiers, Times
from anabranch.core.given import length, moment
from anabranch.core.metrics import Metrics, StreamMetrics
from anabranch.core.plain import plain_batch
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.times import Reasons, ticks
from anabranch.engine.join import Arrived, ArrowJoin
from anabranch.files.json_text import rows_json
from anabranch.local.rows import arrow, one_batch
from anabranch.local.select import Select
from anabranch.plan.algorithm import AUTO
from anabranch.plan.query import Query, Stream, reads_time

ARRIVAL = "arrival"
DEAD_SCHEMA = pa.schema([("stream", pa.string()), ("reason", pa.string()), ("row", pa.string())])


@dataclass(frozen=True)
class Options:
    """How streams are to be treated, by name; in ticks, or in text (``"5 seconds"``) where time is a timestamp.

    *late* and *dead* are called with tables of rows.
    """

    lateness: Mapping[str, int | str] = field(default_factory=dict)
    idle: Mapping[str, int | str] = field(default_factory=dict)
    late: Callable[[pa.Table], None] | None = None
    dead: Callable[[pa.Table], None] | None = None
    algorithm: str = AUTO  # a member of the join family by name, perhaps with options


class Checked(NamedTuple):
    """Rows that can be taken in: their times, and where some are bad, why; no times if they are stamped on arrival."""

    rows: pa.RecordBatch
    times: Times | None
    reasons: Reasons | None


class Session:
    """One running query."""

    def __init__(
        self,
        query: Query,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        options: Options | None = None,
    ) -> None:
        self.query, self.options = query, options or Options()
        timed = reads_time(query)
        self.joins = [ArrowJoin(join, functions, timed) for join in query.joins]
        members = [member for join in query.joins for member in join.members]
        self.streams: dict[str, Stream] = {member.stream.name: member.stream for member in members}
        for name in (*self.options.lateness, *self.options.idle):
            if name not in self.streams:
                raise Refused(f"there is no stream '{name}' in the query", f"it reads {', '.join(self.streams)}")
        lateness, idle = self._ticks("lateness", self.options.lateness), self._ticks("idle", self.options.idle)
        self.frontiers = Frontiers([Frontier(lateness.get(name, 0), idle.get(name)) for name in self.streams])
        self._metrics = Metrics({name: StreamMetrics() for name in self.streams})
        self._place = {name: s for s, name in enumerate(self.streams)}
        self._select = None if query.plain is not None else Select(query.shell, self._relations(), query.output)
        self._kept: list[list[pa.Table]] = [[] for _ in self.joins]
        self._reads = self._columns()
        self._done = self._failed = False
        self.schema = self._schema()

    def _ticks(self, what: str, given: Mapping[str, int | str]) -> dict[str, int]:
        return {
            name: length(f"the {what} of stream '{name}'", value, self.streams[name].integer_time)
            for name, value in given.items()
        }

    def _columns(self) -> dict[str, list[str]]:
        """The columns of each stream that a join reads."""
        found: dict[str, set[str]] = {name: set() for name in self.streams}
        for join in self.joins:
            for s, member in enumerate(join.lowered.join.members):
                found[member.stream.name] |= join.lowered.reads(s)
        return {name: sorted(columns) for name, columns in found.items()}

    # -- rows in ---------------------------------------------------------------------

    def push(self, batches: Mapping[str, Any], last: bool = False) -> list[pa.Table]:
        """Take in a batch of each stream (or of some); the rows that come out.  *last*: all streams end with this.

        What cannot be taken in is refused before anything of any stream is.
        """
        started = time.perf_counter()
        checked = {name: self._checked(name, given) for name, given in batches.items()}
        with self._changing():
            arrived = {name: self._accepted(name, each) for name, each in checked.items() if len(each.rows)}
            if last:
                for stream in self.frontiers.streams:
                    stream.promise(FOREVER)
            tables = self._advance({name: rows for name, rows in arrived.items() if len(rows.times)})
        self._metrics.seconds += time.perf_counter() - started
        return tables

    def heartbeat(self, stream: str, frontier: int | datetime) -> list[pa.Table]:
        """Promise that no row of *stream* older than *frontier* is still to come."""
        promised = self.frontiers.streams[self._number(stream)]
        tick = moment(f"the heartbeat of stream '{stream}'", frontier, self.streams[stream].integer_time)
        with self._changing():
            promised.promise(tick)
            return self._advance({})

    def finish(self, *streams: str) -> list[pa.Table]:
        """Declare that these streams (all, without names) have ended; the rows that this lets out."""
        ended = [self.frontiers.streams[self._number(name)] for name in streams or self.streams]
        with self._changing():
            for stream in ended:
                stream.promise(FOREVER)
            return self._advance({})

    def newest(self, stream: str) -> int:
        """The newest time that *stream* has shown."""
        return self.frontiers.streams[self._number(stream)].newest

    def _number(self, name: str) -> int:
        if name not in self._place:
            raise Refused(f"there is no stream '{name}' in the query", f"it reads {', '.join(self.streams)}")
        return self._place[name]

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """What fails half way, as a function of the user's may, leaves a state that answers nothing any more."""
        if self._failed:
            raise Refused("the session has failed before", "start another, and push again what the matches need")
        self._failed = True
        yield
        self._failed = False

    def _checked(self, name: str, given: Any) -> Checked:
        """A batch that can be taken in; nothing changes yet."""
        s, stream = self._number(name), self.streams[name]
        batch = one_batch(arrow(name, given))
        if len(batch) and self.frontiers.streams[s].finished:
            raise Refused(f"the stream '{name}' has finished", "rows that come after its end can match nothing")
        names = batch.schema.names
        for column in self._reads[name]:
            if names.count(column) != 1:
                found = "two columns" if column in names else "no column"
                raise Refused(f"a batch of stream '{name}' has {found} '{column}'", "give every batch one schema")
        batch = plain_batch(batch, stream.schema, f"a batch of stream '{name}'")
        if stream.time == ARRIVAL:
            return Checked(batch, None, None)
        return Checked(batch, *ticks(batch.column(stream.time), stream.integer_time))

    def _accepted(self, name: str, checked: Checked) -> Arrived:
        """The rows that are neither bad nor late, and their times."""
        s, (batch, times, reasons) = self._number(name), checked
        if times is None:
            times = np.full(len(batch), max(time.time_ns() // 1_000, self.newest(name)), np.int64)
        if reasons is not None:
            bad = np.array([reason is not None for reason in reasons], np.bool_)
            self.dead(name, [str(reason) for reason in reasons[bad]], rows_json(batch.filter(pa.array(bad))))
            batch, times = batch.filter(pa.array(~bad)), times[~bad]
        self._metrics.streams[name].rows += len(batch)  # ``dead`` has counted the others
        lags = self.frontiers.accept(s, times)
        if lags is not None:
            late = lags > 0
            self._set_apart(name, batch.filter(pa.array(late)), times[late], lags[late])
            batch, times = batch.filter(pa.array(~late)), times[~late]
        return Arrived(times, batch)

    def dead(self, stream: str, reasons: list[str], rows: list[str]) -> None:
        """Count bad rows (each as JSON text) and hand them on."""
        self._metrics.streams[stream].rows += len(rows)
        self._metrics.streams[stream].dead += len(rows)
        if self.options.dead and rows:
            self.options.dead(pa.table([[stream] * len(rows), reasons, rows], schema=DEAD_SCHEMA))

    @property
    def late_schema(self) -> pa.Schema:
        """The columns of late rows."""
        integer = all(stream.integer_time for stream in self.streams.values())
        kind = pa.int64() if integer else pa.timestamp("us", "UTC")
        return pa.schema([("stream", pa.string()), ("time", kind), ("lateness", pa.int64()), ("row", pa.string())])

    def _set_apart(self, name: str, rows: pa.RecordBatch, times: Times, lags: Times) -> None:
        self._metrics.streams[name].late += len(rows)
        if self.options.late:
            columns = [[name] * len(rows), pa.array(times).cast(self.late_schema.field("time").type)]
            self.options.late(pa.table([*columns, pa.array(lags), rows_json(rows)], schema=self.late_schema))

    # -- rows out --------------------------------------------------------------------

    def _advance(self, arrived: Mapping[str, Arrived]) -> list[pa.Table]:
        if self._done:
            return []
        values = dict(zip(self.streams, self.frontiers.values(), strict=True))
        tables: list[pa.Table] = []
        for number, join in enumerate(self.joins):
            found = join.push(arrived, values)
            self._metrics.matches += sum(len(table) for table in found)
            if self.query.finite:
                self._kept[number] += found
            else:
                tables += [self._selected(number, table) for table in found]
        if all(value == FOREVER for value in values.values()):
            self._done = True
            if self.query.finite:
                assert self._select is not None
                whole = {
                    join.lowered.join.name: pa.concat_tables([join.schema.empty_table(), *kept])
                    for join, kept in zip(self.joins, self._kept, strict=True)
                }
                tables.append(self._select.rows(whole))
        return [table for table in tables if len(table)]

    def _selected(self, number: int, table: pa.Table) -> pa.Table:
        if self.query.plain is not None:
            table = table.select(self.query.plain[number]).rename_columns(self.query.output)
            return table if table.schema.equals(self.schema) else pa.Table.from_arrays(table.columns, self.schema)
        assert self._select is not None
        relations = {join.lowered.join.name: join.schema.empty_table() for join in self.joins}
        return self._select.rows({**relations, self.joins[number].lowered.join.name: table})

    def _relations(self) -> dict[str, pa.Schema]:
        return {join.lowered.join.name: join.schema for join in self.joins}

    def _schema(self) -> pa.Schema:
        if self.query.plain is None:
            assert self._select is not None
            return self._select.schema
        first = self.joins[0].schema
        fields = [first.field(name) for name in self.query.plain[0]]
        return pa.schema([f.with_name(name) for f, name in zip(fields, self.query.output, strict=True)])

    # -- what can be asked ---------------------------------------------------------------

    @property
    def metrics(self) -> Metrics:
        """The counts so far, with the state as it is now."""
        metrics, joins = self._metrics, self.joins
        sizes = [join.buffered() for join in joins]
        metrics.buffered(sum(tuples for tuples, _ in sizes), sum(size for _, size in sizes))
        metrics.peak_tuples = max(metrics.peak_tuples, sum(join.operator.buffers.peak for join in joins))
        metrics.peak_bytes = max(metrics.peak_bytes, sum(join.operator.buffers.peak_bytes for join in joins))
        values = dict(zip(self.streams, self.frontiers.values(), strict=True))
        for (name, value), frontier in zip(values.items(), self.frontiers.streams, strict=True):
            stream = metrics.streams[name]
            stream.frontier = None if value in (NEVER, FOREVER) else value
            stream.finished = value == FOREVER
            stream.given_up = frontier.given_up
        least, most = min(values.values()), max(values.values())
        metrics.held_back_by = min(values, key=lambda name: values[name]) if least < most else None
        return metrics
