"""What an operator must be told of a query, with nothing of SQL left in it.

A tuple is a record of 64-bit words: its time, a word of marks, its *lanes* (the
columns that the predicate or the output needs as words), then what the buffers
add.  A *key* is a class of lanes that are equal in every match.  A *conjunct* is
one term of the predicate, evaluated as soon as all its streams are bound.  A
*band* turns conjuncts into a range of one lane, given the other members.

The program is a value: comparable, picklable, printable.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.core.predicate import Predicate
from anabranch.core.windows import Windows

TIME, MARKS, LANES = 0, 1, 2
FILTER = "filter"  # a lane that is NULL where a row does not pass the filters on its stream
NULLS_IN_MARKS = 32


@dataclass(frozen=True)
class Lane:
    """One word of a stream's record: ``int``, ``real`` (a double's bits), ``hash`` (of text or bytes) or FILTER."""

    column: str
    kind: str


@dataclass(frozen=True)
class Conjunct:
    """A term of the predicate; ``key`` is the class whose equality alone already implies it."""

    streams: frozenset[int]
    text: str
    key: int | None = None


@dataclass(frozen=True)
class Band:
    """The lane of ``stream`` lies in a range once all members of one of ``given`` are bound; ``span`` computes it."""

    stream: int
    lane: int
    given: tuple[frozenset[int], ...]
    text: str = ""


@dataclass(frozen=True)
class Program:
    """One join of n streams, ready to run."""

    windows: Windows
    lanes: tuple[tuple[Lane, ...], ...]
    keys: tuple[tuple[int, ...], ...] = ()
    conjuncts: tuple[Conjunct, ...] = ()
    bands: tuple[Band, ...] = ()
    side: tuple[bool, ...] = ()
    output: tuple[tuple[int, int], ...] = ()
    predicate: Predicate = Predicate()
    timed: bool = True  # whether matches carry their least and greatest time

    @property
    def n(self) -> int:
        return len(self.windows.streams)

    def required(self, stream: int) -> tuple[int, ...]:
        """Lanes of *stream* that must not be NULL: a NULL key is equal to nothing, a NULL outcome is not TRUE."""
        keys = {key[stream] for key in self.keys if key[stream] >= 0}
        return tuple(sorted(keys | {i for i, lane in enumerate(self.lanes[stream]) if lane.kind == FILTER}))


def null_words(lanes: int) -> int:
    """Words of NULL marks beyond those that fit beside the link in the word of marks."""
    return -(-max(0, lanes - NULLS_IN_MARKS) // 64)


def lane_word(lanes: int, lane: int) -> int:
    """Where the value of a lane stands in a record of so many lanes."""
    return LANES + null_words(lanes) + lane


def null_mark(lane: int) -> tuple[int, int]:
    """The (word, bit) that says whether a lane is NULL."""
    if lane < NULLS_IN_MARKS:
        return MARKS, 32 + lane
    return LANES + (lane - NULLS_IN_MARKS) // 64, (lane - NULLS_IN_MARKS) % 64
