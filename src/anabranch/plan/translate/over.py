"""Window functions: an aggregate or a rank OVER the rows around each row.

Frames default as in Spark: with ORDER BY up to the peers of the row, without it all rows.
Ranks are ints; a frame may count rows, or reach to its row's peers or to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from anabranch.plan.translate import types
from anabranch.plan.translate.aggregates import TAIL, Aggregate, aggregate
from anabranch.plan.translate.conditions import comparable, unordered
from anabranch.plan.translate.operands import whole
from anabranch.plan.translate.translator import Rules, Translator, arguments, called
from anabranch.plan.translate.value import Unfit, Value

Make = Callable[[Translator, exp.Expr, str], Aggregate]


def over(t: Translator, node: exp.Window) -> Value:
    for known, value in node.args.items():
        if value and known not in ("this", "partition_by", "order", "spec", "over"):
            raise Unfit(f"has a window with {known}")
    function, nulls = node.this, ""
    if isinstance(function, exp.IgnoreNulls):
        function, nulls = function.this, " IGNORE NULLS"
    make = RANKS.get(called(function))
    if make:
        if not node.args.get("order"):
            raise Unfit("needs an order", "write OVER (ORDER BY ...)")
        found = make(t, function, nulls)
    else:
        plain = None if nulls or isinstance(function.this, exp.Distinct) else aggregate(t, function)
        if plain is None:
            raise Unfit("is no window function that the local runtime has")
        found = plain
    parts, operands = [], []
    if node.args.get("partition_by"):
        keys = [t(each) for each in node.args["partition_by"]]
        parts.append("PARTITION BY " + ", ".join(key.sql for key in keys))
        operands += keys
    if node.args.get("order"):
        order = [ordered(t, each) for each in node.args["order"].expressions]
        parts.append("ORDER BY " + ", ".join(key.sql for key in order))
        operands += order
    if node.args.get("spec"):
        parts.append(_frame(node.args["spec"]))
    value = found.value(f" OVER ({' '.join(parts)})")
    return t.sound(value.sql, value.kind, value, *operands)


def ordered(t: Translator, node: exp.Ordered) -> Value:
    """A key of ORDER BY, with NULLs where Spark has them."""
    if not isinstance(node, exp.Ordered) or node.args.get("with_fill"):
        raise Unfit("is no key of ORDER BY")
    key = t(node.this)
    if not comparable(key.kind):
        raise unordered(key.kind)
    return t.sound(f"{key} {direction(node)}", key.kind, key)


def direction(node: exp.Ordered) -> str:
    nulls = "FIRST" if node.args.get("nulls_first") else "LAST"
    return f"{'DESC' if node.args.get('desc') else 'ASC'} NULLS {nulls}"


def _frame(spec: exp.WindowSpec) -> str:
    kind = str(spec.args.get("kind") or "").upper()
    ends = [
        _end(kind, spec.args.get("start"), spec.args.get("start_side")),
        _end(kind, spec.args.get("end"), spec.args.get("end_side")) if spec.args.get("end") else "CURRENT ROW",
    ]
    if kind not in ("ROWS", "RANGE") or spec.args.get("exclude"):
        raise Unfit("has a frame of another kind than ROWS or RANGE")
    return f"{kind} BETWEEN {ends[0]} AND {ends[1]}"


def _end(kind: str, end: object, side: object) -> str:
    if isinstance(end, str):
        return end.upper() if end.upper() == "CURRENT ROW" else f"{end.upper()} {str(side).upper()}"
    if isinstance(end, exp.Literal) and end.is_int and kind == "ROWS":
        return f"{end.this} {str(side).upper()}"
    raise Unfit("has a frame that is no number of rows", "write ROWS BETWEEN 10 PRECEDING AND CURRENT ROW")


def rank(name: str, whole_number: bool = True) -> Make:
    def make(t: Translator, node: exp.Expr, nulls: str) -> Aggregate:
        if nulls or arguments(node, "expressions"):
            raise Unfit("takes nothing", f"write {name}() OVER (ORDER BY ...)")
        sql = f"{name}(){TAIL}"
        return Aggregate(f"CAST({sql} AS INTEGER)", types.INT) if whole_number else Aggregate(sql, types.DOUBLE)

    return make


def ntile(t: Translator, node: exp.Expr, nulls: str) -> Aggregate:
    (buckets,) = (t(each) for each in arguments(node, "this"))
    if whole(buckets, "a number of buckets") < 1 or nulls:
        raise Unfit("has no buckets", "write ntile(4)")
    return Aggregate(f"CAST(ntile({buckets}){TAIL} AS INTEGER)", types.INT)


def neighbour(name: str) -> Make:
    """``lag`` and ``lead``."""

    def make(t: Translator, node: exp.Expr, nulls: str) -> Aggregate:
        value, *rest = (t(each) for each in arguments(node, "this", "offset", "default"))
        offset = whole(rest[0], "an offset") if rest else 1
        if nulls:
            raise Unfit("ignores NULLs")
        default = ""
        if len(rest) > 1:
            if types.common(value.kind, rest[1].kind) != value.kind:
                raise Unfit(f"has a default of {types.name(rest[1].kind)} for {types.name(value.kind)}", "cast it")
            default = f", {rest[1].to(value.kind)}"
        return Aggregate(f"{name}({value}, {offset}{default}){TAIL}", value.kind, value.raises)

    return make


def at(name: str) -> Make:
    """``first_value``, ``last_value`` and ``nth_value``, which an order makes certain."""

    def make(t: Translator, node: exp.Expr, nulls: str) -> Aggregate:
        value, *rest = (t(each) for each in arguments(node, "this", "offset"))
        place = f", {whole(rest[0], 'a row')}" if rest else ""
        return Aggregate(f"{name}({value}{place}{nulls}){TAIL}", value.kind, value.raises)

    return make


RANKS: Mapping[type[exp.Expr] | str, Make] = {
    exp.RowNumber: rank("row_number"),
    exp.Rank: rank("rank"),
    exp.DenseRank: rank("dense_rank"),
    exp.PercentRank: rank("percent_rank", False),
    exp.CumeDist: rank("cume_dist", False),
    exp.Ntile: ntile,
    exp.Lag: neighbour("lag"),
    exp.Lead: neighbour("lead"),
    exp.First: at("first_value"),
    exp.FirstValue: at("first_value"),
    exp.Last: at("last_value"),
    exp.LastValue: at("last_value"),
    exp.NthValue: at("nth_value"),
}

RULES: Rules = {exp.Window: over}
