"""A whole statement: SELECT with its clauses, set operations, CTEs and subqueries.

Every SELECT writes its columns under their output names, with Spark's types.  Keys of GROUP
BY and DISTINCT lose the sign of a zero, as in Spark; ORDER BY puts NULLs where Spark does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.sql.names import place
from anabranch.plan.sql.resolve import walk
from anabranch.plan.translate import types
from anabranch.plan.translate.aggregates import AGGREGATES
from anabranch.plan.translate.operands import boolean
from anabranch.plan.translate.over import direction, ordered
from anabranch.plan.translate.periods import SLIDE, period_of
from anabranch.plan.translate.translator import Relation, Resolve, Rules, Scope, Translator, called, told_of
from anabranch.plan.translate.value import Raising, Unfit, Value, name

Columns = Mapping[str, Value]  # in order; the SQL of each is its quoted name


@dataclass(frozen=True)
class Table:
    """A query's text and columns."""

    sql: str
    columns: Columns


@dataclass(frozen=True)
class Statement:
    """Translates queries over *tables*, which are known by lower-case name."""

    rules: Rules
    tables: Mapping[str, Columns]

    def query(self, node: exp.Expr, outer: Resolve | None = None) -> Table:
        """A query of any kind, with its CTEs."""
        inner, texts = self, []
        with_ = node.args.get("with_")
        for cte in with_.expressions if with_ else ():
            table = inner.query(cte.this)
            columns = _renamed(table.columns, cte.alias_column_names)
            texts.append(f"{name(cte.alias)}({', '.join(map(name, columns))}) AS ({table.sql})")
            inner = replace(inner, tables={**inner.tables, cte.alias.lower(): columns})
        if isinstance(node, exp.Select):
            table = inner._select(node, outer)
        elif isinstance(node, exp.SetOperation):
            table = inner._set_operation(node, outer)
        elif isinstance(node, exp.Subquery):
            table = inner.query(node.this, outer)
            table = inner._finished(node, replace(table, sql=f"SELECT * FROM ({table.sql}) AS q"), None)
        else:
            raise Unfit("is no query", "write a SELECT")
        return replace(table, sql=f"WITH {', '.join(texts)} {table.sql}") if texts else table

    # -- set operations -------------------------------------------------------------

    def _set_operation(self, node: exp.SetOperation, outer: Resolve | None) -> Table:
        sides = [self.query(side, outer) for side in (node.left, node.right)]
        word = node.key.upper() + ("" if node.args.get("distinct") else " ALL")
        if not node.args.get("distinct") and not isinstance(node, exp.Union):
            raise Unfit(f"is {word}")
        columns: dict[str, Value] = {}
        left, right = (side.columns for side in sides)
        for (column, a), b in zip(left.items(), right.values(), strict=True):
            kind = types.common(a.kind, b.kind)
            if kind is None:
                mixed = f"{types.name(a.kind)} and {types.name(b.kind)}"
                raise Refused(f"column '{column}' of {word} mixes {mixed}", "cast one of them", place(node))
            origin = a.origin if a.origin == b.origin else None
            columns[column] = Value(name(column), kind, a.raises or b.raises, origin=origin)
        kinds = [value.kind for value in columns.values()]
        texts = [self._side(side, list(columns), kinds, word) for side in sides]
        return self._finished(node, Table(f"{texts[0]} {word} {texts[1]}", columns), None)

    def _side(self, side: Table, names: list[str], kinds: list[pa.DataType], word: str) -> str:
        """One side, widened to the types of both."""
        t = Translator(self.rules, Raising(), Scope())
        values = [t.as_(value, kind) for value, kind in zip(side.columns.values(), kinds, strict=True)]
        if not word.endswith("ALL"):
            values = [unsigned(value) for value in values]
        listed = ", ".join(f"{value} AS {name(each)}" for value, each in zip(values, names, strict=True))
        return f"(SELECT {listed} FROM ({side.sql}) AS q)"

    # -- SELECT ---------------------------------------------------------------------

    def _select(self, node: exp.Select, outer: Resolve | None) -> Table:
        for clause in ("qualify", "laterals", "pivots", "sort", "cluster", "distribute", "connect", "match", "into"):
            if node.args.get(clause):
                raise Unfit(f"has the clause {clause.upper()}")
        source, scope = self._from(node, outer)
        rows = self._rows(scope)
        node = _inlined(node)
        others = (node.args.get(key) for key in ("group", "having", "order"))
        period = period_of(rows, [*node.expressions, *filter(None, others)])
        if period and period.repeats > 1:
            source += f" CROSS JOIN range({period.repeats}) AS {SLIDE}(k)"
        conditions = [boolean(rows(node.args["where"].this)).sql] if node.args.get("where") else []
        conditions += [period.holds] if period else []

        keys = self._keys(node, rows)
        t = rows if keys is None else replace(rows, keys={key.sql: unsigned(key) for key in keys})
        written = values = [t(projection.unalias()) for projection in node.expressions]
        if node.args.get("distinct"):
            values = [unsigned(value) for value in values]
        names = [projection.alias_or_name or f"c{at}" for at, projection in enumerate(node.expressions)]
        listed = ", ".join(f"{value} AS {name(each)}" for value, each in zip(values, names, strict=True))
        sql = f"SELECT {'DISTINCT ' if node.args.get('distinct') else ''}{listed}{source}"
        if conditions:
            sql += " WHERE " + " AND ".join(conditions)
        if keys:
            sql += " GROUP BY " + ", ".join(unsigned(key).sql for key in keys)
        if node.args.get("having"):
            sql += f" HAVING {boolean(t(node.args['having'].this))}"
        columns = {each: replace(value, sql=name(each)) for each, value in zip(names, values, strict=True)}
        shown = Relation("", dict(zip(names, written, strict=True)))
        return self._finished(node, Table(sql, columns), t, shown)

    def _keys(self, node: exp.Select, rows: Translator) -> list[Value] | None:
        """The keys of GROUP BY; none for one group of all rows, None where there are no groups."""
        group = node.args.get("group")
        projections = [projection.unalias() for projection in node.expressions]
        if not group:
            others = [node.args[key] for key in ("having", "order") if node.args.get(key)]
            return [] if node.args.get("having") or any(map(aggregated, [*projections, *others])) else None
        for kind, value in group.args.items():
            if value and kind not in ("expressions", "all"):
                raise Unfit(f"groups by {kind.upper()}")
        if group.args.get("all"):
            return [rows(each) for each in projections if not aggregated(each)]
        return [rows(projections[int(each.name) - 1] if _ordinal(each) else each) for each in group.expressions]

    def _from(self, node: exp.Select, outer: Resolve | None) -> tuple[str, Scope]:
        from_ = node.args.get("from_")
        if not from_:
            return "", Scope(outer=outer)
        sql, relation = self._leaf(from_.this)
        scope = Scope((relation,), outer)
        for join in node.args.get("joins") or ():
            text, relation = self._leaf(join.this)
            scope = Scope((*scope.relations, relation), outer)
            sql += f" {self._joined(join, text, scope)}"
        return f" FROM {sql}", scope

    def _joined(self, join: exp.Join, text: str, scope: Scope) -> str:
        """A further table of FROM and how it is joined."""
        side = (join.args.get("side") or "").upper()
        if side not in ("", "LEFT", "RIGHT", "FULL") or join.args.get("kind") in ("SEMI", "ANTI") or join.method:
            raise Unfit("has a join of another kind", "write it with ON")
        if join.args.get("using"):
            return f"{side} JOIN {text} USING ({', '.join(name(each.name) for each in join.args['using'])})"
        if join.args.get("on") is not None:
            return f"{side} JOIN {text} ON {boolean(self._rows(scope)(join.args['on']))}"
        return f"CROSS JOIN {text}"

    def _rows(self, scope: Scope) -> Translator:
        """What translates expressions over the rows of a FROM."""
        return Translator(self.rules, Raising(), scope, query=lambda node: self._value(node, scope))

    def _leaf(self, node: exp.Expr) -> tuple[str, Relation]:
        alias = node.alias_or_name
        if isinstance(node, exp.Subquery):
            table = self.query(node.this)
            sql, columns = f"({table.sql})", table.columns
        elif isinstance(node, exp.Table) and node.name.lower() in self.tables:
            sql, columns = name(node.name), self.tables[node.name.lower()]
        else:
            raise Unfit("is no table here", "FROM takes CTEs and subqueries")
        columns = _renamed(columns, node.alias_column_names)
        renamed = f"({', '.join(map(name, columns))})"
        qualified = {each: replace(value, sql=f"{name(alias)}.{name(each)}") for each, value in columns.items()}
        return f"{sql} AS {name(alias)}{renamed}", Relation(alias, qualified)

    # -- what follows ---------------------------------------------------------------

    def _finished(self, node: exp.Expr, table: Table, t: Translator | None, shown: Relation | None = None) -> Table:
        """ORDER BY, LIMIT and OFFSET."""
        sql = table.sql
        order = node.args.get("order")
        if order:
            keys = []
            for each in order.expressions:
                with told_of(each.this):
                    keys.append(_order_key(each, table, t, shown))
            sql += " ORDER BY " + ", ".join(keys)
        for key in ("limit", "offset"):
            clause = node.args.get(key)
            if clause:
                number = clause.expression
                if not isinstance(number, exp.Literal) or not number.is_int:
                    raise Unfit(f"has a {key.upper()} that is no number", "write it out")
                sql += f" {key.upper()} {number.this}"
        return replace(table, sql=sql)

    def _value(self, node: exp.Expr, scope: Resolve) -> Value:
        """A subquery as a value: its one column."""
        table = self.query(node, scope)
        if len(table.columns) != 1:
            raise Unfit("has more than one column", "select one")
        return Value(f"({table.sql})", next(iter(table.columns.values())).kind, True)


