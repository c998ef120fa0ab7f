"""The operator contract: rows in, matches out, everything remembered in the state.

A join algorithm is a class with ``insert(batch)`` and ``advance(frontiers)`` over
``Buffers`` that the runtime hands to it; a batch holds, for each stream, the rows
that arrived, in time order.  ``remember(batch)`` takes in rows that were joined
before: a crash is a new operator over the same state.  Streams are numbered; there
is no left and no right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from anabranch.core.program import Program

Times = npt.NDArray[np.int64]

LARGE = 8_192  # matches that are worth an Arrow chunk of their own


class Rows(NamedTuple):
    """Tuples of one stream in time order: a time each, a word each for every lane, NULL marks where a lane has any."""

    times: Times
    lanes: tuple[Times, ...]
    nulls: tuple[npt.NDArray[np.bool_] | None, ...]
    numbers: Times | None = None  # of the rows in the stream's side columns

    def take(self, places: npt.NDArray[np.int64] | slice) -> Rows:
        """The rows at these places."""
        return Rows(
            self.times[places],
            tuple(lane[places] for lane in self.lanes),
            tuple(null if null is None else null[places] for null in self.nulls),
            None if self.numbers is None else self.numbers[places],
        )

    def slice(self, start: int, stop: int) -> Rows:
        """The rows from *start* to *stop*, as views."""
        return self.take(slice(start, stop))

    def followed_by(self, more: Rows) -> Rows:
        """These rows and then those."""
        return Rows(
            np.concatenate([self.times, more.times]),
            tuple(np.concatenate(pair) for pair in zip(self.lanes, more.lanes, strict=True)),
            tuple(_nulls(self, more, i) for i in range(len(self.lanes))),
            None if self.numbers is None or more.numbers is None else np.concatenate([self.numbers, more.numbers]),
        )


def _nulls(first: Rows, second: Rows, lane: int) -> npt.NDArray[np.bool_] | None:
    one, two = first.nulls[lane], second.nulls[lane]
    if one is None and two is None:
        return None
    return np.concatenate(
        [np.zeros(len(rows.times), np.bool_) if null is None else null for rows, null in ((first, one), (second, two))]
    )


@dataclass(frozen=True)
class Matches:
    """Matches as columns: a row of *words* for each entry of ``Program.output``, NULLs beside, and side row numbers."""

    words: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.bool_]
    numbers: npt.NDArray[np.int64]  # a row a stream with side columns
    start: Times  # the least time of each match, and the greatest; empty if the program is not ``timed``
    end: Times

    def __len__(self) -> int:
        return int(self.words.shape[1])

    @classmethod
    def gathered(cls, parts: Sequence[Matches]) -> list[Matches]:
        """The same in order, small neighbours as one; what is large already is not copied again."""
        groups: list[list[Matches]] = []
        rows = LARGE
        for part in parts:
            if rows >= LARGE or len(part) >= LARGE:
                groups.append([])
                rows = 0
            groups[-1].append(part)
            rows += len(part)
        return [cls._merged(group) for group in groups]

    @classmethod
    def _merged(cls, parts: Sequence[Matches]) -> Matches:
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.words for part in parts], axis=1),
            np.concatenate([part.nulls for part in parts], axis=1),
            np.concatenate([part.numbers for part in parts], axis=1),
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
        )


class Remembered(Protocol):
    """What an operator remembers, as the runtimes ask for it; ``Buffers`` and ``Lists`` say what each means."""

    peak: int
    peak_bytes: int

    @property
    def nbytes(self) -> int: ...

    def tuples(self) -> int: ...

    def live(self, s: int) -> int: ...

    def oldest_row(self, s: int) -> int | None: ...

    def counted_from(self, s: int, frontier: int) -> int: ...

    def reserve(self, rows: Sequence[int]) -> None: ...

    def export(self, s: int) -> tuple[Times, Times, int]: ...

    def load(self, s: int, records: Times, counts: Times, first: int) -> None: ...


class Raised(Exception):
    """The user's own function raised inside a compiled predicate; the runtime finds out what it said."""


class Operator(Protocol):
    """What every join algorithm is to the driver."""

    name: str
    program: Program

    @property
    def buffers(self) -> Remembered: ...

    @property
    def compared(self) -> int: ...

    def insert(self, batch: Sequence[Rows | None]) -> list[Matches]: ...

    def remember(self, batch: Sequence[Rows | None]) -> None: ...

    def advance(self, frontiers: Sequence[int]) -> list[Matches]: ...

    def gate(self, frontiers: Sequence[int]) -> int:
        """Rows not older than this are to wait; it never falls as the frontiers rise.  FOREVER: none."""
