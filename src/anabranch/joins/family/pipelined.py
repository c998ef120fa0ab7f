"""``pipelined``: a left-deep pipeline of binary window joins, each asked for its next match by the one above.

GetNext of a join hands out what it has found and not handed out yet.  If there is nothing, it
retrieves from its two sides in turn: left from the join below (or the first stream),
right from its stream.  What is retrieved goes into the buffer of its side and is held
against the other buffer.  A left buffer holds partial matches, whose tuples have all their
times: from these come the period, and when the match can be forgotten.  A vector of the
newest times of all streams tells what is out of reach; a buffer is cleared while it is
scanned.  When neither side has led to anything, an empty tuple hands control to the join
above, so no stream is waited for.

Exact because each side is put into its buffer before it is held against the other, so two that
match meet once, when the later one is retrieved, whatever the turns are.  A stream
that may be out of order promises less than its newest time, so the vector holds the lesser
of both.  The report lets a right tuple go when the streams on the left are past it; here all
other streams have to be, since partial matches are rebuilt from such tuples after a crash.
Cost: as nested loops, without repeating the loops over streams lower in the pipeline, for
the memory and the care of their partial matches.

Report on W-joins, 3.1.1, figures 4 and 5; with buckets 3.1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import NOTHING, Array, add, code_of, places_at, time
from anabranch.core.program import Program
from anabranch.core.tally import EXPIRED, PROBED, SCANNED, tally
from anabranch.core.ticks import FOREVER
from anabranch.core.words import keep, word
from anabranch.joins.loops import BEFORE, LOOP_COLUMNS, advance, enter
from anabranch.joins.options import buckets_by_stream
from anabranch.joins.partial import (
    FOUND,
    HIGH,
    LATEST,
    LIST,
    LOW,
    NEEDED,
    RAISED,
    RESUME,
    STREAM,
    arrival,
    bind,
    chain_for,
    counts_still,
    emit,
    expire_chain,
    fits,
    period,
    query_at,
    step_at,
)
from anabranch.joins.partials import (
    NEXT,
    bind_row,
    dead,
    erase,
    first_row,
    full,
    latest_row,
    level_at,
    note,
    row_at,
    settle,
    take_out,
)
from anabranch.joins.tree import LEVELS, PLACE, ROOT, Tree

# the pipeline stands behind the tree in ``extra``: where GetNext is, a queue for each stream, a row for each join
JOIN, WHAT, PIPELINE_COLUMNS = range(3)
CALLED, GIVEN, EMPTY = range(3)  # WHAT comes to a join: a call from above, a match from below, or nothing from below
NEXT_ROW, END, PROMISED, QUEUE_COLUMNS = range(4)  # of what has come in the batch; the frontier after it
# a join: the side whose turn it is, how many were tried in this call, the side of what is being held against the
# other buffer, its tuple or row, where in a buffer of rows it stands and the row before that
TURN, TRIED, SIDE, ITEM, HERE, PREVIOUS, JOIN_COLUMNS = range(7)
LEFT, RIGHT, NEITHER = range(3)


@njit(forceinline=True)
def queue_at(q: Any, s: int) -> int:
    return q.extra + 8 * (PLACE + q.n + PIPELINE_COLUMNS + s * QUEUE_COLUMNS)


@njit(forceinline=True)
def join_at(q: Any, m: int) -> int:
    """Where the join that brings in the stream at place *m* of the tree stands."""
    return queue_at(q, q.n) + 8 * m * JOIN_COLUMNS


@njit(forceinline=True)
def stream_at(q: Any, m: int) -> int:
    """The stream at a place of the tree."""
    return word(step_at(q, word(q.extra, ROOT), m), STREAM)


@kernel()
def run(places: int, query: int, counts: int | None) -> None:
    p, q = places_at(places), query_at(query)
    levels, root, at = word(q.extra, LEVELS), word(q.extra, ROOT), q.extra + 8 * (PLACE + q.n)
    if word(q.state, RESUME) == 0:
        begin(p, q)
        keep(q.state, RESUME, 1)
    erase(levels, q.n)
    m, what = word(at, JOIN), word(at, WHAT)
    while not word(q.state, RAISED):
        if what == CALLED:
            m, what = get_next(p, q, counts, m)
            continue
        keep(at, JOIN, m)  # from here it goes on if there is no room
        keep(at, WHAT, what)
        if what == GIVEN:
            if m == q.n and word(q.state, FOUND) == q.room:
                keep(q.state, NEEDED, 1)
                return
            if m == q.n:
                emit(q)
            else:
                note(p, q, levels, root, m)
                if full(levels, q.n):
                    keep(q.state, NEEDED, 1)
                    return
                settle(levels, q.n)
                start(p, q, counts, m, LEFT, latest_row(level_at(levels, m)))
        elif m == q.n and finished(q):
            return
        if m == q.n:  # the last join is asked again
            m = q.n - 1
            keep(join_at(q, m), TRIED, 0)
        what = CALLED


@njit
def begin(p: Any, q: Any) -> None:
    """The vector of newest times takes the place of the frontiers; the last join is asked."""
    for s in range(q.n):
        queue = queue_at(q, s)
        keep(queue, PROMISED, word(q.frontiers, s))
        if word(queue, NEXT_ROW) < word(queue, END):
            newer(p, q, s, word(queue, NEXT_ROW))
        keep(join_at(q, s), SIDE, NEITHER)
        keep(join_at(q, s), TRIED, 0)


@njit
def newer(p: Any, q: Any, s: int, i: int) -> None:
    """Note that a stream has come to an arrival."""
    u, _ = arrival(q, i)
    keep(q.frontiers, s, min(word(queue_at(q, s), PROMISED), time(p, u)))


@njit
def finished(q: Any) -> bool:
    """Whether all streams are empty and no join has anything to hand out."""
    for s in range(q.n):
        if word(queue_at(q, s), NEXT_ROW) < word(queue_at(q, s), END) or word(join_at(q, s), SIDE) != NEITHER:
            return False
    return True


@njit
def get_next(p: Any, q: Any, counts: int | None, m: int) -> tuple[int, int]:
    """One step of a join that is asked: which join comes next, and with WHAT."""
    join = join_at(q, m)
    if word(join, SIDE) != NEITHER:
        if next_match(p, q, counts, m):
            return m + 1, GIVEN
        keep(join, SIDE, NEITHER)
    if word(join, TRIED) == 2:
        return m + 1, EMPTY
    side = word(join, TURN)
    keep(join, TRIED, word(join, TRIED) + 1)
    keep(join, TURN, RIGHT - side)
    if side == LEFT and m > 1:
        keep(join_at(q, m - 1), TRIED, 0)
        return m - 1, CALLED
    s = stream_at(q, m if side == RIGHT else 0)
    queue = queue_at(q, s)
    i = word(queue, NEXT_ROW)
    if i < word(queue, END):
        u, _ = arrival(q, i)
        keep(queue, NEXT_ROW, i + 1)
        newer(p, q, s, i)
        add(p, s, u)
        start(p, q, counts, m, side, u)
    return m, CALLED


@njit
def start(p: Any, q: Any, counts: int | None, m: int, side: int, item: int) -> None:
    """Begin to hold what has been retrieved from one side against the buffer of the other."""
    join, root = join_at(q, m), word(q.extra, ROOT)
    keep(join, SIDE, side)
    keep(join, ITEM, item)
    if side == RIGHT and m > 1:
        s = stream_at(q, m)
        tally(counts, PROBED, 1)
        code = code_of(p, s, word(step_at(q, root, m), LIST), item)
        keep(join, HERE, first_row(level_at(word(q.extra, LEVELS), m), code))
        keep(join, PREVIOUS, NOTHING)
        return
    first = bound(p, q, m)
    step = step_at(q, first, m)
    chain = chain_for(p, q, None, first, m)
    expire_chain(p, q, counts, word(step, STREAM), chain, word(step, LIST), FOREVER)
    enter(p, q, counts, first, m, 0)
    keep(q.loops + 8 * m * LOOP_COLUMNS, BEFORE, FOREVER)  # what is in the buffer came before, whatever its turn


@njit
def bound(p: Any, q: Any, m: int) -> int:
    """Bind what has been retrieved, other joins may have come between; the stream whose order goes on from there."""
    join, root = join_at(q, m), word(q.extra, ROOT)
    if m > 1:
        bind_row(p, q, root, m, row_at(level_at(word(q.extra, LEVELS), m), m, word(join, ITEM)))
        return root
    first = stream_at(q, 1 if word(join, SIDE) == RIGHT else 0)
    bind(p, q, first, word(join, ITEM))
    return first


@njit
def next_match(p: Any, q: Any, counts: int | None, m: int) -> bool:
    """Bind the next match of what has been retrieved; False when there is none."""
    if m == 1 or word(join_at(q, m), SIDE) == LEFT:
        return advance(p, q, counts, bound(p, q, m), m, 0)
    return next_row(p, q, counts, m)


@njit
def next_row(p: Any, q: Any, counts: int | None, m: int) -> bool:
    """Bind the next partial match that the right tuple joins, and let go of what is out of its reach."""
    join, root, level = join_at(q, m), word(q.extra, ROOT), level_at(word(q.extra, LEVELS), m)
    u, r, previous = word(join, ITEM), word(join, HERE), word(join, PREVIOUS)
    while r != NOTHING:
        row = row_at(level, m, r)
        following = word(row, NEXT)
        if dead(p, q, root, m, row):
            take_out(level, m, r, previous)
            tally(counts, EXPIRED, 1)
        else:
            tally(counts, SCANNED, 1)
            previous = r
            bind_row(p, q, root, m, row)
            period(p, q, root, m)
            inside = word(q.state, LOW) <= time(p, u) <= word(q.state, HIGH)
            if inside and counts_still(p, u, word(q.state, LATEST)) and fits(p, q, counts, root, m, u) != 0:
                keep(join, HERE, following)
                keep(join, PREVIOUS, previous)
                return not word(q.state, RAISED)
        r = following
    return False


class Pipelined(Tree):
    name = "pipelined"
    run = run

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It is made of joins."""
        return None if program.n > 1 else ("there is but one stream", "nested_loop answers this too")

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, 0)

    def extras(self) -> Array:
        """The tree, and behind it the pipeline."""
        n = self.program.n
        tree = super().extras()
        self._extra = np.zeros(len(tree) + PIPELINE_COLUMNS + n * (QUEUE_COLUMNS + JOIN_COLUMNS), np.int64)
        self._extra[: len(tree)] = tree
        return self._extra

    def arranged(self, sequence: Array, times: Array) -> Array:
        """Stream by stream: the joins decide which is next."""
        n = self.program.n
        order = np.argsort(sequence[:, 1], kind="stable")
        ends = np.searchsorted(sequence[order, 1], np.arange(n), "right")
        pipeline = self._extra[PLACE + n :]
        pipeline[[JOIN, WHAT]] = n - 1, CALLED
        queues = pipeline[PIPELINE_COLUMNS : PIPELINE_COLUMNS + n * QUEUE_COLUMNS].reshape(n, QUEUE_COLUMNS)
        queues[:, NEXT_ROW], queues[:, END] = np.concatenate([[0], ends[:-1]]), ends
        return sequence[order]
