"""Liveness: let go of a tuple that has waited in vain for some other stream.

A stored u of stream i is dead once, for some k, no stored tuple of k with its key
lies in ``[t[u] - D[k][i], t[u] + D[i][k]]`` and the frontier of k has passed
``t[u] + D[i][k]``: its partner in k is neither here nor still to come.  This is what
the first mode of the merge join does for one window; the closed matrix gives it for
all forms.  It saves state when a stream lags: what already misses a partner among
the others need not wait for it.

Each tuple is looked at once for each other stream, when that stream's frontier
has passed, and only if enough tuples would otherwise stay; a stream is rebuilt when
a quarter of it is dead.  With streams in step it costs a glance at the panes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anabranch.core import memory as at
from anabranch.core.buffers import Buffers
from anabranch.core.cache import kernel
from anabranch.core.memory import I64, NOTHING, Array, addresses_at, offset
from anabranch.core.program import Program, lane_word
from anabranch.core.ticks import FOREVER, NEVER, minus
from anabranch.core.words import address, keep, word
from anabranch.joins import probe

FEWEST = 1_024  # tuples that make a look worth while
PART = 4  # one in so many of a stream


class Liveness:
    """The rule over the buffers of one operator."""

    def __init__(self, program: Program, buffers: Buffers) -> None:
        n = program.n
        self.program, self.buffers = program, buffers
        self.dropped = 0
        self._seen = np.full((n, n), NEVER, np.int64)  # [s, k]: tuples of s older than this have been held against k
        self._dead: list[list[Array]] = [[] for _ in range(n)]
        self._since = 0
        self._bound = np.ascontiguousarray(program.windows.closed)
        self._at, self._cursor = np.zeros(n, np.int64), np.zeros(probe.CURSOR_COLUMNS, np.int64)
        self._steps = {(s, k): self._step(s, k) for s in range(n) for k in range(n) if s != k}
        search = probe.Search(
            0, 0, address(self._bound), address(self._cursor), address(self._at), 0, 0, 0, 0, 0, 0, n, 0
        )
        self._search = np.array(search, np.int64)

    def sweep(self, frontiers: Sequence[int], stored: int) -> None:
        """Look at what the frontiers have closed since the last time; *stored* tuples came in between."""
        self._since += stored
        if self._since < FEWEST or self._since < self.buffers.tuples() // (2 * PART):
            return
        self._since = 0
        for s in range(self.program.n):
            if self.buffers.live(s) >= FEWEST:
                for k in range(self.program.n):
                    if k != s:
                        self._hold_against(s, k, frontiers[k])
                self._rebuild(s)

    def _hold_against(self, s: int, k: int, frontier: int) -> None:
        """Find the tuples of *s* without a partner in *k*, among those that k can bring no more partners for."""
        closed = FOREVER if frontier == FOREVER else minus(frontier, int(self._bound[s, k]))
        panes = self._panes(s)
        ready = panes[(panes[:, at.PANE_MAX] < closed) & (panes[:, at.PANE_MIN] >= self._seen[s, k])]
        rows = int((ready[:, at.PANE_TO] - ready[:, at.PANE_AT]).sum())
        if rows < max(FEWEST, self.buffers.live(s) // PART):
            return
        found = np.empty(rows, np.int64)
        count, step, search = 0, address(self._steps[s, k]), address(self._search)
        for pane in ready:
            start, stop = int(pane[at.PANE_AT]), int(pane[at.PANE_TO])
            count += int(lonely(self.buffers.addresses, search, s, start, stop, step, address(found[count:])))
        self._seen[s, k] = int(ready[:, at.PANE_MAX].max()) + 1
        if count:
            self._dead[s].append(found[:count].copy())

    def _rebuild(self, s: int) -> None:
        """Store the rest of a stream anew when enough of it is dead."""
        if not self._dead[s]:
            return
        tail = int(self.buffers.memory.streams[s, at.TAIL])
        dead = np.unique(np.concatenate(self._dead[s])) - tail
        dead = dead[dead >= 0]
        self._dead[s] = [dead + tail]
        if len(dead) * PART >= self.buffers.live(s):
            self.buffers.keep_only(s, np.delete(np.arange(self.buffers.live(s)), dead))
            self.dropped += len(dead)
            self._dead[s] = []

    def _panes(self, s: int) -> Array:
        """The closed panes of a stream, oldest first."""
        memory = self.buffers.memory
        numbers = np.arange(memory.streams[s, at.FIRST_PANE], memory.streams[s, at.PANE_END])
        panes: Array = memory.panes[s, numbers % memory.panes.shape[1]]
        return panes

    def _step(self, s: int, k: int) -> Array:
        """How to look up *k* for a tuple of *s* alone: by the index that uses most of the keys that both have."""
        step = np.zeros(probe.STEP_COLUMNS, np.int64)
        shared = {key for key, lanes in enumerate(self.program.keys) if lanes[s] >= 0 and lanes[k] >= 0}
        fit = [keys for keys in self.buffers.indexes[k] if set(keys) <= shared]
        step[probe.STREAM], step[probe.BAND], step[probe.INDEX] = k, -1, probe.PANES
        if fit:
            best = max(fit, key=len)
            step[probe.INDEX], step[probe.PARTS] = self.buffers.indexes[k].index(best), len(best)
            for i, key in enumerate(best):
                place = lane_word(len(self.program.lanes[s]), self.program.keys[key][s])
                step[probe.PART + 2 * i : probe.PART + 2 * i + 2] = s, place
        return step


@kernel(I64(I64, I64, I64, I64, I64, I64, I64))
def lonely(memory: int, search: int, s: int, start: int, stop: int, step: int, found: int) -> int:
    """Write the positions of those tuples that have no partner in the step's stream; how many."""
    m, w, count = addresses_at(memory), probe.search_at(search), 0
    k, index, cursor = word(step, probe.STREAM), word(step, probe.INDEX), w.cursors
    for position in range(start, stop):
        keep(w.at, s, offset(m, s, position))
        probe.begin(0, m, w, step, 0, s, NOTHING)
        low, high, alive = word(cursor, probe.LOW), word(cursor, probe.HIGH), False
        while not alive:
            if index == probe.PANES:
                if not probe.next_pane(m, k, False, cursor):
                    break
            elif not probe.next_run(m, k, index, cursor):
                break
            candidate, last = word(cursor, probe.NEXT), word(cursor, probe.STOP)
            while candidate <= last and not alive:
                t = word(m.arena, offset(m, k, candidate))
                alive = low <= t <= high
                candidate += 1
        if not alive:
            keep(found, count, position)
            count += 1
    return count
