"""Kernels that put tuples into the buffers, and take them out again.

``store`` takes records in time order and leaves them at the end of their stream,
as closed panes when they are many and in the open pane when they are few;
``expire`` drops whole panes from the other end and costs what it drops.

Invariants: within a closed pane the tuples with one key are contiguous and in
time order; a run hangs before the run of the same key that was stored before it;
every tuple stored before a run is at most DISORDER newer than the run's first.
Cost: a radix sort of the pane (linear) and one slot a distinct key.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.memory import (
    CAP,
    COUNT_AT,
    COUNT_END,
    COUNT_FIRST,
    DISORDER,
    END,
    FIRST_PANE,
    FOLLOWER,
    I64,
    INDEXES,
    LINK,
    LINK_HALF,
    MEMBER,
    NEWEST,
    NOTHING,
    OPEN,
    OPEN_MAX,
    OPEN_MIN,
    ORIGIN,
    PANE_AT,
    PANE_CUT,
    PANE_END,
    PANE_MAX,
    PANE_MIN,
    PANE_RANK,
    PANE_ROWS,
    PANE_TO,
    RANK,
    ROWS,
    SORT,
    SORT_REAL,
    TABLE,
    TAIL,
    UNUSED,
    WIDTH,
    addresses_at,
    claim,
    code_of,
    expect,
    field,
    find,
    home,
    index_field,
    offset,
    pane_field,
    set_field,
    set_pane,
)  # fmt: skip
from anabranch.core.program import MARKS, TIME
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import before, keep, mix, ordered_word, word

RADIX_BITS = 11
RADIX = 1 << RADIX_BITS
AHEAD = 12  # rows between asking for a cache line and using it
HASH_BITS = 33  # of the 64 bits of a hash that order a pane: more than enough to part the keys


@njit
def radix_sort(keys: int, order: int, spare_keys: int, spare: int, counts: int, n: int, key_bits: int) -> None:
    """Stable sort of *order* by unsigned *keys*, digit by digit; a digit that is the same in all is passed over."""
    for shift in range(0, key_bits, RADIX_BITS):
        for d in range(RADIX):
            keep(counts, d, 0)
        for i in range(n):
            d = (word(keys, i) >> shift) & (RADIX - 1)
            keep(counts, d, word(counts, d) + 1)
        if word(counts, (word(keys, 0) >> shift) & (RADIX - 1)) == n:
            continue
        total = 0
        for d in range(RADIX):
            size = word(counts, d)
            keep(counts, d, total)
            total += size
        for i in range(n):
            key = word(keys, i)
            d = (key >> shift) & (RADIX - 1)
            j = word(counts, d)
            keep(counts, d, j + 1)
            keep(spare_keys, j, key)
            keep(spare, j, word(order, i))
        for i in range(n):
            keep(keys, i, word(spare_keys, i))
            keep(order, i, word(spare, i))


@njit
def pane_order(m: Any, s: int, records: int, first: int, n: int, work: int, room: int) -> None:
    """Fill the first array of *work* with the order of the pane: by key, by band value, or by time as it came."""
    order, keys, codes = work, work + 8 * room, work + 32 * room
    spare_keys, spare, counts = work + 16 * room, work + 24 * room, work + 40 * room
    width = field(m, s, WIDTH)
    for i in range(n):
        keep(order, i, i)
    if field(m, s, INDEXES) > 0:
        for i in range(n):
            code = code_of(m, s, 0, records, (first + i) * width)
            keep(codes, i, code)
            keep(keys, i, (mix(code) >> (64 - HASH_BITS)) & ((1 << HASH_BITS) - 1))
        radix_sort(keys, order, spare_keys, spare, counts, n, HASH_BITS)
        for i in range(1, n):  # different codes that agree in so many bits of their hash now stand together
            j = i
            while j > 0 and word(keys, j - 1) == word(keys, j):
                one, other = word(order, j - 1), word(order, j)
                if word(codes, one) <= word(codes, other):
                    break
                keep(order, j - 1, other)
                keep(order, j, one)
                j -= 1
    elif field(m, s, SORT) >= 0:
        for i in range(n):
            w = word(records, (first + i) * width + field(m, s, SORT))
            keep(keys, i, (ordered_word(w) if field(m, s, SORT_REAL) else w) ^ NEVER)
        radix_sort(keys, order, spare_keys, spare, counts, n, 64)


@njit(forceinline=True)
def write(m: Any, s: int, position: int, records: Any, at: int) -> int:
    """Copy a record to its position; the arena offset."""
    o = offset(m, s, position)
    for w in range(field(m, s, WIDTH)):
        keep(m.arena, o + w, word(records, at + w))
    keep(m.arena, o + MARKS, word(m.arena, o + MARKS) & (~LINK_HALF))
    return o


@njit(forceinline=True)
def hang(m: Any, s: int, index: int, code: int, position: int, record: int) -> int:
    """Make the tuple at *position* the newest run of its key; the slot."""
    slot = claim(m, index_field(m, s, index, TABLE), code)
    head = slot + 1 + index_field(m, s, index, MEMBER)
    if index == 0:
        back = position - word(m.slots, head)
        if word(m.slots, head) >= field(m, s, TAIL) and back < FOLLOWER:
            keep(m.arena, record + MARKS, word(m.arena, record + MARKS) | (back))
    else:
        keep(m.arena, record + index_field(m, s, index, LINK), word(m.slots, head))
    keep(m.slots, head, position)
    return slot


@njit
def close_pane(m: Any, s: int, records: int, first: int, n: int, work: int, room: int, slots: int) -> None:
    """Store records first .. first + n - 1 as one closed pane."""
    pane_order(m, s, records, first, n, work, room)
    order, place, codes = work, work + 8 * room, work + 32 * room
    width, start, indexes = field(m, s, WIDTH), field(m, s, END), field(m, s, INDEXES)
    set_field(m, s, END, start + n)
    slot, head, last = 0, 0, 0
    for i in range(n):
        position, row = start + i, word(order, i)
        o = write(m, s, position, records, (first + row) * width)
        keep(place, row, position)
        if indexes == 0:
            continue
        if i + AHEAD < n:
            expect(m, index_field(m, s, 0, TABLE), word(codes, word(order, i + AHEAD)))
        code = word(codes, row)
        if i > 0 and code == last:
            keep(m.arena, o + MARKS, word(m.arena, o + MARKS) | (FOLLOWER + position - head))
            keep(m.slots, slot + 1 + index_field(m, s, 0, MEMBER), position)
        else:
            slot, head, last = hang(m, s, 0, code, position, o), position, code
        keep(slots, first + i, slot)
    for index in range(1, indexes):
        for i in range(n):
            position = word(place, i)
            hang(m, s, index, code_of(m, s, index, records, (first + i) * width), position, offset(m, s, position))
    pane, oldest, newest = field(m, s, PANE_END), records + 8 * first * width, records + 8 * (first + n - 1) * width
    set_pane(m, s, pane, PANE_AT, start)
    set_pane(m, s, pane, PANE_TO, start + n)
    set_pane(m, s, pane, PANE_MIN, word(oldest, TIME))
    set_pane(m, s, pane, PANE_MAX, word(newest, TIME))
    set_pane(m, s, pane, PANE_CUT, start)
    set_pane(m, s, pane, PANE_RANK, word(newest, field(m, s, RANK)))
    set_field(m, s, PANE_END, pane + 1)
    set_field(m, s, OPEN, start + n)


@njit
def close_open_pane(m: Any, s: int, scratch: int, work: int, room: int, slots: int) -> None:
    """Sort the open pane into a closed one: take its tuples off their chains, newest first, and store them again."""
    start, n = field(m, s, OPEN), field(m, s, END) - field(m, s, OPEN)
    width, order, keys = field(m, s, WIDTH), work, work + 8 * room
    for i in range(n - 1, -1, -1):
        o = offset(m, s, start + i)
        for index in range(field(m, s, INDEXES)):
            slot = find(m, index_field(m, s, index, TABLE), code_of(m, s, index, m.arena, o))
            head = slot + 1 + index_field(m, s, index, MEMBER)
            if index == 0:
                back = word(m.arena, o + MARKS) & LINK_HALF
                keep(m.slots, head, start + i - back if back else NOTHING)
            else:
                keep(m.slots, head, word(m.arena, o + index_field(m, s, index, LINK)))
    in_order, previous = True, NEVER
    for i in range(n):
        t = word(m.arena, offset(m, s, start + i) + TIME)
        keep(order, i, i)
        keep(keys, i, t - field(m, s, OPEN_MIN))
        in_order, previous = in_order and t >= previous, t
    if not in_order:
        radix_sort(keys, order, work + 16 * room, work + 24 * room, work + 40 * room, n, 64)
    for i in range(n):
        o = offset(m, s, start + word(order, i))
        for w in range(width):
            keep(scratch, i * width + w, word(m.arena, o + w))
    set_field(m, s, END, start)
    close_pane(m, s, scratch, 0, n, work, room, slots)
    set_field(m, s, OPEN_MIN, FOREVER)
    set_field(m, s, OPEN_MAX, NEVER)


@kernel(I64(I64, I64, I64, I64, I64, I64, I64, I64))
def store(memory: int, s: int, records: int, n: int, scratch: int, work: int, room: int, slots: int) -> int:
    """Store *n* records that are in time order; the position of the first.

    *slots* gets the slot of the first index for each stored tuple.  *work* is six arrays of *room* words.
    """
    m = addresses_at(memory)
    if n == 0:
        return field(m, s, END)
    limit, width = field(m, s, PANE_ROWS), field(m, s, WIDTH)
    waiting = field(m, s, END) - field(m, s, OPEN)
    if waiting and waiting + n > limit:
        close_open_pane(m, s, scratch, work, room, slots)
    start = field(m, s, END)
    oldest, newest = word(records, TIME), word(records, (n - 1) * width + TIME)
    if field(m, s, NEWEST) > oldest and start > field(m, s, TAIL):
        gap = field(m, s, NEWEST) - oldest
        set_field(m, s, DISORDER, max(field(m, s, DISORDER), gap if gap >= 0 else FOREVER))
    set_field(m, s, NEWEST, max(field(m, s, NEWEST), newest))
    if n >= limit:
        for first in range(0, n, limit):
            close_pane(m, s, records, first, min(limit, n - first), work, room, slots)
        return start
    for i in range(n):
        o = write(m, s, start + i, records, i * width)
        for index in range(field(m, s, INDEXES)):
            slot = hang(m, s, index, code_of(m, s, index, records, i * width), start + i, o)
            if index == 0:
                keep(slots, i, slot)
    set_field(m, s, END, start + n)
    set_field(m, s, OPEN_MIN, min(field(m, s, OPEN_MIN), oldest))
    set_field(m, s, OPEN_MAX, max(field(m, s, OPEN_MAX), newest))
    return start


@njit
def outranked(m: Any, s: int, time: int) -> int:
    """The rank below which the tuples of a count window are out for every match that is not older than *time*."""
    times = m.counts + 8 * field(m, s, COUNT_AT)
    low, high = 0, field(m, s, COUNT_END) - field(m, s, COUNT_FIRST)
    while low < high:
        middle = (low + high) >> 1
        if word(times, middle) <= time:
            low = middle + 1
        else:
            high = middle
    return field(m, s, COUNT_FIRST) + low - field(m, s, ROWS)


@njit
def expire(m: Any, s: int, horizon: int, rank: int) -> int:
    """Drop the oldest panes while all their times are below *horizon* or all their ranks below *rank*; how many."""
    before, counted = field(m, s, TAIL), field(m, s, ROWS) > 0
    while field(m, s, FIRST_PANE) < field(m, s, PANE_END):
        pane = field(m, s, FIRST_PANE)
        beaten = counted and pane_field(m, s, pane, PANE_RANK) < rank
        if pane_field(m, s, pane, PANE_MAX) >= horizon and not beaten:
            break
        set_field(m, s, TAIL, pane_field(m, s, pane, PANE_TO))
        set_field(m, s, FIRST_PANE, pane + 1)
    opened, end = field(m, s, OPEN), field(m, s, END)
    if field(m, s, TAIL) == opened and opened < end:
        beaten = counted and word(m.arena, offset(m, s, end - 1) + field(m, s, RANK)) < rank
        if field(m, s, OPEN_MAX) < horizon or beaten:
            set_field(m, s, TAIL, end)
            set_field(m, s, OPEN, end)
            set_field(m, s, OPEN_MIN, FOREVER)
            set_field(m, s, OPEN_MAX, NEVER)
    while field(m, s, TAIL) - field(m, s, ORIGIN) >= field(m, s, CAP) > 0:
        set_field(m, s, ORIGIN, field(m, s, ORIGIN) + field(m, s, CAP))
    return field(m, s, TAIL) - before


@kernel(I64(I64, I64, I64))
def rank_needed(memory: int, s: int, time: int) -> int:
    """``outranked``, for the caller outside of kernels."""
    return outranked(addresses_at(memory), s, time)


@kernel(I64(I64, I64, I64, I64))
def expire_all(memory: int, n: int, bound: int, frontiers: int) -> int:
    """Forget what no match to come can contain, given the frontiers of all streams (``Windows.horizon``); how many."""
    m, dropped = addresses_at(memory), 0
    for s in range(n):
        if field(m, s, TAIL) == field(m, s, END):
            continue
        horizon, least = FOREVER, FOREVER
        for j in range(n):
            frontier = word(frontiers, j)
            if j != s and frontier != FOREVER:
                least = min(least, frontier)
                horizon = min(horizon, before(frontier, word(bound, s * n + j)))
        dropped += expire(m, s, horizon, outranked(m, s, least) if field(m, s, ROWS) else NEVER)
    return dropped


@kernel(I64(I64, I64, I64, I64, I64))
def place(alive: int, n: int, fresh: int, capacity: int, stride: int) -> int:
    """Fill an empty table with *n* slots that are still alive."""
    for i in range(capacity):
        keep(fresh, i * stride + 1, UNUSED)
    for j in range(n):
        i = home(word(alive, j * stride), capacity)
        while word(fresh, i * stride + 1) != UNUSED:
            i += 1
            if i == capacity:
                i = 0
        for w in range(stride):
            keep(fresh, i * stride + w, word(alive, j * stride + w))
    return n
