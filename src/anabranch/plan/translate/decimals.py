"""Exact numbers: the precision and scale that Spark gives each result, and division without error.

DuckDB adds and multiplies decimals exactly but divides them as doubles, so a quotient is
computed over 128-bit integers and rounded half up.  A result that Spark itself would have to
cut to 38 digits is refused, but for division, where Spark cuts the scale only.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from anabranch.plan.translate import types
from anabranch.plan.translate.intervals import half_up
from anabranch.plan.translate.translator import Translator
from anabranch.plan.translate.value import Unfit, Value


def exact(value: Value) -> Value:
    """A number as a decimal; an integer literal has no more digits than it shows."""
    if types.is_decimal(value.kind):
        return value
    if isinstance(value.constant, int):
        return value.to(types.decimal(len(str(abs(value.constant))), 0))
    kind = types.exact(value.kind)
    assert kind is not None
    return value.to(kind)


def combined(t: Translator, a: Value, b: Value, sign: str) -> Value:
    """``a sign b`` for one of ``+ - * %``; the divisor has been checked."""
    a, b = exact(a), exact(b)
    (p1, s1), (p2, s2) = size(a), size(b)
    whole, scale = max(p1 - s1, p2 - s2), max(s1, s2)
    if sign == "*":
        kind = bounded(p1 + p2 + 1, s1 + s2)
        a = wide(a)
    elif sign == "%":
        kind = bounded(min(p1 - s1, p2 - s2) + scale, scale)
        a, b = a.to(bounded(whole + scale, scale)), b.to(bounded(whole + scale, scale))
    else:
        kind = bounded(whole + scale + 1, scale)
        a, b = a.to(kind), b.to(kind)
    return t.sound(f"CAST(({a} {sign} {b}) AS {types.duck(kind)})", kind, a, b)


def quotient(t: Translator, a: Value, b: Value, kind: pa.DataType | None = None) -> Value:
    """``a / b`` rounded half up; *kind* is given for an average.  The divisor has been checked."""
    a, b = exact(a), exact(b)
    (p1, s1), (p2, s2) = size(a), size(b)
    if kind is None:
        scale = max(6, s1 + p2 + 1)
        kind = cut(p1 - s1 + s2 + scale, scale)
    n, d = _shifted(a, b, kind.scale + s2 - s1)
    return t.risky(scaled(half_up(n, d), kind), kind, a, b)


def whole_quotient(t: Translator, a: Value, b: Value) -> Value:
    """``a div b``: the integer part, as a bigint."""
    a, b = exact(a), exact(b)
    n, d = _shifted(a, b, size(b)[1] - size(a)[1])
    return t.risky(f"CAST(({n} // {d}) AS BIGINT)", types.BIGINT, a, b)


def size(value: Value) -> tuple[int, int]:
    return value.kind.precision, value.kind.scale


def wide(value: Value) -> Value:
    """A factor of 128 bits: DuckDB multiplies two narrow decimals in 64."""
    precision, scale = size(value)
    return value.to(types.decimal(max(19, precision), scale))


def bounded(precision: int, scale: int) -> pa.DataType:
    if precision > types.WIDEST:
        raise Unfit(f"has a result of {precision} digits", "cast an operand to a narrower decimal, or to double")
    return types.decimal(precision, scale)


def cut(precision: int, scale: int) -> pa.DataType:
    """The type of a quotient: beyond 38 digits Spark gives up decimals, but not the last six."""
    if precision <= types.WIDEST:
        return types.decimal(precision, scale)
    return types.decimal(types.WIDEST, max(types.WIDEST - (precision - scale), min(scale, 6)))


def scaled(sql: str, kind: pa.DataType) -> str:
    """A 128-bit integer as the decimal of that many last places."""
    if not kind.scale:
        return f"CAST({sql} AS {types.duck(kind)})"
    unit = f"CAST('{Decimal(1).scaleb(-kind.scale):f}' AS DECIMAL({kind.scale},{kind.scale}))"
    return f"CAST((CAST({sql} AS DECIMAL(38,0)) * {unit}) AS {types.duck(kind)})"


def unscaled(value: Value, shift: int = 0) -> str:
    """A decimal's digits as a 128-bit integer, with *shift* zeros more."""
    precision, scale = size(value)
    if precision + scale >= types.WIDEST:
        raise Unfit(f"divides a {types.name(value.kind)}", "cast it to a narrower decimal, or to double")
    sql = f"({wide(value)} * CAST({10**scale} AS DECIMAL({scale + 1},0)))" if scale else value.sql
    sql = f"CAST({sql} AS HUGEINT)"
    return f"({sql} * CAST('{10**shift}' AS HUGEINT))" if shift else sql


def _shifted(a: Value, b: Value, shift: int) -> tuple[str, str]:
    return unscaled(a, max(0, shift)), unscaled(b, max(0, -shift))
