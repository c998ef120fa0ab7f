"""``parse``: SQL text in, a ``Query`` out, or one line that says what is wrong.

The statement is read from the inside out.  A SELECT over streams becomes a join and leaves
``FROM matches_i`` behind; a SELECT over CTEs and subqueries only is part of the shell.
Everything that can be known to be wrong without data is refused here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.algorithm import Algorithm, hinted
from anabranch.plan.query import Join, Query, Stream, matches_column
from anabranch.plan.sql.differences import difference_bounds
from anabranch.plan.sql.members import (
    check_alone,
    check_members,
    conditions,
    field_names,
    leaves,
    relation,
    resolved,
    stream_of,
    unknown_stream,
)
from anabranch.plan.sql.names import Found, Scope, Source, place, same
from anabranch.plan.sql.predicate import check_kinds, check_predicate
from anabranch.plan.sql.resolve import columns, conjuncts, subqueries, with_fields
from anabranch.plan.sql.shape import is_finite, plain_columns
from anabranch.plan.sql.shell import View, check_limit, check_unseen, rewrite, write_condition
from anabranch.plan.sql.statement import statement
from anabranch.plan.sql.windows import check_bounded, windows

Sources = Mapping[str, Source]  # CTEs by lower-case name


def parse(text: str, streams: Mapping[str, Stream], functions: Collection[str] = (), batch: bool = False) -> Query:
    """Read one query over *streams*; *functions* are the names of the user's Python functions.

    State without bound is refused unless UNBOUNDED is written for it, or *batch* says
    that the streams are finite and at rest.
    """
    names = {name.lower(): name for name in functions}
    shell = statement(text, frozenset(names))
    reader = _Reader(text, streams, names, batch, shell)
    try:
        output = reader.query(shell, {}, None)
    except RecursionError:
        raise Refused("the query is nested too deeply", "split it into CTEs") from None
    joins = tuple(reader.joins)
    if not joins:
        raise Refused("the query joins no streams", "name two or more streams in one FROM", place(shell))
    assert isinstance(shell, exp.Expression)
    return Query(text, joins, shell, output, is_finite(shell), plain_columns(shell, joins))


def tables(text: str, functions: Collection[str] = ()) -> list[str]:
    """The names in FROM of a statement that are none of its own CTEs."""
    shell = statement(text, frozenset(name.lower() for name in functions))
    own = {cte.alias.lower() for cte in shell.find_all(exp.CTE)}
    names = (".".join(part.name for part in table.parts) for table in shell.find_all(exp.Table))
    return [name for name in dict.fromkeys(names) if name and name.lower() not in own]


class _Reader:
    """Reads one statement; holds the joins found so far."""

    def __init__(
        self, text: str, streams: Mapping[str, Stream], functions: Mapping[str, str], batch: bool, shell: exp.Expr
    ) -> None:
        self.text, self.streams, self.functions, self.batch = text, streams, functions, batch
        self.joins: list[Join] = []
        self.taken = {node.alias_or_name.lower() for node in shell.find_all(exp.CTE, exp.Table, exp.Subquery)}

    def query(self, node: exp.Expr, outer: Sources, scope: Scope | None) -> tuple[str, ...]:
        """Rewrite a query in place; the names of its output columns."""
        ctes = self._ctes(node, outer)
        if isinstance(node, exp.Select):
            return self._select(node, ctes, scope)
        if node.args.get("constraints"):
            raise Refused("WINDOW stands inside of one SELECT", "move it next to its FROM", _constraint_place(node))
        if isinstance(node, exp.Subquery):
            names = self.query(node.this, ctes, scope)
        elif isinstance(node, exp.SetOperation):
            names = self._set_operation(node, ctes, scope)
        else:
            raise Refused(f"{node.key.upper()} is not supported here", "write a SELECT", place(node))
        check_limit(node)
        for ordered in node.args["order"].expressions if node.args.get("order") else []:
            for column in ordered.find_all(exp.Column):
                name = next((name for name in names if same(name, column.name)), None)
                if name is None or column.table:
                    word = ".".join(part.name for part in column.parts)
                    hint = f"here it takes output columns: {', '.join(names)}"
                    raise Refused(f"unknown column '{word}' in ORDER BY", hint, place(column))
                column.replace(exp.column(name, quoted=True))
        return names

    def _ctes(self, node: exp.Expr, outer: Sources) -> Sources:
        with_ = node.args.get("with_")
        if not with_:
            return outer
        if with_.args.get("recursive"):
            raise Refused("WITH RECURSIVE is not supported", "write the steps as CTEs", place(with_))
        ctes = dict(outer)
        here: set[str] = set()
        for cte in with_.expressions:
            if cte.alias.lower() in here:
                raise Refused(f"two CTEs are called '{cte.alias}'", "give each its own name", place(cte.args["alias"]))
            here.add(cte.alias.lower())
            source = self._source(cte, self.query(cte.this, ctes, None))
            ctes[source.alias.lower()] = source
        return ctes

    def _source(self, node: exp.CTE | exp.Subquery, names: tuple[str, ...]) -> Source:
        renamed = node.alias_column_names
        if renamed and len(renamed) != len(names):
            hint = f"its query has {len(names)}: {', '.join(names)}"
            raise Refused(f"{node.alias} names {len(renamed)} columns", hint, place(node.args["alias"]))
        return Source(node.alias, tuple(renamed) or names, node.alias)

    def _set_operation(self, node: exp.SetOperation, ctes: Sources, scope: Scope | None) -> tuple[str, ...]:
        if node.args.get("by_name") or node.args.get("side") or node.args.get("kind"):
            raise Refused("set operations go by position here", "leave out BY NAME", place(node))
        left, right = self.query(node.left, ctes, scope), self.query(node.right, ctes, scope)
        if len(left) != len(right):
            raise Refused(
                f"the sides of {node.key.upper()} have {len(left)} and {len(right)} columns",
                "give them the same number",
                place(node.right),
            )
        return left

    # -- SELECT ---------------------------------------------------------------------

    def _select(self, select: exp.Select, ctes: Sources, outer: Scope | None) -> tuple[str, ...]:
        streams, others = [], []
        for leaf in leaves(select):
            if not isinstance(leaf, exp.Table) or (len(leaf.parts) == 1 and leaf.name.lower() in ctes):
                others.append(leaf)
            elif isinstance(leaf.this, exp.Identifier) and stream_of(leaf, self.streams):
                streams.append(leaf)
            else:
                raise unknown_stream(leaf, self.streams)
        if streams and others:
            other = others[0].alias_or_name
            raise Refused(
                f"this FROM mixes the stream {streams[0].name} with "
                + (f"the query {other}" if other else "a subquery"),
                "join streams in a SELECT of their own, and put it into a CTE",
                place(others[0]) or place(streams[0]),
            )
        return self._join(select) if streams else self._shell(select, ctes, outer)

    def _join(self, select: exp.Select) -> tuple[str, ...]:
        at = place(select.args["from_"])
        for join in select.args.get("laterals") or []:
            raise Refused("LATERAL is not supported", "use explode in an outer SELECT", place(join))
        for key in ("expressions", "group", "having", "order"):
            for clause in _listed(select.args.get(key)):
                for query in subqueries(clause):
                    raise Refused(
                        "a subquery cannot stand in the SELECT of a join", "put the join into a CTE", place(query) or at
                    )
        for condition in conditions(select):
            check_predicate(condition, self.functions)
        source = relation(select, self.streams)
        check_members(source, at)
        if where := select.args.get("where"):
            aliases = [projection.alias for projection in select.expressions if isinstance(projection, exp.Alias)]
            for column in columns(where):
                check_unseen(column, source.scope, aliases, "WHERE")
            written = tuple(resolved(part, source) for part in conjuncts(where.this))
            source = replace(source, where=source.where + written)
        bounds = []
        for conjunct in source.where:
            check_kinds(conjunct, source.members)
            implied = difference_bounds(conjunct, source.members, self._text_of(conjunct))
            bounds += [replace(bound, at=place(conjunct)) for bound in implied]
        joined = windows(source.members, select.args.get("constraints") or (), dict(source.ranges), bounds)
        if not self.batch:
            check_bounded(joined, source.members, at)

        name = self._free_name()
        used: dict[tuple[str, str], None] = {}

        def write(found: Found, column: exp.Column) -> exp.Expr:
            used[found.alias, found.column] = None
            written = exp.column(matches_column(found.alias, found.column), table=name, quoted=True)
            written.meta["at"] = place(column)
            return with_fields(written, field_names(found, source.members, column))

        algorithm = hinted(select) or Algorithm()
        names = rewrite(select, View(source.scope, write, name, self.functions), self.text)
        for key in ("joins", "where", "constraints", "hint"):
            select.set(key, None)
        select.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(name, quoted=True))))
        self.joins.append(Join(name, source.members, joined, source.where, tuple(used), algorithm))
        return names

    def _shell(self, select: exp.Select, ctes: Sources, outer: Scope | None) -> tuple[str, ...]:
        if select.args.get("constraints"):
            what = "WINDOW binds streams, and this SELECT names none"
            raise Refused(what, "move it next to their FROM", _constraint_place(select))
        scope = Scope(outer=outer)
        from_ = select.args.get("from_")
        for join in [from_, *(select.args.get("joins") or [])] if from_ else []:
            right = Scope.of(self._shell_source(join.this, ctes))
            if isinstance(join, exp.Join):
                _check_shell_join(join)
            using = join.args.get("using")
            scope = scope.using(right, using, join)[0] if using else scope.beside(right, join)
            if join.args.get("on") is not None:
                for query in subqueries(join.args["on"]):
                    self.query(query, ctes, scope)
                write_condition(join.args["on"], self._view(scope))
        for key in ("expressions", "where", "group", "having", "order"):
            for clause in _listed(select.args.get(key)):
                for query in subqueries(clause):
                    self.query(query, ctes, scope)
        if where := select.args.get("where"):
            write_condition(where, self._view(scope))
        return rewrite(select, self._view(scope), self.text)

    def _view(self, scope: Scope) -> View:
        def write(found: Found, column: exp.Column) -> exp.Expr:
            written = exp.column(found.column, table=found.alias, quoted=True)
            written.meta["at"] = place(column)
            return with_fields(written, found.fields)

        return View(scope, write, "", self.functions)

    def _shell_source(self, leaf: exp.Expr, ctes: Sources) -> Source:
        check_alone(leaf)
        if isinstance(leaf, exp.Subquery) and isinstance(leaf.this, exp.Query):
            if not leaf.alias:
                leaf.set("alias", exp.TableAlias(this=exp.to_identifier(self._free_name("query"), quoted=True)))
            return self._source(leaf, self.query(leaf.this, ctes, None))
        if not isinstance(leaf, exp.Table) or leaf.args.get("joins"):
            raise Refused("this kind of FROM is not supported", "FROM takes streams, CTEs and subqueries", place(leaf))
        if leaf.args.get("bracket"):
            raise Refused(f"{leaf.name} is no stream", "windows in brackets are for streams", place(leaf))
        cte = ctes[leaf.name.lower()]
        columns = leaf.alias_column_names or cte.columns
        return Source(leaf.alias or leaf.name, tuple(columns), leaf.name)

    def _free_name(self, kind: str = "matches") -> str:
        number = len(self.joins) if kind == "matches" else 0
        while f"{kind}_{number}" in self.taken:
            number += 1
        self.taken.add(f"{kind}_{number}")
        return f"{kind}_{number}"

    def _text_of(self, node: exp.Expr) -> str:
        start, end = node.meta.get("span", (0, 0))
        return " ".join(self.text[start:end].split())


def _check_shell_join(join: exp.Join) -> None:
    side, kind = join.args.get("side") or "", join.args.get("kind") or ""
    method = join.args.get("method") or ""
    known = not method and side in ("", "LEFT", "RIGHT", "FULL") and kind in ("", "INNER", "CROSS", "OUTER")
    if not known or (join.args.get("using") and side in ("RIGHT", "FULL")):
        words = " ".join(word for word in (method, side, kind) if word)
        hint = "write JOIN, LEFT JOIN, RIGHT JOIN or FULL JOIN with ON"
        raise Refused(f"{words} JOIN of queries is not supported here", hint, place(join))


def _listed(value: object) -> list[exp.Expr]:
    nodes = value if isinstance(value, list) else [value]
    return [node for node in nodes if isinstance(node, exp.Expr)]


def _constraint_place(node: exp.Expr) -> tuple[int, int]:
    at: tuple[int, int] = node.args["constraints"][0].at
    return at
