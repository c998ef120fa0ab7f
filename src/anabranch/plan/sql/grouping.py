"""Whether a SELECT with groups shows only what a group has: its keys and aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.sql.kinds import spelled
from anabranch.plan.sql.names import place
from anabranch.plan.sql.predicate import AGGREGATES, OTHER_AGGREGATES
from anabranch.plan.sql.resolve import name_of, walk


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate stands in *node* that is not a window function's."""
    return any(is_aggregate(part) and not _over_window(part) for part in walk(node))


def _over_window(node: exp.Expr) -> bool:
    """Whether an aggregate is a window function's, with or without IGNORE NULLS and FILTER between the two."""
    while isinstance(node.parent, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        node = node.parent
    return isinstance(node.parent, exp.Window)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether *node* is an aggregate that is known as one."""
    return isinstance(node, AGGREGATES) or (isinstance(node, exp.Anonymous) and name_of(node) in OTHER_AGGREGATES)


def check_grouping(select: exp.Select, projections: list[exp.Expr], others: list[exp.Expr]) -> None:
    """Refuse a column in *projections* or *others* (HAVING, ORDER BY) that a group has many of."""
    group = select.args.get("group")
    if group and group.args.get("all"):
        return
    if not group and not select.args.get("having") and not any(map(has_aggregate, [*projections, *others])):
        return
    keys = list(_keys(group, projections)) if group else []
    for node in [*projections, *others]:
        stray = _ungrouped(node, keys)
        if stray is not None:
            raise Refused(
                f"{spelled(stray)} is neither grouped nor aggregated",
                f"add it to GROUP BY, or aggregate it, such as max({spelled(stray)})",
                place(stray),
            )


def _keys(group: exp.Group, projections: list[exp.Expr]) -> Iterator[exp.Expr]:
    parts: list[exp.Expr] = list(group.expressions)
    for key in ("cube", "rollup", "grouping_sets"):
        parts += group.args.get(key) or []
    while parts:
        part = parts.pop()
        if isinstance(part, (exp.Cube, exp.Rollup, exp.GroupingSets, exp.Tuple)):
            parts += part.expressions
        elif isinstance(part, exp.Literal) and part.is_int:
            yield projections[int(part.name) - 1]
        else:
            yield part.unnest()


def _ungrouped(node: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Column | None:
    """A column outside of all keys and aggregates; an unknown function may be an aggregate."""
    if any(node == key for key in keys) or is_aggregate(node):
        return None
    if isinstance(node, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        return _ungrouped(node.this, keys)  # what is filtered or ordered belongs to the aggregate
    if isinstance(node, (exp.Query, exp.Window)) or (isinstance(node, exp.Anonymous) and name_of(node) != "window"):
        return None
    if isinstance(node, exp.Column):
        return node
    return next((stray for part in node.iter_expressions() if (stray := _ungrouped(part, keys)) is not None), None)
