"""The SELECT list and what follows it, rewritten over the relation of matches.

Every column becomes exact, every star is spelled out and every projection gets the name
that it has in the output, so that any engine reads the same.  Where Spark lets one word
mean an output name or a column, either both are the same here or the word is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.query import MATCH_START, MATCH_TIME
from anabranch.plan.sql.grouping import check_grouping, is_aggregate
from anabranch.plan.sql.names import Scope, meant, place, same
from anabranch.plan.sql.output import check_names, expanded, output_name
from anabranch.plan.sql.resolve import Write, columns, name_of, swap, walk, with_fields

Output = dict[str, tuple[str, exp.Expr]]  # by lower-case name: the exact name and the expression
Named = Callable[[exp.Column], exp.Expr | None]


@dataclass(frozen=True)
class View:
    """What one SELECT sees: its columns, how to write them, and its relation of matches, if it is a join."""

    scope: Scope
    write: Write
    matches: str = ""
    functions: Collection[str] = ()
    period: exp.Expr | None = None  # the window(...) of GROUP BY, which Spark calls `window` elsewhere


def rewrite(select: exp.Select, view: View, text: str) -> tuple[str, ...]:
    """Rewrite the list and the later clauses of *select* in place; its output names."""
    _check_clauses(select)
    check_limit(select)
    written = expanded(select, view.scope)
    if not written:
        raise Refused("the SELECT list is empty", "name a column", place(select))
    names = [output_name(projection, text) for projection in written]
    check_names(names, written)
    view = replace(view, period=_period(select))

    aliases = [projection.alias for projection in written if isinstance(projection, exp.Alias)]
    unseen = _unseen(view, aliases)
    projections = [_written(projection.unalias(), view, unseen) for projection in written]
    aliased = [exp.alias_(column, name, quoted=True) for column, name in zip(projections, names, strict=True)]
    select.set("expressions", aliased)
    projections = [projection.this for projection in aliased]
    output = {name.lower(): (name, column) for name, column in zip(names, projections, strict=True)}

    group, having, order = (select.args.get(key) for key in ("group", "having", "order"))
    for clause in (group, having):
        if clause:
            _written(clause, view, _columns_first(view, output, clause))
    for named in select.args.get("windows") or []:
        _written(named, view)
    if order:
        _written(order, view, _output_first(view, output, order))
    _check_ordinals(select, len(names))
    keys = [key for key in _order_keys(order) if not (isinstance(key, exp.Column) and not key.table)]
    if select.args.get("distinct"):
        _check_order_of_distinct(projections, keys)
    check_grouping(select, projections, [having.this, *keys] if having else keys)
    return tuple(names)


def write_condition(node: exp.Expr, view: View) -> exp.Expr:
    """A WHERE or ON of the shell itself, written in place."""
    return _written(node, view)


def _written(node: exp.Expr, view: View, named: Named = lambda column: None) -> exp.Expr:
    """*node* with each column written for the engine, unless *named* has another meaning for it."""
    calls = [part for part in walk(node) if isinstance(part, exp.Anonymous)]
    for part in walk(node):
        if isinstance(part, (exp.Placeholder, exp.Parameter, exp.SessionParameter)):
            raise Refused("the query has a parameter without a value", "write the value", place(part) or place(node))
        if isinstance(part, exp.Star) and not isinstance(part.parent, (exp.Count, exp.Column)):
            raise Refused("a star stands alone or in count(*)", "write the columns", place(part) or place(node))
    for column in columns(node):
        node = swap(node, column, named(column) or _meaning(column, view))
    for call in calls:
        node = _call(call, node, view)
    return node


def _meaning(column: exp.Column, view: View) -> exp.Expr:
    if isinstance(column.this, exp.Star):
        raise Refused("a star stands alone or in count(*)", "write the columns", place(column))
    if _means_period(column, view):
        assert view.period is not None
        call = _written(view.period.copy(), replace(view, period=None))
        return with_fields(call, tuple(part.name for part in column.parts[1:]))
    return view.write(view.scope.find(column), column)


def _means_period(column: exp.Column, view: View) -> bool:
    return view.period is not None and same(column.parts[0].name, "window") and not view.scope.knows(column)


def _call(call: exp.Anonymous, root: exp.Expr, view: View) -> exp.Expr:
    name = name_of(call)
    if name in view.functions:
        raise Refused(f"{name}() is a Python function", "it may stand in WHERE and ON only", place(call))
    if name not in (MATCH_TIME, MATCH_START):
        return root
    if not view.matches:
        raise Refused(f"{name}() belongs to a join", "select it there under a name", place(call))
    if call.expressions:
        raise Refused(f"{name}() takes nothing", f"write {name}()", place(call))
    column = exp.column(name, table=view.matches, quoted=True)
    column.meta.update(at=place(call), spelled=f"{name}()")
    return swap(root, call, column)


# -- words that may be output names -------------------------------------------------


def check_unseen(column: exp.Column, scope: Scope, aliases: Collection[str], clause: str) -> None:
    """Refuse an output name in a clause that is evaluated before there is an output."""
    if len(column.parts) == 1 and any(same(column.name, name) for name in aliases) and not scope.knows(column):
        raise Refused(
            f"'{column.name}' is an output column, which {clause} does not see",
            "repeat its expression, or select from a subquery",
            place(column),
        )


def _unseen(view: View, names: list[str]) -> Named:
    """In the SELECT list output names mean nothing; say so."""

    def named(column: exp.Column) -> exp.Expr | None:
        if not _means_period(column, view):
            check_unseen(column, view.scope, names, "the SELECT list itself")
        return None

    return named


def _columns_first(view: View, output: Output, clause: exp.Expr) -> Named:
    """In GROUP BY and HAVING a word is a column or an output name; where it is both, they must be one."""

    def named(column: exp.Column) -> exp.Expr | None:
        found = _output_of(column, view, output, clause)
        if found is None or _means_period(column, view):
            return None
        hits = view.scope.hits(column)
        if len(hits) == 1 and view.write(hits[0], column) != found:
            raise Refused(
                f"'{column.name}' is a column and also the name of another output column",
                f"write {hits[0].alias}.{hits[0].column}, or choose another alias",
                place(column),
            )
        return found if isinstance(column.parent, exp.Group) else _operand(found)

    return named


def _output_first(view: View, output: Output, clause: exp.Expr) -> Named:
    """In ORDER BY a word is an output name before it is a column."""

    def named(column: exp.Column) -> exp.Expr | None:
        found = _output_of(column, view, output, clause)
        if (
            found is None
            and len(column.parts) == 1
            and not view.scope.knows(column)
            and not _means_period(column, view)
        ):
            names = list(
                dict.fromkeys([*(exact for exact, _ in output.values()), *(name for _, name in view.scope.row)])
            )
            hint = meant(column.name, names, "it takes output columns and others:", names)
            raise Refused(f"unknown column '{column.name}' in ORDER BY", hint, place(column))
        if found is not None and len(column.parts) == 1 and isinstance(column.parent, exp.Ordered):
            return exp.column(output[column.name.lower()][0], quoted=True)
        return found and _operand(found)

    return named


def _output_of(column: exp.Column, view: View, output: Output, clause: exp.Expr) -> exp.Expr | None:
    """The expression of the output column that *column* may mean; inside an aggregate there is none."""
    first = column.parts[0].name
    if first.lower() not in output or (len(column.parts) > 1 and view.scope.source(first)):
        return None
    above = column.parent
    while above is not None and above is not clause:
        if is_aggregate(above):
            return None
        above = above.parent
    return with_fields(output[first.lower()][1].copy(), tuple(part.name for part in column.parts[1:]))


def _operand(node: exp.Expr) -> exp.Expr:
    bare = isinstance(node, (exp.Column, exp.Literal, exp.Dot, exp.AggFunc, exp.Anonymous))
    return node if bare else exp.paren(node, copy=False)


# -- checks ---------------------------------------------------------------------------

_CLAUSES = {"with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "windows", "constraints"}
_CLAUSES |= {"order", "limit", "offset", "hint"}
_SPELLED = {"laterals": "LATERAL VIEW", "sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY"}
_SPELLED |= {"sample": "TABLESAMPLE", "pivots": "PIVOT"}


def _check_clauses(select: exp.Select) -> None:
    for key, value in select.args.items():
        if value and key not in _CLAUSES:
            name = _SPELLED.get(key, key.strip("_").upper())
            at = place(value) if isinstance(value, exp.Expr) else None
            raise Refused(f"{name} is not supported", "leave it out", at)
    distinct = select.args.get("distinct")
    if distinct and distinct.args.get("on"):
        raise Refused("DISTINCT ON is not supported", "write GROUP BY with first()", place(distinct))


def check_limit(query: exp.Expr) -> None:
    """Refuse a LIMIT or OFFSET that depends on a row, or that counts no rows."""
    for key in ("limit", "offset"):
        clause = query.args.get(key)
        if not clause:
            continue
        column = clause.find(exp.Column)
        if column:
            raise Refused(f"{key.upper()} takes a number", f"write {key.upper()} 10", place(column))
        count = clause.expression.unnest()
        if isinstance(count, exp.Neg | exp.Null) or (isinstance(count, exp.Literal) and not _counts(count)):
            what = f"{key.upper()} {count.sql(dialect='spark')} is no number of rows"
            raise Refused(what, f"write {key.upper()} 10", place(clause) or place(query))


def _counts(number: exp.Literal) -> bool:
    return number.is_int and int(number.name) < 1 << 63


def _period(select: exp.Select) -> exp.Expr | None:
    parts = walk(select.args["group"]) if select.args.get("group") else ()
    calls = (part for part in parts if isinstance(part, exp.Anonymous) and name_of(part) == "window")
    found = next(calls, None)
    return found.copy() if found else None


def _order_keys(order: exp.Expr | None) -> list[exp.Expr]:
    return [key.this for key in order.expressions if isinstance(key, exp.Ordered)] if order else []


def _check_order_of_distinct(projections: list[exp.Expr], keys: list[exp.Expr]) -> None:
    for key in keys:
        if not isinstance(key, (exp.Literal, exp.Var)) and key not in projections:
            raise Refused(
                "ORDER BY of a SELECT DISTINCT takes its output columns only", "select what it orders by", place(key)
            )


def _check_ordinals(select: exp.Select, count: int) -> None:
    group = select.args.get("group")
    for key in [*_order_keys(select.args.get("order")), *(group.expressions if group else [])]:
        if isinstance(key, exp.Literal) and key.is_int and not 1 <= int(key.name) <= count:
            raise Refused(f"there is no output column {key.name}", f"there are {count}", place(key) or place(select))
