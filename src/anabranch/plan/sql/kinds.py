"""Kinds of values: enough of a type system to refuse what can never be meant.

A value is a number, text, a boolean, a date, a timestamp or an interval, or of no known
kind, which goes with everything.  Text and numbers do not mix, nor does any other pair
that Spark would refuse or quietly cast.  Only the predicate of a join is judged.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.sql.dialect import Anabranch
from anabranch.plan.sql.names import place


class Kind(Enum):
    NUMBER = "a number"
    TEXT = "text"
    BOOLEAN = "a boolean"
    DATE = "a date"
    TIMESTAMP = "a timestamp"
    INTERVAL = "an interval"


ColumnKind = Callable[[exp.Column], Kind | None]

_TIMES = {Kind.DATE, Kind.TIMESTAMP}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
_NUMERIC = (exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Sqrt, exp.Exp, exp.Ln, exp.Log, exp.Pow, exp.Sign)
_CHOICES = (exp.Coalesce, exp.Greatest, exp.Least, exp.If, exp.Case)
_TEXTUAL = (exp.Upper, exp.Lower, exp.Concat, exp.ConcatWs, exp.Substring, exp.Trim, exp.DPipe)


def of_type(type_: pa.DataType) -> Kind | None:
    """The kind of an Arrow type."""
    if pa.types.is_dictionary(type_):
        return of_type(type_.value_type)
    tests = (
        (Kind.BOOLEAN, pa.types.is_boolean),
        (Kind.NUMBER, lambda t: pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t)),
        (Kind.TEXT, lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t)),
        (Kind.DATE, pa.types.is_date),
        (Kind.TIMESTAMP, pa.types.is_timestamp),
        (Kind.INTERVAL, pa.types.is_duration),
    )
    return next((kind for kind, test in tests if test(type_)), None)


def check_condition(node: exp.Expr, column: ColumnKind) -> None:
    """Refuse a conjunct that mixes kinds, or is no condition at all."""
    kind = kind_of(node, column)
    if kind not in (None, Kind.BOOLEAN):
        assert kind is not None
        raise Refused(f"{spelled(node)} is {kind.value}, not a condition", "compare it with something", place(node))


def kind_of(node: exp.Expr, column: ColumnKind) -> Kind | None:
    """The kind of an expression; refuses mixtures on the way."""
    if isinstance(node, exp.Column):
        return column(node)
    if isinstance(node, exp.Literal):
        return Kind.TEXT if node.is_string else Kind.NUMBER
    if isinstance(node, exp.Interval):
        return Kind.INTERVAL
    if isinstance(node, exp.Boolean):
        return Kind.BOOLEAN
    if isinstance(node, exp.Cast):
        kind_of(node.this, column)
        return _cast(node.to)
    if isinstance(node, exp.Paren):
        return kind_of(node.this, column)
    if isinstance(node, exp.Neg):
        return _sign(node, kind_of(node.this, column))
    if isinstance(node, (exp.And, exp.Or, exp.Not)):
        for operand in (
            node.flatten() if isinstance(node, exp.Connector) else (node.this,)
        ):  # a chain is as deep as long
            check_condition(operand, column)
        return Kind.BOOLEAN
    if isinstance(node, _ARITHMETIC):
        return _arithmetic(node, column)
    if isinstance(node, _COMPARISONS):
        _agree([node.left, node.right], column)
        return Kind.BOOLEAN
    if isinstance(node, exp.Between):
        _agree([node.this, node.args["low"], node.args["high"]], column)
        return Kind.BOOLEAN
    if isinstance(node, exp.In):
        _agree([node.this, *node.expressions], column)
        return Kind.BOOLEAN
    if isinstance(node, _CHOICES):
        return _choice(node, column)
    kinds = [(part, kind_of(part, column)) for part in node.iter_expressions()]
    if isinstance(node, _NUMERIC):
        for part, kind in kinds:
            if kind in (Kind.TEXT, Kind.BOOLEAN):
                assert kind is not None
                raise Refused(f"{spelled(part)} is {kind.value}, not a number", _cast_hint(part), place(part))
        return kinds[0][1] if isinstance(node, exp.Abs) else Kind.NUMBER
    if isinstance(node, exp.Length):
        return Kind.NUMBER
    if isinstance(node, _TEXTUAL):
        return Kind.TEXT
    if isinstance(node, (exp.Predicate, exp.Is, exp.RegexpLike)):
        return Kind.BOOLEAN
    return None


def spelled(node: exp.Expr) -> str:
    """An expression in the fewest words that a user recognises."""
    plain = node.copy()
    for identifier in plain.find_all(exp.Identifier):
        identifier.set("quoted", False)
    for column in list(plain.find_all(exp.Column)):
        if "." in column.name or "spelled" in column.meta:  # a member's column in the relation of matches, or its time
            column.set("table", None)
            column.set("this", exp.var(column.meta.get("spelled", column.name)))
    text = plain.sql(dialect=Anabranch, comments=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _agree(nodes: list[exp.Expr], column: ColumnKind) -> Kind | None:
    """The one kind of values that are compared with the first."""
    kinds = [kind_of(node, column) for node in nodes]
    first, kind = nodes[0], kinds[0]
    for node, other in zip(nodes[1:], kinds[1:], strict=True):
        if kind and other and not _comparable(first, kind, node, other):
            raise Refused(
                f"{spelled(first)} is {kind.value} and {spelled(node)} is {other.value}, which do not compare",
                _mixed_hint(first, kind, node, other),
                place(first) or place(node),
            )
        if kind is None:
            first, kind = node, other
    return kind


def _comparable(a: exp.Expr, kind: Kind, b: exp.Expr, other: Kind) -> bool:
    if kind == other or {kind, other} == _TIMES:
        return True
    text = a if kind == Kind.TEXT else b
    return {kind, other} & _TIMES != set() and Kind.TEXT in (kind, other) and isinstance(text, exp.Literal)


def _arithmetic(node: exp.Binary, column: ColumnKind) -> Kind | None:
    left, right = kind_of(node.left, column), kind_of(node.right, column)
    for part, kind in ((node.left, left), (node.right, right)):
        if kind in (Kind.TEXT, Kind.BOOLEAN):
            assert kind is not None
            raise Refused(f"{spelled(part)} is {kind.value}, not a number", _cast_hint(part), place(part))
    if left is None or right is None:
        return None
    kinds = {left, right}
    if kinds == {Kind.NUMBER}:
        return Kind.NUMBER
    if isinstance(node, exp.Sub) and kinds <= _TIMES:
        return Kind.INTERVAL
    if isinstance(node, (exp.Add, exp.Sub)):
        if kinds == {Kind.INTERVAL}:
            return Kind.INTERVAL
        shifted = {left, right} - {Kind.INTERVAL}
        if Kind.INTERVAL in kinds and shifted <= _TIMES and (right == Kind.INTERVAL or isinstance(node, exp.Add)):
            return Kind.TIMESTAMP
        if left == Kind.DATE and right == Kind.NUMBER:
            return Kind.DATE
    if right == Kind.NUMBER and left == Kind.INTERVAL and isinstance(node, (exp.Mul, exp.Div)):
        return Kind.INTERVAL
    if isinstance(node, exp.Mul) and left == Kind.NUMBER and right == Kind.INTERVAL:
        return Kind.INTERVAL
    raise Refused(
        f"{spelled(node.left)} is {left.value} and {spelled(node.right)} is {right.value}, which '{_SIGNS[node.key]}'"
        " does not take",
        _mixed_hint(node.left, left, node.right, right),
        place(node.left) or place(node.right),
    )


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "intdiv": "div", "mod": "%"}


def _choice(node: exp.Expr, column: ColumnKind) -> Kind | None:
    if isinstance(node, exp.Case):
        branches = [branch.args["true"] for branch in node.args["ifs"]]
        conditions = [branch.this for branch in node.args["ifs"]]
        results = [*branches, *([node.args["default"]] if node.args.get("default") else [])]
        if node.this:
            _agree([node.this, *conditions], column)
        else:
            for condition in conditions:
                check_condition(condition, column)
    elif isinstance(node, exp.If):
        check_condition(node.this, column)
        results = [part for part in (node.args.get("true"), node.args.get("false")) if part]
    else:
        results = [node.this, *node.expressions]
    return _agree(results, column)


def _sign(node: exp.Expr, kind: Kind | None) -> Kind | None:
    if kind not in (None, Kind.NUMBER, Kind.INTERVAL):
        assert kind is not None
        raise Refused(f"{spelled(node.this)} is {kind.value}, not a number", _cast_hint(node.this), place(node))
    return kind


def _cast(to: exp.DataType) -> Kind | None:
    types = exp.DataType
    if to.is_type("date"):
        return Kind.DATE
    if to.is_type("boolean"):
        return Kind.BOOLEAN
    if to.this in types.NUMERIC_TYPES:
        return Kind.NUMBER
    if to.this in types.TEXT_TYPES:
        return Kind.TEXT
    if to.this in types.TEMPORAL_TYPES:
        return Kind.TIMESTAMP
    return None


def _mixed_hint(a: exp.Expr, kind: Kind, b: exp.Expr, other: Kind) -> str:
    kinds = {kind, other}
    if Kind.NUMBER in kinds and Kind.INTERVAL in kinds:
        return "a difference of integers compares with a plain number, one of timestamps with INTERVAL '5' SECONDS"
    if Kind.NUMBER in kinds and kinds & _TIMES:
        return "a time compares with TIMESTAMP '2026-01-01 00:00:00' and moves by INTERVAL '5' SECONDS"
    return _cast_hint(a if kind == Kind.TEXT else b)


def _cast_hint(node: exp.Expr) -> str:
    if isinstance(node, exp.Literal):
        return f"drop the quotes, or CAST({spelled(node)} AS DOUBLE)" if node.is_string else "cast one of them"
    return f"cast one of them, such as CAST({spelled(node)} AS DOUBLE)"
