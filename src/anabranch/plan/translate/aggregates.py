"""Aggregates, as such and over a window.

Each has Spark's result type: the sum of integers is a bigint and overflows, an average is a
double, an average of decimals has four places more.  What depends on the order of rows
(``first``, ``collect_list``) or is approximate has no rule: the runtimes would differ.  The
last places of sums of doubles depend on the order of rows in Spark too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from anabranch.plan.translate import decimals, types
from anabranch.plan.translate.conditions import comparable, unordered
from anabranch.plan.translate.intervals import half_up
from anabranch.plan.translate.operands import boolean, double, list_of, number
from anabranch.plan.translate.translator import Rules, Translator, arguments, called
from anabranch.plan.translate.value import Unfit, Value

TAIL = "\0"  # where FILTER and OVER stand after each call


@dataclass(frozen=True)
class Aggregate:
    """DuckDB calls, each followed by TAIL, in an expression that makes Spark's value of them."""

    sql: str
    kind: pa.DataType
    raises: bool = False

    def value(self, tail: str = "") -> Value:
        return Value(self.sql.replace(TAIL, tail), self.kind, self.raises)


Make = Callable[[Translator, exp.Expr], Aggregate]


def aggregate(t: Translator, node: exp.Expr) -> Aggregate | None:
    """The aggregate that *node* is, its operands read by *t*; None if it is none."""
    make = AGGREGATES.get(called(node))
    return make(t, node) if make else None


def grouped(t: Translator, node: exp.Expr) -> Value:
    """An aggregate over the rows of each group."""
    found = aggregate(_within(t), node)
    assert found is not None
    return found.value()


def filtered(t: Translator, node: exp.Filter) -> Value:
    found = aggregate(_within(t), node.this)
    if found is None:
        raise Unfit("filters what is no aggregate", "write count(*) FILTER (WHERE ...)")
    condition = node.expression.this
    if found.raises:  # DuckDB computes the operands of rows that FILTER leaves out
        found = aggregate(_within(t), _only(node.this, condition))
        assert found is not None
        return found.value()
    return found.value(f" FILTER (WHERE {boolean(t.rows(condition))})")


