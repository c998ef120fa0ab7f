"""One bucket of a join: pieces of a batch in, matches out, everything remembered in the state.

Nothing here knows Spark.  A batch of a bucket is a function of its state and of the
rows that came, so an attempt that is repeated, moved or doubled gives the same; what
a worker still holds of an earlier batch is used only if it is what the state says,
which the head's *token* tells: a digest of all that led to it.

Late is what is older than its stream's frontier at the end of the batch before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.core.frontiers import Frontier, Frontiers
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.times import span, ticks
from anabranch.engine.join import Arrived, ArrowJoin
from anabranch.engine.sieve import Sieve
from anabranch.files.json_text import rows_json
from anabranch.plan.feeds import Feed, Feeds
from anabranch.spark.chunks import Chunks, Copies, Head, State, digest
from anabranch.spark.pieces import BAD, Piece, hashes
from anabranch.spark.skew import hottest
from anabranch.spark.ties import settled
from anabranch.spark.told import Told


@dataclass(frozen=True)
class Shard:
    """What all buckets of one join are told; ticks throughout, by stream."""

    feeds: Feeds
    buckets: tuple[int, ...]
    query: str  # the fingerprint
    lateness: tuple[int, ...]
    idle: tuple[int | None, ...]
    ordered: frozenset[str] = frozenset()  # the streams whose tasks and rows come in the order of arrival
    timed: bool = True
    name: str = ""
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    plan: str = ""  # one for each time that a query is planned: others with this state may select and call otherwise

    @property
    def streams(self) -> tuple[str, ...]:
        return self.feeds.streams

    def join(self) -> ArrowJoin:
        """A new operator."""
        return ArrowJoin(self.feeds.join, self.functions, self.timed)

    def stream(self, feed: Feed) -> int:
        """The number of a feed's stream."""
        return self.streams.index(feed.stream)

    def counts_ties(self, feed: Feed) -> bool:
        """Whether the answer depends on the order of rows of one time, and the order of reading does not tell it."""
        counted = any(member.rows is not None and member.stream.name == feed.name for member in self.feeds.join.members)
        return counted and feed.stream not in self.ordered


@dataclass
class Outcome:
    """What comes out of one batch of one bucket."""

    tables: list[pa.Table]
    late: list[tuple[str, pa.Array, pa.Array, pa.Array]]  # stream, times, lateness, rows as JSON
    dead: list[tuple[str, pa.RecordBatch]]
    told: Told


@dataclass
class Kept:
    """An operator that a worker holds between batches, and the token of the state that it is in."""

    token: str
    batch: int
    join: ArrowJoin


@dataclass
class Worker:
    """What a process remembers between batches; nothing that cannot be made again."""

    kept: dict[tuple[str, str, str, int], Kept] = field(default_factory=dict)
    sieves: dict[tuple[str, str], Sieve] = field(default_factory=dict)