def _order_key(node: exp.Expr, table: Table, t: Translator | None, shown: Relation | None) -> str:
    if not isinstance(node, exp.Ordered):
        raise Unfit("is no key of ORDER BY")
    names = [each.lower() for each in table.columns]
    key = node.this
    if _ordinal(key):
        return f"{int(key.name)} {direction(node)}"
    if isinstance(key, exp.Column) and not key.table and key.name.lower() in names:
        return f"{names.index(key.name.lower()) + 1} {direction(node)}"
    if t is None or shown is None:
        raise Unfit("orders a set operation by an expression", "select it in a subquery")
    value = ordered(replace(t, scope=Scope((shown,), t.scope)), node)
    for number, column in enumerate(shown.columns.values(), 1):
        if value.sql == f"{column} {direction(node)}":
            return f"{number} {direction(node)}"
    return value.sql


def unsigned(value: Value) -> Value:
    """A key, in which -0.0 is 0.0."""
    return replace(value, sql=f"({value} + 0)") if types.is_real(value.kind) else value


def aggregated(node: exp.Expr) -> bool:
    """Whether an aggregate over rows is in *node*; an aggregate OVER a window is none."""
    over = {id(part.this) for part in walk(node) if isinstance(part, exp.Window)}
    return any(called(part) in AGGREGATES and id(part) not in over for part in walk(node))