def _only(node: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """An aggregate with operands that are NULL, which all pass over, unless the condition holds."""
    node = node.copy()
    inner = node.this if isinstance(node, exp.ArraySort) else node
    holder = inner.this if isinstance(inner.this, exp.Distinct) else inner
    for operand in [*([holder.this] if isinstance(holder.this, exp.Expr) else []), *holder.expressions]:
        operand.replace(exp.Case(ifs=[exp.If(this=condition.copy(), true=operand.copy())]))
    return node


def _within(t: Translator) -> Translator:
    if t.keys is None:
        raise Unfit("is an aggregate, which cannot stand here", "use it in the SELECT list or in HAVING")
    return t.rows


def _operands(t: Translator, node: exp.Expr, *names: str) -> tuple[str, list[Value]]:
    """``DISTINCT`` or nothing, and the operands."""
    nodes = arguments(node, *names or ("this", "expressions"))
    if len(nodes) == 1 and isinstance(nodes[0], exp.Distinct):
        return "DISTINCT ", [t(each) for each in nodes[0].expressions]
    return "", [t(each) for each in nodes]


def _one(t: Translator, node: exp.Expr) -> tuple[str, Value]:
    distinct, values = _operands(t, node)
    if len(values) != 1:
        raise Unfit("takes one operand", "see the function in Spark's reference")
    return distinct, values[0]


def count(t: Translator, node: exp.Expr) -> Aggregate:
    if isinstance(node.this, exp.Star):
        return Aggregate(f"count(*){TAIL}", types.BIGINT)
    distinct, values = _operands(t, node)
    raises = any(value.raises for value in values)
    if len(values) == 1:
        return Aggregate(f"count({distinct}{values[0]}){TAIL}", types.BIGINT, raises)
    known = " AND ".join(f"{value} IS NOT NULL" for value in values)
    counted = f"(CASE WHEN {known} THEN ({list_of(values)}) END)" if distinct else f"(CASE WHEN {known} THEN 1 END)"
    return Aggregate(f"count({distinct}{counted}){TAIL}", types.BIGINT, raises)


def total(t: Translator, node: exp.Expr) -> Aggregate:
    distinct, value = _one(t, node)
    if value.kind in types.INTERVALS:
        return Aggregate(f"CAST(sum({distinct}{value}){TAIL} AS BIGINT)", types.INTERVAL, True)
    if types.is_decimal(number(value).kind):
        kind = types.decimal(min(types.WIDEST, value.kind.precision + 10), value.kind.scale)
    else:
        kind = types.BIGINT if value.kind in types.INTEGERS else types.DOUBLE
        value = value.to(kind)
    exact = kind != types.DOUBLE
    sql = f"sum({distinct}{value}){TAIL}"
    return Aggregate(f"CAST({sql} AS {types.duck(kind)})" if exact else sql, kind, exact or value.raises)


def average(t: Translator, node: exp.Expr) -> Aggregate:
    distinct, value = _one(t, node)
    if value.kind in types.INTERVALS:
        micros = f"CAST(sum({distinct}{value}){TAIL} AS HUGEINT)"
        rows = f"CAST(nullif(count({distinct}{value}){TAIL}, 0) AS HUGEINT)"
        return Aggregate(f"CAST({half_up(micros, rows)} AS BIGINT)", types.INTERVAL, True)
    if not types.is_decimal(number(value).kind):
        value = double(value)
        return Aggregate(f"avg({distinct}{value}){TAIL}", types.DOUBLE, value.raises)
    precision, scale = value.kind.precision, value.kind.scale
    if precision + 10 > types.WIDEST:
        raise Unfit(f"averages a {types.name(value.kind)}", "cast it to a narrower decimal, or to double")
    sums = types.decimal(precision + 10, scale)
    whole = Value(f"CAST(sum({distinct}{value}){TAIL} AS {types.duck(sums)})", sums, True)
    many = Value(f"nullif(count({distinct}{value}){TAIL}, 0)", types.BIGINT)
    result = decimals.quotient(t, whole, many, types.decimal(precision + 4, scale + 4))
    return Aggregate(result.sql, result.kind, True)


def extreme(name: str) -> Make:
    def make(t: Translator, node: exp.Expr) -> Aggregate:
        _, value = _one(t, node)
        if not comparable(value.kind):
            raise unordered(value.kind)
        return Aggregate(f"{name}({value}){TAIL}", value.kind, value.raises)

    return make


def of_doubles(name: str) -> Make:
    def make(t: Translator, node: exp.Expr) -> Aggregate:
        distinct, value = _one(t, node)
        value = double(value)
        return Aggregate(f"{name}({distinct}{value}){TAIL}", types.DOUBLE, value.raises)

    return make


def of_conditions(template: str, kind: pa.DataType) -> Make:
    def make(t: Translator, node: exp.Expr) -> Aggregate:
        _, value = _one(t, node)
        return Aggregate(template.format(boolean(value)) + TAIL, kind, value.raises)

    return make


def percentile(t: Translator, node: exp.Expr) -> Aggregate:
    value, fraction = (t(each) for each in arguments(node, "this", "quantile"))
    if not isinstance(fraction.constant, int | Decimal) or not 0 <= fraction.constant <= 1:
        raise Unfit("takes a fraction that is a number from 0 to 1")
    value = double(value)
    return Aggregate(f"quantile_cont({value}, {fraction.to(types.DOUBLE)}){TAIL}", types.DOUBLE, value.raises)


def sorted_list(t: Translator, node: exp.Expr) -> Aggregate:
    """``sort_array(collect_list(x))``, which no order of rows can change."""
    collected = node.this
    if not isinstance(collected, (exp.ArrayAgg, exp.ArrayUniqueAgg)) or node.args.get("expression"):
        raise Unfit("sorts what is no collect_list or collect_set, or in another order")
    (value,) = (t(each) for each in arguments(collected, "this", "nulls_excluded"))
    if not comparable(value.kind) or types.is_real(value.kind):
        raise Unfit(f"collects {types.name(value.kind)}")
    distinct = "DISTINCT " if isinstance(collected, exp.ArrayUniqueAgg) else ""
    sql = f"list_sort(list_filter(coalesce(list({distinct}{value}){TAIL}, []), lambda x: x IS NOT NULL))"
    kind = pa.list_(value.kind)
    return Aggregate(f"CAST({sql} AS {types.duck(kind)})", kind, value.raises)


AGGREGATES: dict[type[exp.Expr] | str, Make] = {
    exp.Count: count,
    exp.Sum: total,
    exp.Avg: average,
    "mean": average,
    exp.Min: extreme("min"),
    exp.Max: extreme("max"),
    exp.Stddev: of_doubles("stddev_samp"),
    exp.StddevSamp: of_doubles("stddev_samp"),
    "std": of_doubles("stddev_samp"),
    exp.StddevPop: of_doubles("stddev_pop"),
    exp.Variance: of_doubles("var_samp"),
    exp.VariancePop: of_doubles("var_pop"),
    exp.Median: of_doubles("median"),
    exp.Quantile: percentile,
    exp.CountIf: of_conditions("count(CASE WHEN {} THEN 1 END)", types.BIGINT),
    exp.LogicalAnd: of_conditions("bool_and({})", types.BOOLEAN),
    "every": of_conditions("bool_and({})", types.BOOLEAN),
    exp.LogicalOr: of_conditions("bool_or({})", types.BOOLEAN),
    exp.Any: of_conditions("bool_or({})", types.BOOLEAN),
    "some": of_conditions("bool_or({})", types.BOOLEAN),
    exp.ArraySort: sorted_list,
}

RULES: Rules = {**dict.fromkeys(AGGREGATES, grouped), exp.Filter: filtered}
