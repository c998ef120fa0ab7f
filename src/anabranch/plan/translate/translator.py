"""One walk over an expression of Spark's, by a table of what the local runtime has.

Nothing passes that is not in the table: a function without a rule, or an argument that its
rule does not know, is refused by name.  Within a SELECT with groups, an expression that is a
key means the key, and a column that is none is refused.

Cost: an expression below n others is translated n times under GROUP BY, else once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.sql.kinds import spelled
from anabranch.plan.sql.names import place
from anabranch.plan.translate import types
from anabranch.plan.translate.parsing import parsed
from anabranch.plan.translate.value import SPARK, Errors, Nulling, Unfit, Value, quoted

Rule = Callable[["Translator", Any], Value]
Rules = Mapping["type[exp.Expr] | str", Rule]
Resolve = Callable[[exp.Column], Value]

# what sqlglot notes on a node that changes nothing in Spark
NOTES = {"safe", "typed", "coalesce", "ignore_nulls", "big_int", "flatten", "null_if_pos_overflow"}


@dataclass(frozen=True)
class Relation:
    """Something in FROM, under its alias."""

    alias: str
    columns: Mapping[str, Value]

    def find(self, column: str) -> Value | None:
        exact = self.columns.get(column)
        return exact or next((value for known, value in self.columns.items() if known.lower() == column.lower()), None)


@dataclass(frozen=True)
class Scope:
    """The relations of one FROM, and those of the query around it."""

    relations: tuple[Relation, ...] = ()
    outer: Resolve | None = None

    def __call__(self, column: exp.Column) -> Value:
        near = [each for each in self.relations if not column.table or each.alias.lower() == column.table.lower()]
        found = [value for value in (each.find(column.name) for each in near) if value]
        if len(found) == 1:
            return found[0]
        if not found and self.outer:
            return self.outer(column)
        raise Unfit("is ambiguous" if found else "is no column here", "check the names")


@dataclass(frozen=True)
class Translator:
    """What an expression is translated with; *keys* are the GROUP BY's, None where there are no groups."""

    rules: Rules
    errors: Errors
    scope: Resolve
    keys: Mapping[str, Value] | None = None
    query: Callable[[exp.Expr], Value] | None = None

    def __call__(self, node: exp.Expr) -> Value:
        if self.keys is not None and not isinstance(node, (exp.Literal, exp.Null, exp.Boolean)):
            key = self._key(node)
            if key:
                return key
        rule = self.rules.get(called(node))
        if rule is None:
            raise Refused(f"the local runtime does not have {spoken(node)}", SPARK, place(node))
        with told_of(node):
            return rule(self, node)

    @property
    def rows(self) -> Translator:
        """The same, within an aggregate: of rows, not of groups."""
        return replace(self, keys=None)

    @property
    def trying(self) -> Translator:
        """The same, where an error makes NULL."""
        return replace(self, errors=Nulling())

    def risky(self, sql: str, kind: Any, *operands: Value) -> Value:
        """A value whose last step DuckDB may refuse."""
        return self.errors.risky(self.sound(sql, kind, *operands))

    def sound(self, sql: str, kind: Any, *operands: Value) -> Value:
        """A value that fails only where an operand fails."""
        return Value(sql, kind, any(operand.raises for operand in operands))

    def as_(self, value: Value, kind: pa.DataType) -> Value:
        """*value* as the type that it shares with others: wider, or a text read as a time."""
        if value.kind == types.STRING and kind in types.TIMES:
            return parsed(self.errors, value, kind)
        return value.to(kind)

    def _key(self, node: exp.Expr) -> Value | None:
        assert self.keys is not None
        try:
            return self.keys.get(self.rows(node).sql)
        except Refused:
            return None


@contextmanager
def told_of(node: exp.Expr) -> Iterator[None]:
    """What does not fit is refused in the words and at the place of *node*."""
    try:
        yield
    except Unfit as error:
        raise Refused(f"{spelled(node)} {error.what}", error.hint, place(node)) from None


@dataclass(frozen=True)
class Takes:
    """A rule whose operands are values: a node's named arguments, or an unknown function's, in order."""

    make: Callable[..., Value]
    names: tuple[str, ...] = ()

    def __call__(self, t: Translator, node: exp.Expr) -> Value:
        operands = [t(each) for each in arguments(node, *self.names)]
        try:
            inspect.signature(self.make).bind(t, *operands)
        except TypeError:
            raise Unfit("has another number of arguments", "see the function in Spark's reference") from None
        return self.make(t, *operands)


def takes(make: Callable[..., Value], *names: str) -> Takes:
    return Takes(make, names)


def arguments(node: exp.Expr, *names: str) -> list[exp.Expr]:
    """The operands of *node*; refused if it has others than *names*."""
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    for known, value in node.args.items():
        if value and known not in names and known not in NOTES:
            raise Unfit(f"has an argument ({known}) that the local runtime does not know")
    found: list[exp.Expr] = []
    for each in names:
        value = node.args.get(each)
        found += value if isinstance(value, list) else [value] if isinstance(value, exp.Expr) else []
    return found


def called(node: exp.Expr) -> type[exp.Expr] | str:
    """What the table of rules knows a node by."""
    return node.name.lower() if isinstance(node, exp.Anonymous) else type(node)


def spoken(node: exp.Expr) -> str:
    """A node's name in a message."""
    if isinstance(node, exp.Anonymous):
        return f"{node.name.lower()}()"
    text = spelled(node)
    call = re.match(r"[A-Z_0-9]+(?= ?\()", text)
    return f"{call[0].lower()}()" if call else f"'{text}'"


# -- names and brackets -------------------------------------------------------------


def column(t: Translator, node: exp.Column) -> Value:
    if t.keys is not None:
        raise Unfit("is neither grouped nor aggregated", "add it to GROUP BY, or aggregate it")
    return t.scope(node)


def field(t: Translator, node: exp.Dot) -> Value:
    whole, part = t(node.this), node.expression
    if not pa.types.is_struct(whole.kind) or not isinstance(part, exp.Identifier):
        raise Unfit("is no field of a struct", "check the names")
    found = next((each for each in whole.kind if each.name.lower() == part.name.lower()), None)
    if found is None:
        raise Unfit(f"has no field '{part.name}'", "it has " + ", ".join(each.name for each in whole.kind))
    return t.sound(f"struct_extract({whole}, {quoted(found.name)})", found.type, whole)


def parenthesis(t: Translator, node: exp.Paren) -> Value:
    return t(node.this)


RULES: Rules = {exp.Column: column, exp.Dot: field, exp.Paren: parenthesis}
