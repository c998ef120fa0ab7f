"""What an operation makes of an operand: Spark's implicit casts, as far as they are certain."""

from __future__ import annotations

import pyarrow as pa

from anabranch.plan.translate import types
from anabranch.plan.translate.value import SPARK, Unfit, Value, limited

CAST = "cast it"
FIRST, LAST = "TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'"


def number(value: Value) -> Value:
    if not types.is_number(value.kind) and value.kind != types.NULL:
        raise Unfit(f"takes numbers, not {types.name(value.kind)}", CAST)
    return value


def double(value: Value) -> Value:
    return number(value).to(types.DOUBLE)


def integer(value: Value, kind: pa.DataType = types.INT) -> Value:
    """An integer of *kind*, or a narrower one made wider."""
    if value.kind != types.NULL and value.kind not in types.INTEGERS[: types.INTEGERS.index(kind) + 1]:
        raise Unfit(f"takes {types.name(kind)}, not {types.name(value.kind)}", CAST)
    return value.to(kind)


def boolean(value: Value) -> Value:
    if value.kind not in (types.BOOLEAN, types.NULL):
        raise Unfit(f"takes conditions, not {types.name(value.kind)}", "compare it with something")
    return value.to(types.BOOLEAN)


def text(value: Value) -> Value:
    """A text, or what Spark and DuckDB write alike as one."""
    if value.kind == types.STRING:
        return value
    if value.kind in types.TIMES:
        written = Value(f"CAST({value} AS VARCHAR)", types.STRING, value.raises)
        return limited(written, f"{value} NOT BETWEEN {FIRST} AND {LAST}", "texts of years beyond 9999")
    if types.is_decimal(value.kind) and value.kind.precision == value.kind.scale:  # DuckDB leaves out the zero
        return Value(f"replace(CAST({value} AS VARCHAR), '.', '0.')", types.STRING, value.raises)
    if value.kind in (*types.INTEGERS, types.BOOLEAN, types.NULL) or types.is_decimal(value.kind):
        return value.to(types.STRING)
    if types.is_real(value.kind):
        raise Unfit(f"writes a {types.name(value.kind)} as text, which Java does differently", f"cast it, or {SPARK}")
    raise Unfit(f"takes texts, not {types.name(value.kind)}", CAST)


def literal(value: Value, what: str) -> str:
    """The text of a literal, where Spark or the local runtime takes no other."""
    if not isinstance(value.constant, str):
        raise Unfit(f"needs {what} that is a text literal")
    return value.constant


def whole(value: Value, what: str) -> int:
    """The number of an integer literal."""
    if not isinstance(value.constant, int):
        raise Unfit(f"needs {what} that is a number written out")
    return value.constant


def alike(values: list[Value]) -> pa.DataType:
    """The one type of *values* that may stand for each other."""
    kind = types.NULL
    for value in values:
        common = types.common(kind, value.kind)
        if common is None:
            raise Unfit(f"mixes {types.name(kind)} and {types.name(value.kind)}", "cast one of them")
        kind = common
    return kind


def list_of(values: list[Value]) -> str:
    return ", ".join(value.sql for value in values)