def _ordinal(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.is_int


def _renamed(columns: Columns, names: list[str]) -> Columns:
    if not names:
        return columns
    return {new: replace(value, sql=name(new)) for new, value in zip(names, columns.values(), strict=True)}


def _inlined(select: exp.Select) -> exp.Select:
    """*select* with each ``OVER w`` in place of its name."""
    named = {each.this.name.lower(): each for each in select.args.get("windows") or ()}
    if not named:
        return select
    select = select.copy()
    for window in list(select.find_all(exp.Window)):
        word = window.args.get("alias")
        if word is not None and word.name.lower() in named:
            window.set("alias", None)
            for key, value in named[word.name.lower()].args.items():
                if key in ("partition_by", "order", "spec") and value:
                    window.set(key, [each.copy() for each in value] if isinstance(value, list) else value.copy())
    return select


def subquery(t: Translator, node: exp.Subquery) -> Value:
    if t.query is None:
        raise Unfit("is a subquery, which cannot stand here", "join its stream too")
    return t.query(node)


def exists(t: Translator, node: exp.Exists) -> Value:
    if t.query is None or not isinstance(node.this, exp.Query):
        raise Unfit("is a subquery, which cannot stand here", "join its stream too")
    return Value(f"EXISTS {t.query(node.this)}", types.BOOLEAN, True)


RULES: Rules = {exp.Subquery: subquery, exp.Exists: exists}
