"""What is left of a predicate for the candidates that the loop lets through, and for rows before they are stored.

A call of a Python function becomes a column of its results, named ``#.call0`` and so
on; a conjunct that is nothing but a call is decided by that column, any other reads
it like a column of the matches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.lower import Lowered
from anabranch.plan.query import matches_column
from anabranch.plan.sql.kinds import spelled
from anabranch.plan.sql.names import place


@dataclass(frozen=True)
class Constant:
    """A literal argument."""

    value: Any


@dataclass(frozen=True)
class Call:
    """One call: the column of its results, the function, its columns or constants, and whether it decides alone."""

    result: str
    function: str
    arguments: tuple[str | Constant, ...]
    decides: bool


@dataclass(frozen=True)
class Refinement:
    """Calls to make, then SQL conditions to test over these columns."""

    calls: tuple[Call, ...]
    conditions: tuple[exp.Expr, ...]
    columns: pa.Schema


@dataclass(frozen=True)
class Filter:
    """Filters on one stream: the lane for their outcome, and the columns that they read (*names* in the rows)."""

    lane: int
    conditions: tuple[exp.Expr, ...]
    columns: pa.Schema
    names: tuple[str, ...]


def filters(lowered: Lowered, stream: int) -> Filter | None:
    """The filters of one stream that are not compiled."""
    member = lowered.join.members[stream]
    for s, lane, conditions in lowered.computed:
        if s == stream:
            read = {column.name for each in conditions for column in each.find_all(exp.Column)}
            names = sorted(read) or member.stream.schema.names[:1]
            fields = [member.stream.schema.field(name).with_name(matches_column(member.alias, name)) for name in names]
            return Filter(lane, conditions, pa.schema(fields), tuple(names))
    return None


def refinement(lowered: Lowered, functions: Collection[str]) -> Refinement:
    """What the candidates of a join have to pass; *functions* are the user's, in lower case."""
    schemas = {member.alias: member.stream.schema for member in lowered.join.members}
    calls: list[Call] = []
    conditions: list[exp.Expr] = []
    types: dict[str, pa.DataType] = {}
    for refined in lowered.refined:
        condition = refined.condition.copy().unnest()
        if _is_call(condition, functions):
            calls.append(_call(condition, len(calls), decides=True))
            continue
        for node in list(condition.find_all(exp.Anonymous)):
            if _is_call(node, functions):
                call = _call(node, len(calls), decides=False)
                calls.append(call)
                types[call.result] = pa.float64() if _is_number(node, schemas) else pa.bool_()
                node.replace(exp.column(call.result.removeprefix("#."), "#", quoted=True))
        for column in condition.find_all(exp.Column):
            if column.table != "#":
                types[matches_column(column.table, column.name)] = schemas[column.table].field(column.name).type
        conditions.append(condition)
    return Refinement(tuple(calls), tuple(conditions), pa.schema(list(types.items())))


def _is_call(node: exp.Expr, functions: Collection[str]) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in functions


def _is_number(call: exp.Expr, schemas: Mapping[str, pa.Schema]) -> bool:
    """Whether a condition takes the result of a call for a number; else it is a condition within the condition."""
    whole = call
    while isinstance(whole.parent, exp.Paren):
        whole = whole.parent
    around = whole.parent
    if isinstance(around, exp.EQ | exp.NEQ | exp.NullSafeEQ):
        other = (around.expression if around.this is whole else around.this).unnest()
        if isinstance(other, exp.Column) and other.table in schemas:
            return not pa.types.is_boolean(schemas[other.table].field(other.name).type)
        return not isinstance(other, exp.Boolean | exp.Predicate | exp.Connector | exp.Not)
    if isinstance(around, exp.Connector | exp.Is):
        return False
    return isinstance(around, exp.Binary | exp.Between | exp.In | exp.Neg)


def _call(node: exp.Expr, number: int, decides: bool) -> Call:
    return Call(f"#.call{number}", node.name.lower(), tuple(_argument(part) for part in node.expressions), decides)


def _argument(node: exp.Expr) -> str | Constant:
    node = node.unnest()
    if isinstance(node, exp.Column):
        return matches_column(node.table, node.name)
    if isinstance(node, exp.Null):
        return Constant(None)
    if isinstance(node, exp.Boolean):
        return Constant(bool(node.this))
    number = node.this if isinstance(node, exp.Neg) else node
    if isinstance(number, exp.Literal) and number.is_string and number is node:
        return Constant(node.this)
    if isinstance(number, exp.Literal) and not number.is_string:
        value = int(number.this) if number.this.isdigit() else float(number.this)
        return Constant(value if number is node else -value)
    raise Refused(
        f"the argument {spelled(node)} of a Python function is neither a column nor a literal",
        "give the columns and compute inside the function",
        place(node),
    )
