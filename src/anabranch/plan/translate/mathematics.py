"""Mathematics: rounding exactly as Spark, functions of doubles within the last place.

Spark rounds a double by its shortest decimal text, half up, so that 1.005 becomes 1.01;
DuckDB's ``round`` does not.  ``sin``, ``exp`` and their kin may differ in the last place, as
Java's and C's own libraries do.  Where the logarithm of a number does not exist, Spark has NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from anabranch.plan.translate import types
from anabranch.plan.translate.operands import double, number, whole
from anabranch.plan.translate.translator import Rule, Rules, Translator, takes
from anabranch.plan.translate.value import Unfit, Value

NAN = "CAST('nan' AS DOUBLE)"
SAFE = 15  # decimal digits that a double always holds
WHOLE = 2**52  # from here on a double has no fraction


def absolute(t: Translator, value: Value) -> Value:
    if value.kind in (*types.INTEGERS, *types.INTERVALS):
        return t.risky(f"abs({value})", value.kind, value)
    return t.sound(f"abs({number(value)})", value.kind, value)


def rounded(t: Translator, value: Value, places: Value | None = None) -> Value:
    n = whole(places, "places") if places else 0
    number(value)
    if value.kind in types.INTEGERS:
        return _round_integer(t, value, n)
    if types.is_decimal(value.kind):
        return _round_decimal(t, value, n)
    if value.kind == types.NULL:
        return value.to(types.DOUBLE)
    if not 0 <= n <= SAFE:
        raise Unfit("rounds a double to tens, or beyond its digits", "cast it to a decimal")
    sql = _round_double(value.to(types.DOUBLE).sql, n)
    return t.sound(sql if value.kind == types.DOUBLE else f"CAST({sql} AS FLOAT)", value.kind, value)


def _round_double(x: str, n: int) -> str:
    """By way of the shortest text; doubles without a fraction stay, and so do NaN and the infinities."""
    text = f"CAST({x} AS VARCHAR)"
    narrow = f"CAST(CAST({text} AS DECIMAL(18,{n})) AS DOUBLE)"
    wide = f"CAST(CAST(CAST({text} AS DECIMAL(38,{n})) AS VARCHAR) AS DOUBLE)"
    return f"(CASE WHEN abs({x}) < 1e{SAFE - n} THEN {narrow} WHEN abs({x}) < {WHOLE} THEN {wide} ELSE {x} END)"


def _round_integer(t: Translator, value: Value, n: int) -> Value:
    if n >= 0:
        return Value(value.sql, value.kind, value.raises)
    return t.risky(f"CAST({_tens(value.sql, -n)} AS {types.duck(value.kind)})", value.kind, value)


def _round_decimal(t: Translator, value: Value, n: int) -> Value:
    precision, scale = value.kind.precision, value.kind.scale
    digits = precision - scale + 1
    if n < 0:
        kind = types.decimal(min(types.WIDEST, max(digits, 1 - n)), 0)
        return t.risky(f"CAST({_tens(f'trunc({value})', -n)} AS {types.duck(kind)})", kind, value)
    kind = types.decimal(min(types.WIDEST, digits + min(scale, n)), min(scale, n))
    return t.risky(f"CAST({value} AS {types.duck(kind)})", kind, value)


def _tens(sql: str, zeros: int) -> str:
    """An integer rounded half up to so many zeros."""
    if zeros > SAFE:
        raise Unfit("rounds to more zeros than a number has digits")
    return f"((abs(CAST({sql} AS HUGEINT)) + {5 * 10 ** (zeros - 1)}) // {10**zeros} * {10**zeros} * sign({sql}))"


def whole_number(name: str) -> Rule:
    """``floor`` and ``ceil``, which are integers."""

    def make(t: Translator, value: Value) -> Value:
        number(value)
        if types.is_decimal(value.kind):
            precision, scale = value.kind.precision, value.kind.scale
            kind = types.decimal(precision - scale + 1, 0) if scale else value.kind
            return t.sound(f"CAST({name}({value}) AS {types.duck(kind)})", kind, value)
        if value.kind in types.INTEGERS or value.kind == types.NULL:
            return t.sound(value.to(types.BIGINT).sql, types.BIGINT, value)
        inner = t.risky(f"CAST({name}({value.to(types.DOUBLE)}) AS BIGINT)", types.BIGINT, value)
        return t.sound(f"(CASE WHEN isnan({value}) THEN 0 ELSE {inner} END)", types.BIGINT, inner)

    return takes(make, "this")


def sign(t: Translator, value: Value) -> Value:
    x = double(value)
    sql = f"(CASE WHEN isnan({x}) THEN {x} WHEN {x} > 0 THEN 1e0 WHEN {x} < 0 THEN -1e0 ELSE {x} END)"
    return t.sound(sql, types.DOUBLE, x)


def power(t: Translator, base: Value, exponent: Value) -> Value:
    a, b = double(base), double(exponent)
    lost = f"isnan({b}) OR (abs({a}) = 1 AND isinf({b}))"  # where C has 1 and Java NaN
    return t.sound(f"(CASE WHEN {lost} THEN {b} - {b} + {a} ELSE pow({a}, {b}) END)", types.DOUBLE, a, b)


def logarithm(t: Translator, base: Value, value: Value) -> Value:
    a, b = double(base), double(value)
    if base.constant == 10:
        return t.sound(f"(CASE WHEN {b} > 0 THEN log10({b}) END)", types.DOUBLE, b)
    return t.sound(f"(CASE WHEN {a} > 0 AND {b} > 0 THEN ln({b}) / ln({a}) END)", types.DOUBLE, a, b)


def natural_logarithm(t: Translator, value: Value) -> Value:
    x = double(value)
    return t.sound(f"(CASE WHEN {x} > 0 THEN ln({x}) END)", types.DOUBLE, x)


def of_doubles(name: str) -> Callable[..., Value]:
    def make(t: Translator, value: Value) -> Value:
        x = double(value)
        return t.sound(f"{name}({x})", types.DOUBLE, x)

    return make


def arc_tangent(t: Translator, y: Value, x: Value) -> Value:
    y, x = double(y), double(x)
    return t.sound(f"atan2({y} + 0, {x} + 0)", types.DOUBLE, y, x)


def constant(sql: str) -> Rule:
    return takes(lambda t: Value(sql, types.DOUBLE))


OF_DOUBLES = (
    exp.Sqrt,
    exp.Cbrt,
    exp.Exp,
    exp.Sin,
    exp.Cos,
    exp.Tan,
    exp.Asin,
    exp.Acos,
    exp.Atan,
    exp.Sinh,
    exp.Cosh,
    exp.Tanh,
    exp.Degrees,
    exp.Radians,
)

RULES: Rules = {
    exp.Abs: takes(absolute, "this"),
    exp.Round: takes(rounded, "this", "decimals"),
    exp.Floor: whole_number("floor"),
    exp.Ceil: whole_number("ceil"),
    exp.Sign: takes(sign, "this"),
    exp.Pow: takes(power, "this", "expression"),
    exp.Ln: takes(natural_logarithm, "this"),
    exp.Log: takes(logarithm, "this", "expression"),
    exp.Atan2: takes(arc_tangent, "this", "expression"),
    exp.Pi: constant("pi()"),
    "e": constant("exp(1e0)"),
    **{each: takes(of_doubles(each.__name__.lower()), "this") for each in OF_DOUBLES},
}
