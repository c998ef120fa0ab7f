"""What the members of the family share around their kernels; nothing of any algorithm.

``insert`` packs what arrived and gives it a place; ``advance`` puts it in the order of
time, lets the member's kernel walk it, and turns the tuples that it found into matches.
A kernel that has no more room for matches returns, and goes on at the arrival whose
matches did not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from anabranch.core.errors import Refused
from anabranch.core.lists import ALL, Array, Lists
from anabranch.core.operator import Matches, Raised, Rows
from anabranch.core.program import Program, lane_word
from anabranch.core.records import Packed, admitted, wanted
from anabranch.core.tally import Tally
from anabranch.core.ticks import FOREVER
from anabranch.core.words import address
from anabranch.joins.lonely import drop_lonely
from anabranch.joins.loops import LOOP_COLUMNS
from anabranch.joins.options import Options
from anabranch.joins.order import Step
from anabranch.joins.partial import (
    FOUND,
    KEYS,
    LIST,
    MASK,
    NEEDED,
    PART,
    PART_COLUMNS,
    PARTS,
    RAISED,
    STATE_COLUMNS,
    STEP_COLUMNS,
    STREAM,
    Query,
    expire_all,
)

ROOM = 4_096  # matches between two visits of the kernel
OFTEN = 4  # one look for tuples that wait in vain, as soon as one in so many is new
NONE: Array = np.zeros((0, 2), np.int64)
MOST_KEYS = (STEP_COLUMNS - PART) // PART_COLUMNS


class Listed:
    """An operator over ``Lists``; a member gives the orders, the buckets and the kernel."""

    name: ClassVar[str]
    Options: ClassVar[type[Options]] = Options
    run: ClassVar[Callable[[int, int, int | None], None]]  # places, query, counts

    def __init__(self, program: Program, options: Any = None, tally: Tally | None = None) -> None:
        n = program.n
        self.program, self.tally = program, tally
        self.options: Any = self.Options() if options is None else options
        reason = self.refuses(program)
        if reason is not None:
            raise Refused(f"{self.name} cannot answer this query: {reason[0]}", reason[1])
        self.buckets_of = self.buckets()
        self.orders = [self.order(s) for s in range(n)]
        keys = [[_keys(program, order, depth) for depth in range(n)] for order in self.orders]
        indexes = [
            sorted({at[order.index(s)] for order, at in zip(self.orders, keys, strict=True) if at[order.index(s)]})
            if self.buckets_of[s]
            else []
            for s in range(n)
        ]
        self.lists = Lists(program, [[(each, self.buckets_of[s]) for each in indexes[s]] for s in range(n)])
        self.buffers = self.lists
        self._predicate = program.predicate.compiled()
        self._filters = [sum(1 << i for i, c in enumerate(program.conjuncts) if c.streams == {s}) for s in range(n)]
        self._required = [program.required(s) for s in range(n)]
        self._packed = Packed()
        self._staged: list[tuple[int, Array, Array]] = []
        self._stored = 0  # tuples since the last look for those that wait in vain
        self._bound = np.stack([self.bounds(), self.keeps()])
        self._steps = self._laid_out(keys)
        self._pairs = _pairs(program)
        self._frontiers = np.zeros(n, np.int64)
        self._member, self._at = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._found, self._state = np.zeros((ROOM, n), np.int64), np.zeros(STATE_COLUMNS, np.int64)
        self._loops = np.zeros((n, LOOP_COLUMNS), np.int64)
        self._wanted = wanted(program, np.array(self.lists.side))
        self._extra = self.extras()
        self._query = np.zeros(len(Query._fields), np.int64)

    # -- what a member may say --------------------------------------------------

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """Why this member cannot answer a query, and which one can; None if it can."""
        return None

    def buckets(self) -> list[int]:
        """How many buckets the indexes of each stream have; a stream with none is scanned."""
        return [0] * self.program.n

    def order(self, arriving: int) -> list[int]:
        """The streams in the order in which they are bound when a tuple of *arriving* comes; it comes first."""
        n = self.program.n
        return [(arriving + i) % n for i in range(n)]

    def bounds(self) -> Array:
        """The matrix that periods go by."""
        closed: Array = self.program.windows.closed
        return closed

    def keeps(self) -> Array:
        """The matrix that tuples are kept by."""
        closed: Array = self.program.windows.closed
        return closed

    def extras(self) -> Array:
        """What the member's own kernel needs to know or to remember beside the lists."""
        return np.zeros(1, np.int64)

    def gate(self, frontiers: Sequence[int]) -> int:
        """Rows from this time on wait, before they come here, until the frontiers have moved."""
        return FOREVER

    def arranged(self, sequence: Array, times: Array) -> Array:
        """The order in which what came in a batch is processed; it is given by time."""
        return sequence

    def let_go(self, frontiers: Sequence[int]) -> None:
        """Forget what the batch has left behind."""
        self._visit(expire_all, NONE, frontiers)

    def free(self, frontiers: Sequence[int]) -> None:
        """Let the places of what was forgotten be taken again."""
        self.lists.give_back()

    def make_room(self) -> None:
        """A kernel has returned for want of room: where one arrival needs more than there is, make it."""
        if self._state[NEEDED] > len(self._found):
            self._found = np.zeros((2 * int(self._state[NEEDED]), self.program.n), np.int64)

    def held(self) -> int:
        """All that is remembered, in tuples."""
        return self.lists.tuples()

    # -- the contract -----------------------------------------------------------

    def insert(self, batch: Sequence[Rows | None]) -> list[Matches]:
        """Take in the rows of a batch; they are joined by ``advance``, which knows the frontiers."""
        ranks = [self._counted(s, rows) for s, rows in enumerate(batch)]
        for s, rows in enumerate(batch):
            if rows is not None and len(rows.times):
                self._staged.append(self._pack(s, rows, ranks[s]))
        return []

    def remember(self, batch: Sequence[Rows | None]) -> None:
        """Take in rows whose matches are out already."""
        self.insert(batch)
        for s, _, places in self._staged:
            self.lists.settle(s, places)
            self.lists.hang(s, places)
        self._staged = []

    def advance(self, frontiers: Sequence[int]) -> list[Matches]:
        """Join what came, and forget what can match nothing any more."""
        began = perf_counter()
        sequence = self._sequence()
        for s, rows in enumerate(self.program.windows.counts):
            if rows is not None:
                self.lists.settle(s, sequence[sequence[:, 1] == s, 0])
        matches = self._visit(type(self).run, sequence, frontiers) if len(sequence) or self.waits else []
        self.let_go(frontiers)
        self._stored += len(sequence)
        if self.options.liveness and OFTEN * self._stored > self.lists.tuples():
            self._stored = 0
            self._visit(drop_lonely, NONE, frontiers)
        for s, rows in enumerate(self.program.windows.counts):
            if rows is not None:
                self.lists.forget_counts(s, min(f for j, f in enumerate(frontiers) if j != s or self.program.n == 1))
        self.free(frontiers)
        if self.tally is not None:
            self.tally.arrived.append(len(sequence))
            self.tally.buffered.append(self.held())
            self.tally.seconds.append(perf_counter() - began)
        return matches

    def record_bytes(self, s: int) -> int:
        """What a tuple of a stream takes."""
        return 8 * (self.lists.width + self.lists.links_of(s))

    def looked_up(self, sizes: Sequence[float] | None) -> Sequence[tuple[Step, ...]]:
        """How the others are looked up for each arriving stream."""
        return [
            tuple(self._look_up(s, d) for d in range(self.program.n) if order[d] != s)
            for s, order in enumerate(self.orders)
        ]

    def _look_up(self, s: int, depth: int) -> Step:
        row, bound = self._steps[s, depth], set(self.orders[s][: depth + 1])
        shared = _keys(self.program, self.orders[s], depth)
        source = tuple(int(row[PART + PART_COLUMNS * i]) for i in range(len(shared)))
        k, indexed, mask = int(row[STREAM]), bool(row[LIST]), int(row[MASK])
        decided = tuple(
            number
            for number, each in enumerate(self.program.conjuncts)
            if mask >> number & 1
            or (not indexed and each.key in shared and k in each.streams and each.streams <= bound)
        )
        return Step(k, shared if indexed else (), source if indexed else (), decided, -1)

    waits: ClassVar[bool] = False  # whether the kernel has work although nothing came

    @property
    def compared(self) -> int:
        """Candidates that were tested so far, where that is counted."""
        return 0 if self.tally is None else self.tally.comparisons

    # -- in ------------------------------------------------------------------

    def _counted(self, s: int, rows: Rows | None) -> int:
        if rows is None or self.program.windows.counts[s] is None:
            return 0
        return self.lists.count(s, rows.times)

    def _pack(self, s: int, rows: Rows, rank: int) -> tuple[int, Array, Array]:
        """Give places to the rows that may match anything: the stream, their times, their places."""
        width = self.lists.width
        records, n = self._packed.pack(rows, width), len(rows.times)
        if self.lists.rank[s] >= 0:
            records[:, self.lists.rank[s]] = np.arange(rank, rank + n)
        if self.lists.side[s] >= 0:
            assert rows.numbers is not None
            records[:, self.lists.side[s]] = rows.numbers
        nullable = [lane for lane in self._required[s] if rows.nulls[lane] is not None]
        if nullable or self._filters[s]:
            at = self._packed.at
            n = admitted(self._predicate.admit, self._filters[s], s, at, n, width, nullable, self.program)
            if n < 0:
                raise Raised
        return s, records[:n, 0].copy(), self.lists.take(s, records[:n])

    def _sequence(self) -> Array:
        """What is staged as (tuple, stream), by time; of one time in the order of the streams."""
        staged, self._staged = self._staged, []
        if not staged:
            return NONE
        times = np.concatenate([each for _, each, _ in staged])
        places = np.concatenate([each for _, _, each in staged])
        streams = np.concatenate([np.full(len(each), s) for s, each, _ in staged])
        by_time = np.argsort(times, kind="stable")
        self.lists.number(places[by_time])
        return np.ascontiguousarray(self.arranged(np.column_stack([places, streams])[by_time], times[by_time]))

    # -- out -----------------------------------------------------------------

    def _visit(self, kernel: Any, sequence: Array, frontiers: Sequence[int]) -> list[Matches]:
        """Call a kernel until it has walked the whole sequence."""
        self._frontiers[:] = frontiers
        self._state[:] = 0
        matches: list[Matches] = []
        counts = None if self.tally is None else self.tally.address
        while True:
            self._query[:] = Query(
                self._predicate.admit, address(self._bound), address(self._steps), address(self._frontiers),
                address(sequence), address(self._member), address(self._at), address(self._found),
                address(self._state), address(self._loops), address(self._extra), address(self._pairs),
                self.program.n, len(sequence), len(self._found), len(self.program.keys),
            )  # fmt: skip
            kernel(self.lists.places, address(self._query), counts)
            if self._state[RAISED]:
                raise Raised
            if self._state[FOUND]:
                matches.append(self._matches(self._found[: self._state[FOUND]]))
            if not self._state[NEEDED]:
                return matches
            self.make_room()
            self._state[FOUND] = self._state[NEEDED] = 0

    def _matches(self, found: Array) -> Matches:
        columns, carried = len(self._wanted), len(self.program.output)
        words, nulls = np.empty((columns, len(found)), np.int64), np.zeros((columns, len(found)), np.bool_)
        for i, (s, value, null_word, null_bit) in enumerate(self._wanted):
            words[i] = self.lists.words(found[:, s], value)
            if null_bit >= 0:
                nulls[i] = (self.lists.words(found[:, s], null_word) >> null_bit) & 1
        start = end = np.zeros(0, np.int64)
        if self.program.timed:
            times = np.stack([self.lists.words(found[:, s], 0) for s in range(self.program.n)])
            start, end = times.min(axis=0), times.max(axis=0)
        return Matches(words[:carried], nulls[:carried], words[carried:], start, end)

    # -- the steps as the kernel reads them ----------------------------------------

    def _laid_out(self, keys: Sequence[Sequence[tuple[int, ...]]]) -> Array:
        program, n = self.program, self.program.n
        steps = np.zeros((n, n, STEP_COLUMNS), np.int64)
        for s, order in enumerate(self.orders):
            for depth, k in enumerate(order):
                row, bound, shared = steps[s, depth], order[:depth], keys[s][depth]
                row[STREAM], row[PARTS] = k, len(shared)
                row[LIST] = 1 + self.lists.indexes[k].index(shared) if shared in self.lists.indexes[k] else ALL
                row[KEYS] = len(shared) if row[LIST] else 0
                for i, key in enumerate(shared):
                    lanes = program.keys[key]
                    a = next(a for a in bound if lanes[a] >= 0)
                    at = PART + PART_COLUMNS * i
                    row[at] = a
                    row[at + 1] = lane_word(len(program.lanes[a]), lanes[a])
                    row[at + 2] = lane_word(len(program.lanes[k]), lanes[k])
                row[MASK] = sum(
                    1 << number
                    for number, conjunct in enumerate(program.conjuncts)
                    if k in conjunct.streams
                    and len(conjunct.streams) > 1
                    and conjunct.streams <= {*bound, k}
                    and conjunct.key not in shared
                )
        return steps


def _pairs(program: Program) -> Array:
    """For two streams the words of the keys that both have; in front, how many they are."""
    pairs = np.zeros((program.n, program.n, 1 + 2 * len(program.keys)), np.int64)
    for s in range(program.n):
        for k in range(program.n):
            shared = [lanes for lanes in program.keys if lanes[s] >= 0 and lanes[k] >= 0]
            words = [lane_word(len(program.lanes[a]), lanes[a]) for lanes in shared for a in (s, k)]
            pairs[s, k, : 1 + len(words)] = [len(shared), *words]
    return pairs


def _keys(program: Program, order: Sequence[int], depth: int) -> tuple[int, ...]:
    """The classes of equal lanes that the stream at this depth shares with those before it."""
    k, bound = order[depth], order[:depth]
    return tuple(
        number for number, lanes in enumerate(program.keys) if lanes[k] >= 0 and any(lanes[a] >= 0 for a in bound)
    )[:MOST_KEYS]
