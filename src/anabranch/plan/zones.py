"""Conditions whose meaning depends on a time zone: what hour it is, which instant a text or a date names.

A predicate is evaluated in UTC.  Where everything around it is in UTC too, that is what
Spark says; a session of another zone would read ``hour(A.ts)``, or ``A.ts >= '2026-01-01'``,
otherwise in the SELECT list than in the predicate.  Instants, their order and their
distances are the same everywhere, and so is a text that names its own zone.

Every value is an instant, a clock without a zone, a date, a text, or nothing of the kind;
a step from one to another needs a zone.  What is not known is taken to need one if it
is given an instant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TypeAlias

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.query import Join
from anabranch.plan.sql.kinds import spelled
from anabranch.plan.sql.names import place

UTC = ("utc", "etc/utc", "gmt", "etc/gmt", "z", "zulu", "etc/zulu", "uct", "etc/uct", "universal", "+00:00")


class Sense(Enum):
    """What a value says of time."""

    INSTANT = "an instant"
    CLOCK = "a time without a zone"
    DATE = "a date"
    TEXT = "a text"
    ZONED = "a text with a zone"


Found: TypeAlias = Sense | None
TypeOf: TypeAlias = Callable[[exp.Column], pa.DataType]

COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
ALIKE = (*COMPARED, exp.Between, exp.In, exp.Coalesce, exp.Greatest, exp.Least, exp.If, exp.Case, exp.Nullif)
LOGIC = (exp.And, exp.Or, exp.Not, exp.Is, exp.Boolean, exp.Null)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Interval)
COUNTS = (exp.UnixMicros, exp.UnixMillis, exp.UnixSeconds)  # of an instant since 1970
READ = (exp.UnixToStr, exp.CurrentDate, exp.CurrentTimestamp, exp.TimestampFromParts)
TYPES = exp.DataType.Type


def is_utc(zone: str) -> bool:
    """Whether a session of this zone says of times what a predicate says."""
    return zone.lower() in UTC


def check_zone(join: Join, zone: str) -> None:
    """Refuse conditions that a session of *zone* reads otherwise than UTC."""
    if is_utc(zone):
        return
    types = {(m.alias, field.name): field.type for m in join.members for field in m.stream.schema}
    for condition in join.where:
        _Reader(lambda column: types[column.table, column.name], zone).sense(condition)


class _Reader:
    def __init__(self, type_of: TypeOf, zone: str) -> None:
        self.type_of, self.zone = type_of, zone

    def sense(self, node: exp.Expr) -> Found:
        """What a value says of time; refused where saying it takes a zone."""
        if isinstance(node, exp.Column):
            return _of_type(self.type_of(node))
        if isinstance(node, exp.Literal):
            return None if not node.is_string else Sense.ZONED if _names_zone(node.name) else Sense.TEXT
        if isinstance(node, exp.Paren):
            return self.sense(node.this)
        if isinstance(node, (exp.Cast, exp.TryCast)):
            return self._cast(node)
        inner = [self.sense(part) for part in _operands(node)]
        if isinstance(node, ALIKE):
            found = self._alike(node, inner)
            return None if isinstance(node, (*COMPARED, exp.Between, exp.In)) else found
        if isinstance(node, ARITHMETIC):
            return self._moved(node, inner)
        if isinstance(node, LOGIC) or (isinstance(node, COUNTS) and inner == [Sense.INSTANT]):
            return None
        if isinstance(node, exp.StrToUnix) and inner[:1] == [Sense.INSTANT]:
            return None
        if isinstance(node, (*READ, exp.StrToTime, exp.StrToUnix)):
            raise self._refused(node)
        if Sense.INSTANT in inner and not isinstance(node, exp.Anonymous):  # functions of the user's get the instant
            raise self._refused(node)
        return None

    def _alike(self, node: exp.Expr, inner: Sequence[Found]) -> Found:
        kinds = {each for each in inner if each is not None}
        if Sense.INSTANT in kinds and not kinds <= {Sense.INSTANT, Sense.ZONED}:
            raise self._refused(node)
        return Sense.INSTANT if Sense.INSTANT in kinds else min(kinds, key=lambda kind: kind.value, default=None)

    def _moved(self, node: exp.Expr, inner: Sequence[Found]) -> Found:
        kinds = [each for each in inner if each in (Sense.INSTANT, Sense.CLOCK, Sense.DATE)]
        if len(kinds) > 1:  # a difference
            self._alike(node, kinds)
            return None
        return kinds[0] if kinds else None

    def _cast(self, node: exp.Cast) -> Found:
        known, to = self.sense(node.this), node.to.this
        wanted: Found = None
        if to in (TYPES.TIMESTAMP, TYPES.TIMESTAMPTZ, TYPES.TIMESTAMPLTZ):
            wanted = Sense.INSTANT
            if known in (Sense.CLOCK, Sense.DATE, Sense.TEXT):
                raise self._refused(node)
        elif to == TYPES.TIMESTAMPNTZ:
            wanted = Sense.CLOCK
        elif to == TYPES.DATE:
            wanted = Sense.DATE
        elif to in exp.DataType.TEXT_TYPES:
            wanted = Sense.TEXT
        if known == Sense.INSTANT and wanted not in (None, Sense.INSTANT):
            raise self._refused(node)
        return wanted

    def _refused(self, node: exp.Expr) -> Refused:
        return Refused(
            f"{spelled(node)} depends on the time zone, which is {self.zone} in this session and UTC in the condition"
            " of a join",
            "write the zone into it ('2026-01-31 12:00:00+01:00'), ask it of the matches in an outer SELECT,"
            " or set spark.sql.session.timeZone to UTC",
            place(node),
        )


def _operands(node: exp.Expr) -> list[exp.Expr]:
    return [part for part in node.iter_expressions() if not isinstance(part, (exp.Var, exp.DataType))]


def _of_type(kind: pa.DataType) -> Found:
    types = pa.types
    if types.is_dictionary(kind):
        return _of_type(kind.value_type)
    if types.is_timestamp(kind):
        return Sense.INSTANT if kind.tz else Sense.CLOCK
    if types.is_date(kind):
        return Sense.DATE
    return Sense.TEXT if types.is_string(kind) or types.is_large_string(kind) else None


def _names_zone(text: str) -> bool:
    """Whether a text ends in the zone that it is meant in, as in ``12:00:00+01:00`` or ``12:00:00Z``."""
    clock = text.strip().upper().partition(":")[2]
    return clock.endswith("Z") or "+" in clock or "-" in clock or "/" in clock
