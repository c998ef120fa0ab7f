"""Time as int64 ticks, with arithmetic that saturates.

An integer time column is its own unit; a timestamp is counted in microseconds.
``FOREVER`` and ``NEVER`` are the two infinities of the axis: adding to them, or
running past them, stays there.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from anabranch.core.errors import Refused

FOREVER = 2**63 - 1
NEVER = -(2**63)

MICROSECONDS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
WORDS = {
    "microsecond": "us",
    "millisecond": "ms",
    "second": "s",
    "minute": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
}


def clamp(ticks: int) -> int:
    """The nearest point of the axis."""
    return NEVER if ticks < NEVER else min(ticks, FOREVER)


def plus(a: int, b: int) -> int:
    """``a + b``; an infinity keeps its sign, and ``a`` decides between two."""
    if a in (FOREVER, NEVER):
        return a
    if b in (FOREVER, NEVER):
        return b
    return clamp(a + b)


def minus(a: int, b: int) -> int:
    """``a - b``, where taking infinity away from anything finite gives minus infinity."""
    if NEVER < a < FOREVER and NEVER < b < FOREVER:
        return clamp(a - b)
    if b in (FOREVER, NEVER):
        return plus(a, NEVER if b == FOREVER else FOREVER)
    return a


def duration(text: str) -> int:
    """Microseconds of a duration as the command line spells it (``5s``, ``1.5h``), or as SQL does (``5 seconds``)."""
    body = text.strip().lower()
    number = body.rstrip("abcdefghijklmnopqrstuvwxyz").strip()
    unit = body[len(number) :].strip()
    unit = WORDS.get(unit.removesuffix("s"), unit)
    hint = "write a number and one of " + ", ".join(MICROSECONDS)
    if unit not in MICROSECONDS:
        raise Refused(f"'{text}' is not a duration", hint)
    try:
        ticks = Decimal(number) * MICROSECONDS[unit]
    except InvalidOperation:
        raise Refused(f"'{text}' is not a duration", hint) from None
    if not ticks.is_finite() or ticks != int(ticks):
        raise Refused(f"'{text}' is no whole number of microseconds", "choose a smaller unit")
    if ticks < 0:
        raise Refused(f"'{text}' is negative", "a duration starts at 0")
    return clamp(int(ticks))
