"""Text read as a number, a truth value or a time, as Spark's ANSI casts read it.

DuckDB reads more than Spark (``1_000``, ``1e3`` as an integer) and Spark more than DuckDB
(``1.5d``, zones, ``2020-12``), so a regular expression takes apart what both agree on.  What
Spark may read and the local runtime does not (a year beyond 9999, a time without a date, a named
zone, a hexadecimal double) ends the run.  Why a text was not read is asked only of such texts.
"""

from __future__ import annotations

import re

import pyarrow as pa

from anabranch.plan.translate import types
from anabranch.plan.translate.value import Errors, Unfit, Value, limited, null, quoted

BLANK = r"[\x00-\x20\x7F]*"
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
DATE = r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ].*)?)?)?"
CLOCK = r"[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]{0,9})?)?"
OFFSET = r"[+-](?:0?[0-9]|1[0-7]):[0-5]?[0-9]"
TIME = rf"([0-9]{{4}})(?:-([0-9]{{1,2}})(?:-([0-9]{{1,2}})(?:[T ]({CLOCK})\s*(Z|UTC|GMT|{OFFSET})?)?)?)?"

# what Spark may read beside these
HEXADECIMAL = r"[+-]?0[xX][0-9a-fA-F.]+[pP][+-]?[0-9]+[dDfF]?"
OTHER_DATE = r"[+-]?[0-9]{4,7}(?:-[0-9]{1,2}(?:-[0-9]{1,2}(?:[T ].*)?)?)?"
OTHER_TIME = r"[+-]?[0-9]{4,7}(?:-[0-9]{1,2}(?:-[0-9]{1,2}(?:[T ].+)?)?)?|T?[0-9]{1,2}:.*"

TRUE = "('t', 'true', 'y', 'yes', '1')"
FALSE = "('f', 'false', 'n', 'no', '0')"


def parsed(errors: Errors, value: Value, kind: pa.DataType) -> Value:
    """A text as *kind*; where it is none, it has failed."""
    if kind == types.BOOLEAN:
        sql = _boolean(value)
    elif kind in types.INTEGERS:
        sql = f"TRY_CAST({_found(value, '([+-]?[0-9]+)')} AS {types.duck(kind)})"
    elif types.is_real(kind):
        return _failing(errors, value, Value(_real(value, kind), kind), HEXADECIMAL, NUMBER)
    elif types.is_decimal(kind):
        sql = as_decimal(_found(value, f"({NUMBER})"), kind)
    elif kind == types.DATE:
        sql = f"TRY_CAST({_day(value, DATE)} AS DATE)"
        return _failing(errors, value, Value(sql, kind), OTHER_DATE, DATE)
    elif kind in (types.TIMESTAMP, types.TIMESTAMP_NTZ):
        return _failing(errors, value, Value(_time(value, kind), kind), OTHER_TIME, TIME)
    else:
        raise Unfit(f"reads a text as {types.name(kind)}")
    return _failing(errors, value, Value(sql, kind))


def as_decimal(number: str, kind: pa.DataType) -> str:
    """DuckDB text of a number as a decimal, by way of the widest of that scale; NULL where it has too many digits.

    Of a number with an exponent DuckDB makes no decimal without a digit before the point, and one with too many.
    """
    if kind.scale == types.WIDEST:
        raise Unfit(f"makes {types.name(kind)} of what may have an exponent", "leave it a digit before the point")
    wide = types.duck(types.decimal(types.WIDEST, kind.scale))
    found = f"TRY_CAST({number} AS {wide})"
    if kind.precision < types.WIDEST:
        return f"TRY_CAST({found} AS {types.duck(kind)})"
    largest = f"CAST('{'9' * (types.WIDEST - kind.scale)}.{'9' * kind.scale}' AS {wide})"
    return f"(CASE WHEN abs({found}) <= {largest} THEN {found} END)"


def _failing(errors: Errors, value: Value, read: Value, other: str = "", known: str = "") -> Value:
    """*read*, but a text that gave nothing fails, and one of the *other* form ends the run."""
    why = f"chr(39) || {value} || chr(39) || {quoted(' is no ' + types.name(read.kind))}"
    read = Value(read.sql, read.kind, value.raises)
    constant = value.constant
    if other and not (isinstance(constant, str) and re.fullmatch(BLANK + known + BLANK, constant)):
        theirs, ours = (f"regexp_matches({value}, '^{BLANK}(?:{each}){BLANK}\\z')" for each in (other, known))
        nothing = limited(null(read.kind), f"{theirs} AND NOT {ours}", "such a notation in a text")
        read = Value(f"coalesce({read}, {nothing})", read.kind, True)
    return errors.given(read, f"{value} IS NOT NULL", why)


def _found(value: Value, pattern: str, group: int = 1) -> str:
    """A group of *pattern* where it is the whole text; else NULL."""
    return f"nullif(regexp_extract({value}, '^{BLANK}{pattern}{BLANK}\\z', {group}), '')"


def _boolean(value: Value) -> str:
    word = f"lower(trim({value}, chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || ' '))"
    return f"(CASE WHEN {word} IN {TRUE} THEN TRUE WHEN {word} IN {FALSE} THEN FALSE END)"


def _real(value: Value, kind: pa.DataType) -> str:
    name = types.duck(kind)
    word = f"lower({_found(value, '([+-]?[A-Za-z]+)')})"
    named = (
        f"(CASE WHEN {word} IN ('inf', '+inf', 'infinity', '+infinity') THEN CAST('inf' AS {name})"
        f" WHEN {word} IN ('-inf', '-infinity') THEN CAST('-inf' AS {name})"
        f" WHEN {word} = 'nan' THEN CAST('nan' AS {name}) END)"
    )
    return f"coalesce(TRY_CAST({_found(value, f'({NUMBER})[dDfF]?')} AS {name}), {named})"


def _day(value: Value, pattern: str) -> str:
    """The date at the start of a text, with the parts that Spark lets one leave out."""
    year, month, day = (_found(value, pattern, group) for group in (1, 2, 3))
    return f"({year} || '-' || coalesce({month}, '1') || '-' || coalesce({day}, '1'))"


def _time(value: Value, kind: pa.DataType) -> str:
    clock = f"regexp_replace(coalesce({_found(value, TIME, 4)}, '0:0'), '^24:', '25:')"  # to DuckDB 24:00 is a time
    wall = f"TRY_CAST(({_day(value, TIME)} || ' ' || {clock}) AS TIMESTAMP)"
    if kind == types.TIMESTAMP_NTZ:
        return wall
    offset = f"regexp_extract({value}, '({OFFSET}){BLANK}\\z', 1)"  # may be the end of a date, which has no colon
    east = f"coalesce(epoch_us(TRY_CAST(('1970-01-01 ' || substring({offset}, 2)) AS TIMESTAMP)), 0)"
    return f"({wall} - to_microseconds(CASE WHEN starts_with({offset}, '-') THEN -1 ELSE 1 END * {east}))"
