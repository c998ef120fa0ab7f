"""The remembered tuples of n streams as lists: what the join family of the papers walks.

Every stream's tuples hang in one doubly linked list in the order of their times, and
once more in the bucket of each index that a member asks for.  A nested loop walks the
whole list, a hash join a bucket of it; all else is the same.  A tuple is the number of
its place, and keeps it as long as it lives: a place is given away again only between
two visits of a kernel, so what a kernel has found it may still be asked for.

Adding and removing cost a few words a list, wherever the tuple hangs; one that comes
out of order is moved back past the newer ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.memory import I64
from anabranch.core.program import LANES, TIME, Program, lane_word, null_words
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import address, keep, mix, word

Array = npt.NDArray[np.int64]

NOTHING = -1
ALL = 0  # the list of a stream that holds all its tuples; its indexes follow

# columns of a link: the older and the newer neighbour
OLDER, NEWER, LINK_COLUMNS = range(3)
# columns of a list of a stream: its first chain, how many there are, and the words that make up the key
FIRST_CHAIN, BUCKETS, PARTS, PART = range(4)
LIST_COLUMNS = PART + 16

GROWTH = 2
SMALLEST = 64


class Places(NamedTuple):
    """``Lists`` as a kernel sees it: addresses of words, and sizes."""

    arena: int  # the records, ``width`` words each
    until: int  # by tuple: the time from which it is out of its count window
    turn: int  # by tuple: its number in the order of processing, which only grows
    links: int  # by tuple and list: the neighbours
    chains: int  # by chain: its oldest and its newest tuple
    layout: int  # by stream and list: LIST_COLUMNS
    sizes: int  # by stream: how many tuples it remembers
    dropped: int  # tuples that were let go, in the order in which they were; the first word says how many
    width: int
    most: int  # lists of one stream


@njit(forceinline=True)
def places_at(at: int) -> Any:
    """The ``Places`` that stand as words at one address."""
    return Places(
        word(at, 0), word(at, 1), word(at, 2), word(at, 3), word(at, 4), word(at, 5), word(at, 6), word(at, 7),
        word(at, 8), word(at, 9),
    )  # fmt: skip


@njit(forceinline=True)
def record(p: Any, u: int) -> int:
    """Where in the arena the record of a tuple starts."""
    return u * p.width


@njit(forceinline=True)
def time(p: Any, u: int) -> int:
    return word(p.arena, u * p.width + TIME)


@njit(forceinline=True)
def until(p: Any, u: int) -> int:
    return word(p.until, u)


@njit(forceinline=True)
def turn(p: Any, u: int) -> int:
    return word(p.turn, u)


@njit(forceinline=True)
def neighbour(p: Any, u: int, which: int, side: int) -> int:
    """The next tuple of the same chain, OLDER or NEWER, or NOTHING."""
    return word(p.links, (u * p.most + which) * LINK_COLUMNS + side)


@njit(forceinline=True)
def set_neighbour(p: Any, u: int, which: int, side: int, value: int) -> None:
    keep(p.links, (u * p.most + which) * LINK_COLUMNS + side, value)


@njit(forceinline=True)
def list_field(p: Any, s: int, which: int, column: int) -> int:
    return word(p.layout, (s * p.most + which) * LIST_COLUMNS + column)


@njit(forceinline=True)
def oldest(p: Any, chain: int) -> int:
    return word(p.chains, chain * LINK_COLUMNS + OLDER)


@njit(forceinline=True)
def newest(p: Any, chain: int) -> int:
    return word(p.chains, chain * LINK_COLUMNS + NEWER)


@njit(forceinline=True)
def whole(p: Any, s: int) -> int:
    """The chain of all tuples of a stream."""
    return list_field(p, s, ALL, FIRST_CHAIN)


@njit(forceinline=True)
def bucket(code: int, buckets: int) -> int:
    """Which of so many buckets a key's code falls into."""
    return (mix(code) & 0x7FFFFFFFFFFFFFFF) % buckets


