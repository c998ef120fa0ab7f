"""A timeline on the buckets of the Spark runtime, without Spark.

Each event is a batch: its rows are cut into the parts that tasks would read, packed,
handed to every bucket over a state that is a dictionary, and joined there.  What
Spark may do to a task is done here too: an attempt whose state is lost, a batch that is
begun anew by tasks that are cut elsewhere, a worker that has never seen the bucket,
copies on disk that are gone.  What an attempt has set apart stays until a later one of
the same batch and bucket replaces it, as files do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from anabranch.core.ticks import FOREVER
from anabranch.plan.algorithm import AUTO
from anabranch.plan.feeds import KEY, Feed, Wish, feeds
from anabranch.plan.lower import lower
from anabranch.plan.query import Join, Stream
from anabranch.plan.sql import parse
from anabranch.spark.bucket import Bucket, Outcome, Shard, Worker
from anabranch.spark.chunks import Copies
from anabranch.spark.memory import Remembered
from anabranch.spark.pieces import MARK, Packer, Piece, hot_hashes
from anabranch.testing.oracle import Found
from anabranch.testing.play import Numbered, Played, play
from anabranch.testing.query import SECOND, alias_in_sql, schema, sql
from anabranch.testing.timeline import Case
from anabranch.testing.tuples import table


class OnBuckets:
    """The buckets of a case; *dice* decide about tasks, workers and lost attempts."""

    def __init__(
        self,
        case: Case,
        buckets: int,
        dice: Random,
        folder: Path | None = None,
        integer: bool = True,
        hot: bool = False,
        algorithm: str = AUTO,
    ) -> None:
        self.case, self.dice, self.scale = case, dice, 1 if integer else SECOND
        self.late: list[tuple[str, int]] = []
        self.bad: list[tuple[str, int]] = []
        self._late: dict[tuple[int, int], list[tuple[str, int]]] = {}
        self._bad: dict[tuple[int, int], list[tuple[str, int]]] = {}
        self.schema = schema(integer)
        text = sql(case, integer=integer)
        streams = {name: Stream(name, self.schema) for name in case.streams}
        (join,) = parse(_aliased(case, text), streams).joined_by(algorithm).joins
        found = feeds(lower(join), Wish(hot=hot and _has_key(join)))
        if hot and _has_key(join):  # every key that the timelines have is as hot as any
            found = replace(found, feeds=tuple(replace(f, hot=_some_hot(f)) if f.keys else f for f in found.feeds))
        names = tuple(range(100, 100 + (buckets if found.buckets_matter else 1)))
        self.shard = Shard(
            found,
            names,
            "query",
            tuple(case.lateness.get(name, 0) * self.scale for name in found.streams),
            tuple(None if (idle := case.idle.get(name)) is None else idle * self.scale for name in found.streams),
            frozenset(name for name in found.streams if dice.random() < 0.5),
        )
        self.copies = Copies(folder)
        self.workers = [Worker(), Worker()]
        self.states = {name: Remembered() for name in names}
        self.live: dict[int, list[int]] = {}
        self.batch = 0

    def push(self, arrivals: dict[str, list[Numbered]], marks: dict[str, int] | None = None) -> list[Found]:
        while self.dice.random() < 0.1:  # the batch is lost
            states = {name: state.copy() for name, state in self.states.items()}
            self._push(list(self._pieces(arrivals, marks or {})), states)
        pieces = list(self._pieces(arrivals, marks or {}))
        if not pieces:
            return []
        found = self._push(pieces, self.states)
        for name in self.shard.buckets:
            self.live[name] = self._live(name)
        self.late = [row for rows in self._late.values() for row in rows]
        self.bad = [row for rows in self._bad.values() for row in rows]
        self.batch += 1
        return found

    def _push(self, pieces: list[Piece], states: dict[int, Remembered]) -> list[Found]:
        found: list[Found] = []
        for name in self.shard.buckets if pieces else ():
            mine = [piece for piece in pieces if piece.bucket == name]
            while self.dice.random() < 0.2:  # an attempt that is lost
                self._run(name, mine, states[name].copy())
            state = states[name].copy()
            outcome = self._run(name, mine, state)
            states[name] = state
            found += [match for each in outcome.tables for match in self._found(each)]
        return found

    def heartbeat(self, stream: str, time: int) -> list[Found]:
        return self.push({}, {stream: time * self.scale})

    def end(self, streams: Sequence[str]) -> list[Found]:
        return self.push({}, dict.fromkeys(streams, FOREVER))

    def crash(self) -> None:
        self.workers = [Worker(), Worker()]
        if self.copies.folder is not None and self.dice.random() < 0.5:
            for file in self.copies.folder.iterdir() if self.copies.folder.exists() else ():
                file.unlink()

    def kept(self) -> list[int]:
        """What the buckets held after their last batch, together; of a stream that goes to all, the most of any."""
        totals = [0] * len(self.case.aliases)
        for name in self.shard.buckets:
            for s, live in enumerate(self.live.get(name, [])):
                everywhere = self._feed(s).everywhere
                totals[s] = max(totals[s], live) if everywhere else totals[s] + live
        return totals

    def _feed(self, s: int) -> Any:
        name = self.shard.feeds.join.members[s].stream.name
        return next(feed for feed in self.shard.feeds.feeds if feed.name == name)

    def _live(self, name: int) -> list[int]:
        token = json.loads(self.states[name].body or b"")["token"]
        (join, *_) = [kept.join for worker in self.workers for kept in worker.kept.values() if kept.token == token]
        held = [0 if rows is None else len(rows.times) for rows in join.driver.held]
        return [join.operator.buffers.live(s) + held[s] for s in range(len(held))]

    def _run(self, name: int, pieces: list[Piece], state: Remembered) -> Outcome:
        worker = self.workers[self.dice.randrange(2)]
        shuffled = self.dice.sample(pieces, len(pieces))
        outcome = Bucket(self.shard, name, state, self.copies, worker).run(self.batch, shuffled)
        if outcome.late:
            assert all(lag > 0 for _, _, lags, _ in outcome.late for lag in lags.to_pylist())
            rows = [(stream, row) for stream, _, _, late in outcome.late for row in late.to_pylist()]
            self._late[self.batch, name] = [(stream, json.loads(row)["id"]) for stream, row in rows]
        if outcome.dead:
            rows = [(stream, row) for stream, dead in outcome.dead for row in dead.column("row").to_pylist()]
            self._bad[self.batch, name] = [(stream, json.loads(row)["id"]) for stream, row in rows]
        return outcome

    def _pieces(self, arrivals: dict[str, list[Numbered]], marks: dict[str, int]) -> Iterable[Piece]:
        speaking: set[str] = set()
        for number, feed in enumerate(self.shard.feeds.feeds):
            packer = Packer(feed, number, self.shard.buckets, feed.stream not in speaking)
            speaking.add(feed.stream)
            rows = arrivals.get(feed.stream, [])
            for part, some in enumerate(self._tasks(feed, rows)):
                mark = marks.get(feed.stream) if part == 0 else None
                if some or mark is not None:
                    yield from packer.pack([_marked(table(some, self.schema), mark)], part)

    def _tasks(self, feed: Feed, rows: list[Numbered]) -> tuple[list[Numbered], list[Numbered]]:
        """What two tasks read: where the source keeps an order the beginning and the end, else this and that."""
        if feed.stream in self.shard.ordered:
            cut = self.dice.randint(0, len(rows))
            return rows[:cut], rows[cut:]
        mixed, cut = self.dice.sample(rows, len(rows)), self.dice.randint(0, len(rows))
        return mixed[:cut], mixed[cut:]

    def _found(self, found: pa.Table) -> list[Found]:
        columns = [found.column(f"{alias_in_sql(alias)}.id").to_pylist() for alias in self.case.aliases]
        return list(zip(*columns, strict=True))


def on_buckets(
    case: Case,
    buckets: int,
    dice: Random,
    folder: Path | None = None,
    integer: bool = True,
    hot: bool = False,
    algorithm: str = AUTO,
) -> Played:
    """Play a case on buckets; *hot* names some keys as hot."""
    return play(case, OnBuckets(case, buckets, dice, folder, integer, hot, algorithm))


def _has_key(join: Join) -> bool:
    return sum(feed.road == KEY for feed in feeds(lower(join)).feeds) > 1


def _some_hot(feed: Feed) -> tuple[int, ...]:
    """The hashes of two keys that timelines like to have."""
    values = {"k": (0, 1), "g": (0, 1), "v": (0.0, 1.0), "s": ("red", "")}
    rows = zip(*(values[key.column] for key in feed.keys), strict=True)
    return hot_hashes(feed, list(rows))


def _aliased(case: Case, text: str) -> str:
    every = ", ".join(
        f"{n}.{c} AS {n}_{c}" for n in map(alias_in_sql, case.aliases) for c in ("id", "k", "g", "v", "s")
    )
    return f"SELECT {every} FROM {text.partition(' FROM ')[2]}"


def _marked(rows: pa.RecordBatch, mark: int | None) -> pa.RecordBatch:
    """The rows, and a heartbeat after them."""
    if mark is None:
        return rows
    marks = pa.array([None] * len(rows) + [mark], pa.int64())
    columns = [pa.concat_arrays([column, pa.nulls(1, column.type)]) for column in rows.columns]
    return pa.RecordBatch.from_arrays([*columns, marks], names=[*rows.schema.names, MARK])
