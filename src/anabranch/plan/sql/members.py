"""FROM of a join: its members, what each ON and USING says, and the columns in scope.

Comma, CROSS JOIN, INNER JOIN, ON and USING, in any nesting of parentheses, all mean one
thing: members side by side, and conditions on them.  A condition sees the members joined
so far, as in Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.query import Member, Stream
from anabranch.plan.sql.clauses import Bracket, Place, Range, Rows
from anabranch.plan.sql.names import Found, Scope, Source, UnknownStream, meant, place, same
from anabranch.plan.sql.resolve import conjuncts, resolve, with_fields


@dataclass(frozen=True)
class Relation:
    """What FROM says, or a part of it in parentheses."""

    members: tuple[Member, ...]
    scope: Scope
    where: tuple[exp.Expression, ...] = ()
    ranges: tuple[tuple[str, Range], ...] = ()


def relation(select: exp.Select, streams: Mapping[str, Stream]) -> Relation:
    """What the FROM of *select* says, where all its names are streams."""
    return _joined(_read(select.args["from_"].this, streams), select.args.get("joins"), streams)


def stream_of(table: exp.Table, streams: Mapping[str, Stream]) -> Stream | None:
    """The stream that *table* names; an exact name wins over one that differs in case."""
    name = ".".join(part.name for part in table.parts)
    if name in streams:
        return streams[name]
    close = [stream for other, stream in streams.items() if same(other, name)]
    if len(close) > 1:
        raise Refused(f"stream '{name}' is ambiguous", "names ignore case; rename one of the streams", place(table))
    return close[0] if close else None


def unknown_stream(table: exp.Table, streams: Mapping[str, Stream]) -> Refused:
    """What to say of a name in FROM that is nothing."""
    if not isinstance(table.this, exp.Identifier):
        what = f"{table.this.sql(dialect='spark')} is no stream"
        return Refused(what, "FROM takes streams, CTEs and subqueries", place(table))
    name = ".".join(part.name for part in table.parts)
    if len(table.parts) > 1:
        hint = f"names of a catalog are for Spark; give the stream a plain name, such as {table.name}"
    else:
        hint = meant(name, streams, "the streams are", streams) or "no streams are given"
    return UnknownStream(f"unknown stream '{name}'", hint, place(table))


def resolved(node: exp.Expr, relation: Relation) -> exp.Expression:
    """*node* with each column as ``alias.column``, exactly, both quoted."""

    def write(found: Found, column: exp.Column) -> exp.Expr:
        fields = field_names(found, relation.members, column)
        exact = exp.column(found.column, table=found.alias, quoted=True)
        exact.meta["at"] = place(column)
        return with_fields(exact, fields)

    exact = resolve(node, relation.scope, write)
    assert isinstance(exact, exp.Expression)
    return exact


def field_names(found: Found, members: tuple[Member, ...], column: exp.Column) -> tuple[str, ...]:
    """The exact names of the struct fields that *found* leads into."""
    type_ = next(m.stream.schema.field(found.column).type for m in members if m.alias == found.alias)
    names: list[str] = []
    for word in found.fields:
        fields = [type_.field(i) for i in range(type_.num_fields)] if pa.types.is_struct(type_) else []
        field = next((field for field in fields if same(field.name, word)), None)
        if field is None:
            raise Refused(
                f"{'.'.join([found.alias, found.column, *names])} has no field '{word}'",
                meant(word, [f.name for f in fields], "it has", [f.name for f in fields]) or f"it is {type_}",
                place(column),
            )
        names.append(field.name)
        type_ = field.type
    return tuple(names)


def leaves(select: exp.Select) -> list[exp.Expr]:
    """All that stands in FROM, whatever the parentheses."""
    leaves: list[exp.Expr] = []
    from_ = select.args.get("from_")
    pending = [from_.this, *(join.this for join in select.args.get("joins") or [])] if from_ else []
    while pending:
        node = pending.pop(0)
        inner = [join.this for join in node.args.get("joins") or []]
        if isinstance(node, exp.Subquery) and isinstance(node.this, (exp.Table, exp.Subquery)):
            pending = [node.this, *inner, *pending]
        elif isinstance(node, exp.Lateral):
            raise Refused("LATERAL is not supported", "join streams with WHERE or ON", place(node) or place(select))
        else:
            leaves.append(node)
            pending = inner + pending
    return leaves


def conditions(select: exp.Select) -> list[exp.Expr]:
    """WHERE and every ON, before they are resolved."""
    where = select.args.get("where")
    found = [where.this] if where else []
    pending: list[exp.Expr] = [select.args["from_"].this, *(select.args.get("joins") or [])]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Join):
            if node.args.get("on") is not None:
                found.append(node.args["on"])
            pending.append(node.this)
        else:
            pending += node.args.get("joins") or []
            if isinstance(node, exp.Subquery):
                pending.append(node.this)
    return found


def check_members(source: Relation, at: Place | None) -> None:
    first = source.members[0]
    if len(source.members) < 2:
        raise Refused(
            f"a join needs two streams or more, and this SELECT names only {first.stream.name}",
            "name all streams in one FROM, and put its conditions into WHERE",
            at,
        )
    for member in source.members:
        if member.stream.integer_time != first.stream.integer_time:
            whole, stamped = (member, first) if member.stream.integer_time else (first, member)
            raise Refused(
                f"the time of {whole.stream.name} is an integer, that of {stamped.stream.name} a timestamp",
                "give all streams of a join one kind of time",
                at,
            )


_NOT_IN_FROM = {"sample": "TABLESAMPLE", "pivots": "PIVOT", "version": "time travel", "when": "time travel"}


def check_alone(node: exp.Expr) -> None:
    """Refuse what would change the rows or the columns of a name in FROM."""
    for key, words in _NOT_IN_FROM.items():
        if node.args.get(key):
            raise Refused(f"{words} is not supported", "leave it out", place(node))


def _read(node: exp.Expr, streams: Mapping[str, Stream]) -> Relation:
    if isinstance(node, exp.Subquery):
        if node.alias:
            raise Refused("a join in parentheses has no alias", "give each stream its own", place(node))
        return _joined(_read(node.this, streams), node.args.get("joins"), streams)
    assert isinstance(node, exp.Table)
    return _joined(_member(node, streams), node.args.get("joins"), streams)


def _member(table: exp.Table, streams: Mapping[str, Stream]) -> Relation:
    stream = stream_of(table, streams)
    assert stream is not None
    check_alone(table)
    alias = table.alias or table.name
    if "." in alias:
        raise Refused(f"the alias '{alias}' has a dot", "choose another alias", place(table))
    if table.alias_column_names:
        raise Refused("columns of a stream are not renamed in FROM", "rename them in the SELECT list", place(table))
    bracket: Bracket | None = table.args.get("bracket")
    member = Member(alias, stream, bracket.count if isinstance(bracket, Rows) else None)
    ranges = ((alias, bracket),) if isinstance(bracket, Range) else ()
    return Relation((member,), Scope.of(Source(alias, tuple(stream.schema.names), stream.name)), (), ranges)


def _joined(left: Relation, joins: list[exp.Join] | None, streams: Mapping[str, Stream]) -> Relation:
    for join in joins or []:
        _check_inner(join)
        right = _read(join.this, streams)
        where: list[exp.Expression] = []
        if join.args.get("using"):
            scope, pairs = left.scope.using(right.scope, join.args["using"], join)
            where += [exp.EQ(this=_key(one, join), expression=_key(other, join)) for one, other in pairs]
        else:
            scope = left.scope.beside(right.scope, join)
        left = Relation(
            left.members + right.members, scope, (*left.where, *right.where, *where), left.ranges + right.ranges
        )
        on = join.args.get("on")
        if on is not None:
            left = replace(left, where=(*left.where, *(resolved(part, left) for part in conjuncts(on))))
    return left


def _key(found: Found, join: exp.Join) -> exp.Expr:
    key = exp.column(found.column, table=found.alias, quoted=True)
    key.meta["at"] = place(join.args["using"][0])
    return key


def _check_inner(join: exp.Join) -> None:
    words = [join.args.get(key) or "" for key in ("method", "side", "kind")]
    if isinstance(join.this, exp.Lateral):
        raise Refused("LATERAL is not supported", "only inner joins of streams are, for now", place(join))
    if words not in (["", "", ""], ["", "", "INNER"], ["", "", "CROSS"]):
        name = " ".join(word for word in words if word and word != "OUTER")
        hint = "write the equal columns in USING or ON" if "NATURAL" in words else "only inner joins are, for now"
        raise Refused(f"{name} JOIN is not supported", hint, place(join))
