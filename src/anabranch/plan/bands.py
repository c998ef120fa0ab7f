"""Ranges of one stream's column that follow from a comparison, once the other members are bound.

``abs(A.v - B.v) < c`` puts B.v between ``A.v - c`` and ``A.v + c``; ``A.lo <= B.x``
puts B.x at or above ``A.lo``.  A range only has to contain what satisfies the
comparison (which is tested again), so that differences of doubles are widened by
more than they can be rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from anabranch.plan.code import MIRRORED, Coder, NotCompiled, Scalar


@dataclass(frozen=True)
class Term:
    """*column* is at least *low* and at most *high* (code for words in band order, or None for no limit)."""

    column: exp.Column
    given: frozenset[str]
    holds: tuple[str, ...]
    low: str | None
    high: str | None


def terms(conjunct: exp.Expr, coder: Coder) -> list[Term]:
    """The ranges that a conjunct gives, one for each column that it isolates."""
    found: list[Term] = []
    for a, operator, b in _comparisons(conjunct):
        for left, sign, right in ((a, operator, b), (b, MIRRORED[operator], a)):
            found += _isolated(left, sign, right, coder)
    return found


def _comparisons(e: exp.Expr) -> list[tuple[exp.Expr, type[exp.Expr], exp.Expr]]:
    if isinstance(e, exp.Paren):
        return _comparisons(e.this)
    if isinstance(e, exp.Between):
        return [(e.this, exp.GTE, e.args["low"]), (e.this, exp.LTE, e.args["high"])]
    if type(e) in MIRRORED and not isinstance(e, exp.NEQ):
        return [(e.this, type(e), e.expression)]
    return []


def _isolated(left: exp.Expr, operator: type[exp.Expr], right: exp.Expr, coder: Coder) -> list[Term]:
    """Terms from *left* operator *right* with the column on the left."""
    left = left.unnest()
    found = []
    try:
        limit = coder.scalar(right)
        if isinstance(left, exp.Column):
            found.append(_term(left, operator, limit, (right,), coder, rounded=None))
        elif isinstance(left, exp.Abs) and operator in (exp.LT, exp.LTE):
            inner = left.this.unnest()
            if isinstance(inner, exp.Sub):
                for column, other in ((inner.this, inner.expression), (inner.expression, inner.this)):
                    if isinstance(column, exp.Column):
                        found.append(_around(column, coder.scalar(other), limit, (other, right), coder))
        elif isinstance(left, exp.Sub | exp.Add):
            found += _linear(left, operator, limit, right, coder)
    except NotCompiled:
        return []
    return [term for term in found if term is not None]


def _linear(
    left: exp.Expr, operator: type[exp.Expr], limit: Scalar, right: exp.Expr, coder: Coder
) -> list[Term | None]:
    """``column + x``, ``column - x`` and ``x - column`` against a limit."""
    found: list[Term | None] = []
    a, b = left.this, left.expression
    for column, other, flipped in ((a, b, False), (b, a, isinstance(left, exp.Sub))):
        if not isinstance(column, exp.Column):
            continue
        x = coder.scalar(other)
        if flipped:  # x - column < limit  is  column > x - limit
            edge, sign = _combined(x, "-", limit), MIRRORED[operator]
        else:
            edge, sign = _combined(limit, "-" if isinstance(left, exp.Add) else "+", x), operator
        if edge is not None:
            found.append(_term(column, sign, edge[0], (other, right), coder, rounded=edge[1]))
    return found


def _around(
    column: exp.Column, centre: Scalar, radius: Scalar, others: tuple[exp.Expr, ...], coder: Coder
) -> Term | None:
    low, high = _combined(centre, "-", radius), _combined(centre, "+", radius)
    if low is None or high is None:
        return None
    below = _term(column, exp.GTE, low[0], others, coder, rounded=low[1])
    above = _term(column, exp.LTE, high[0], others, coder, rounded=high[1])
    return Term(below.column, below.given, below.holds, below.low, above.high) if below and above else None


def _combined(a: Scalar, sign: str, b: Scalar) -> tuple[Scalar, str] | None:
    """``a sign b`` as a double, and how much to widen a limit by; only for doubles, where nothing overflows."""
    if "real" not in (a.kind, b.kind):
        return None
    x, y = _as_real(a), _as_real(b)
    holds = tuple(h for h in (*a.holds, *b.holds))
    return Scalar(f"({x} {sign} {y})", holds, "real"), f"1e-14 * (abs({x}) + abs({y}))"


def _term(
    column: exp.Column,
    operator: type[exp.Expr],
    limit: Scalar,
    others: tuple[exp.Expr, ...],
    coder: Coder,
    rounded: str | None,
) -> Term | None:
    mine = coder.scalar(column)
    given = frozenset(c.table for other in others for c in other.find_all(exp.Column))
    if column.table in given or not given:
        return None
    if mine.kind == "real":
        x, slack = _as_real(limit), rounded or "0.0"
        low, high = f"ordered_low({x} - {slack})", f"ordered_high({x} + {slack})"
    elif mine.kind in ("int", "time", "date") and limit.kind == mine.kind:
        low = high = limit.code
    else:
        return None
    if operator is exp.EQ:
        return Term(column, given, limit.holds, low, high)
    return Term(
        column, given, limit.holds,
        low if operator in (exp.GT, exp.GTE) else None,
        high if operator in (exp.LT, exp.LTE) else None,
    )  # fmt: skip


def _as_real(x: Scalar) -> str:
    if x.kind == "real":
        return x.code
    if x.literal is not None:
        return repr(float(x.literal))
    if x.kind == "int":
        return f"float({x.code})"
    raise NotCompiled(f"{x.kind} is no number")
