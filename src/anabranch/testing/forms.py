"""The forms of a window constraint, as a user writes them: in a timeline, as bounds, and in SQL.

``str`` of a form is its notation (see ``timeline``), ``bounds`` what it says of the
times, and ``sql`` the clause for it, or nothing for what stands in the brackets of
FROM.  A form is a frozen value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.windows import Bound

Spelling = Callable[[str], str]  # how SQL calls an alias
Length = Callable[[int], str]  # how SQL spells so many ticks


@dataclass(frozen=True)
class Width:
    """``a-b 5``, ``a-b-c 5``: each two of them at most so far apart; ``a-b <5``: less than that."""

    members: tuple[str, ...]
    ticks: int
    strict: bool = False

    def bounds(self, streams: Sequence[str]) -> list[Bound]:
        reach = self.ticks if self.ticks == FOREVER else self.ticks - self.strict
        return [Bound(a, b, reach, str(self)) for a, b in permutations(self.members, 2)]

    def sql(self, streams: Sequence[str], name: Spelling, length: Length) -> list[str]:
        extent = f"{'<' if self.strict else '='} {length(self.ticks)}"
        if set(self.members) == set(streams):
            return [f"WINDOW {extent}"]
        pairs = [(a, b) for a, b in permutations(self.members, 2) if a < b]
        return [f"WINDOW ({name(a)}, {name(b)}) {extent}" for a, b in pairs]

    def __str__(self) -> str:
        reach = ".." if self.ticks == FOREVER else f"{'<' if self.strict else ''}{self.ticks}"
        return f"{'-'.join(self.members)} {reach}"


@dataclass(frozen=True)
class Band:
    """``a-b 2..5``: b from 2 to 5 later than a; an end may be missing; ``0..<5`` leaves its upper end out."""

    first: str
    second: str
    low: int
    high: int
    strict: bool = False

    def bounds(self, streams: Sequence[str]) -> list[Bound]:
        low = FOREVER if self.low == NEVER else -self.low
        return [
            Bound(self.first, self.second, self.high - self.strict, str(self)),
            Bound(self.second, self.first, low, str(self)),
        ]

    def sql(self, streams: Sequence[str], name: Spelling, length: Length) -> list[str]:
        pair = f"({name(self.first)}, {name(self.second)})"
        if self.low == 0:
            return [f"DWINDOW {pair} {'<' if self.strict else '='} {length(self.high)}"]
        assert not self.strict, "only a directed window has a strict spelling in SQL"
        return [f"WINDOW {pair} BETWEEN {length(self.low)} AND {length(self.high)}"]

    def __str__(self) -> str:
        low = "" if self.low == NEVER else str(self.low)
        high = "" if self.high == FOREVER else f"{'<' if self.strict else ''}{self.high}"
        return f"{self.first}-{self.second} {low}..{high}"


@dataclass(frozen=True)
class Range:
    """``a 5``: counted back from the newest member, a is at most 5 old."""

    member: str
    ticks: int

    def bounds(self, streams: Sequence[str]) -> list[Bound]:
        return [Bound(self.member, other, self.ticks, str(self)) for other in streams if other != self.member]

    def sql(self, streams: Sequence[str], name: Spelling, length: Length) -> list[str]:
        return []

    def __str__(self) -> str:
        return f"{self.member} {self.ticks}"


@dataclass(frozen=True)
class Count:
    """``a#3``: of a only the last 3 tuples that are not newer than the match."""

    member: str
    rows: int

    def bounds(self, streams: Sequence[str]) -> list[Bound]:
        return []

    def sql(self, streams: Sequence[str], name: Spelling, length: Length) -> list[str]:
        return []

    def __str__(self) -> str:
        return f"{self.member}#{self.rows}"


Form = Width | Band | Range | Count

NAME = r"[a-z]\w*'*"
NUMBER = r"-?\d+"


def form(text: str) -> Form | None:
    """The form that is written so, or None."""
    if found := re.fullmatch(rf"({NAME})#(\d+)", text):
        return Count(found[1], int(found[2]))
    if found := re.fullmatch(rf"({NAME}(?:-{NAME})+) (<?)({NUMBER}|\.\.)", text):
        ticks = FOREVER if found[3] == ".." else int(found[3])
        return Width(tuple(found[1].split("-")), ticks, bool(found[2]))
    if found := re.fullmatch(rf"({NAME})-({NAME}) ({NUMBER})?\.\.(<?)({NUMBER})?", text):
        low, high = (None if part is None else int(part) for part in (found[3], found[5]))
        return Band(
            found[1], found[2], NEVER if low is None else low, FOREVER if high is None else high, bool(found[4])
        )
    if found := re.fullmatch(rf"({NAME}) ({NUMBER})", text):
        return Range(found[1], int(found[2]))
    return None


def members(forms: Sequence[Form]) -> tuple[str, ...]:
    """The aliases that these forms name, in the order of their first appearance."""
    found: dict[str, None] = {}
    for each in forms:
        if isinstance(each, Width):
            found |= dict.fromkeys(each.members)
        elif isinstance(each, Band):
            found |= dict.fromkeys((each.first, each.second))
        else:
            found[each.member] = None
    return tuple(found)
