"""A join over finite tables, said in every way that a contender may need: data, structure and SQL.

Tables have the columns ``ts`` (int64 ticks), ``id`` and what the predicate reads.
A match is one row of the members' ids, in columns named as the streams are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Bound:
    """``later.ts - earlier.ts <= ticks``; closed, and in one direction."""

    earlier: str
    later: str
    ticks: int


@dataclass(frozen=True)
class Equality:
    """``one.column = other.column``."""

    one: str
    other: str
    column: str


@dataclass(frozen=True)
class Band:
    """``abs(one.column - other.column) < width``."""

    one: str
    other: str
    column: str
    width: float


@dataclass(frozen=True)
class Case:
    """One join.  ``duckdb`` has its formulations by name, the first one for checks."""

    streams: Mapping[str, pa.Table]
    bounds: tuple[Bound, ...]
    equalities: tuple[Equality, ...]
    bands: tuple[Band, ...]
    anabranch: str
    duckdb: Mapping[str, str]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(table.num_rows for table in self.streams.values())

    def reach(self, earlier: str, later: str) -> int:
        """How much later one stream may be than another; every pair of a case has a bound."""
        return min(bound.ticks for bound in self.bounds if (bound.earlier, bound.later) == (earlier, later))

    def equal_to(self, stream: str, seen: str) -> list[Equality]:
        """The equalities of a stream with one of *seen*, seen from there."""
        return [e for e in _turned(self.equalities) if e.other == stream and e.one in seen]

    def near_to(self, stream: str, seen: str) -> list[Band]:
        """The bands of a stream with one of *seen*, seen from there."""
        return [b for b in _turned(self.bands) if b.other == stream and b.one in seen]

    def first(self, rows: int) -> Case:
        """The same join over the first rows of each table: to warm up."""
        return replace(self, streams={name: table.slice(0, rows) for name, table in self.streams.items()})


def _turned(terms: tuple[Any, ...]) -> list[Any]:
    return [*terms, *(replace(term, one=term.other, other=term.one) for term in terms)]


def within(streams: str, ticks: int) -> tuple[Bound, ...]:
    """All pairs of streams at most so far apart."""
    return tuple(Bound(a, b, ticks) for a in streams for b in streams if a != b)
