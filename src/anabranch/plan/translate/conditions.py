"""Comparisons, three-valued logic, and choices between values.

NaN equals itself and is the largest number, -0.0 equals 0.0, texts compare by their bytes: in
that Spark and DuckDB agree.  AND and OR of operands that may fail are evaluated from the left
and no further than needed, as Spark does, and DuckDB does not by itself.
"""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from anabranch.plan.translate import types
from anabranch.plan.translate.operands import alike, boolean, list_of
from anabranch.plan.translate.translator import Rule, Rules, Translator, arguments, takes
from anabranch.plan.translate.value import SPARK, Unfit, Value, null


def compared(t: Translator, a: Value, b: Value, sign: str) -> Value:
    kind = alike([a, b])
    if not comparable(kind) and sign not in ("=", "<>", "IS NOT DISTINCT FROM", "IS DISTINCT FROM"):
        raise unordered(kind)
    a, b = t.as_(a, kind), t.as_(b, kind)
    return t.sound(f"({a} {sign} {b})", types.BOOLEAN, a, b)


def comparable(kind: pa.DataType) -> bool:
    """Whether values of *kind* have an order that both runtimes share."""
    return types.is_number(kind) or kind in (types.STRING, types.BOOLEAN, types.NULL, *types.TIMES, *types.INTERVALS)


def unordered(kind: pa.DataType) -> Unfit:
    """What to say of values that would have to be put in order."""
    hint = "whether binary values are equal is all that can be asked" if kind == types.BINARY else SPARK
    return Unfit(f"orders {types.name(kind)}", hint)


def comparison(sign: str) -> Rule:
    return takes(lambda t, a, b: compared(t, a, b, sign), "this", "expression")


def between(t: Translator, node: exp.Between) -> Value:
    value, low, high = (t(each) for each in arguments(node, "this", "low", "high"))
    return conjunction(t, [compared(t, value, low, ">="), compared(t, value, high, "<=")])


def member(t: Translator, node: exp.In) -> Value:
    if node.args.get("query"):
        value, query = (t(each) for each in arguments(node, "this", "query"))
        kind = alike([value, query])
        if kind != query.kind:
            raise Unfit(f"looks for {types.name(value.kind)} among {types.name(query.kind)}", "cast it in the subquery")
        value = t.as_(value, kind)
        return t.sound(f"({value} IN {query})", types.BOOLEAN, value, query)
    operands = [t(each) for each in arguments(node, "this", "expressions")]
    kind = alike(operands)
    value, *others = (t.as_(operand, kind) for operand in operands)
    return t.sound(f"({value} IN ({list_of(others)}))", types.BOOLEAN, value, *others)


def conjunction(t: Translator, operands: list[Value]) -> Value:
    return _connected(t, operands, "AND", "FALSE")


def _connected(t: Translator, operands: list[Value], word: str, decisive: str) -> Value:
    operands = [boolean(operand) for operand in operands] or [Value("TRUE", types.BOOLEAN)]
    whole = f" {word} ".join(operand.sql for operand in operands)
    if any(operand.raises for operand in operands[1:]):
        steps = " ".join(f"WHEN ({operand}) IS {decisive} THEN {decisive}" for operand in operands[:-1])
        return t.sound(f"(CASE {steps} ELSE ({whole}) END)", types.BOOLEAN, *operands)
    return t.sound(f"({whole})", types.BOOLEAN, *operands)


def both(t: Translator, node: exp.And) -> Value:
    return conjunction(t, [t(each) for each in _flat(node)])


def either(t: Translator, node: exp.Or) -> Value:
    return _connected(t, [t(each) for each in _flat(node)], "OR", "TRUE")


def _flat(node: exp.Connector) -> list[exp.Expr]:
    """The operands of a chain of one connector, from the left."""
    found: list[exp.Expr] = []
    pending: list[exp.Expr] = [node]
    while pending:
        part = pending.pop()
        if type(part) is type(node):
            pending += [part.args["expression"], part.this]
        else:
            found.append(part)
    return found


def negation(t: Translator, value: Value) -> Value:
    return t.sound(f"(NOT {boolean(value)})", types.BOOLEAN, value)


def is_(t: Translator, node: exp.Is) -> Value:
    value, truth = t(node.this), node.expression
    if isinstance(truth, exp.Null):
        return t.sound(f"({value} IS NULL)", types.BOOLEAN, value)
    if isinstance(truth, exp.Boolean):
        return t.sound(f"({boolean(value)} IS {'TRUE' if truth.this else 'FALSE'})", types.BOOLEAN, value)
    raise Unfit("asks for something other than NULL, TRUE or FALSE")