@njit
def code_of(p: Any, s: int, which: int, u: int) -> int:
    """The code of a tuple's key in a list."""
    code = 0
    for i in range(list_field(p, s, which, PARTS)):
        code = mix(code * 31 + word(p.arena, record(p, u) + list_field(p, s, which, PART + i)))
    return code


@njit
def chain_of(p: Any, s: int, which: int, u: int) -> int:
    """The chain of a list in which a tuple hangs."""
    first, buckets = list_field(p, s, which, FIRST_CHAIN), list_field(p, s, which, BUCKETS)
    if buckets == 1:
        return first
    return first + bucket(code_of(p, s, which, u), buckets)


@njit
def add(p: Any, s: int, u: int) -> None:
    """Hang a tuple in every list of its stream, behind all that are not newer."""
    t = time(p, u)
    for which in range(p.most):
        if list_field(p, s, which, BUCKETS) == 0:
            break
        chain = chain_of(p, s, which, u)
        before, behind = newest(p, chain), NOTHING
        while before != NOTHING and time(p, before) > t:
            before, behind = neighbour(p, before, which, OLDER), before
        set_neighbour(p, u, which, OLDER, before)
        set_neighbour(p, u, which, NEWER, behind)
        if before == NOTHING:
            keep(p.chains, chain * LINK_COLUMNS + OLDER, u)
        else:
            set_neighbour(p, before, which, NEWER, u)
        if behind == NOTHING:
            keep(p.chains, chain * LINK_COLUMNS + NEWER, u)
        else:
            set_neighbour(p, behind, which, OLDER, u)
    keep(p.sizes, s, word(p.sizes, s) + 1)


@njit
def drop(p: Any, s: int, u: int) -> None:
    """Let go of a tuple."""
    for which in range(p.most):
        if list_field(p, s, which, BUCKETS) == 0:
            break
        chain = chain_of(p, s, which, u)
        before, behind = neighbour(p, u, which, OLDER), neighbour(p, u, which, NEWER)
        if before == NOTHING:
            keep(p.chains, chain * LINK_COLUMNS + OLDER, behind)
        else:
            set_neighbour(p, before, which, NEWER, behind)
        if behind == NOTHING:
            keep(p.chains, chain * LINK_COLUMNS + NEWER, before)
        else:
            set_neighbour(p, behind, which, OLDER, before)
    keep(p.sizes, s, word(p.sizes, s) - 1)
    count = word(p.dropped, 0) + 1
    keep(p.dropped, count, u)
    keep(p.dropped, 0, count)


@kernel(I64(I64, I64, I64, I64))
def _hang(at: int, s: int, places: int, n: int) -> int:
    p = places_at(at)
    for i in range(n):
        add(p, s, word(places, i))
    return n


@kernel(I64(I64, I64, I64, I64, I64, I64))
def _settle(at: int, s: int, rank: int, ahead: int, times: int, n: int) -> int:
    """From the newest tuple back to the first whose end is known."""
    p = places_at(at)
    u = newest(p, whole(p, s))
    while u != NOTHING and until(p, u) == FOREVER:
        successor = word(p.arena, record(p, u) + rank) + ahead
        if successor < n:
            keep(p.until, u, word(times, successor))
        u = neighbour(p, u, ALL, OLDER)
    return 0


