"""Predicates by name: each in SQL and in Python, so that the definition can judge what the engine compiled.

Few on purpose: a predicate is compiled once for each number of streams, and then
serves any windows and any tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from anabranch.testing.timeline import Row


@dataclass(frozen=True)
class Named:
    """A predicate over the members of a match, however many there are."""

    name: str
    sql: Callable[[Sequence[str]], str]  # of the aliases
    holds: Callable[[Sequence[Row]], bool]
    compiled: bool = True  # whether the join's loop decides it alone


def _steps(template: str) -> Callable[[Sequence[str]], str]:
    """The template for each two neighbours, as ``{a}`` and ``{b}``."""
    return lambda names: " AND ".join(template.format(a=a, b=b) for a, b in pairwise(names))


def _each(true: Callable[[Row, Row], bool]) -> Callable[[Sequence[Row]], bool]:
    return lambda rows: all(true(a, b) for a, b in pairwise(rows))


def equal(a: object, b: object) -> bool:
    """SQL's equality: NULL equals nothing, NaN equals NaN."""
    return a is not None and b is not None and (a == b or (a != a and b != b))


def below(a: float | None, b: float | None) -> bool:
    """SQL's order: NaN is the largest number."""
    return a is not None and b is not None and ((a != a, a) < (b != b, b) if a == a or b == b else False)


def _near(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= 0.5  # NaN is far from everything


def _odd(a: int | None, b: int | None) -> bool:
    return a is not None and b is not None and (a + 2 * b) % 3 == 1


def _some(rows: Sequence[Row]) -> bool:
    return equal(rows[0].k, rows[1].k) and all(_near(a.v, b.v) for a, b in pairwise(rows[1:]))


PREDICATES = {
    each.name: each
    for each in (
        Named("any", lambda names: "", lambda rows: True),
        Named("same", _steps("{a}.k = {b}.k"), _each(lambda a, b: equal(a.k, b.k))),
        Named("chain", _steps("{a}.g = {b}.k"), _each(lambda a, b: equal(a.g, b.k))),
        Named(
            "both",
            _steps("{a}.k = {b}.k AND {a}.g = {b}.g"),
            _each(lambda a, b: equal(a.k, b.k) and equal(a.g, b.g)),
        ),
        Named("number", _steps("{a}.v = {b}.v"), _each(lambda a, b: equal(a.v, b.v))),
        Named("mixed", _steps("{a}.k = {b}.v"), _each(lambda a, b: equal(a.k, b.v))),
        Named("near", _steps("abs({a}.v - {b}.v) <= 0.5"), _each(lambda a, b: _near(a.v, b.v))),
        Named("below", _steps("{a}.v < {b}.v"), _each(lambda a, b: below(a.v, b.v))),
        Named("rising", _steps("{b}.k >= {a}.k"), _each(lambda a, b: below(a.k, b.k) or equal(a.k, b.k))),
        Named("thirds", _steps("({a}.k + 2 * {b}.k) % 3 = 1"), _each(lambda a, b: _odd(a.k, b.k))),
        Named(
            "either",
            _steps("({a}.k = {b}.k OR {a}.g = {b}.g)"),
            _each(lambda a, b: equal(a.k, b.k) or equal(a.g, b.g)),
        ),
        Named(
            "some",  # a key for two of the streams, a band for the others
            lambda names: " AND ".join(
                [f"{names[0]}.k = {names[1]}.k", *(f"abs({a}.v - {b}.v) <= 0.5" for a, b in pairwise(names[1:]))]
            ),
            _some,
        ),
        Named(
            "positive",  # a filter on each stream alone beside the key
            lambda names: " AND ".join([_steps("{a}.k = {b}.k")(names), *(f"{name}.g > 0" for name in names)]),
            lambda rows: _each(lambda a, b: equal(a.k, b.k))(rows) and all(below(0, row.g) for row in rows),
        ),
        Named("text", _steps("{a}.s = {b}.s"), _each(lambda a, b: equal(a.s, b.s)), compiled=False),
        Named(
            "red",  # a filter that is not compiled
            lambda names: " AND ".join([_steps("{a}.k = {b}.k")(names), f"{names[0]}.s LIKE 'r%'"]),
            lambda rows: _each(lambda a, b: equal(a.k, b.k))(rows) and (rows[0].s or "").startswith("r"),
            compiled=False,
        ),
    )
}
