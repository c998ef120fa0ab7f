"""Spark's expressions and statements as DuckDB text that gives the same values, or a refusal.

A whitelist: ``ROWS`` holds what an expression over one row may be made of, ``WHOLE`` adds what
a statement may.  Each entry is asked over awkward values in the tests, and compared with what
Spark itself answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.query import matches_column
from anabranch.plan.sql.names import place
from anabranch.plan.translate import (
    aggregates,
    arithmetic,
    casts,
    conditions,
    intervals,
    mathematics,
    over,
    patterns,
    periods,
    statement,
    texts,
    times,
    translator,
)
from anabranch.plan.translate.operands import boolean
from anabranch.plan.translate.translator import Rules, Translator
from anabranch.plan.translate.types import spark
from anabranch.plan.translate.value import Nulling, Unfit, Value, name

ROWS: Rules = {
    **translator.RULES,
    **casts.RULES,
    **arithmetic.RULES,
    **intervals.RULES,
    **conditions.RULES,
    **mathematics.RULES,
    **texts.RULES,
    **patterns.RULES,
    **times.RULES,
}
WHOLE: Rules = {**ROWS, **aggregates.RULES, **over.RULES, **periods.RULES, **statement.RULES}


Expression = exp.Expr
NUMBER = "#row"


@dataclass(frozen=True)
class Selection:
    """DuckDB text, and the Arrow types that its columns are to be given.

    The relations must hold values of DuckDB's own: timestamps are naive, in UTC, and in
    microseconds.  Bare columns that are more than that are ``kept``: by their place, the column
    of the relation that they are.  The text then has a last column more, the number of the row
    in the relation, which takes that as its column ``NUMBER``.
    """

    sql: str
    schema: pa.Schema
    kept: Mapping[int, str]


def select(shell: exp.Expr, relations: Mapping[str, pa.Schema]) -> Selection:
    """A statement over relations; an error in it ends the run."""
    kept = _kept(shell, relations)
    if kept:
        assert isinstance(shell, exp.Select)
        (relation,) = relations
        relations = {relation: relations[relation].append(pa.field(NUMBER, pa.int64()))}
        shell = shell.select(exp.column(NUMBER, table=relation, quoted=True))
    tables = {
        relation.lower(): {
            field.name: Value(name(field.name), _spark(field, [shell]), origin=field.type) for field in schema
        }
        for relation, schema in relations.items()
    }
    try:
        table = statement.Statement(WHOLE, tables).query(shell)
    except Unfit as error:
        raise Refused(f"the statement {error.what}", error.hint) from None
    except RecursionError:
        raise Refused("an expression is nested too deeply", "compute a part of it in a CTE") from None
    fields = [(column, value.origin or _arrow(value.kind)) for column, value in table.columns.items()]
    return Selection(table.sql, pa.schema(fields[:-1] if kept else fields), kept)


def _kept(shell: exp.Expr, relations: Mapping[str, pa.Schema]) -> dict[int, str]:
    """The columns in nanoseconds of a SELECT each of whose rows is one of its relation."""
    if not isinstance(shell, exp.Select) or len(relations) != 1:
        return {}
    source = shell.args["from_"].this
    if not isinstance(source, exp.Table) or source.name not in relations:
        return {}
    if any(shell.args.get(key) for key in ("distinct", "group", "having", "joins", "with_")):
        return {}
    projections = [projection.unalias() for projection in shell.expressions]
    if any(map(statement.aggregated, projections)):
        return {}
    schema = relations[source.name]
    columns = {place: each.name for place, each in enumerate(projections) if isinstance(each, exp.Column)}
    return {place: column for place, column in columns.items() if _in_nanoseconds(schema, column)}


def _in_nanoseconds(schema: pa.Schema, column: str) -> bool:
    kind = schema.field(column).type if column in schema.names else pa.null()
    return bool((pa.types.is_timestamp(kind) or pa.types.is_duration(kind)) and kind.unit == "ns")


def predicate(conjuncts: Iterable[exp.Expr], schema: pa.Schema) -> str:
    """Conjuncts over members, as a condition over a relation with their columns ``"A.x"``.

    An error in them is NULL.
    """
    conjuncts = list(conjuncts)
    known = {field.name: Value(name(field.name), _spark(field, conjuncts)) for field in schema}

    def column(node: exp.Column) -> Value:
        return known[matches_column(node.table, node.name)]

    t = Translator(ROWS, Nulling(), column)
    try:
        return conditions.conjunction(t, [boolean(t(conjunct)) for conjunct in conjuncts]).sql
    except Unfit as error:
        raise Refused(f"the condition {error.what}", error.hint) from None


def _spark(field: pa.Field, nodes: Iterable[exp.Expr]) -> pa.DataType:
    """The type of a column that *nodes* read."""
    try:
        return spark(field.type)
    except Refused as refusal:
        read = (column for node in nodes for column in node.find_all(exp.Column))
        here = [each for each in read if field.name in (each.name, matches_column(each.table, each.name))]
        raise Refused(f"column {field.name} {refusal.what}", refusal.hint, place(here[0]) if here else None) from None


def _arrow(kind: pa.DataType) -> pa.DataType:
    return pa.duration("us") if pa.types.is_duration(kind) else kind


__all__ = ["NUMBER", "ROWS", "WHOLE", "Expression", "Selection", "predicate", "select"]