class Lists:
    """The places, and which of them are free; the state that a runtime hands to a member of the family.

    *indexes* are, by stream, the keys (classes of the program) and the number of buckets of each index.
    """

    def __init__(self, program: Program, indexes: Sequence[Sequence[tuple[tuple[int, ...], int]]]) -> None:
        n = program.n
        self.program = program
        self.indexes = [[keys for keys, _ in each] for each in indexes]
        most = 1 + max(map(len, indexes))
        self._layout = np.zeros((n, most, LIST_COLUMNS), np.int64)
        chain = 0
        self.rank, self.side, widths = [-1] * n, [-1] * n, []
        for s in range(n):
            lanes = len(program.lanes[s])
            width = LANES + null_words(lanes) + lanes
            if program.windows.counts[s] is not None:
                self.rank[s], width = width, width + 1
            if program.side and program.side[s]:
                self.side[s], width = width, width + 1
            widths.append(width)
            for which, (keys, buckets) in enumerate([((), 1), *indexes[s]]):
                row = self._layout[s, which]
                row[FIRST_CHAIN], row[BUCKETS], row[PARTS] = chain, buckets, len(keys)
                row[PART : PART + len(keys)] = [lane_word(lanes, program.keys[key][s]) for key in keys]
                chain += buckets
        self.width = max(widths)
        self._chains = np.full((chain, LINK_COLUMNS), NOTHING, np.int64)
        self._sizes = np.zeros(n, np.int64)
        self._most = most
        self._counts = [np.zeros(0, np.int64) for _ in range(n)]  # times of counting streams from ``_first`` on
        self._first = [0] * n
        self._capacity = 0
        self.arena = self._links = self._until = self._turn = self._dropped = np.zeros(0, np.int64)
        self._free = np.zeros(0, np.int64)  # a ring, so that neighbours in time stay neighbours in memory
        self._taken, self._given, self._turns = 0, 0, 0
        self.restored = False  # whether tuples came here that no kernel has seen
        self._beside = 0
        self._at = np.zeros(len(Places._fields), np.int64)
        self.places = address(self._at)  # for kernels, once and for all
        self.peak = self.peak_bytes = 0
        self._grow(SMALLEST)

    # -- in ------------------------------------------------------------------

    def count(self, s: int, times: Array) -> int:
        """Note the times of all accepted tuples of a stream with a count window; the first one's rank."""
        rank = self._first[s] + len(self._counts[s])
        self._counts[s] = np.concatenate([self._counts[s], times])
        return rank

    def take(self, s: int, records: Array) -> Array:
        """Give places to records of a stream, which hang in no list yet."""
        n = len(records)
        if self._given - self._taken < n:
            self._grow(max(GROWTH * self._capacity, self._capacity + n))
        ring = np.arange(self._taken, self._taken + n) % self._capacity
        places: Array = self._free[ring]
        self._taken += n
        self.arena.reshape(self._capacity, self.width)[places, : records.shape[1]] = records
        self._until[places] = FOREVER
        self._turn[places] = NEVER
        self.peak = max(self.peak, self._capacity - (self._given - self._taken))
        return places

    def number(self, places: Array) -> None:
        """Give tuples their turns, one after another; what is remembered has had its turn before all."""
        self._turn[places] = np.arange(self._turns, self._turns + len(places))
        self._turns += len(places)

    def settle(self, s: int, places: Array) -> None:
        """Work out until when new tuples and those in the lists are in their count window, as far as is known."""
        rows, times = self.program.windows.counts[s], self._counts[s]
        if rows is None:
            return
        ranks = self.words(places, self.rank[s]) + rows - self._first[s]
        known = (ranks >= 0) & (ranks < len(times))
        self._until[places[known]] = times[ranks[known]]
        self._until[places[ranks < 0]] = NEVER  # out for so long that nobody knows since when
        _settle(self.places, s, self.rank[s], rows - self._first[s], address(times), len(times))

    # -- out -----------------------------------------------------------------

    def give_back(self) -> None:
        """Make the places that kernels have let go of free again."""
        n = int(self._dropped[0])
        if n:
            ring = np.arange(self._given, self._given + n) % self._capacity
            self._free[ring] = self._dropped[1 : n + 1]
            self._given += n
            self._dropped[0] = 0

    def forget_counts(self, s: int, frontier: int) -> None:
        """Let go of times that no match not older than *frontier* can ask for."""
        gone = max(0, self._from(s, frontier))
        self._counts[s] = self._counts[s][gone:]
        self._first[s] += gone

    def counted_from(self, s: int, frontier: int) -> int:
        """The time of the oldest tuple of a counting stream that a match not older than *frontier* can ask for."""
        start = max(0, self._from(s, frontier))
        return int(self._counts[s][start]) if start < len(self._counts[s]) else FOREVER

    def live(self, s: int) -> int:
        """How many tuples stream *s* remembers."""
        return int(self._sizes[s])

    def gone(self) -> int:
        """How many tuples have been let go of whose places are not free yet."""
        return int(self._dropped[0])

    def beside(self, nbytes: int) -> None:
        """Note how many bytes a member keeps of its own."""
        self._beside = nbytes
        self.peak_bytes = max(self.peak_bytes, self.nbytes)

    def tuples(self) -> int:
        """How many tuples all streams remember."""
        return int(self._sizes.sum())

    def links_of(self, s: int) -> int:
        """Words that a tuple of a stream takes beside its record."""
        return 2 + LINK_COLUMNS * self._most

    def members(self, s: int) -> Array:
        """The places of the tuples of a stream, oldest first."""
        found, u = np.empty(self.live(s), np.int64), int(self._chains[self._layout[s, ALL, FIRST_CHAIN], OLDER])
        links = self._links.reshape(self._capacity, self._most, LINK_COLUMNS)
        for i in range(len(found)):
            found[i], u = u, int(links[u, ALL, NEWER])
        return found

    def words(self, places: Array, column: int) -> Array:
        """One word of the records of tuples."""
        found: Array = self.arena.reshape(self._capacity, self.width)[places, column]
        return found

    def oldest_row(self, s: int) -> int | None:
        """The least side row number among the live tuples, or None when none is left."""
        return int(self.words(self.members(s), self.side[s]).min()) if self.live(s) else None

    @property
    def nbytes(self) -> int:
        """Bytes of all that lies here."""
        by_place = self.arena.nbytes + self._links.nbytes + 2 * self._until.nbytes + self._free.nbytes
        return by_place + self._chains.nbytes + self._beside

    # -- snapshots -------------------------------------------------------------

    def export(self, s: int) -> tuple[Array, Array, int]:
        """The live records in time order, the times of the count window, and the rank of the first of them."""
        records = self.arena.reshape(self._capacity, self.width)[self.members(s)]
        return records, self._counts[s].copy(), self._first[s]

    def load(self, s: int, records: Array, counts: Array, first: int) -> None:
        """The inverse of ``export``, into empty lists."""
        self._counts[s], self._first[s] = counts, first
        places = self.take(s, records)
        self.settle(s, places)
        self.hang(s, places)

    def hang(self, s: int, places: Array) -> None:
        """Put tuples, in time order, into the lists of their stream."""
        _hang(self.places, s, address(places), len(places))
        self.restored = True

    def reserve(self, rows: Sequence[int]) -> None:
        """Places are made when they are taken."""

    def _from(self, s: int, frontier: int) -> int:
        rows = self.program.windows.counts[s]
        assert rows is not None
        return int(np.searchsorted(self._counts[s], frontier, "right")) - rows

    def _grow(self, capacity: int) -> None:
        """More places; those that are taken stay where they are."""
        old = self._capacity
        free = self._free[np.arange(self._taken, self._given) % max(1, old)]
        self._free = np.zeros(capacity, np.int64)
        self._taken, self._given = 0, len(free) + capacity - old
        self._free[: self._given] = np.concatenate([free, np.arange(old, capacity)])
        self.arena = _longer(self.arena, capacity * self.width, 0)
        self._links = _longer(self._links, capacity * self._most * LINK_COLUMNS, 0)
        self._until, self._turn = _longer(self._until, capacity, FOREVER), _longer(self._turn, capacity, NEVER)
        self._dropped, self._capacity = _longer(self._dropped, capacity + 1, 0), capacity
        self._at[:] = [
            address(self.arena), address(self._until), address(self._turn), address(self._links), address(self._chains),
            address(self._layout), address(self._sizes), address(self._dropped), self.width, self._most,
        ]  # fmt: skip
        self.peak_bytes = max(self.peak_bytes, self.nbytes)


def _longer(old: Array, length: int, value: int) -> Array:
    new = np.full(length, value, np.int64)
    new[: len(old)] = old
    return new