def is_null(t: Translator, value: Value) -> Value:
    return t.sound(f"({value} IS NULL)", types.BOOLEAN, value)


def is_not_null(t: Translator, value: Value) -> Value:
    return t.sound(f"({value} IS NOT NULL)", types.BOOLEAN, value)


def is_nan(t: Translator, value: Value) -> Value:
    if not types.is_real(value.kind):
        raise Unfit(f"takes doubles, not {types.name(value.kind)}", "cast it")
    return t.sound(f"({value} IS NOT NULL AND isnan({value}))", types.BOOLEAN, value)


def nanvl(t: Translator, value: Value, other: Value) -> Value:
    kind = alike([value, other])
    if not types.is_real(kind):
        raise Unfit(f"takes doubles, not {types.name(kind)}", "cast it")
    value, other = value.to(kind), other.to(kind)
    return t.sound(f"(CASE WHEN isnan({value}) THEN {other} ELSE {value} END)", kind, value, other)


# -- choices ------------------------------------------------------------------------


def chosen(t: Translator, branches: list[tuple[Value, Value]], default: Value | None) -> Value:
    """``CASE``: the value of the first condition that is TRUE."""
    results = [result for _, result in branches] + ([default] if default else [])
    kind = alike(results)
    text = " ".join(f"WHEN {boolean(condition)} THEN {t.as_(result, kind)}" for condition, result in branches)
    last = t.as_(default, kind) if default else null(kind)
    return t.sound(f"(CASE {text} ELSE {last} END)", kind, *results, last, *(each for each, _ in branches))


def case(t: Translator, node: exp.Case) -> Value:
    subject = t(node.this) if node.this else None
    branches = []
    for branch in node.args["ifs"]:
        condition = t(branch.this)
        if subject:
            condition = compared(t, subject, condition, "=")
        branches.append((condition, t(branch.args["true"])))
    default = node.args.get("default")
    return chosen(t, branches, t(default) if default else None)


def if_(t: Translator, condition: Value, result: Value, other: Value) -> Value:
    return chosen(t, [(condition, result)], other)


def coalesce(t: Translator, *values: Value) -> Value:
    kind = alike(list(values))
    values = tuple(t.as_(value, kind) for value in values)
    return t.sound(f"coalesce({list_of(list(values))})", kind, *values)


def nvl2(t: Translator, value: Value, result: Value, other: Value) -> Value:
    return chosen(t, [(is_not_null(t, value), result)], other)


def nullif(t: Translator, value: Value, other: Value) -> Value:
    same = compared(t, value, other, "=")
    return t.sound(f"(CASE WHEN {same} THEN NULL ELSE {value} END)", value.kind, same, value)


def extreme(name: str) -> Rule:
    def make(t: Translator, *values: Value) -> Value:
        if len(values) < 2:
            raise Unfit("takes two values or more", "write the value itself")
        kind = alike(list(values))
        if not comparable(kind):
            raise unordered(kind)
        values = tuple(t.as_(value, kind) for value in values)
        return t.sound(f"{name}({list_of(list(values))})", kind, *values)

    return takes(make, "this", "expressions")


def zero_if_null(t: Translator, value: Value) -> Value:
    return coalesce(t, value, Value("0", types.INT))


def null_if_zero(t: Translator, value: Value) -> Value:
    return nullif(t, value, Value("0", types.INT))


RULES: Rules = {
    exp.EQ: comparison("="),
    exp.NEQ: comparison("<>"),
    exp.LT: comparison("<"),
    exp.LTE: comparison("<="),
    exp.GT: comparison(">"),
    exp.GTE: comparison(">="),
    exp.NullSafeEQ: comparison("IS NOT DISTINCT FROM"),
    exp.NullSafeNEQ: comparison("IS DISTINCT FROM"),
    exp.EqualNull: comparison("IS NOT DISTINCT FROM"),
    exp.Between: between,
    exp.In: member,
    exp.And: both,
    exp.Or: either,
    exp.Not: takes(negation, "this"),
    exp.Is: is_,
    "isnull": takes(is_null),
    "isnotnull": takes(is_not_null),
    exp.IsNan: takes(is_nan, "this"),
    exp.Nanvl: takes(nanvl, "this", "expression"),
    exp.Case: case,
    exp.If: takes(if_, "this", "true", "false"),
    exp.Coalesce: takes(coalesce, "this", "expressions"),
    exp.Nvl2: takes(nvl2, "this", "true", "false"),
    exp.Nullif: takes(nullif, "this", "expression"),
    exp.Greatest: extreme("greatest"),
    exp.Least: extreme("least"),
    "zeroifnull": takes(zero_if_null),
    "nullifzero": takes(null_if_zero),
}
