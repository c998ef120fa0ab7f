"""What the members share that are left-deep trees of binary joins and keep intermediate results.

The partial matches are derived: what is saved and restored are the tuples alone, as with
every member, and before the first batch after that the partial matches are found
anew, without the matches, which are out.  An eighth of the tuples may have been let go
before those that name them are looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit

from anabranch.core.cache import kernel
from anabranch.core.lists import ALL, Array, places_at
from anabranch.core.operator import Matches
from anabranch.core.words import word
from anabranch.joins.listed import NONE, Listed
from anabranch.joins.loops import advance, enter
from anabranch.joins.options import Buckets, Options, Order, streams_in_order
from anabranch.joins.partial import LIST, RAISED, RESUME, begin, emit, once_more, query_at
from anabranch.joins.partials import Partials, erase, full, note, settle, sweep

SHARE = 8  # the part of the tuples that may be gone before the partial matches are swept

# of ``extra``: where the levels are, the first stream of the tree, and from PLACE on the place of each stream in it
LEVELS, ROOT, PLACE = range(3)


@njit
def extend(p: Any, q: Any, counts: int | None, s: int, lowest: int, deepest: int, i: int) -> None:
    """The loops of arrival *i* from a depth on, above which all is bound; every partial match is noted."""
    levels, root, depth = word(q.extra, LEVELS), word(q.extra, ROOT), lowest
    enter(p, q, counts, s, depth, i)
    while depth >= lowest:
        if not advance(p, q, counts, s, depth, i + 1):
            depth -= 1
        else:
            if depth == q.n - 1:
                emit(q)
            elif depth > 0:
                note(p, q, levels, root, depth + 1)
            if depth < deepest:
                depth += 1
                enter(p, q, counts, s, depth, i)
        if word(q.state, RAISED):
            return


@kernel()
def rebuild(places: int, query: int, counts: int | None) -> None:
    """Find the partial matches of remembered tuples; those of the first stream are the arrivals."""
    p, q = places_at(places), query_at(query)
    levels, root = word(q.extra, LEVELS), word(q.extra, ROOT)
    for i in range(word(q.state, RESUME), q.arrived):
        matches = begin(q, counts)
        erase(levels, q.n)
        extend(p, q, counts, root, 0, q.n - 2, i)
        if word(q.state, RAISED):
            return
        if full(levels, q.n):
            once_more(q, counts, i, matches)
            return
        settle(levels, q.n)


@kernel()
def forget(places: int, query: int, counts: int | None) -> None:
    """Let go of the partial matches that nothing can join any more."""
    p, q = places_at(places), query_at(query)
    sweep(p, q, word(q.extra, LEVELS), word(q.extra, ROOT))


class Tree(Listed):
    """A member over such a tree; its kernel finds the levels by ``extra``."""

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        order: Order = ()  # the streams from the innermost join outwards; as in FROM if none is given
        buckets: Buckets = field(default_factory=dict)  # of a stream's hash table, and whether it is looked up by key

    def tree(self) -> list[int]:
        """The streams from the innermost join outwards."""
        return streams_in_order(self.name, self.program.windows.streams, self.options.order)

    def order(self, arriving: int) -> list[int]:
        """The tree from its root on; a tuple of the second stream comes before the first."""
        first, *rest = self.tree()
        return [arriving, first, *rest[1:]] if rest[:1] == [arriving] else [first, *rest]

    def extras(self) -> Array:
        tree = self.tree()
        self.partials = Partials([bool(self._steps[tree[0], k, LIST] != ALL) for k in range(len(tree))])
        self.lists.beside(self.partials.nbytes)
        return np.array([self.partials.levels, tree[0], *np.argsort(tree)], np.int64)

    def advance(self, frontiers: Sequence[int]) -> list[Matches]:
        """As every member, but what is derived from restored tuples comes first."""
        if self.lists.restored and self.program.n > 2:
            self.partials.clear()
            root = self.tree()[0]
            tuples = self.lists.members(root)
            self.lists.number(tuples)  # behind all others: each finds those of the other streams
            sequence = np.ascontiguousarray(np.column_stack([tuples, np.full(len(tuples), root)]))
            found = self._visit(rebuild, sequence, frontiers)
            assert not found, "what is restored has been joined"
        self.lists.restored = False
        return super().advance(frontiers)

    def free(self, frontiers: Sequence[int]) -> None:
        """Places are free when no partial match names them."""
        if SHARE * self.lists.gone() >= self.lists.tuples():
            self._visit(forget, NONE, frontiers)
            super().free(frontiers)

    def make_room(self) -> None:
        super().make_room()
        self.partials.make_room()
        self.lists.beside(self.partials.nbytes)

    def held(self) -> int:
        return super().held() + self.partials.rows()
