"""What a shell asks of its runtime: the end of the input, or no SQL engine at all."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from anabranch.plan.query import MATCH_START, MATCH_TIME, Join
from anabranch.plan.sql.grouping import is_aggregate

_WHOLE = ("distinct", "group", "having", "order", "limit", "offset", "joins")


def is_finite(shell: exp.Expr) -> bool:
    """Whether a row of the answer may depend on matches still to come.

    A function that is not known to be of one row alone may be an aggregate.
    """
    for node in shell.walk():
        if isinstance(node, exp.SetOperation) and (type(node) is not exp.Union or node.args.get("distinct")):
            return True
        if isinstance(node, exp.Query) and any(node.args.get(key) for key in _WHOLE):
            return True
        if isinstance(node, exp.Window) or is_aggregate(node) or isinstance(node, exp.Anonymous):
            return True
        if isinstance(node, exp.Query) and not isinstance(
            node.parent, (exp.From, exp.CTE, exp.SetOperation, exp.Subquery, type(None))
        ):
            return True  # a subquery within an expression
    return False


def plain_columns(shell: exp.Expr, joins: Sequence[Join]) -> tuple[tuple[str, ...], ...] | None:
    """For each join the columns of its matches in output order, when the shell says no more."""
    if is_finite(shell):
        return None
    selects = _branches(shell)
    if selects is None or len(selects) != len(joins):
        return None
    chosen = [[projection.this for projection in select.expressions] for select in selects]
    for select, columns, join in zip(selects, chosen, joins, strict=True):
        table = select.args["from_"].this if select.args.get("from_") else None
        if not isinstance(table, exp.Table) or table.name != join.name or select.args.get("where"):
            return None
        if not all(isinstance(column, exp.Column) for column in columns):
            return None
    if len(selects) > 1:  # UNION ALL has one type a column, which takes an engine to find
        types = [[_type(column.name, join) for column in row] for row, join in zip(chosen, joins, strict=True)]
        if any(None in row for row in types) or any(row != types[0] for row in types):
            return None
    return tuple(tuple(column.name for column in columns) for columns in chosen)


def _branches(node: exp.Expr) -> list[exp.Select] | None:
    """The SELECTs of a UNION ALL, left to right; None where there is more to it."""
    if node.args.get("with_") or (isinstance(node, exp.Subquery) and node.alias):
        return None
    if isinstance(node, exp.Select):
        return [node]
    if isinstance(node, exp.Subquery):
        return _branches(node.this)
    if isinstance(node, exp.Union):
        left, right = _branches(node.left), _branches(node.right)
        return None if left is None or right is None else left + right
    return None


def _type(name: str, join: Join) -> pa.DataType | None:
    """The type of a column of the matches; None where it is not one input column's."""
    times = {m.stream.schema.field(m.stream.time).type for m in join.members if m.stream.time in m.stream.schema.names}
    if name in (MATCH_TIME, MATCH_START):
        return times.pop() if len(times) == 1 else None
    return next(
        (
            member.stream.schema.field(column).type
            for member in join.members
            for column in member.stream.schema.names
            if name == f"{member.alias}.{column}"
        ),
        None,
    )
