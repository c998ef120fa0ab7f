"""``nway``: one operator for all streams, and no intermediate results.

Each arriving tuple is joined with what the other streams remember, by the kernel
in ``probe``; then it is remembered itself.  A batch of one is eager evaluation, a
batch of a million lazy; the code is the same.

Exact because a tuple is stored before its own search starts and before any other
tuple arrives, so that the last member of a match always finds the others, and no
other member ever does.  What is forgotten is what the closed windows exclude from
every match still to come (``Windows.horizon``).  Cost: see ``probe``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from anabranch.core.buffers import Buffers
from anabranch.core.memory import PARTS as KEY_PARTS
from anabranch.core.memory import RANK, SIDE, TABLE, WIDTH, Array
from anabranch.core.operator import Matches, Raised, Rows
from anabranch.core.program import Program, lane_word
from anabranch.core.records import Packed, admitted, wanted
from anabranch.core.tally import COMPARED, Tally
from anabranch.core.ticks import FOREVER
from anabranch.core.words import address
from anabranch.joins import probe
from anabranch.joins.liveness import Liveness
from anabranch.joins.options import Options as Told
from anabranch.joins.order import Order, indexes_of, orders

ROOM = 16_384  # matches between two visits of the kernel
REORDER_EVERY = 256  # insertions between two looks at the sizes
SLOTS = probe.Search._fields.index("slots")


class NWay:
    """The operator over its buffers; everything it remembers is in them."""

    name = "nway"
    Options: ClassVar[type[Told]] = Told

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It answers everything."""
        return None

    def __init__(self, program: Program, options: Told | None = None, tally: Tally | None = None) -> None:
        self.program, self.tally = program, tally
        self.orders = orders(program)
        self.buffers = Buffers(program, indexes_of(self.orders))
        self._predicate = program.predicate.compiled()
        self._filters = [
            sum(1 << i for i, c in enumerate(program.conjuncts) if c.streams == {s}) for s in range(program.n)
        ]
        self._packed = Packed()
        self._layout = self.buffers.memory.streams[:, (WIDTH, RANK, SIDE)].tolist()
        self._bound = np.ascontiguousarray(program.windows.closed)
        self._at = np.zeros(program.n, np.int64)
        self._cursors = np.zeros((program.n, probe.CURSOR_COLUMNS), np.int64)
        self._resume = np.zeros(probe.RESUME_COLUMNS, np.int64)
        self._steps = self._laid_out(self.orders)
        self._wanted = wanted(program, self.buffers.memory.streams[:, SIDE])
        columns = len(self._wanted)
        self._words, self._times = np.zeros((columns, ROOM), np.int64), np.zeros((2, ROOM), np.int64)
        self._nulls = np.zeros((columns, ROOM), np.bool_)
        search = probe.Search(
            0, address(self._steps), address(self._bound), address(self._cursors), address(self._at),
            address(self._resume), address(self._wanted), address(self._words), address(self._nulls),
            address(self._times) if program.timed else 0, columns, program.n, ROOM,
        )  # fmt: skip
        self._search_over = np.array(search, np.int64)
        self._kernel = partial(
            probe.probe, self._predicate.admit, self._predicate.span, self.buffers.addresses, address(self._search_over)
        )
        self._slots: Array | None = None
        self._required = [program.required(s) for s in range(program.n)]
        self._liveness, self._stored = Liveness(program, self.buffers), 0
        self._insertions = 0

    def insert(self, batch: Sequence[Rows | None]) -> list[Matches]:
        """Join and remember the rows of a batch (by stream, in time order); the matches that they complete."""
        found: list[Matches] = []
        for s, first, last in self._store(batch):
            found += self._search(s, first, last)
        self._insertions += 1
        if self._insertions % REORDER_EVERY == 0:
            self._reorder()
        return found

    def remember(self, batch: Sequence[Rows | None]) -> None:
        """Take in rows whose matches are out already."""
        for _ in self._store(batch):
            pass

    def advance(self, frontiers: Sequence[int]) -> list[Matches]:
        """Forget what can match nothing any more; this operator has no match in waiting."""
        self.buffers.expire(frontiers)
        self._liveness.sweep(frontiers, self._stored)
        self._stored = 0
        if self.tally is not None:
            self.tally.words[COMPARED] = self.compared
            self.tally.buffered.append(self.buffers.tuples())
        return []

    def record_bytes(self, s: int) -> int:
        """What a tuple of a stream takes, but for its share of the indexes."""
        return 8 * self._layout[s][0]

    def looked_up(self, sizes: Sequence[float] | None) -> Sequence[Order]:
        """How the others are looked up for each arriving stream, at these sizes of the streams if they are known."""
        return self.orders if sizes is None else orders(self.program, sizes, self.buffers.indexes)

    def gate(self, frontiers: Sequence[int]) -> int:
        """Nothing waits."""
        return FOREVER

    @property
    def compared(self) -> int:
        """Candidates inside their windows that were tested against the predicate so far."""
        return int(self._resume[probe.COMPARED])

    def _store(self, batch: Sequence[Rows | None]) -> Iterator[tuple[int, int, int]]:
        """Store the rows of one stream after another; each stream, and where its rows begin and end."""
        self.buffers.reserve([0 if rows is None else len(rows.times) for rows in batch])
        ranks = [self._counted(s, rows) for s, rows in enumerate(batch)]
        for s, rows in enumerate(batch):
            n = 0 if rows is None else self._pack(s, rows, ranks[s])
            if n:
                self._stored += n
                first = self.buffers.store(s, self._packed.at, n)
                yield s, first, first + n

    def _counted(self, s: int, rows: Rows | None) -> int:
        """Note the rows of a stream with a count window before any search asks for positions; the first one's rank."""
        if rows is None or self.program.windows.counts[s] is None:
            return 0
        return self.buffers.count(s, rows.times)

    def _pack(self, s: int, rows: Rows, rank: int) -> int:
        """Pack the rows without those that can match nothing (NULL keys, the stream's own filters); how many remain."""
        width, rank_word, side_word = self._layout[s]
        records, n = self._packed.pack(rows, width), len(rows.times)
        if self.program.windows.counts[s] is not None:
            records[:, rank_word] = np.arange(rank, rank + n)
        if side_word >= 0:
            assert rows.numbers is not None
            records[:, side_word] = rows.numbers
        nullable = [lane for lane in self._required[s] if rows.nulls[lane] is not None]
        if nullable or self._filters[s]:
            at = self._packed.at
            n = admitted(self._predicate.admit, self._filters[s], s, at, n, width, nullable, self.program)
            if n < 0:
                raise Raised
        return n

    def _search(self, s: int, first: int, last: int) -> list[Matches]:
        found: list[Matches] = []
        self._resume[probe.ARRIVAL], self._resume[probe.DEPTH] = first, -1
        if self._slots is not self.buffers.slots:
            self._slots = self.buffers.slots
            self._search_over[SLOTS] = address(self._slots)
        while self._resume[probe.ARRIVAL] < last:
            count = self._kernel(s, first, last)
            if count:
                found.append(self._emitted(count))
        if self._resume[probe.RAISED]:
            raise Raised
        return found

    def _emitted(self, count: int) -> Matches:
        """A copy of what the kernel wrote."""
        words, carried = self._words[:, :count].copy(), len(self.program.output)
        nulls = self._nulls[:carried, :count].copy()
        start, end = self._times[:, : count if self.program.timed else 0].copy()
        return Matches(words[:carried], nulls, words[carried:], start, end)

    def _reorder(self) -> None:
        sizes = [float(self.buffers.live(s) + 1) for s in range(self.program.n)]
        chosen = orders(self.program, sizes, self.buffers.indexes)
        if chosen != self.orders:
            self.orders = chosen
            self._steps[:] = self._laid_out(chosen)

    def _laid_out(self, chosen: Sequence[Order]) -> Array:
        """The orders as the array that the kernel reads."""
        n, layout = self.program.n, self.buffers.memory.indexes
        steps = np.zeros((n, n - 1, probe.STEP_COLUMNS), np.int64)
        for s, order in enumerate(chosen):
            for depth, step in enumerate(order):
                row, keys = steps[s, depth], self.buffers.indexes
                row[probe.STREAM], row[probe.BAND] = step.stream, step.band
                row[probe.MASK] = sum(1 << number for number in step.conjuncts)
                row[probe.INDEX] = keys[step.stream].index(step.keys) if step.keys else probe.PANES
                if not step.keys:
                    continue
                row[probe.OWN] = bool(keys[s]) and keys[s][0] == step.keys
                row[probe.PARTS] = len(step.keys)
                for i, (key, source) in enumerate(zip(step.keys, step.source, strict=True)):
                    word = lane_word(len(self.program.lanes[source]), self.program.keys[key][source])
                    row[probe.PART + 2 * i : probe.PART + 2 * i + 2] = source, word
                assert layout[step.stream, row[probe.INDEX], KEY_PARTS] == len(step.keys)
                if row[probe.OWN]:
                    assert layout[s, 0, TABLE] == layout[step.stream, row[probe.INDEX], TABLE]
        return steps
