"""The buffers of one join: room for what arrives, and nothing kept that cannot match any more.

``Buffers`` owns the arrays of ``memory`` and grows them before a kernel runs, so
that no kernel ever allocates.  It is the state that a runtime hands to an
operator: ``export`` and ``load`` move the live tuples in and out as plain
records, and every index is rebuilt from them, so the format of a snapshot knows
nothing of slots and chains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import gt

import numpy as np

from anabranch.core import memory as at
from anabranch.core.memory import Array, Memory
from anabranch.core.program import LANES, MARKS, TIME, Program, lane_word, null_words
from anabranch.core.store import RADIX, expire_all, place, rank_needed, store
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import address

GROWTH = 1.2
SLACK = 1.5  # an arena this many times too large is given back
SMALLEST_ARENA = 1 << 14
SPARE = 64  # tuples for which room is made ahead, so that one at a time costs no look at the room
FILL = 0.6  # of a table after it has been rebuilt; rebuilt again above FULL
FULL = 0.8
SMALLEST_PANE, LARGEST_PANE = 64, 131_072
PANES_A_WINDOW = 2


@dataclass(frozen=True)
class Index:
    """The keys (classes of the program) by which one stream can be looked up together."""

    stream: int
    keys: tuple[int, ...]


class Buffers:
    """The remembered tuples of n streams and their indexes."""

    def __init__(self, program: Program, indexes: Sequence[Index]) -> None:
        n = program.n
        self.program = program
        self.indexes = [[index.keys for index in indexes if index.stream == s] for s in range(n)]
        tables = sorted({index.keys for index in indexes})
        members = {keys: [s for s in range(n) if keys in self.indexes[s]] for keys in tables}
        streams = np.zeros((n, at.STREAM_COLUMNS), np.int64)
        layout = np.zeros((n, max([1, *map(len, self.indexes)]), at.INDEX_COLUMNS), np.int64)
        for s in range(n):
            width = LANES + null_words(len(program.lanes[s])) + len(program.lanes[s])
            row = streams[s]
            row[at.NEWEST], row[at.OPEN_MIN], row[at.OPEN_MAX] = NEVER, FOREVER, NEVER
            row[at.SIDE] = row[at.SORT] = -1
            if rows := program.windows.counts[s]:
                row[at.ROWS], row[at.RANK], width = rows, width, width + 1
            if program.side and program.side[s]:
                row[at.SIDE], width = width, width + 1
            for i, keys in enumerate(self.indexes[s]):
                words = [lane_word(len(program.lanes[s]), program.keys[key][s]) for key in keys]
                assert len(words) <= at.INDEX_COLUMNS - at.PART
                layout[s, i, : at.PART] = tables.index(keys), members[keys].index(s), width if i else 0, len(words)
                layout[s, i, at.PART : at.PART + len(words)] = words
                width += i > 0
            row[at.INDEXES], row[at.WIDTH], row[at.PANE_ROWS] = len(self.indexes[s]), width, SMALLEST_PANE
            band = next((band for band in program.bands if band.stream == s), None)
            if band and not self.indexes[s]:
                row[at.SORT] = lane_word(len(program.lanes[s]), band.lane)
                row[at.SORT_REAL] = program.lanes[s][band.lane].kind == "real"
        self.memory = Memory(
            arena=np.zeros(0, np.int64),
            streams=streams,
            panes=np.zeros((n, 64, at.PANE_COLUMNS), np.int64),
            slots=np.zeros(0, np.int64),
            tables=np.zeros((max(1, len(tables)), at.TABLE_COLUMNS), np.int64),
            indexes=layout,
            counts=np.zeros(0, np.int64),
        )
        for t, keys in enumerate(tables):
            self.memory.tables[t, at.TABLE_MEMBERS] = len(members[keys])
        self._tables = len(tables)
        self._addresses = np.array(self.memory.addresses(), np.int64)
        self.addresses = address(self._addresses)  # for kernels, once and for all
        self._counting = [s for s, rows in enumerate(program.windows.counts) if rows is not None]
        self._bound = np.ascontiguousarray(program.windows.closed)
        self._frontiers = np.zeros(n, np.int64)
        self._at_bound, self._at_frontiers = address(self._bound), address(self._frontiers)
        self._work = np.zeros((6, RADIX), np.int64)
        self._scratch = np.zeros(0, np.int64)
        self.slots = np.zeros(0, np.int64)
        self._live, self._caps, self._spare = [0] * n, [0] * n, [0] * n
        self.peak, self.peak_bytes = 0, 0
        for t in range(len(tables)):  # a table without a slot could not be searched
            self._move_slots(t, 0)
        self._settle()

    # -- in ------------------------------------------------------------------

    def reserve(self, rows: Sequence[int]) -> None:
        """Make room in the arena for so many more tuples of each stream, at once."""
        needed = [live + more for live, more in zip(self._live, rows, strict=True)]
        if any(map(gt, needed, self._caps)) or sum(self._caps) > SLACK * sum(needed) + SMALLEST_ARENA:
            self._move_arena(np.array(needed, np.int64))

    def store(self, s: int, records: int, n: int) -> int:
        """Store *n* records in time order, from this address on; the position of the first (see ``store``)."""
        if n > self._spare[s]:
            self._make_room(s, n + SPARE)
            self._spare[s] = n + SPARE
        self._spare[s] -= n
        self._live[s] += n
        self.peak = max(self.peak, sum(self._live))
        return int(store(self.addresses, s, records, n, *self._aside))

    def count(self, s: int, times: Array) -> int:
        """Note the times (in order) of all accepted tuples of a stream with a count window; the first one's rank."""
        row, n = self.memory.streams[s], len(times)
        if row[at.COUNT_END] - row[at.COUNT_FIRST] + n > row[at.COUNT_CAP]:
            self._move_counts(s, n)
        end = int(row[at.COUNT_AT] + row[at.COUNT_END] - row[at.COUNT_FIRST])
        self.memory.counts[end : end + n] = times
        row[at.COUNT_END] += n
        return int(row[at.COUNT_END]) - n

    def counted_from(self, s: int, frontier: int) -> int:
        """The time of the oldest tuple of a counting stream that a match not older than *frontier* can ask for."""
        row, needed = self.memory.streams[s], int(rank_needed(self.addresses, s, frontier))
        if needed >= row[at.COUNT_END] or row[at.COUNT_FIRST] == row[at.COUNT_END]:
            return FOREVER
        return int(self.memory.counts[int(row[at.COUNT_AT]) + max(0, needed - int(row[at.COUNT_FIRST]))])

    # -- out -----------------------------------------------------------------

    def expire(self, frontiers: Sequence[int]) -> int:
        """Forget what no match to come can contain, given the frontier of each stream; how many tuples."""
        self._frontiers[:] = frontiers
        dropped = int(expire_all(self.addresses, self.program.n, self._at_bound, self._at_frontiers))
        if dropped:
            streams = self.memory.streams
            self._live = (streams[:, at.END] - streams[:, at.TAIL]).tolist()
        for s in self._counting:
            others = [frontier for j, frontier in enumerate(frontiers) if j != s]
            self._forget_counts(s, min(others))
        return dropped

    def live(self, s: int) -> int:
        """How many tuples stream *s* remembers."""
        return self._live[s]

    def tuples(self) -> int:
        """How many tuples all streams remember."""
        return sum(self._live)

    def oldest_row(self, s: int) -> int | None:
        """The least side row number among the live tuples, or None when none is left."""
        return int(self.records(s)[:, self.memory.streams[s, at.SIDE]].min()) if self.live(s) else None

    def records(self, s: int) -> Array:
        """A copy of the live records, in the order of their positions."""
        row = self.memory.streams[s]
        if not self.live(s):
            return np.zeros((0, int(row[at.WIDTH])), np.int64)
        base, cap, width = int(row[at.BASE]), int(row[at.CAP]), int(row[at.WIDTH])
        ring = self.memory.arena[base : base + cap * width].reshape(cap, width)
        start, n = int(row[at.TAIL] - row[at.ORIGIN]), self.live(s)
        first = ring[start : min(start + n, cap)]
        return np.concatenate([first, ring[: n - len(first)]])

    def keep_only(self, s: int, places: Array) -> None:
        """Forget all tuples of *s* but those at these places (counted from the tail), and store these anew."""
        row, kept = self.memory.streams[s], self._unlinked(s, self.records(s)[places])
        row[at.TAIL] = row[at.OPEN] = row[at.END]
        row[at.FIRST_PANE] = row[at.PANE_END]
        row[at.OPEN_MIN], row[at.OPEN_MAX] = FOREVER, NEVER
        while row[at.TAIL] - row[at.ORIGIN] >= row[at.CAP] > 0:
            row[at.ORIGIN] += row[at.CAP]
        self._live[s] = 0
        self.reserve([len(kept) if i == s else 0 for i in range(self.program.n)])
        self.store(s, address(kept), len(kept))

    # -- snapshots -------------------------------------------------------------

    def export(self, s: int) -> tuple[Array, Array, int]:
        """The live records in time order, the times of the count window, and the rank of the first of them."""
        row = self.memory.streams[s]
        start = int(row[at.COUNT_AT])
        counts = self.memory.counts[start : start + int(row[at.COUNT_END] - row[at.COUNT_FIRST])].copy()
        return self._unlinked(s, self.records(s)), counts, int(row[at.COUNT_FIRST])

    def load(self, s: int, records: Array, counts: Array, first: int) -> None:
        """The inverse of ``export``, into empty buffers."""
        row = self.memory.streams[s]
        row[at.COUNT_FIRST] = row[at.COUNT_END] = first
        if len(counts):
            self.count(s, counts)
        self.reserve([len(records) if i == s else 0 for i in range(self.program.n)])
        records = np.ascontiguousarray(records)
        self.store(s, address(records), len(records))

    def _unlinked(self, s: int, records: Array) -> Array:
        """Records as they were packed, by time; those of one time by rank, where there are ranks."""
        row = self.memory.streams[s]
        records[:, MARKS] &= ~at.LINK_HALF
        records[:, self.memory.indexes[s, 1 : int(row[at.INDEXES]), at.LINK]] = 0
        ranks = [records[:, row[at.RANK]]] if row[at.ROWS] else []
        return records[np.lexsort([*ranks, records[:, TIME]])]

    def _replace(self, **arrays: Array) -> None:
        self.memory = self.memory._replace(**arrays)
        self._settle()

    def _settle(self) -> None:
        """Note where the arrays lie and what they occupy, after one was replaced."""
        memory = self.memory
        self._addresses[:] = memory.addresses()
        self.nbytes = memory.arena.nbytes + memory.slots.nbytes + memory.counts.nbytes + memory.panes.nbytes
        self._aside = address(self._scratch), address(self._work), self._work.shape[1], address(self.slots)
        self._caps = memory.streams[:, at.CAP].tolist()
        self.peak_bytes = max(self.peak_bytes, self.nbytes)

    # -- room --------------------------------------------------------------------

    def _make_room(self, s: int, n: int) -> None:
        row = self.memory.streams[s]
        live, opened = self.live(s), int(row[at.END] - row[at.OPEN])
        pane = min(LARGEST_PANE, max(SMALLEST_PANE, live // PANES_A_WINDOW))
        row[at.PANE_ROWS] = pane
        closing = n // pane + 3
        if row[at.PANE_END] - row[at.FIRST_PANE] + closing > self.memory.panes.shape[1]:
            self._move_panes(int(row[at.PANE_END] - row[at.FIRST_PANE]) + closing)
        for index in range(int(row[at.INDEXES])):
            table = int(self.memory.indexes[s, index, at.TABLE])
            used, cap = int(self.memory.tables[table, at.TABLE_USED]), int(self.memory.tables[table, at.TABLE_CAP])
            members = int(self.memory.tables[table, at.TABLE_MEMBERS])
            if used + n + members * SPARE > FULL * cap:
                self._move_slots(table, n + members * SPARE)
        most = opened + n
        if most > len(self.slots) or most * row[at.WIDTH] > len(self._scratch):
            room = int(GROWTH * most) + 64
            self._work, self.slots = np.zeros((6, max(room, RADIX)), np.int64), np.zeros(room, np.int64)
            self._scratch = np.zeros(room * int(row[at.WIDTH]), np.int64)
            self._settle()

    def _move_arena(self, needed: Array) -> None:
        """A new arena with room for so many tuples of each stream and some more."""
        records = [self.records(s) for s in range(self.program.n)]
        streams = self.memory.streams
        streams[:, at.CAP] = (GROWTH * needed).astype(np.int64) + 16
        arena = np.empty(int((streams[:, at.CAP] * streams[:, at.WIDTH]).sum()), np.int64)
        base = 0
        for s, live in enumerate(records):
            streams[s, at.BASE], streams[s, at.ORIGIN] = base, streams[s, at.TAIL]
            arena[base : base + live.size] = live.reshape(-1)
            base += int(streams[s, at.CAP] * streams[s, at.WIDTH])
        self._replace(arena=arena)

    def _move_panes(self, room: int) -> None:
        old, streams = self.memory.panes, self.memory.streams
        panes = np.zeros((self.program.n, 1 << (2 * room + 63).bit_length(), at.PANE_COLUMNS), np.int64)
        for s in range(self.program.n):
            numbers = np.arange(streams[s, at.FIRST_PANE], streams[s, at.PANE_END])
            panes[s, numbers % panes.shape[1]] = old[s, numbers % old.shape[1]]
        self._replace(panes=panes)

    def _move_slots(self, table: int, more: int) -> None:
        """Rebuild one table without its dead keys and with room for *more*; the others move as they are."""
        tables, old = self.memory.tables, self.memory.slots
        parts = []
        for t in range(self._tables):
            start, stride = int(tables[t, at.TABLE_AT]), 1 + int(tables[t, at.TABLE_MEMBERS])
            parts.append(old[start : start + int(tables[t, at.TABLE_CAP]) * stride].reshape(-1, stride))
        tails = np.full(parts[table].shape[1] - 1, FOREVER, np.int64)
        for s in range(self.program.n):
            for index in range(int(self.memory.streams[s, at.INDEXES])):
                if self.memory.indexes[s, index, at.TABLE] == table:
                    tails[self.memory.indexes[s, index, at.MEMBER]] = self.memory.streams[s, at.TAIL]
        heads = parts[table][:, 1:]
        alive = parts[table][(heads[:, 0] != at.UNUSED) & (heads >= tails).any(axis=1)]
        capacity = int((len(alive) + more) / FILL) + 16
        fresh = np.empty((capacity, parts[table].shape[1]), np.int64)
        place(address(alive), len(alive), address(fresh), capacity, fresh.shape[1])
        tables[table, at.TABLE_CAP], tables[table, at.TABLE_USED] = capacity, len(alive)
        parts[table] = fresh
        start = 0
        for t, part in enumerate(parts):
            tables[t, at.TABLE_AT], start = start, start + part.size
        self._replace(slots=np.concatenate([part.reshape(-1) for part in parts]))

    def _move_counts(self, s: int, more: int) -> None:
        """Lay the times of the count windows out anew, with room for *more* of stream *s*."""
        streams, start, parts = self.memory.streams, 0, []
        for i in range(self.program.n):
            if not streams[i, at.ROWS]:
                continue
            kept = int(streams[i, at.COUNT_END] - streams[i, at.COUNT_FIRST])
            times = self.memory.counts[int(streams[i, at.COUNT_AT]) :][:kept]
            room = int(GROWTH * (kept + (more if i == s else 0))) + 64
            streams[i, at.COUNT_AT], streams[i, at.COUNT_CAP] = start, room
            parts.append(np.concatenate([times, np.zeros(room - kept, np.int64)]))
            start += room
        self._replace(counts=np.concatenate(parts))

    def _forget_counts(self, s: int, frontier: int) -> None:
        """Drop times that no match to come can ask for: a tuple out of its window is never bound."""
        row = self.memory.streams[s]
        needed = int(rank_needed(self.addresses, s, frontier))
        kept, first_rank = int(row[at.COUNT_END] - row[at.COUNT_FIRST]), int(row[at.COUNT_FIRST])
        drop = min(kept, needed - first_rank)
        if drop > kept // 2 and drop > 64:
            start = int(row[at.COUNT_AT])
            self.memory.counts[start : start + kept - drop] = self.memory.counts[start + drop : start + kept].copy()
            row[at.COUNT_FIRST] += drop
