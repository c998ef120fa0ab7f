"""Window constraints as they are written: what the dialect reads and ``windows`` turns into bounds.

Nothing here knows the streams yet: a name is a word of the text with its place, an
extent is a number with a unit that may or may not suit the streams' time.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

Place = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """A name in a window constraint, as written."""

    name: str
    at: Place


@dataclass(frozen=True)
class Extent:
    """``5 SECONDS``, ``-3``, ``UNBOUNDED``: a signed number, infinite where it is unbounded."""

    number: Decimal
    unit: str
    text: str
    at: Place

    @property
    def unbounded(self) -> bool:
        return self.number.is_infinite()


@dataclass(frozen=True)
class Width:
    """``WINDOW = w``, ``WINDOW (A, B) = w``, and with ``<`` the strict ones."""

    pair: tuple[Word, Word] | None
    extent: Extent
    strict: bool
    text: str
    at: Place


@dataclass(frozen=True)
class Directed:
    """``DWINDOW (A, B) = w``: A first, then B."""

    pair: tuple[Word, Word]
    extent: Extent
    strict: bool
    text: str
    at: Place


@dataclass(frozen=True)
class Band:
    """``WINDOW (A, B) BETWEEN lo AND hi``, on B's time minus A's."""

    pair: tuple[Word, Word]
    low: Extent
    high: Extent
    text: str
    at: Place


@dataclass(frozen=True)
class Range:
    """``store1 [RANGE 1 HOUR]``."""

    extent: Extent
    text: str
    at: Place


@dataclass(frozen=True)
class Rows:
    """``store2 [ROWS 100]``."""

    count: int
    text: str
    at: Place


Constraint = Width | Directed | Band
Bracket = Range | Rows
