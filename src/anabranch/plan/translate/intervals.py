"""INTERVAL literals, and what moves a time: ``ts + INTERVAL 5 SECONDS``, ``us - ts``, ``d + 1``.

Within DuckDB a day-time interval is its microseconds, so its arithmetic is that of integers and
overflows as in Spark.  Months have no length: they may only move a time, and only as literals.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from anabranch.plan.translate import types
from anabranch.plan.translate.operands import number
from anabranch.plan.translate.translator import Rules, Translator
from anabranch.plan.translate.value import Unfit, Value

UNITS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
CLOCK = ("DAY", "HOUR", "MINUTE", "SECOND")


def interval(t: Translator, node: exp.Interval) -> Value:
    unit = node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        return _span(_text(node), unit.this.name.upper(), unit.expression.name.upper())
    name = singular(unit.name) if isinstance(unit, exp.Var) else ""
    if name in MONTHS:
        raise Unfit("has no fixed length", "add it to a time directly, or write days")
    if name not in UNITS:
        raise Unfit("has no known unit", "write INTERVAL 5 SECONDS")
    micros = _number(_text(node)) * UNITS[name]
    if micros != int(micros) or ("." in _text(node) and name != "SECOND"):
        raise Unfit("is no whole number of its unit", "choose a smaller unit")
    return _micros(int(micros), name in ("DAY", "WEEK"))


def moved(t: Translator, left: exp.Expr, right: exp.Expr, sign: str) -> Value | None:
    """``left sign right`` where times or intervals are in it; else None."""
    months = _months(right)
    if months is not None:
        return months_later(t, t(left), str(months if sign == "+" else -months))
    months = _months(left)
    if months is not None and sign == "+":
        return months_later(t, t(right), str(months))
    a, b = t(left), t(right)
    if a.kind in types.INTERVALS and b.kind in types.INTERVALS:
        kind = types.DAYS if a.kind == b.kind == types.DAYS else types.INTERVAL
        return t.risky(f"({a} {sign} {b})", kind, a, b)
    if a.kind in types.TIMES and b.kind in types.INTERVALS:
        return _later(t, a, b, sign)
    if a.kind in types.INTERVALS and b.kind in types.TIMES and sign == "+":
        return _later(t, b, a, sign)
    if a.kind == types.DATE and b.kind in types.INTEGERS:
        return days_later(t, a, b, sign)
    if a.kind in types.INTEGERS and b.kind == types.DATE and sign == "+":
        return days_later(t, b, a, sign)
    if a.kind in types.TIMES and b.kind in types.TIMES and sign == "-":
        if a.kind == b.kind == types.DATE:
            return t.sound(f"(({a} - {b}) * {UNITS['DAY']})", types.DAYS, a, b)
        return t.risky(f"({micros(a)} - {micros(b)})", types.INTERVAL, a, b)
    return None


def days_later(t: Translator, date: Value, days: Value, sign: str) -> Value:
    if days.kind == types.BIGINT:
        raise Unfit("moves a date by int, not bigint", "cast it")
    return t.risky(f"({date} {sign} {days.to(types.INT)})", types.DATE, date, days)


def months_later(t: Translator, time: Value, months: str, *operands: Value) -> Value:
    """A time some months later, on the last day of the month if there is no such day."""
    if time.kind not in types.TIMES:
        raise Unfit(f"moves a time, not {types.name(time.kind)}", "cast it")
    sql = f"({time} + to_months({months}))"
    return t.risky(f"CAST({sql} AS DATE)" if time.kind == types.DATE else sql, time.kind, time, *operands)


def multiplied(t: Translator, a: Value, b: Value) -> Value | None:
    """An interval some times; else None."""
    if b.kind in types.INTERVALS:
        a, b = b, a
    if a.kind not in types.INTERVALS:
        return None
    if number(b).kind not in types.INTEGERS:
        raise Unfit("multiplies an interval by an integer only", "cast it to int")
    return t.risky(f"({a} * {b.to(types.BIGINT)})", types.INTERVAL, a, b)


def divided(t: Translator, a: Value, b: Value) -> Value | None:
    """A part of an interval, rounded half up; else None."""
    if a.kind not in types.INTERVALS:
        return None
    if number(b).kind not in types.INTEGERS:
        raise Unfit("divides an interval by an integer only", "cast it to int")
    n, d = f"CAST({a} AS HUGEINT)", f"CAST({b} AS HUGEINT)"
    return t.risky(f"CAST({half_up(n, d)} AS BIGINT)", types.INTERVAL, a, b)


def half_up(n: str, d: str) -> str:
    """The quotient of two 128-bit integers, rounded half up."""
    return f"(sign({n}) * sign({d}) * ((2 * abs({n}) + abs({d})) // (2 * abs({d}))))"


def negated(t: Translator, node: exp.Expr) -> Value | None:
    if _months(node) is not None:
        raise Unfit("has no fixed length", "subtract it from a time directly")
    value = t(node)
    return t.risky(f"(-({value}))", types.INTERVAL, value) if value.kind in types.INTERVALS else None


def micros(time: Value) -> str:
    """Microseconds since 1970 of a time, as DuckDB text."""
    return f"epoch_us({time.to(types.TIMESTAMP) if time.kind == types.DATE else time})"


def moment(micros: str) -> str:
    return f"make_timestamp({micros})"


def singular(unit: str) -> str:
    """``SECONDS`` and ``seconds`` are ``SECOND``."""
    return unit.upper().removesuffix("S")


def duration(text: str) -> int:
    """Microseconds of a text such as ``1 hour 30 minutes``, as ``window()`` takes it."""
    words = text.lower().removeprefix("interval ").split()
    total = Decimal(0)
    for amount, unit in zip(words[::2], words[1::2], strict=len(words) % 2 == 0):
        if singular(unit) not in UNITS:
            raise Unfit(f"has the unit '{unit}'", "write '5 seconds', with units from microseconds to weeks")
        total += _number(amount) * UNITS[singular(unit)]
    if not words or len(words) % 2 or total != int(total):
        raise Unfit(f"has the duration '{text}'", "write '5 seconds'")
    return int(total)


def _later(t: Translator, time: Value, by: Value, sign: str) -> Value:
    if time.kind == types.DATE and by.kind == types.DAYS:
        return t.risky(f"({time} {sign} CAST(({by} // {UNITS['DAY']}) AS INTEGER))", types.DATE, time, by)
    kind = types.TIMESTAMP if time.kind == types.DATE else time.kind
    return t.risky(moment(f"({micros(time)} {sign} {by})"), kind, time, by)


def _micros(value: int, days: bool) -> Value:
    if not -(2**63) <= value < 2**63:
        raise Unfit("is too long", "write a shorter interval")
    return Value(f"CAST({value} AS BIGINT)", types.DAYS if days else types.INTERVAL)


def _months(node: exp.Expr) -> int | None:
    """How many months a literal interval is; None if it is none of months."""
    if isinstance(node, (exp.Paren, exp.Neg)):
        inner = _months(node.this)
        return -inner if inner is not None and isinstance(node, exp.Neg) else inner
    if not isinstance(node, exp.Interval):
        return None
    unit = node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan) and unit.this.name.upper() == "YEAR":
        match = re.fullmatch(r"([+-]?)(\d+)-(\d+)", _text(node).strip())
        if not match or int(match[3]) > 11:
            raise Unfit("is no YEAR TO MONTH", "write INTERVAL '1-2' YEAR TO MONTH")
        count = int(match[2]) * 12 + int(match[3])
        return -count if match[1] == "-" else count
    if isinstance(unit, exp.Var) and singular(unit.name) in MONTHS:
        count_ = _number(_text(node)) * MONTHS[singular(unit.name)]
        if "." in _text(node):
            raise Unfit("is no whole number of its unit", "write whole months")
        return int(count_)
    return None


def _span(text: str, first: str, last: str) -> Value:
    """``'1 02:03:04.5' DAY TO SECOND`` and its parts."""
    parts = CLOCK[CLOCK.index(first) : CLOCK.index(last) + 1] if {first, last} <= set(CLOCK) else ()
    pattern = r"([+-]?)" + "".join(
        (r"(\d+)" if part == first else r" (\d+)" if part == "HOUR" else r":(\d+)")
        + (r"(\.\d{1,6})?" if part == "SECOND" else "")
        for part in parts
    )
    match = re.fullmatch(pattern, text.strip())
    if not parts or not match:
        raise Unfit(f"is no {first} TO {last}", "write INTERVAL '1 02:03:04' DAY TO SECOND")
    numbers = [int(group) for group in match.groups()[1 : len(parts) + 1]]
    if any(number > limit for number, limit in zip(numbers[1:], _limits(parts), strict=True)):
        raise Unfit("has a part that is too large", "write hours up to 23, minutes and seconds up to 59")
    total = sum(number * UNITS[part] for number, part in zip(numbers, parts, strict=True))
    if last == "SECOND" and match.groups()[-1]:
        total += int(Decimal(match.groups()[-1]) * UNITS["SECOND"])
    return _micros(-total if match[1] == "-" else total, False)


def _limits(parts: tuple[str, ...]) -> list[int]:
    return [23 if part == "HOUR" else 59 for part in parts[1:]]


def _text(node: exp.Interval) -> str:
    literal = node.this
    sign = ""
    while isinstance(literal, (exp.Neg, exp.Paren)):
        sign = ("" if sign else "-") if isinstance(literal, exp.Neg) else sign
        literal = literal.this
    if not isinstance(literal, exp.Literal):
        raise Unfit("is no literal", "multiply: n * INTERVAL 1 SECOND")
    return sign + str(literal.this)


def _number(text: str) -> Decimal:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise Unfit(f"has the length '{text}'", "write a number and a unit") from None
    if not value.is_finite():
        raise Unfit(f"has the length '{text}'", "write a number and a unit")
    return value


RULES: Rules = {exp.Interval: interval}
