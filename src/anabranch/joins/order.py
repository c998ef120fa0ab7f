"""In which order an arriving tuple looks the other streams up.

Greedy, a stream at a time: next comes the one expected to hold the fewest
candidates, given what is bound (a key divides, a band or a condition helps, a
window alone does neither).  The order decides which indexes exist; when sizes drift it is chosen
anew among the orders that these indexes can serve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anabranch.core.buffers import Index
from anabranch.core.memory import INDEX_COLUMNS, PART
from anabranch.core.program import Program

BAND_SELECTIVITY = 0.05
KEY_SELECTIVITY = 0.001  # before anything has been seen
CONJUNCT_SELECTIVITY = 0.3
MOST_KEYS = INDEX_COLUMNS - PART  # that an index has room for


@dataclass(frozen=True)
class Step:
    """One look-up: the stream, the keys to find it by, the conjuncts to test then, and its band (or -1)."""

    stream: int
    keys: tuple[int, ...]
    source: tuple[int, ...]  # for each key, the bound stream that gives the value
    conjuncts: tuple[int, ...]
    band: int


Order = tuple[Step, ...]


def orders(
    program: Program, sizes: Sequence[float] | None = None, indexes: Sequence[Sequence[tuple[int, ...]]] | None = None
) -> tuple[Order, ...]:
    """An order for each arriving stream; with *indexes*, only by keys that are there."""
    return tuple(_order(program, s, sizes or [1.0] * program.n, indexes) for s in range(program.n))


def indexes_of(chosen: Sequence[Order]) -> list[Index]:
    """The indexes that these orders need; the one used most comes first, since it orders the panes."""
    uses: dict[Index, int] = {}
    for order in chosen:
        for step in order:
            if step.keys:
                index = Index(step.stream, step.keys)
                uses[index] = uses.get(index, 0) + 1
    return sorted(uses, key=lambda index: (index.stream, -uses[index], index.keys))


def _order(
    program: Program, arriving: int, sizes: Sequence[float], indexes: Sequence[Sequence[tuple[int, ...]]] | None
) -> Order:
    bound = [arriving]
    exact: dict[int, set[int]] = {key: {arriving} for key in range(len(program.keys))}
    steps: list[Step] = []
    while len(bound) < program.n:
        rest = [k for k in range(program.n) if k not in bound]
        keys = {k: _usable(program, k, bound, indexes) for k in rest}
        band = {k: _band(program, k, bound) for k in rest}

        def candidates(k: int) -> tuple[float, int]:
            part = KEY_SELECTIVITY ** len(keys[k]) * (BAND_SELECTIVITY if band[k] >= 0 else 1.0)  # noqa: B023
            part *= CONJUNCT_SELECTIVITY ** len(_decidable(program, k, bound))
            return sizes[k] * part * _breadth(program, k, bound), k

        k = min(rest, key=candidates)
        source = tuple(next(a for a in bound if program.keys[key][a] >= 0) for key in keys[k])
        if len(keys[k]) == 1 and source[0] in exact[keys[k][0]]:
            exact[keys[k][0]].add(k)
        conjuncts = tuple(
            number
            for number in _decidable(program, k, bound)
            if (key := program.conjuncts[number].key) is None or not program.conjuncts[number].streams <= exact[key]
        )
        steps.append(Step(k, keys[k], source, conjuncts, band[k]))
        bound.append(k)
    return tuple(steps)


def _decidable(program: Program, k: int, bound: Sequence[int]) -> list[int]:
    """The conjuncts that can be tested once *k* joins the bound streams, and could not before."""
    return [
        number
        for number, conjunct in enumerate(program.conjuncts)
        if k in conjunct.streams and conjunct.streams <= {*bound, k} and len(conjunct.streams) > 1
    ]


def _usable(
    program: Program, k: int, bound: Sequence[int], indexes: Sequence[Sequence[tuple[int, ...]]] | None
) -> tuple[int, ...]:
    """The keys by which *k* can be found: as many as there are, or the best index there is."""
    keys = tuple(
        number for number, lanes in enumerate(program.keys) if lanes[k] >= 0 and any(lanes[a] >= 0 for a in bound)
    )
    if indexes is None:
        return keys[:MOST_KEYS]  # the others are tested like any condition
    return max((index for index in indexes[k] if set(index) <= set(keys)), key=len, default=())


def _band(program: Program, k: int, bound: Sequence[int]) -> int:
    """The span that narrows *k*: its number holds the stream and, from the ninth bit on, who is bound; or -1."""
    band = next((band for band in program.bands if band.stream == k), None)
    if band is None or not any(given <= set(bound) for given in band.given):
        return -1
    return k | sum(1 << a for a in bound) << 8


def _breadth(program: Program, k: int, bound: Sequence[int]) -> float:
    """How wide the window of *k* is, given the bound streams, against the widest of the query."""
    closed = program.windows.closed.astype(np.float64)
    both_ways = closed + closed.T
    widest = max(1.0, float(both_ways.max()))
    return min((float(both_ways[a, k]) + 1.0) / widest for a in bound)
