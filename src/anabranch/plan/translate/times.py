"""Functions of dates and timestamps, in UTC.

A date where a timestamp is wanted is its midnight, a text is read as a time.  Seconds before
1970 are floored, but by ``unix_timestamp``, which cuts them as Spark does.  What depends on
the moment of the run is not in the table.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from anabranch.plan.translate import formats, types
from anabranch.plan.translate.casts import converted, floor_divided
from anabranch.plan.translate.intervals import MONTHS, UNITS, days_later, micros, moment, months_later, singular
from anabranch.plan.translate.operands import integer, literal
from anabranch.plan.translate.translator import Rule, Rules, Translator, arguments, takes
from anabranch.plan.translate.value import Unfit, Value, null

DAY = UNITS["DAY"]
FIELDS = {
    "YEAR": "year({})",
    "QUARTER": "quarter({})",
    "MONTH": "month({})",
    "WEEK": "week({})",
    "DAY": "day({})",
    "DAYOFWEEK": "(dayofweek({}) + 1)",
    "DOW": "(dayofweek({}) + 1)",
    "DAYOFWEEK_ISO": "isodow({})",
    "WEEKDAY": "(isodow({}) - 1)",
    "DOY": "dayofyear({})",
    "YEAROFWEEK": "isoyear({})",
    "HOUR": "hour({})",
    "MINUTE": "minute({})",
    "SECOND": "second({})",
}
TRUNCATED = {
    "YEAR": "year",
    "YYYY": "year",
    "YY": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "MM": "month",
    "MON": "month",
    "WEEK": "week",
    "DAY": "day",
    "DD": "day",
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
    "MILLISECOND": "milliseconds",
    "MICROSECOND": "microseconds",
}
OF_DATES = ("year", "quarter", "month", "week")


def stamp(t: Translator, value: Value) -> Value:
    """A timestamp, with a zone or without."""
    if value.kind == types.TIMESTAMP_NTZ:
        return value
    if value.kind not in (types.TIMESTAMP, types.DATE, types.STRING, types.NULL):
        raise Unfit(f"takes a time, not {types.name(value.kind)}", "cast it")
    return t.as_(value, types.TIMESTAMP)


def date(t: Translator, value: Value) -> Value:
    if value.kind not in (*types.TIMES, types.STRING, types.NULL):
        raise Unfit(f"takes a date, not {types.name(value.kind)}", "cast it")
    return converted(t, value, types.DATE)


# -- parts --------------------------------------------------------------------------


def field(name: str, *names: str) -> Rule:
    return takes(lambda t, value: _field(t, value, name), *names)


def _field(t: Translator, value: Value, name: str) -> Value:
    if name not in FIELDS:
        raise Unfit(f"has the field {name}")
    value = stamp(t, value)
    return t.sound(f"CAST({FIELDS[name].format(value)} AS INTEGER)", types.INT, value)


def extract(t: Translator, node: exp.Extract) -> Value:
    return _extract(t, node.this.name, t(node.expression))


def date_part(t: Translator, name: Value, value: Value) -> Value:
    return _extract(t, literal(name, "a field"), value)


def _extract(t: Translator, name: str, value: Value) -> Value:
    name = singular(name)
    if name != "SECOND":
        return _field(t, value, name)
    value = stamp(t, value)
    minute = UNITS["MINUTE"]
    rest = f"((({micros(value)} % {minute}) + {minute}) % {minute})"
    kind = types.decimal(8, 6)
    sql = f"CAST((CAST({rest} AS DECIMAL(8,0)) * CAST('0.000001' AS DECIMAL(6,6))) AS {types.duck(kind)})"
    return t.sound(sql, kind, value)


def truncate(t: Translator, node: exp.TimestampTrunc) -> Value:
    time, unit = arguments(node, "this", "unit")
    value = converted(t, stamp(t, t(time)), types.TIMESTAMP)
    name = TRUNCATED.get(unit.name.upper())
    if name is None:
        return null(types.TIMESTAMP)
    return t.sound(f"CAST(date_trunc('{name}', {value}) AS TIMESTAMP)", types.TIMESTAMP, value)


def truncate_date(t: Translator, node: exp.DateTrunc) -> Value:
    unit, day = arguments(node, "unit", "this")
    value, name = date(t, t(day)), TRUNCATED.get(unit.name.upper())
    if name not in OF_DATES:
        return null(types.DATE)
    return t.sound(f"CAST(date_trunc('{name}', {value}) AS DATE)", types.DATE, value)


# -- numbers ------------------------------------------------------------------------


def unix(unit: int) -> Callable[[Translator, Value], Value]:
    def make(t: Translator, value: Value) -> Value:
        if value.kind not in (types.TIMESTAMP, types.TIMESTAMP_NTZ, types.NULL):
            raise Unfit(f"takes a timestamp, not {types.name(value.kind)}", "cast it")
        value = stamp(t, value)
        return t.sound(floor_divided(micros(value), unit) if unit > 1 else micros(value), types.BIGINT, value)

    return make


def unix_timestamp(t: Translator, node: exp.StrToUnix) -> Value:
    time, *form = arguments(node, "this", "format")
    value = t(time)
    java = formats.pattern(form[0]) if form else formats.DEFAULT
    value = formats.read(t, value, java) if value.kind == types.STRING else stamp(t, value)
    return t.sound(f"({micros(value)} // {UNITS['SECOND']})", types.BIGINT, value)


def from_unix(unit: int) -> Callable[[Translator, Value], Value]:
    def make(t: Translator, value: Value) -> Value:
        if types.is_real(value.kind) and unit == UNITS["SECOND"]:
            known = f"isnan({value}) OR isinf({value})"
            inner = converted(t, value, types.TIMESTAMP)
            return t.sound(f"(CASE WHEN {known} THEN NULL ELSE {inner} END)", types.TIMESTAMP, inner)
        value = integer(value, types.BIGINT)
        return t.risky(moment(f"({value} * {unit})"), types.TIMESTAMP, value)

    return make


def from_unixtime(t: Translator, node: exp.UnixToStr) -> Value:
    seconds, *form = arguments(node, "this", "format")
    time = from_unix(UNITS["SECOND"])(t, t(seconds))
    return formats.written(t, time, formats.pattern(form[0]) if form else formats.DEFAULT)


def unix_date(t: Translator, value: Value) -> Value:
    if value.kind not in (types.DATE, types.NULL):
        raise Unfit(f"takes a date, not {types.name(value.kind)}", "cast it")
    value = date(t, value)
    return t.sound(f"CAST(({value} - DATE '1970-01-01') AS INTEGER)", types.INT, value)


def from_unix_date(t: Translator, value: Value) -> Value:
    return days_later(t, Value("DATE '1970-01-01'", types.DATE), integer(value), "+")


# -- text ---------------------------------------------------------------------------


def date_format(t: Translator, node: exp.TimeToStr) -> Value:
    time, form = arguments(node, "this", "format")
    return formats.written(t, stamp(t, t(time)), formats.pattern(form))


def to_date(t: Translator, node: exp.TsOrDsToDate) -> Value:
    time, *form = arguments(node, "this", "format")
    return date(t, _read(t, t(time), form))


def to_timestamp(t: Translator, node: exp.StrToTime) -> Value:
    time, *form = arguments(node, "this", "format")
    return converted(t, _read(t, t(time), form), types.TIMESTAMP)


def _read(t: Translator, value: Value, form: list[exp.Expr]) -> Value:
    return formats.read(t, value, formats.pattern(form[0])) if form and value.kind == types.STRING else value


# -- arithmetic ---------------------------------------------------------------------


def add_days(t: Translator, node: exp.TsOrDsAdd) -> Value:
    """``date_add`` and ``date_sub``, which sqlglot writes as adding ``n * -1``."""
    day, count = node.this, node.expression
    if set(node.args) - {"this", "expression", "unit"} or node.args["unit"].name.upper() != "DAY":
        raise Unfit("adds something other than days")
    sign = "+"
    if isinstance(count, exp.Mul) and isinstance(count.expression, exp.Neg) and count.expression.this.name == "1":
        count, sign = count.this, "-"
    return days_later(t, date(t, t(day)), integer(t(count)), sign)


def add(t: Translator, node: exp.TimestampAdd) -> Value:
    time, count, unit = arguments(node, "this", "expression", "unit")
    value, n, name = stamp(t, t(time)), integer(t(count), types.INT), singular(unit.name)
    if name in MONTHS:
        return months_later(t, value, f"{n} * {MONTHS[name]}", n)
    if name not in UNITS:
        raise Unfit(f"has the unit {name}")
    sql = moment(f"({micros(value)} + {n.to(types.BIGINT)} * {UNITS[name]})")
    return t.risky(sql, value.kind, value, n)


def days_between(t: Translator, node: exp.DateDiff) -> Value:
    if node.args.get("unit"):  # datediff(HOUR, a, b), which sqlglot takes for dates
        times = (node.this, node.expression)
        end, start = (t(each.this if isinstance(each, exp.TsOrDsToDate) else each) for each in times)
        return difference(t, end, start, node.args["unit"].name)
    last, first = (date(t, t(each)) for each in arguments(node, "this", "expression"))
    return t.sound(f"CAST(({last} - {first}) AS INTEGER)", types.INT, last, first)


def between(t: Translator, node: exp.TimestampDiff) -> Value:
    end, start, unit = arguments(node, "this", "expression", "unit")
    return difference(t, t(end), t(start), unit.name)


def difference(t: Translator, end: Value, start: Value, unit: str) -> Value:
    """Whole units from *start* to *end*, cut towards zero."""
    end, start, name = stamp(t, end), stamp(t, start), singular(unit)
    if name in UNITS:
        return t.risky(f"(({micros(end)} - {micros(start)}) // {UNITS[name]})", types.BIGINT, end, start)
    if name not in MONTHS:
        raise Unfit(f"has the unit {name}")
    last, first = (f"CAST({each} AS DATE)" for each in (end, start))
    late, early = (f"(({micros(each)} % {DAY} + {DAY}) % {DAY})" for each in (end, start))
    begun = (
        f"CASE WHEN {last} > {first} AND {late} < {early} THEN -1"
        f" WHEN {last} < {first} AND {late} > {early} THEN 1 ELSE 0 END"
    )
    last = f"({last} + ({begun}))"
    last, first = (f"((year({day}) * 12 + month({day})) * 32 + day({day}))" for day in (last, first))
    return t.sound(f"CAST((({last} - {first}) // {32 * MONTHS[name]}) AS BIGINT)", types.BIGINT, end, start)


def add_months(t: Translator, day: Value, count: Value) -> Value:
    count = integer(count)
    return months_later(t, date(t, day), count.sql, count)


def last_day(t: Translator, value: Value) -> Value:
    value = date(t, value)
    return t.sound(f"CAST(last_day({value}) AS DATE)", types.DATE, value)


def make_date(t: Translator, year: Value, month: Value, day: Value) -> Value:
    parts = [integer(part).to(types.BIGINT) for part in (year, month, day)]
    return t.risky(f"make_date({', '.join(part.sql for part in parts)})", types.DATE, *parts)


def as_time(t: Translator, value: Value) -> Value:
    return stamp(t, value)


OF_TIME: dict[type[exp.Expr], str] = {
    exp.Year: "YEAR",
    exp.Quarter: "QUARTER",
    exp.Month: "MONTH",
    exp.Day: "DAY",
    exp.DayOfMonth: "DAY",
    exp.DayOfWeek: "DOW",
    exp.DayOfYear: "DOY",
    exp.WeekOfYear: "WEEK",
    exp.Hour: "HOUR",
    exp.Minute: "MINUTE",
    exp.Second: "SECOND",
}

RULES: Rules = {
    **{each: field(name, "this") for each, name in OF_TIME.items()},
    "weekday": field("WEEKDAY"),
    exp.Extract: extract,
    "date_part": takes(date_part),
    "datepart": takes(date_part),
    exp.TimestampTrunc: truncate,
    exp.DateTrunc: truncate_date,
    exp.StrToUnix: unix_timestamp,
    exp.UnixSeconds: takes(unix(UNITS["SECOND"]), "this"),
    exp.UnixMillis: takes(unix(UNITS["MILLISECOND"]), "this"),
    exp.UnixMicros: takes(unix(1), "this"),
    exp.UnixDate: takes(unix_date, "this"),
    "timestamp_seconds": takes(from_unix(UNITS["SECOND"])),
    "timestamp_millis": takes(from_unix(UNITS["MILLISECOND"])),
    "timestamp_micros": takes(from_unix(1)),
    exp.DateFromUnixDate: takes(from_unix_date, "this"),
    exp.UnixToStr: from_unixtime,
    exp.TimeToStr: date_format,
    exp.TimeStrToTime: takes(as_time, "this"),
    exp.TsOrDsToDate: to_date,
    exp.StrToTime: to_timestamp,
    exp.TsOrDsAdd: add_days,
    exp.TimestampAdd: add,
    exp.DateDiff: days_between,
    exp.TimestampDiff: between,
    exp.AddMonths: takes(add_months, "this", "expression"),
    exp.LastDay: takes(last_day, "this"),
    "make_date": takes(make_date),
}
