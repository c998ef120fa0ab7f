"""Times and lengths of time as a program gives them: held to what they can be, and counted in ticks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from numbers import Integral
from typing import TypeGuard

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, NEVER, clamp, duration

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def length(what: str, given: object, integer: bool) -> int:
    """A length of time, as ticks or as text (``"5 seconds"``) where time is no *integer*; *what* it is of."""
    if isinstance(given, str) and integer:
        raise Refused(f"{what} is '{given}', and its time is an integer", "give a number")
    if isinstance(given, str):
        try:
            return duration(given)
        except Refused as refusal:
            raise Refused(f"{what}: {refusal.what}", refusal.hint) from None
    if not _is_whole(given):
        raise Refused(f"{what} is {given!r}", "give a whole number" if integer else "write it as '5 seconds'")
    if given < 0:
        raise Refused(f"{what} is negative", "it starts at 0")
    return clamp(int(given))


def moment(what: str, given: object, integer: bool) -> int:
    """A time, as a tick or as a datetime (UTC, where it has no zone) where time is no *integer*; *what* it is."""
    if isinstance(given, datetime) and not integer:
        return ((given if given.tzinfo else given.replace(tzinfo=UTC)) - EPOCH) // timedelta(microseconds=1)
    if not _is_whole(given):
        hint = "give a whole number" if integer else "give a datetime, or microseconds since 1970 as a whole number"
        raise Refused(f"{what} is {given!r}", hint)
    if not NEVER <= given <= FOREVER:
        raise Refused(f"{what} is {given}, which is outside int64", "finish() says that nothing more will come")
    return int(given)


def _is_whole(given: object) -> TypeGuard[int]:
    return isinstance(given, Integral) and not isinstance(given, bool)
