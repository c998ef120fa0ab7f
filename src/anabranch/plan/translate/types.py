"""Spark's types, spelled as Arrow types, and how two of them become one.

Inside DuckDB a timestamp is naive UTC and a day-time interval is its microseconds; everything
else has a type of its own there.  The rules are those of Spark's ANSI mode.
"""

from __future__ import annotations

import pyarrow as pa

from anabranch.core.errors import Refused

NULL = pa.null()
BOOLEAN = pa.bool_()
TINYINT, SMALLINT, INT, BIGINT = pa.int8(), pa.int16(), pa.int32(), pa.int64()
FLOAT, DOUBLE = pa.float32(), pa.float64()
STRING, BINARY, DATE = pa.string(), pa.binary(), pa.date32()
TIMESTAMP, TIMESTAMP_NTZ = pa.timestamp("us", "UTC"), pa.timestamp("us")
INTERVAL = pa.duration("us")
DAYS = pa.duration("s")  # an interval of whole days, which leaves a date a date; its value is in microseconds too
WINDOW = pa.struct([("start", TIMESTAMP), ("end", TIMESTAMP)])
WINDOW_NTZ = pa.struct([("start", TIMESTAMP_NTZ), ("end", TIMESTAMP_NTZ)])

INTEGERS = (TINYINT, SMALLINT, INT, BIGINT)
RISING = (*INTEGERS, FLOAT, DOUBLE)
TIMES = (DATE, TIMESTAMP_NTZ, TIMESTAMP)
INTERVALS = (DAYS, INTERVAL)
DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
WIDEST = 38

NAMES = {
    NULL: ("void", "INTEGER"),
    BOOLEAN: ("boolean", "BOOLEAN"),
    TINYINT: ("tinyint", "TINYINT"),
    SMALLINT: ("smallint", "SMALLINT"),
    INT: ("int", "INTEGER"),
    BIGINT: ("bigint", "BIGINT"),
    FLOAT: ("float", "FLOAT"),
    DOUBLE: ("double", "DOUBLE"),
    STRING: ("string", "VARCHAR"),
    BINARY: ("binary", "BLOB"),
    DATE: ("date", "DATE"),
    TIMESTAMP: ("timestamp", "TIMESTAMP"),
    TIMESTAMP_NTZ: ("timestamp_ntz", "TIMESTAMP"),
    INTERVAL: ("interval day to second", "BIGINT"),
    DAYS: ("interval day", "BIGINT"),
}


def decimal(precision: int, scale: int) -> pa.DataType:
    return pa.decimal128(precision, scale)


def is_decimal(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind))


def is_number(kind: pa.DataType) -> bool:
    return kind in RISING or is_decimal(kind)


def is_real(kind: pa.DataType) -> bool:
    return kind in (FLOAT, DOUBLE)


def is_window(kind: pa.DataType) -> bool:
    return kind in (WINDOW, WINDOW_NTZ)


def spark(kind: pa.DataType) -> pa.DataType:
    """The type that Spark gives a column of this Arrow type."""
    known = {
        pa.uint8(): SMALLINT,
        pa.uint16(): INT,
        pa.uint32(): BIGINT,
        pa.uint64(): decimal(20, 0),
        pa.float16(): FLOAT,
        pa.large_string(): STRING,
        pa.string_view(): STRING,
        pa.large_binary(): BINARY,
        pa.date64(): DATE,
    }
    if kind in known:
        return known[kind]
    if pa.types.is_dictionary(kind):
        return spark(kind.value_type)
    if pa.types.is_timestamp(kind):
        return TIMESTAMP if kind.tz else TIMESTAMP_NTZ
    if pa.types.is_duration(kind):
        return INTERVAL
    if pa.types.is_decimal(kind):
        if kind.precision > WIDEST:
            raise Refused(f"is of type {kind}, which has more than {WIDEST} digits", "cast it in its source")
        return decimal(kind.precision, kind.scale)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(spark(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, spark(field.type)) for field in kind])
    return kind


def inside(kind: pa.DataType) -> pa.DataType:
    """The Arrow type in which the translated text expects a column of this Arrow type."""
    kind = spark(kind)
    if kind == TIMESTAMP:
        return TIMESTAMP_NTZ
    if kind == INTERVAL:
        return BIGINT
    if pa.types.is_list(kind):
        return pa.list_(inside(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, inside(field.type)) for field in kind])
    return kind


def name(kind: pa.DataType) -> str:
    """Spark's own name of a type."""
    if is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_list(kind):
        return f"array<{name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ",".join(f"{field.name}:{name(field.type)}" for field in kind) + ">"
    return NAMES[kind][0] if kind in NAMES else str(kind)


def duck(kind: pa.DataType) -> str:
    """The DuckDB type that holds the values of a Spark type."""
    if is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_list(kind):
        return duck(kind.value_type) + "[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{field.name}" {duck(field.type)}' for field in kind) + ")"
    return NAMES[kind][1]


def exact(kind: pa.DataType) -> pa.DataType | None:
    """The decimal that holds every value of an exact numeric type."""
    if is_decimal(kind):
        return kind
    return decimal(DIGITS[kind], 0) if kind in INTEGERS else None


def common(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """The type both become when they meet (comparison, CASE, IN, UNION); None when they may not meet."""
    if a == b or b == NULL:
        return a
    if a == NULL:
        return b
    if is_number(a) and is_number(b):
        return _number(a, b)
    if a in TIMES and b in TIMES:
        return max(a, b, key=TIMES.index)
    if STRING in (a, b) and (a in TIMES or b in TIMES):
        return b if a == STRING else a
    if a in INTERVALS and b in INTERVALS:
        return INTERVAL
    return None


def _number(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if is_decimal(a) or is_decimal(b):
        left, right = exact(a), exact(b)
        if left is None or right is None:
            return DOUBLE
        scale = max(left.scale, right.scale)
        digits = max(left.precision - left.scale, right.precision - right.scale) + scale
        return decimal(digits, scale) if digits <= WIDEST else None
    wider = max(a, b, key=RISING.index)
    return DOUBLE if wider == FLOAT else wider