class Bucket:
    """One bucket for the time of one batch, in a worker that may have seen it before."""

    def __init__(self, shard: Shard, bucket: int, state: State, copies: Copies, worker: Worker) -> None:
        self.shard, self.bucket, self.worker = shard, bucket, worker
        self.state = state
        self.chunks = Chunks(state, copies, [feed.schema for feed in shard.feeds.feeds])

    def run(self, batch: int, pieces: Iterable[Piece]) -> Outcome:
        """Join the pieces of a batch, and write down what the next one needs."""
        shard = self.shard
        began = time.perf_counter()
        stored = self.state.head()
        head = (
            Head.fresh(shard.query, len(shard.buckets), len(shard.streams))
            if stored is None
            else Head.read(stored, shard.query, len(shard.buckets))
        )
        frontiers = Frontiers(
            [
                Frontier(lateness, idle, newest, promised, given_up)
                for lateness, idle, newest, promised, given_up in zip(
                    shard.lateness, shard.idle, head.newest, head.promised, head.given_up, strict=True
                )
            ]
        )
        before = frontiers.values()
        join, rebuilt = self._join(head, before)
        restored = time.perf_counter()

        told = Told.of(len(shard.streams))
        told.rebuilt = int(rebuilt)
        compared = join.operator.compared
        late: list[tuple[str, pa.Array, pa.Array, pa.Array]] = []
        dead: list[tuple[str, pa.RecordBatch]] = []
        arrived: dict[str, Arrived] = {}
        ordered = sorted(pieces, key=lambda piece: (piece.feed, piece.part, piece.number))
        for number, feed in enumerate(shard.feeds.feeds):
            mine = [piece for piece in ordered if piece.feed == number]
            s = shard.stream(feed)
            accepted = self._accepted(feed, mine, head, before[s], told, late)
            if accepted is not None:
                arrived[feed.name] = settled(accepted) if shard.counts_ties(feed) else accepted
            for piece in mine:
                told.rows[s] += piece.rows
                told.dead[s] += piece.dead
                if piece.bad is not None:
                    dead.append((feed.stream, pa.ipc.read_record_batch(pa.py_buffer(piece.bad), BAD)))
        for piece in ordered:
            stream = frontiers.streams[shard.stream(shard.feeds.feeds[piece.feed])]
            if piece.newest > NEVER:
                stream.reach(piece.newest)
            stream.promise(piece.promised)
        feeds = {feed.name: feed for feed in shard.feeds.feeds}
        told.received = sum(len(rows.times) for rows in arrived.values())
        told.hot_share, told.hot_key = hottest((feeds[name], rows.rows) for name, rows in arrived.items())
        after = frontiers.values()
        tables = join.push(arrived, self._by_feed(after))
        joined = time.perf_counter()

        self._store(head, join, arrived, frontiers, after, batch, told, sum(map(len, tables)))
        told.candidates = join.operator.compared - compared
        for feed in shard.feeds.feeds:
            told.buffered[shard.stream(feed)] += sum(
                join.operator.buffers.live(a) + (0 if held is None else len(held.times))
                for a, (member, held) in enumerate(zip(shard.feeds.join.members, join.driver.held, strict=True))
                if member.stream.name == feed.name
            )
        told.memory = join.buffered()[1]
        told.peak_tuples, told.peak_memory = join.operator.buffers.peak, join.operator.buffers.peak_bytes
        told.restore_ms = 1_000 * (restored - began)
        told.join_ms = 1_000 * (joined - restored)
        told.store_ms = 1_000 * (time.perf_counter() - joined)
        return Outcome(tables, late, dead, told)

    def _join(self, head: Head, frontiers: list[int]) -> tuple[ArrowJoin, bool]:
        """The operator in the state of *head*: the one that is kept, or a new one over the stored rows."""
        kept = self.worker.kept.pop(self._key, None)
        if kept is not None and kept.token == head.token:
            return kept.join, False
        join = self.shard.join()
        if head.batch >= 0:
            arrived = {}
            for number, feed in enumerate(self.shard.feeds.feeds):
                rows = [self.chunks.read(chunk) for chunk in head.chunks if chunk.feed == number]
                if rows:
                    whole = pa.concat_batches(rows) if len(rows) > 1 else rows[0]
                    arrived[feed.name] = Arrived(ticks(whole.column(feed.time), feed.integer_time)[0], whole)
            join.restore(arrived, self._by_feed(frontiers))
        return join, True

    @property
    def _key(self) -> tuple[str, str, str, int]:
        return self.shard.name, self.shard.plan, self.shard.query, self.bucket

    def _by_feed(self, frontiers: list[int]) -> dict[str, int]:
        return {feed.name: frontiers[self.shard.stream(feed)] for feed in self.shard.feeds.feeds}

    def _accepted(
        self, feed: Feed, pieces: list[Piece], head: Head, frontier: int, told: Told, late: list[Any]
    ) -> Arrived | None:
        """The rows of a feed that are not late, as they were read."""
        bodies = [
            pa.ipc.read_record_batch(pa.py_buffer(piece.body), feed.schema)
            for piece in pieces
            if piece.body is not None
        ]
        if not bodies:
            return None
        rows = pa.concat_batches(bodies) if len(bodies) > 1 else bodies[0]
        times, reasons = ticks(rows.column(feed.time), feed.integer_time)
        assert reasons is None, "bad rows were set apart before"
        if span(times)[0] >= frontier:
            return self._matchable(feed, times, rows)
        apart = times < frontier
        s = self.shard.stream(feed)
        first = next(each for each in self.shard.feeds.feeds if each.stream == feed.stream)
        if feed is first:
            mine = apart & self._speaks_for(feed, rows)
            told.late[s] += int(mine.sum())
            newest = head.newest[s]
            lags = np.where(times[mine] < newest, newest - times[mine], 1)
            ill = rows.filter(pa.array(mine))
            if len(ill):
                late.append((feed.stream, ill.column(feed.time), pa.array(lags), rows_json(ill)))
        if apart.all():
            return None
        return self._matchable(feed, times[~apart], rows.filter(pa.array(~apart)))

    def _speaks_for(self, feed: Feed, rows: pa.RecordBatch) -> Any:
        """Which rows are told of by this bucket; one that is in several is told of by one."""
        if not feed.everywhere and (not feed.hot or feed.spreads):
            return True
        target = hashes(rows, feed) % np.uint64(len(self.shard.buckets))
        return target == self.shard.buckets.index(self.bucket)

    def _matchable(self, feed: Feed, times: Any, rows: pa.RecordBatch) -> Arrived | None:
        """The rows that may match anything."""
        sieve = self.worker.sieves.get((self.shard.query, feed.name))
        if sieve is None:
            sieve = self.worker.sieves[self.shard.query, feed.name] = Sieve(feed)
        passed = sieve.passed(rows)
        if passed is None:
            return Arrived(times, rows)
        return Arrived(times[passed], rows.filter(pa.array(passed))) if passed.any() else None

    def _store(
        self,
        head: Head,
        join: ArrowJoin,
        arrived: Mapping[str, Arrived],
        frontiers: Frontiers,
        after: list[int],
        batch: int,
        told: Told,
        matches: int,
    ) -> None:
        """Write what may still match of what came, remove what may not, and say where the streams stand."""
        needed = join.needed(self._by_feed(after))
        for chunk in list(head.chunks):
            if chunk.greatest < needed[self.shard.feeds.feeds[chunk.feed].name]:
                self.chunks.drop(head, chunk)
        for number, feed in enumerate(self.shard.feeds.feeds):
            rows = arrived.get(feed.name)
            if rows is None or needed[feed.name] == FOREVER:
                continue
            keep = rows.times >= needed[feed.name]
            if keep.all():
                self.chunks.write(head, number, rows.rows, span(rows.times)[1])
            elif keep.any():
                self.chunks.write(head, number, rows.rows.filter(pa.array(keep)), span(rows.times[keep])[1])
        for s, stream in enumerate(frontiers.streams):
            head.newest[s], head.promised[s], head.given_up[s] = stream.newest, stream.promised, stream.given_up
            head.rows[s] += told.rows[s]
            head.late[s] += told.late[s]
            head.dead[s] += told.dead[s]
        head.matches += matches
        head.batch = batch
        head.token = digest(head.token.encode(), repr((after, head.chunks)).encode())
        self.state.keep_head(head.written())
        everything = self.worker.kept
        everything[self._key] = Kept(head.token, batch, join)
        for key in [key for key, kept in everything.items() if key[:3] == self._key[:3] and kept.batch < batch - 1]:
            del everything[key]  # its bucket has gone on elsewhere
        told.total_rows, told.total_late, told.total_dead = list(head.rows), list(head.late), list(head.dead)
        told.newest, told.frontier, told.given_up = list(head.newest), after, list(head.given_up)
        told.matches, told.total_matches = matches, head.matches
        told.stored = sum(chunk.size for chunk in head.chunks)
        told.written = self.chunks.written
