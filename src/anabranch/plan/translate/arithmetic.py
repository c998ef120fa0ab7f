"""Arithmetic on numbers: Spark's result types, errors on overflow and division by zero.

Integers keep the wider of their types and overflow; ``/`` makes doubles of them; a decimal
stays exact beside integers and gives way to a double.  Times and intervals are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from anabranch.plan.sql.kinds import spelled
from anabranch.plan.translate import decimals, types
from anabranch.plan.translate.casts import number as literal_number
from anabranch.plan.translate.intervals import divided, moved, multiplied, negated
from anabranch.plan.translate.operands import number
from anabranch.plan.translate.translator import Rule, Rules, Translator, arguments, takes
from anabranch.plan.translate.value import Unfit, Value, quoted

SIGNS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Mod: "%"}


def plus_or_minus(t: Translator, node: exp.Binary) -> Value:
    left, right = arguments(node, "this", "expression")
    return moved(t, left, right, SIGNS[type(node)]) or combined(t, t(left), t(right), SIGNS[type(node)])


def times(t: Translator, node: exp.Mul) -> Value:
    a, b = (t(each) for each in arguments(node, "this", "expression"))
    return multiplied(t, a, b) or combined(t, a, b, "*")


def combined(t: Translator, a: Value, b: Value, sign: str) -> Value:
    a, b = _numbers(a, b)
    if _exact(a, b):
        return decimals.combined(t, a, b, sign)
    kind = types.common(a.kind, b.kind)
    sql = f"({a.to(kind)} {sign} {b.to(kind)})"
    return t.sound(sql, kind, a, b) if types.is_real(kind) else t.risky(sql, kind, a, b)


def divide(t: Translator, node: exp.Div) -> Value:
    a, b = (t(each) for each in arguments(node, "this", "expression"))
    return _nonzero(t, a, b, node, divided(t, a, b) or _quotient(t, a, b))


def _quotient(t: Translator, a: Value, b: Value) -> Value:
    a, b = _numbers(a, b)
    if _exact(a, b):
        return decimals.quotient(t, a, b)
    return t.sound(f"({a.to(types.DOUBLE)} / {b.to(types.DOUBLE)})", types.DOUBLE, a, b)


def integer_divide(t: Translator, node: exp.IntDiv) -> Value:
    a, b = (t(each) for each in arguments(node, "this", "expression"))
    for value in (a, b):
        if types.exact(value.kind) is None:
            raise Unfit(f"divides integers, not {types.name(value.kind)}", "cast it, or use /")
    if _exact(a, b):
        return _nonzero(t, a, b, node, decimals.whole_quotient(t, a, b))
    return _nonzero(t, a, b, node, t.risky(f"({a.to(types.BIGINT)} // {b.to(types.BIGINT)})", types.BIGINT, a, b))


def modulo(t: Translator, node: exp.Mod) -> Value:
    a, b = (t(each) for each in arguments(node, "this", "expression"))
    return _nonzero(t, a, b, node, _remainder(t, a, b))


def _remainder(t: Translator, a: Value, b: Value) -> Value:
    a, b = _numbers(a, b)
    if _exact(a, b):
        return decimals.combined(t, a, b, "%")
    kind = types.common(a.kind, b.kind)
    a, b = a.to(kind), b.to(kind)
    if types.is_real(kind):
        return t.sound(f"({a} % {b})", kind, a, b)
    zero = f"CAST(0 AS {types.duck(kind)})"  # the least integer % -1 overflows in DuckDB
    return t.sound(f"(CASE WHEN {b} = -1 AND {a} IS NOT NULL THEN {zero} ELSE {a} % {b} END)", kind, a, b)


def positive_modulo(t: Translator, node: exp.Anonymous) -> Value:
    if len(node.expressions) != 2:
        raise Unfit("takes two numbers", "write pmod(a, n)")
    a, b = (t(each) for each in node.expressions)
    first = _remainder(t, a, b)
    again = _remainder(t, combined(t, replace(first, constant=None), b, "+"), b).sql
    kind = first.kind
    sql = f"(CASE WHEN {first} < 0 THEN CAST({again} AS {types.duck(kind)}) ELSE {first} END)"
    return _nonzero(t, a, b, node, t.risky(sql, kind, a, b))


def negative(t: Translator, node: exp.Neg) -> Value:
    inner = node.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return literal_number(f"-{inner.this}")
    return negated(t, inner) or _negative(t, t(inner))


def _negative(t: Translator, value: Value) -> Value:
    sql = f"(-({number(value)}))"
    if value.kind in types.INTEGERS:
        return t.risky(sql, value.kind, value)
    return t.sound(sql, value.kind, value)


def positive(t: Translator, value: Value) -> Value:
    return replace(number(value), origin=None)


def bits(sign: str) -> Callable[[Translator, Value, Value], Value]:
    def make(t: Translator, a: Value, b: Value) -> Value:
        if types.common(a.kind, b.kind) not in types.INTEGERS:
            raise Unfit("takes integers", "cast its operands")
        kind = types.common(a.kind, b.kind)
        a, b = a.to(kind), b.to(kind)
        return t.sound(f"xor({a}, {b})" if sign == "^" else f"({a} {sign} {b})", kind, a, b)

    return make


def bits_not(t: Translator, a: Value) -> Value:
    if a.kind not in types.INTEGERS:
        raise Unfit("takes an integer", "cast its operand")
    return t.sound(f"(~({a}))", a.kind, a)


def tried(node_type: type[exp.Binary]) -> Rule:
    """``try_add`` and its kin: NULL where the operation itself fails, an error where an operand does."""

    def rule(t: Translator, node: exp.Expr) -> Value:
        a, b = (t(each) for each in arguments(node, "this", "expression"))
        a, b = _numbers(a, b)
        if node_type is exp.Div:
            return _nonzero(t.trying, a, b, node, _quotient(t.trying, a, b))
        return combined(t.trying, a, b, SIGNS[node_type])

    return rule


def _numbers(a: Value, b: Value) -> tuple[Value, Value]:
    number(a), number(b)
    if types.NULL in (a.kind, b.kind):
        kind = a.kind if b.kind == types.NULL else b.kind
        if kind == types.NULL:
            raise Unfit("has no operand with a type", "cast one of them")
        return a.to(kind), b.to(kind)
    return a, b


def _exact(a: Value, b: Value) -> bool:
    """Whether the operation is one of decimals."""
    kinds = (a.kind, b.kind)
    return any(map(types.is_decimal, kinds)) and not any(map(types.is_real, kinds))


def _nonzero(t: Translator, a: Value, b: Value, node: exp.Expr, value: Value) -> Value:
    if isinstance(b.constant, int) and b.constant != 0:
        return value
    return t.errors.checked(f"{b} = 0 AND {a} IS NOT NULL", quoted(f"division by zero in {spelled(node)}"), value)


RULES: Rules = {
    exp.Add: plus_or_minus,
    exp.Sub: plus_or_minus,
    exp.Mul: times,
    exp.Div: divide,
    exp.IntDiv: integer_divide,
    exp.Mod: modulo,
    "pmod": positive_modulo,
    exp.Neg: negative,
    exp.Negative: negative,
    "positive": takes(positive),
    exp.SafeAdd: tried(exp.Add),
    exp.SafeSubtract: tried(exp.Sub),
    exp.SafeMultiply: tried(exp.Mul),
    exp.SafeDivide: tried(exp.Div),
    exp.BitwiseAnd: takes(bits("&"), "this", "expression"),
    exp.BitwiseOr: takes(bits("|"), "this", "expression"),
    exp.BitwiseXor: takes(bits("^"), "this", "expression"),
    exp.BitwiseNot: takes(bits_not, "this"),
}
