"""The kernel of ``nway``: from each arriving tuple to all matches that it completes.

A tuple that arrives is the first member of a partial match; the other streams are
looked up one after another in the order of its stream.  Each look-up reads only
what the closed windows allow, given the times of the members bound so far: the
runs of one key from the newest back, or the panes of a stream without key, cut by
binary search on time or on the lane of a band.  The conjuncts that a new member
makes decidable are evaluated at once; when a stream has nothing left, the search
steps back.

Exact: a match is found when its last member arrives, from that member, and once,
since every other member is stored by then and a tuple never probes its own stream.
Cost: what it touches are the tuples inside the windows with the right key, plus
one step a run or pane; nothing is allocated, and when the output is full the kernel
returns and goes on from there at the next call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.memory import (
    DISORDER,
    END,
    FIRST_PANE,
    FOLLOWER,
    I64,
    INDEXES,
    LINK,
    LINK_HALF,
    MEMBER,
    NOTHING,
    OPEN,
    OPEN_MAX,
    OPEN_MIN,
    PANE_AT,
    PANE_CUT,
    PANE_END,
    PANE_MAX,
    PANE_MIN,
    PANE_TO,
    ROWS,
    SORT,
    SORT_REAL,
    TABLE,
    TAIL,
    addresses_at,
    deadline,
    field,
    find,
    index_field,
    offset,
    pane_field,
    set_pane,
)  # fmt: skip
from anabranch.core.program import MARKS
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import (
    after,
    before,
    call_admit,
    call_span,
    keep,
    keep_byte,
    mixed,
    ordered_word,
    prefetch,
    word,
)

# columns of a step: how one stream is looked up
STREAM, INDEX, OWN, MASK, BAND, PARTS, PART = range(7)  # from PART on: (stream, word) pairs of the key
STEP_COLUMNS = PART + 32
PANES = -1  # as INDEX: no key, go through the panes

# columns of a cursor: where the look-up of one depth stands
NEXT, STOP, OLDER, LOW, HIGH, BAND_LOW, BAND_HIGH, NEWEST, ORDERED, CURSOR_COLUMNS = range(10)

AS_STORED, BY_TIME, BY_BAND = range(3)  # as ORDERED: what ends a run early

# columns of what is wanted
OF, VALUE, NULL_WORD, NULL_BIT, WANTED_COLUMNS = range(5)

# the place to resume
ARRIVAL, DEPTH, COMPARED, RAISED, RESUME_COLUMNS = range(5)

AHEAD = 16  # tuples between asking for a cache line and using it
BESIDE = 8  # places on both sides of the last cut of a pane
SHORT_RUN = 12  # below this a run is read from its start; a binary search costs more


class Search(NamedTuple):
    """Addresses of what a search reads and writes beside the buffers, and the sizes."""

    slots: int  # of the arriving tuples, as ``store`` left them
    steps: int  # n orders of n - 1 steps
    bound: int  # the closed matrix
    cursors: int
    at: int  # the records bound so far, by stream
    resume: int
    wanted: int  # for each output column: the stream, the word, and the word and bit that mark NULL
    words: int  # columns of room words
    nulls: int  # columns of room bytes
    times: int  # least and greatest time of each match, room each; 0 if nobody asks
    columns: int
    n: int
    room: int


@njit(forceinline=True)
def search_at(at: int) -> Any:
    """The ``Search`` that stands as words at one address (see ``addresses_at``)."""
    return Search(
        word(at, 0), word(at, 1), word(at, 2), word(at, 3), word(at, 4), word(at, 5), word(at, 6), word(at, 7),
        word(at, 8), word(at, 9), word(at, 10), word(at, 11), word(at, 12),
    )  # fmt: skip


@njit(forceinline=True)
def not_before(m: Any, s: int, start: int, stop: int, low: int) -> int:
    """The first position of a time-ordered run whose time is at least *low*."""
    n = stop - start
    while n > 0:  # without a branch on what is read: halves are taken by a conditional move
        half = (n + 1) >> 1
        start = start + half if word(m.arena, offset(m, s, start + half - 1)) < low else start
        n -= half
    return start


@njit(forceinline=True)
def band_value(m: Any, s: int, record: int) -> int:
    """The lane that orders the panes, as an integer of the same order."""
    w = word(m.arena, record + field(m, s, SORT))
    return ordered_word(w) if field(m, s, SORT_REAL) else w


@njit(forceinline=True)
def band_cut(m: Any, s: int, pane: int, value: int) -> int:
    """The first position of a pane in band order whose band value is at least *value*.

    It is looked for beside the last cut first: tuples that arrive together probe in band order themselves.
    """
    start, stop = pane_field(m, s, pane, PANE_AT), pane_field(m, s, pane, PANE_TO)
    left, right = pane_field(m, s, pane, PANE_CUT) - BESIDE, pane_field(m, s, pane, PANE_CUT) + BESIDE
    if left > start and band_value(m, s, offset(m, s, left - 1)) < value:
        start = left
    if right < stop and band_value(m, s, offset(m, s, right)) >= value:
        stop = right
    n = stop - start
    while n > 0:
        half = (n + 1) >> 1
        start = start + half if band_value(m, s, offset(m, s, start + half - 1)) < value else start
        n -= half
    set_pane(m, s, pane, PANE_CUT, start)
    return start


@njit(forceinline=True)
def begin(span: int, m: Any, w: Any, order: int, depth: int, s: int, own: int) -> None:
    """Start the look-up of one depth: its range of times and of its band, and the newest run or pane."""
    step, cursor = order + 8 * depth * STEP_COLUMNS, w.cursors + 8 * depth * CURSOR_COLUMNS
    k, index = word(step, STREAM), word(step, INDEX)
    low, high, newest, end = NEVER, FOREVER, NEVER, FOREVER
    for d in range(-1, depth):
        a = s if d < 0 else word(order, d * STEP_COLUMNS + STREAM)
        record = word(w.at, a)
        t = word(m.arena, record)
        low = max(low, before(t, word(w.bound, k * w.n + a)))
        high = min(high, after(t, word(w.bound, a * w.n + k)))
        newest = max(newest, t)
        if field(m, a, ROWS):
            end = min(end, deadline(m, a, record))
    if end != FOREVER:  # a member that counts must still be among the last so many when the match is complete
        high = NEVER if end <= newest else min(high, end - 1)
    keep(cursor, NEWEST, newest)
    keep(cursor, LOW, low)
    keep(cursor, HIGH, high)
    keep(cursor, NEXT, 0)
    keep(cursor, STOP, -1)
    older = NOTHING
    if low <= high:
        if index == PANES:
            older = field(m, k, PANE_END) + 1  # one more than the pane to look at; the open pane is PANE_END
        else:
            slot = own
            if not word(step, OWN):
                parts, code = word(step, PARTS), 0
                for i in range(parts):
                    value = word(m.arena, word(w.at, word(step, PART + 2 * i)) + word(step, PART + 2 * i + 1))
                    code = value if parts == 1 else mixed(code, value)
                slot = find(m, index_field(m, k, index, TABLE), code)
            if slot != NOTHING:
                older = word(m.slots, slot + 1 + index_field(m, k, index, MEMBER))
    keep(cursor, OLDER, older)
    if word(step, BAND) >= 0:
        keep(cursor, BAND_LOW, NEVER)
        keep(cursor, BAND_HIGH, FOREVER)
        call_span(span, word(step, BAND), m.arena, w.at, cursor + 8 * BAND_LOW)


@njit(forceinline=True)
def next_run(m: Any, k: int, index: int, cursor: int) -> bool:
    """Move to the next older run of a key that reaches into the range of times."""
    low, high, tail = word(cursor, LOW), word(cursor, HIGH), field(m, k, TAIL)
    last = word(cursor, OLDER)
    while last >= tail:
        o = offset(m, k, last)
        newest = oldest = word(m.arena, o)
        start, older = last, NOTHING
        if index > 0:
            older = word(m.arena, o + index_field(m, k, index, LINK))
        else:
            mark = word(m.arena, o + MARKS) & LINK_HALF
            if mark >= FOLLOWER:
                start = last - (mark - FOLLOWER)
                o = offset(m, k, start)
                oldest = word(m.arena, o)
                mark = word(m.arena, o + MARKS) & LINK_HALF
            if mark:
                older = start - mark
        if after(oldest, field(m, k, DISORDER)) < low:
            older = NOTHING
        if newest >= low and oldest <= high:
            if last - start >= SHORT_RUN:
                start = not_before(m, k, start, last + 1, low)
            keep(cursor, OLDER, older)
            keep(cursor, NEXT, start)
            keep(cursor, STOP, last)
            keep(cursor, ORDERED, BY_TIME)
            return True
        last = older
    return False


@njit(forceinline=True)
def next_pane(m: Any, k: int, banded: bool, cursor: int) -> bool:
    """Move to the next older pane that reaches into the range of times."""
    low, high = word(cursor, LOW), word(cursor, HIGH)
    number = word(cursor, OLDER) - 1
    while number >= field(m, k, FIRST_PANE):
        start, stop, is_ordered, older = 0, 0, AS_STORED, number
        if number == field(m, k, PANE_END):
            if field(m, k, OPEN_MAX) >= low and field(m, k, OPEN_MIN) <= high:
                start, stop = field(m, k, OPEN), field(m, k, END)
        else:
            if after(pane_field(m, k, number, PANE_MIN), field(m, k, DISORDER)) < low:
                older = NOTHING
            if pane_field(m, k, number, PANE_MAX) >= low and pane_field(m, k, number, PANE_MIN) <= high:
                start, stop = pane_field(m, k, number, PANE_AT), pane_field(m, k, number, PANE_TO)
                if banded:
                    start, is_ordered = band_cut(m, k, number, word(cursor, BAND_LOW)), BY_BAND
                elif field(m, k, SORT) < 0 and field(m, k, INDEXES) == 0:
                    start, is_ordered = not_before(m, k, start, stop, low), BY_TIME
        if start < stop:
            keep(cursor, OLDER, older)
            keep(cursor, NEXT, start)
            keep(cursor, STOP, stop - 1)
            keep(cursor, ORDERED, is_ordered)
            return True
        number = older - 1
    return False


@njit(forceinline=True)
def expect_runs(m: Any, order: int, n: int, own: int) -> None:
    """Fetch the newest run of each stream that shares the key of a tuple that will be searched for soon."""
    for d in range(n - 1):
        step = order + 8 * d * STEP_COLUMNS
        if word(step, OWN):
            k = word(step, STREAM)
            head = word(m.slots, own + 1 + index_field(m, k, word(step, INDEX), MEMBER))
            if head < field(m, k, TAIL):
                return
            prefetch(m.arena, offset(m, k, head))


@njit(forceinline=True)
def emit(m: Any, w: Any, found: int) -> None:
    """Write the wanted words of a match, while its records are at hand."""
    if w.times:
        low, high = FOREVER, NEVER
        for a in range(w.n):
            t = word(m.arena, word(w.at, a))
            low, high = min(low, t), max(high, t)
        keep(w.times, found, low)
        keep(w.times, w.room + found, high)
    for j in range(w.columns):
        wanted = w.wanted + 8 * j * WANTED_COLUMNS
        record = word(w.at, word(wanted, OF))
        keep(w.words, j * w.room + found, word(m.arena, record + word(wanted, VALUE)))
        if word(wanted, NULL_BIT) >= 0:
            mark = word(m.arena, record + word(wanted, NULL_WORD)) >> word(wanted, NULL_BIT)
            keep_byte(w.nulls, j * w.room + found, mark & 1)


@njit(forceinline=True)
def hopeless(m: Any, w: Any, order: int, s: int, position: int, own: int) -> bool:
    """Whether some stream that shares the arriving tuple's key holds none of it, or none new enough: seen at once."""
    t = word(m.arena, offset(m, s, position))
    for d in range(w.n - 1):
        step = order + 8 * d * STEP_COLUMNS
        if word(step, OWN):
            k = word(step, STREAM)
            head = word(m.slots, own + 1 + index_field(m, k, word(step, INDEX), MEMBER))
            if head < field(m, k, TAIL):
                return True
            newest = after(word(m.arena, offset(m, k, head)), field(m, k, DISORDER))
            if newest < before(t, word(w.bound, k * w.n + s)):
                return True
    return False


