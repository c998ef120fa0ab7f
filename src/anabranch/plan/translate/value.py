"""A translated expression, and what an error in it does.

A value is DuckDB text with the type that Spark gives it.  In the SELECT list an error ends
the run, as in Spark's ANSI mode; in the predicate of a join it makes NULL.  Which of the two
is a class, chosen once for a translation.  What only the local runtime cannot do always ends
the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol

import pyarrow as pa

from anabranch.plan.translate import types

SPARK = "the page on functions in the documentation lists those that this runtime has"


class Unfit(Exception):
    """An operand that an operation does not take; the translator adds the user's text to it."""

    def __init__(self, what: str, hint: str = SPARK) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


@dataclass(frozen=True)
class Value:
    """*sql* is of *kind*, and may end the run if it *raises*; *constant* is a literal's value.

    ``origin`` is the Arrow type of a bare column of the input, which the output keeps.
    """

    sql: str
    kind: pa.DataType
    raises: bool = False
    constant: int | str | Decimal | None = None
    origin: pa.DataType | None = None

    def __str__(self) -> str:
        return self.sql

    def to(self, kind: pa.DataType) -> Value:
        """The same value as a wider type, which never fails."""
        if self.kind == kind:
            return self
        return Value(cast(self.sql, self.kind, kind), kind, self.raises)


def cast(sql: str, source: pa.DataType, kind: pa.DataType) -> str:
    """*sql* as another type; a decimal becomes the nearest real."""
    if types.is_decimal(source) and (kind == types.FLOAT or (kind == types.DOUBLE and source.precision > 15)):
        sql = f"CAST({sql} AS VARCHAR)"
    if source in types.INTERVALS and kind in types.INTERVALS:
        return sql
    return f"CAST({sql} AS {types.duck(kind)})"


def null(kind: pa.DataType = types.NULL) -> Value:
    return Value(f"CAST(NULL AS {types.duck(kind)})", kind)


def quoted(text: str) -> str:
    """A DuckDB text literal."""
    if "\0" in text:
        raise Unfit("a text with a zero byte")
    return "'" + text.replace("'", "''") + "'"


def name(identifier: str) -> str:
    """A DuckDB identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def limited(value: Value, bad: str, why: str) -> Value:
    """*value*, but where *bad* holds the local runtime cannot follow Spark, which ends every run."""
    why = f"the local runtime does not have {why}; {SPARK}"
    return replace(value, sql=f"(CASE WHEN {bad} THEN error({quoted(why)}) ELSE {value} END)", raises=True)


class Errors(Protocol):
    """What an error does."""

    def risky(self, value: Value) -> Value:
        """*value*, whose last step DuckDB itself may refuse."""

    def checked(self, bad: str, why: str, value: Value) -> Value:
        """*value*, but where *bad* holds it has failed; *why* is DuckDB text, a message."""

    def given(self, value: Value, wanted: str, why: str) -> Value:
        """*value*, but where it is NULL though it is *wanted* it has failed."""


class Raising:
    """An error ends the run."""

    def risky(self, value: Value) -> Value:
        return replace(value, raises=True)

    def checked(self, bad: str, why: str, value: Value) -> Value:
        return replace(value, sql=f"(CASE WHEN {bad} THEN error({why}) ELSE {value} END)", raises=True)

    def given(self, value: Value, wanted: str, why: str) -> Value:
        return replace(value, sql=f"coalesce({value}, CASE WHEN {wanted} THEN error({why}) END)", raises=True)


class Nulling:
    """An error makes NULL."""

    def risky(self, value: Value) -> Value:
        if value.raises:  # an operand's own error would be swallowed
            raise Unfit("has an operand that may fail itself")
        return replace(value, sql=f"TRY({value})")

    def checked(self, bad: str, why: str, value: Value) -> Value:
        return replace(value, sql=f"(CASE WHEN {bad} THEN NULL ELSE {value} END)")

    def given(self, value: Value, wanted: str, why: str) -> Value:
        return value
