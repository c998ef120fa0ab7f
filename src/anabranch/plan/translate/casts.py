"""Literals and CAST: the values of Spark's ANSI mode, where DuckDB's own casts differ.

DuckDB rounds 2.7 to 3 where Spark cuts it to 2, and rounds a double to a decimal from its bits
where Spark rounds its shortest text.  A double is never written as text: Java and C differ.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from anabranch.plan.translate import types
from anabranch.plan.translate.intervals import micros, moment
from anabranch.plan.translate.operands import text
from anabranch.plan.translate.parsing import as_decimal, parsed
from anabranch.plan.translate.translator import Rule, Rules, Translator
from anabranch.plan.translate.value import Unfit, Value, limited, null, quoted

LARGEST_FLOAT = "3.4028235677973362e38"  # from half a last place above it on, a double becomes an infinite float
SECOND = 1_000_000
EARLIEST, LATEST = -9_223_372_022_400, 9_223_372_036_854  # DuckDB's calendar, in seconds

TYPES = {
    exp.DType.BOOLEAN: types.BOOLEAN,
    exp.DType.TINYINT: types.TINYINT,
    exp.DType.SMALLINT: types.SMALLINT,
    exp.DType.INT: types.INT,
    exp.DType.BIGINT: types.BIGINT,
    exp.DType.FLOAT: types.FLOAT,
    exp.DType.DOUBLE: types.DOUBLE,
    exp.DType.TEXT: types.STRING,
    exp.DType.DATE: types.DATE,
    exp.DType.TIMESTAMP: types.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: types.TIMESTAMP,
    exp.DType.TIMESTAMPLTZ: types.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: types.TIMESTAMP_NTZ,
}


# -- literals -----------------------------------------------------------------------


def literal(t: Translator, node: exp.Literal) -> Value:
    if node.is_string:
        return Value(quoted(node.this), types.STRING, constant=node.this)
    return number(node.this)


def number(digits: str) -> Value:
    """A number as Spark types it: int, bigint, decimal, or with an exponent double."""
    if "e" in digits.lower():
        return Value(f"CAST('{digits}' AS DOUBLE)", types.DOUBLE)
    if "." not in digits:
        value = int(digits)
        for kind, bits in ((types.INT, 31), (types.BIGINT, 63)):
            if -(2**bits) <= value < 2**bits:
                return Value(f"CAST({digits} AS {types.duck(kind)})", kind, constant=value)
    exact = Decimal(digits)
    _, figures, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(str(int("".join(map(str, figures))))), scale)
    if precision > types.WIDEST:
        raise Unfit(f"has {precision} digits", "a decimal has at most 38")
    kind = types.decimal(precision, scale)
    return Value(f"CAST('{exact:f}' AS {types.duck(kind)})", kind, constant=exact)


def raw(t: Translator, node: exp.RawString) -> Value:
    return Value(quoted(node.this), types.STRING, constant=node.this)


def truth(t: Translator, node: exp.Boolean) -> Value:
    return Value("TRUE" if node.this else "FALSE", types.BOOLEAN)


def nothing(t: Translator, node: exp.Null) -> Value:
    return null()


# -- casts --------------------------------------------------------------------------


def cast(t: Translator, node: exp.Cast) -> Value:
    for known in ("format", "action", "default"):
        if node.args.get(known):
            raise Unfit("has a format")
    tried = isinstance(node, exp.TryCast) and bool(node.args.get("safe"))
    return converted(t.trying if tried else t, t(node.this), _type(node.to))


def converted(t: Translator, value: Value, kind: pa.DataType) -> Value:
    """An explicit cast."""
    source = value.kind
    if source == kind:
        return Value(value.sql, kind, value.raises)
    if source == types.NULL:
        return null(kind)
    if source == types.STRING:
        return parsed(t.errors, value, kind)
    if kind == types.STRING:
        return text(value)
    if kind == types.BOOLEAN and types.is_number(source):
        return t.sound(f"({value} <> 0)", kind, value)
    if source == types.BOOLEAN and (types.is_number(kind)):
        return converted(t, t.sound(f"CAST({value} AS INTEGER)", types.INT, value), kind)
    if source in types.TIMES and (types.is_number(kind) or kind in types.TIMES):
        return _from_time(t, value, kind)
    if types.is_number(source):
        if kind in (types.TIMESTAMP,):
            return _to_time(t, value)
        if kind in types.INTEGERS:
            return _integer(t, value, kind)
        if types.is_real(kind):
            return _real(t, value, kind)
        if types.is_decimal(kind):
            return _decimal(t, value, kind)
    raise Unfit(f"makes {types.name(kind)} of {types.name(source)}", "Spark has no such cast")


def _integer(t: Translator, value: Value, kind: pa.DataType) -> Value:
    if value.kind in types.INTEGERS and types.common(value.kind, kind) == kind:
        return value.to(kind)
    if value.kind in types.INTEGERS:
        return t.risky(f"CAST({value} AS {types.duck(kind)})", kind, value)
    sql = f"CAST(trunc({value}) AS {types.duck(kind)})"
    if types.is_real(value.kind) and kind == types.BIGINT:  # the double that Java's largest long becomes
        sql = f"(CASE WHEN {value} = 9223372036854775808::DOUBLE THEN 9223372036854775807 ELSE {sql} END)"
    return t.risky(sql, kind, value)


def _real(t: Translator, value: Value, kind: pa.DataType) -> Value:
    if (value.kind, kind) != (types.DOUBLE, types.FLOAT):
        return value.to(kind)
    infinite = f"NOT isnan({value}) AND abs({value}) >= {LARGEST_FLOAT}"
    sql = f"(CASE WHEN {infinite} THEN CAST(CASE WHEN {value} > 0 THEN 'inf' ELSE '-inf' END AS FLOAT) ELSE"
    return t.sound(f"{sql} CAST({value} AS FLOAT) END)", kind, value)


def _decimal(t: Translator, value: Value, kind: pa.DataType) -> Value:
    if not types.is_real(value.kind):
        sql = f"CAST({value} AS {types.duck(kind)})"
        return t.sound(sql, kind, value) if types.common(value.kind, kind) == kind else t.risky(sql, kind, value)
    double = value.to(types.DOUBLE)
    read = t.sound(as_decimal(f"CAST({double} AS VARCHAR)", kind), kind, value)
    return t.errors.given(read, f"isfinite({double})", quoted(f"overflow in a cast to {types.name(kind)}"))


def _from_time(t: Translator, value: Value, kind: pa.DataType) -> Value:
    if kind in types.TIMES:
        return t.sound(f"CAST({value} AS {types.duck(kind)})", kind, value)
    if value.kind != types.TIMESTAMP:
        raise Unfit(f"makes {types.name(kind)} of {types.name(value.kind)}", "Spark has no such cast")
    if kind in types.INTEGERS:
        return _integer(t, t.sound(floor_divided(micros(value), SECOND), types.BIGINT, value), kind)
    return converted(t, t.sound(f"({micros(value)} / {SECOND}.0::DOUBLE)", types.DOUBLE, value), kind)


def _to_time(t: Translator, value: Value) -> Value:
    if value.kind in types.INTEGERS:
        time = t.sound(moment(f"({value.to(types.BIGINT)} * {SECOND})"), types.TIMESTAMP, value)
        return limited(time, f"{value} NOT BETWEEN {EARLIEST} AND {LATEST}", "such a year")
    if not types.is_real(value.kind):
        raise Unfit("makes a timestamp of a decimal", "cast it to double first")
    return t.risky(moment(f"CAST(trunc({value.to(types.DOUBLE)} * {SECOND}) AS BIGINT)"), types.TIMESTAMP, value)


def floor_divided(sql: str, by: int) -> str:
    """Integer division towards minus infinity."""
    return f"(({sql} - ((({sql} % {by}) + {by}) % {by})) // {by})"


def _type(to: exp.DataType) -> pa.DataType:
    if to.this == exp.DType.DECIMAL:
        sizes = [int(each.name) for each in to.expressions]
        precision, scale = [*sizes, *(10, 0)[len(sizes) :]]
        if not 0 <= scale <= precision <= types.WIDEST:
            raise Unfit("casts to a decimal that is none", "write DECIMAL(10, 2), with at most 38 digits")
        return types.decimal(precision, scale)
    if to.this not in TYPES or to.expressions:
        raise Unfit(f"casts to {to.sql(dialect='spark').lower()}")
    return TYPES[to.this]


def named(kind: pa.DataType) -> Rule:
    """``bigint(x)`` is a cast."""

    def rule(t: Translator, node: exp.Anonymous) -> Value:
        if len(node.expressions) != 1:
            raise Unfit("takes one value", "write CAST(x AS ...)")
        return converted(t, t(node.expressions[0]), kind)

    return rule


RULES: Rules = {
    exp.Literal: literal,
    exp.RawString: raw,
    exp.Boolean: truth,
    exp.Null: nothing,
    exp.Cast: cast,
    exp.TryCast: cast,
    "bigint": named(types.BIGINT),
    "tinyint": named(types.TINYINT),
    "smallint": named(types.SMALLINT),
}