@kernel(I64(I64, I64, I64, I64, I64, I64, I64))
def probe(admit: int, span: int, memory: int, search: int, s: int, first: int, last: int) -> int:
    """Find the matches of the tuples at positions first .. last - 1 of stream *s*; how many were emitted.

    The search is over when ``resume[ARRIVAL]`` has reached *last*; ``resume[RAISED]`` says that the predicate raised.
    """
    m, w = addresses_at(memory), search_at(search)
    n, found, deepest = w.n, 0, w.n - 2
    order = w.steps + 8 * s * (n - 1) * STEP_COLUMNS
    position, depth = word(w.resume, ARRIVAL), word(w.resume, DEPTH)
    compared = word(w.resume, COMPARED)
    while position < last:
        own = word(w.slots, position - first)
        if depth < 0:
            if position + AHEAD < last:
                prefetch(m.slots, word(w.slots, position + AHEAD - first))
                expect_runs(m, order, n, word(w.slots, position + AHEAD // 2 - first))
            if hopeless(m, w, order, s, position, own):
                position += 1
                continue
            keep(w.at, s, offset(m, s, position))
            depth = 0
            begin(span, m, w, order, 0, s, own)
        while depth >= 0:
            step, cursor = order + 8 * depth * STEP_COLUMNS, w.cursors + 8 * depth * CURSOR_COLUMNS
            k, index, mask = word(step, STREAM), word(step, INDEX), word(step, MASK)
            low, high, counted = word(cursor, LOW), word(cursor, HIGH), field(m, k, ROWS) > 0
            candidate, stop, is_ordered = word(cursor, NEXT), word(cursor, STOP), word(cursor, ORDERED)
            taken = False
            while not taken:
                while candidate <= stop:
                    o = offset(m, k, candidate)
                    t = word(m.arena, o)
                    candidate += 1
                    if is_ordered == BY_BAND and band_value(m, k, o) > word(cursor, BAND_HIGH):
                        candidate = stop + 1
                        continue
                    if t > high:
                        if is_ordered == BY_TIME:
                            candidate = stop + 1
                        continue
                    if t < low or (counted and deadline(m, k, o) <= max(t, word(cursor, NEWEST))):
                        continue
                    keep(w.at, k, o)
                    compared += 1
                    verdict = 1 if mask == 0 else call_admit(admit, mask, m.arena, w.at)
                    if verdict > 0:
                        taken = True
                        break
                    if verdict < 0:  # the user's function raised
                        keep(w.resume, ARRIVAL, last)
                        keep(w.resume, RAISED, 1)
                        return found
                if taken:
                    break
                if index == PANES:
                    if not next_pane(m, k, word(step, BAND) >= 0, cursor):
                        break
                elif not next_run(m, k, index, cursor):
                    break
                candidate, stop, is_ordered = word(cursor, NEXT), word(cursor, STOP), word(cursor, ORDERED)
            keep(cursor, NEXT, candidate)
            keep(cursor, STOP, stop)
            if not taken:
                keep(cursor, OLDER, NOTHING)
                depth -= 1
            elif depth < deepest:
                depth += 1
                begin(span, m, w, order, depth, s, own)
            else:
                emit(m, w, found)
                found += 1
                if found == w.room:
                    keep(w.resume, ARRIVAL, position)
                    keep(w.resume, DEPTH, depth)
                    keep(w.resume, COMPARED, compared)
                    return found
        position += 1
    keep(w.resume, ARRIVAL, position)
    keep(w.resume, DEPTH, -1)
    keep(w.resume, COMPARED, compared)
    return found
