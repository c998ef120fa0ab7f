"""What the streams of one join remember, as flat arrays that kernels share.

Every stream owns a ring of records in one ``arena``.  A tuple is named by its
*position*, which only grows; ``offset`` says where it lies.  Records are grouped
into *panes*: closed ones, in the order of the stream's first index (so that equal
keys are one contiguous, time-ordered *run*), and the open one at the end, in the
order of arrival.

An index finds tuples by a 64-bit code of their key.  All streams that share a key
share one table of ``slots``: a slot is the code and, for each stream, the position
of its newest run, so one cache line tells which streams hold a key at all.  Older
runs hang behind the newest.  Nothing is ever unlinked: a position below the tail
is dead, and so is everything behind it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, types

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import address, keep, mix, mixed, prefetch, word

Array = npt.NDArray[np.int64]

# columns of Memory.streams
(
    BASE,  # arena offset of the ring
    CAP,  # records in the ring
    WIDTH,  # words in a record
    TAIL,  # oldest live position
    END,  # next position
    ORIGIN,  # the position that lies at the ring's first record
    DISORDER,  # the most by which a tuple was older than one stored before it
    NEWEST,  # newest time stored
    FIRST_PANE,
    PANE_END,  # closed panes are numbered FIRST_PANE .. PANE_END - 1
    OPEN,  # position where the open pane starts
    OPEN_MIN,
    OPEN_MAX,
    PANE_ROWS,  # a pane closes at this size
    INDEXES,  # how many indexes the stream has; the first one orders its panes
    SORT,  # word of the band lane that orders the panes of a stream without index, or -1: time
    SORT_REAL,  # whether that lane is a double
    ROWS,  # the count window, or 0
    RANK,  # word of a tuple's rank in its whole stream (count windows)
    SIDE,  # word of the row number in the side columns, or -1
    COUNT_AT,  # Memory.counts: where the times of this stream's tuples start,
    COUNT_CAP,  # how many there is room for,
    COUNT_FIRST,  # the rank of the first one kept,
    COUNT_END,  # and the rank that the next tuple gets
    STREAM_COLUMNS,
) = range(25)

# columns of Memory.panes
PANE_AT, PANE_TO, PANE_MIN, PANE_MAX, PANE_RANK, PANE_CUT, PANE_COLUMNS = range(7)

# columns of Memory.tables
TABLE_AT, TABLE_CAP, TABLE_USED, TABLE_MEMBERS, TABLE_COLUMNS = range(5)

# columns of Memory.indexes[stream, index]
TABLE, MEMBER, LINK, PARTS, PART = range(5)  # from PART on: the words that make up the key
INDEX_COLUMNS = PART + 16

UNUSED = -2  # in the first head of a slot that was never claimed
NOTHING = -1  # no position
FOLLOWER = 0x80000000  # in the link half of MARKS: not the first of its run; the rest is its rank in it
LINK_HALF = 0xFFFFFFFF


class Memory(NamedTuple):
    """The arrays of one join."""

    arena: Array
    streams: Array
    panes: Array
    slots: Array
    tables: Array
    indexes: Array
    counts: Array

    def addresses(self) -> Addresses:
        """The same for a kernel; good until an array is replaced."""
        arena, streams, panes, slots, tables, indexes, counts = (address(array) for array in self)
        rooms = self.panes.shape[1], self.indexes.shape[1]
        return Addresses(arena, streams, panes, slots, tables, indexes, counts, *rooms)


class Addresses(NamedTuple):
    """``Memory`` as a kernel sees it: addresses of words, so that no access counts references or checks bounds."""

    arena: int
    streams: int
    panes: int
    slots: int
    tables: int
    indexes: int
    counts: int
    pane_room: int
    index_room: int


I64 = types.int64


@njit(forceinline=True)
def addresses_at(at: int) -> Any:
    """The ``Addresses`` that stand as words at one address: a kernel is called with that alone, which is cheaper."""
    return Addresses(
        word(at, 0), word(at, 1), word(at, 2), word(at, 3), word(at, 4), word(at, 5), word(at, 6), word(at, 7),
        word(at, 8),
    )  # fmt: skip


@njit(forceinline=True)
def field(m: Any, s: int, column: int) -> int:
    """A column of ``Memory.streams``."""
    return word(m.streams, s * STREAM_COLUMNS + column)


@njit(forceinline=True)
def set_field(m: Any, s: int, column: int, value: int) -> None:
    keep(m.streams, s * STREAM_COLUMNS + column, value)


@njit(forceinline=True)
def pane_field(m: Any, s: int, number: int, column: int) -> int:
    """A column of ``Memory.panes``, for the pane with this number."""
    return word(m.panes, (s * m.pane_room + (number & (m.pane_room - 1))) * PANE_COLUMNS + column)


@njit(forceinline=True)
def set_pane(m: Any, s: int, number: int, column: int, value: int) -> None:
    keep(m.panes, (s * m.pane_room + (number & (m.pane_room - 1))) * PANE_COLUMNS + column, value)


@njit(forceinline=True)
def index_field(m: Any, s: int, index: int, column: int) -> int:
    """A column of ``Memory.indexes``."""
    return word(m.indexes, (s * m.index_room + index) * INDEX_COLUMNS + column)


@njit(forceinline=True)
def offset(m: Any, s: int, position: int) -> int:
    """Where in the arena the record at *position* of stream *s* starts."""
    row = position - field(m, s, ORIGIN)
    if row >= field(m, s, CAP):
        row -= field(m, s, CAP)
    return field(m, s, BASE) + row * field(m, s, WIDTH)


@njit(forceinline=True)
def home(code: int, capacity: int) -> int:
    """The slot where a code would best stand; it grows with the code's hash."""
    return (((mix(code) >> 32) & LINK_HALF) * capacity) >> 32


