"""Text to values: what an integer, a number, a boolean or a timestamp looks like.

A pattern decides what fits, so a value means the same in whatever batch it comes;
Arrow's cast then does the work, and values that Arrow cannot read (2^63, the 30th of
February, a zone in some rows only) are looked at one by one.  No number becomes an
infinity that it does not say.

Cost: one regular expression and one cast a column, some 100 ns a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isinf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anabranch.core.times import Mask

NAIVE = pa.timestamp("us")
ZONED = pa.timestamp("us", "UTC")

FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999  # of the years 1 to 9999, in microseconds
YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"  # 0001 to 9999
DATE = f"({YEAR})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
CLOCK = r"([01][0-9]|2[0-3])(?::([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?)?"
ZONE = "(Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
INSTANT = f"^{DATE}(?:[T ]{CLOCK}{ZONE}?)?$"


@dataclass(frozen=True)
class Kind:
    """One kind of value: how messages call it, what fits, and how one value is read the slow way."""

    called: str
    type: pa.DataType
    pattern: str
    one: Callable[[str], int | float | bool | None]
    cast: Callable[[pa.Array], pa.Array]

    def convert(self, text: pa.Array) -> tuple[pa.Array, Mask | None]:
        """The values, and which texts are none; spaces around a value do not matter, nothing between them is NULL."""
        fits = pc.match_substring_regex(text, self.pattern)
        misfits = None
        if not pc.all(fits, min_count=0).as_py():
            trimmed = pc.utf8_trim(text, " \t")
            text = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
            fits = pc.match_substring_regex(text, self.pattern)
            misfits = _false(fits)
            text = pc.if_else(fits, text, None)
        try:
            values = self.cast(text)
            lost = _beyond_the_calendar(values) if pa.types.is_timestamp(self.type) else _beyond_a_double(values, text)
            if lost is not None:
                values, misfits = pc.if_else(pa.array(lost), None, values), lost if misfits is None else misfits | lost
            return values, misfits if misfits is not None and misfits.any() else None
        except pa.ArrowInvalid:
            values = pa.array([None if t is None else self.one(t) for t in text.to_pylist()], _stored(self.type))
            lost = _false(pc.or_(values.is_valid(), text.is_null()))
            misfits = lost if misfits is None else misfits | lost
            return values.cast(self.type), misfits if misfits.any() else None

    def refusal(self, text: str) -> str:
        """Why this text is no value of the kind."""
        shown = text if len(text) <= 60 else text[:57] + "..."
        if pa.types.is_timestamp(self.type) and _moment(text.strip(" \t")) is not None:
            return f"'{shown}' is outside the years 1 to 9999 in UTC"
        if self.type in (pa.int64(), pa.float64()) and re.fullmatch(self.pattern, text.strip(" \t")):
            return f"'{shown}' is outside {self.type}"
        return f"'{shown}' is not {self.called}"


def instant(text: str) -> int | None:
    """Microseconds since 1970 UTC of an ISO 8601 text in the years 1 to 9999; digits beyond them are floored away."""
    moment = _moment(text)
    return moment if moment is not None and FIRST <= moment <= LAST else None


def _moment(text: str) -> int | None:
    match = re.fullmatch(INSTANT, text)
    if not match:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:  # no such day
        return None
    whole = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return whole + int((fraction or "0")[:6].ljust(6, "0")) - _offset(zone)


def _beyond_the_calendar(values: pa.Array) -> Mask | None:
    """The times that a zone has carried out of the years 1 to 9999, in which no text could say them."""
    ticks = values.cast(pa.int64())
    ends = pc.min_max(ticks).as_py()
    if ends["min"] is None or (ends["min"] >= FIRST and ends["max"] <= LAST):
        return None
    return np.asarray(pc.fill_null(pc.or_(pc.less(ticks, FIRST), pc.greater(ticks, LAST)), False), bool)


def _beyond_a_double(values: pa.Array, text: pa.Array) -> Mask | None:
    """The numbers that are infinite without saying so."""
    if not pa.types.is_floating(values.type) or not pc.any(pc.is_inf(values)).as_py():
        return None
    said = pc.match_substring(text, "n", ignore_case=True)
    return np.asarray(pc.fill_null(pc.and_not(pc.is_inf(values), said), False), bool)


def _offset(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    size = int(digits[:2]) * 3_600_000_000 + int(digits[2:]) * 60_000_000
    return -size if zone[0] == "-" else size


def has_zone(text: pa.Array) -> bool:
    """Whether any of these timestamps names its zone."""
    return bool(pc.any(pc.match_substring_regex(text, f"[T ].*{ZONE}$")).as_py())


def _integer(text: str) -> int | None:
    digits = text.lstrip("+-").lstrip("0") or "0"
    value = int(digits) * (-1 if text[0] == "-" else 1) if len(digits) <= 19 else 2**63
    return value if -(2**63) <= value < 2**63 else None


def _double(text: str) -> float | None:
    value = float(text)
    return None if isinf(value) and "n" not in text.lower() else value


def _instants(kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    """A cast for texts that all name their zone or all do not; the likelier first, since a vain one is slow."""

    def cast(text: pa.Array) -> pa.Array:
        if pc.any(pc.match_substring_regex(text, r"\.[0-9]{7}")).as_py():  # Arrow refuses more than six digits
            text = pc.replace_substring_regex(text, r"(\.[0-9]{6})[0-9]+", r"\1")
        try:
            return text.cast(kind)
        except pa.ArrowInvalid:
            return text.cast(NAIVE if kind.tz else ZONED).cast(pa.int64()).cast(kind)

    return cast


def _plain(kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    return lambda text: text.cast(kind)


def _stored(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_timestamp(kind) else kind


def _false(mask: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(pc.invert(mask), False).to_numpy(zero_copy_only=False), bool)


INTEGER = Kind("an integer", pa.int64(), "^[+-]?[0-9]+$", _integer, _plain(pa.int64()))
DOUBLE = Kind(
    "a number",
    pa.float64(),
    r"^(?:[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)|[nN][aA][nN])$",
    _double,
    _plain(pa.float64()),
)
BOOLEAN = Kind(
    "true or false",
    pa.bool_(),
    "^(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$",
    lambda text: text.lower() == "true",
    _plain(pa.bool_()),
)
TIMESTAMP = Kind("an ISO 8601 timestamp", NAIVE, INSTANT, instant, _instants(NAIVE))
INSTANT_IN_ZONE = Kind("an ISO 8601 timestamp", ZONED, INSTANT, instant, _instants(ZONED))

KINDS = (INTEGER, DOUBLE, BOOLEAN, TIMESTAMP)  # from the narrowest
NOTHING = Kind("NULL", pa.null(), "^$", lambda text: None, lambda text: pa.nulls(len(text)))
OF_TYPE = {kind.type: kind for kind in (*KINDS, INSTANT_IN_ZONE, NOTHING)}
