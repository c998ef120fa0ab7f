"""Comparisons of times that are difference bounds: ``B.ts <= A.ts + INTERVAL 5 SECONDS``.

A side of a comparison is read as a linear form over the members' times.  If the two sides
leave just one time minus another, the comparison is a bound on it and joins the windows.
The comparison itself stays in the predicate, so a bound only ever has to be implied by
it: whatever is not surely linear is left alone.

Nanoseconds are floored to ticks, so there a strict comparison implies only the closed
bound, and a fraction is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa
from sqlglot import exp

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.windows import Bound
from anabranch.plan.query import Member
from anabranch.plan.sql.windows import UNITS


@dataclass(frozen=True)
class _Linear:
    """``sum of times * weight + ticks``."""

    times: tuple[tuple[str, Fraction], ...] = ()
    ticks: Fraction = Fraction(0)

    def plus(self, other: _Linear, sign: int = 1) -> _Linear:
        weights = dict(self.times)
        for alias, weight in other.times:
            weights[alias] = weights.get(alias, Fraction(0)) + sign * weight
        times = tuple((alias, weight) for alias, weight in weights.items() if weight)
        return _Linear(times, self.ticks + sign * other.ticks)

    def scaled(self, factor: Fraction) -> _Linear:
        return _Linear(tuple((alias, w * factor) for alias, w in self.times), self.ticks * factor)


def difference_bounds(node: exp.Expr, members: Sequence[Member], clause: str) -> list[Bound]:
    """The bounds that a conjunct of the predicate implies; none for most."""
    if isinstance(node, exp.Paren):
        return difference_bounds(node.this, members, clause)
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        sides = [(node.args["low"], node.this, False), (node.this, node.args["high"], False)]
    elif isinstance(node, (exp.LT, exp.LTE)):
        sides = [(node.left, node.right, isinstance(node, exp.LT))]
    elif isinstance(node, (exp.GT, exp.GTE)):
        sides = [(node.right, node.left, isinstance(node, exp.GT))]
    elif isinstance(node, (exp.EQ, exp.NullSafeEQ)):
        sides = [(node.left, node.right, False), (node.right, node.left, False)]
    else:
        return []
    return [bound for low, high, strict in sides for bound in _at_most(low, high, strict, members, clause)]


def _at_most(low: exp.Expr, high: exp.Expr, strict: bool, members: Sequence[Member], clause: str) -> list[Bound]:
    """The bounds in ``low <= high``, or ``low < high``."""
    while isinstance(low, exp.Paren):
        low = low.this
    if isinstance(low, exp.Abs):
        inner, limit = _linear(low.this, members), _linear(high, members)
        if inner is None or limit is None or limit.times:
            return []
        forms = [inner.plus(limit, -1), inner.scaled(Fraction(-1)).plus(limit, -1)]
    else:
        below, above = _linear(low, members), _linear(high, members)
        if below is None or above is None:
            return []
        forms = [below.plus(above, -1)]
    return [bound for form in forms if (bound := _bound(form, strict, members, clause))]


def _bound(form: _Linear, strict: bool, members: Sequence[Member], clause: str) -> Bound | None:
    """``form <= 0`` as a bound, if it is one time minus another and a constant."""
    if len(form.times) != 2 or sum(weight for _, weight in form.times) != 0:
        return None
    (later, weight), (earlier, _) = sorted(form.times, key=lambda cell: -cell[1])
    most = -form.ticks / weight
    if any(_finer_than_ticks(member) for member in members if member.alias in (later, earlier)):
        ticks = math.ceil(most)
    else:
        ticks = math.ceil(most) - 1 if strict else math.floor(most)
    return Bound(earlier, later, max(ticks, NEVER + 1), clause) if ticks < FOREVER else None


def _linear(node: exp.Expr, members: Sequence[Member]) -> _Linear | None:
    """*node* as a linear form over times, or None."""
    if isinstance(node, exp.Paren):
        return _linear(node.this, members)
    if isinstance(node, exp.Column):
        time = any(member.alias == node.table and member.stream.time == node.name for member in members)
        return _Linear(((node.table, Fraction(1)),)) if time else None
    if isinstance(node, exp.Neg):
        inner = _linear(node.this, members)
        return inner and inner.scaled(Fraction(-1))
    if isinstance(node, (exp.Add, exp.Sub)):
        left, right = _linear(node.left, members), _linear(node.right, members)
        return left.plus(right, 1 if isinstance(node, exp.Add) else -1) if left and right else None
    if members[0].stream.integer_time:
        if isinstance(node, exp.Literal) and not node.is_string:
            ticks = _number(node.name)
            return None if ticks is None else _Linear(ticks=ticks)
        if isinstance(node, exp.Mul):
            left, right = _linear(node.left, members), _linear(node.right, members)
            if left and right and not left.times:
                return right.scaled(left.ticks)
            return left.scaled(right.ticks) if left and right and not right.times else None
    elif isinstance(node, exp.Interval) and isinstance(node.unit, exp.Var) and isinstance(node.this, exp.Literal):
        number = _number(node.this.name)
        unit = UNITS.get(node.unit.name.lower().removesuffix("s"))
        return None if number is None or unit is None else _Linear(ticks=number * unit)
    return None


def _number(text: str) -> Fraction | None:
    """A number without an exponent: one with it is a double, and doubles round."""
    try:
        return None if "e" in text.lower() else Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return None


def _finer_than_ticks(member: Member) -> bool:
    type_ = member.stream.schema.field(member.stream.time).type
    return bool(pa.types.is_timestamp(type_)) and type_.unit == "ns"