@njit(forceinline=True)
def expect(m: Any, table: int, code: int) -> None:
    """Fetch the slot where *code* should stand ahead of its use."""
    at, capacity = word(m.tables, table * TABLE_COLUMNS + TABLE_AT), word(m.tables, table * TABLE_COLUMNS + TABLE_CAP)
    stride = 1 + word(m.tables, table * TABLE_COLUMNS + TABLE_MEMBERS)
    prefetch(m.slots, at + home(code, capacity) * stride)


@njit(forceinline=True)
def find(m: Any, table: int, code: int) -> int:
    """The place in ``slots`` of *code*, or NOTHING."""
    at, capacity = word(m.tables, table * TABLE_COLUMNS + TABLE_AT), word(m.tables, table * TABLE_COLUMNS + TABLE_CAP)
    stride = 1 + word(m.tables, table * TABLE_COLUMNS + TABLE_MEMBERS)
    i = home(code, capacity)
    while True:
        slot = at + i * stride
        if word(m.slots, slot + 1) == UNUSED:
            return NOTHING
        if word(m.slots, slot) == code:
            return slot
        i += 1
        if i == capacity:
            i = 0


@njit(forceinline=True)
def claim(m: Any, table: int, code: int) -> int:
    """The place in ``slots`` of *code*, taken if it was free; the table never fills up (Buffers sees to it)."""
    at, capacity = word(m.tables, table * TABLE_COLUMNS + TABLE_AT), word(m.tables, table * TABLE_COLUMNS + TABLE_CAP)
    members = word(m.tables, table * TABLE_COLUMNS + TABLE_MEMBERS)
    i = home(code, capacity)
    while True:
        slot = at + i * (1 + members)
        if word(m.slots, slot + 1) == UNUSED:
            keep(m.slots, slot, code)
            for j in range(members):
                keep(m.slots, slot + 1 + j, NOTHING)
            keep(m.tables, table * TABLE_COLUMNS + TABLE_USED, word(m.tables, table * TABLE_COLUMNS + TABLE_USED) + 1)
            return slot
        if word(m.slots, slot) == code:
            return slot
        i += 1
        if i == capacity:
            i = 0


@njit(forceinline=True)
def code_of(m: Any, s: int, index: int, records: Any, at: int) -> int:
    """The code of a record's key: the word itself when the key is one word, so that it needs no second look."""
    parts = index_field(m, s, index, PARTS)
    if parts == 1:
        return word(records, at + index_field(m, s, index, PART))
    code = 0
    for i in range(parts):
        code = mixed(code, word(records, at + index_field(m, s, index, PART + i)))
    return code


@njit(forceinline=True)
def deadline(m: Any, s: int, record: int) -> int:
    """The time from which a tuple is out of its count window, as far as is known."""
    rank = word(m.arena, record + field(m, s, RANK)) + field(m, s, ROWS)
    if rank >= field(m, s, COUNT_END):
        return FOREVER
    if rank < field(m, s, COUNT_FIRST):  # so long ago that its time is no longer kept
        return NEVER
    return word(m.counts, field(m, s, COUNT_AT) + rank - field(m, s, COUNT_FIRST))
