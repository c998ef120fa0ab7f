"""A column of event times as int64 ticks.

An integer is its own tick; a timestamp or a date becomes microseconds since 1970
in UTC, nanoseconds floored.  A row whose time is NULL, infinite or out of reach
gets a reason instead of a tick, never a wrong tick: the two ends of int64 are the
infinities of the axis, so no tuple may stand there.

Cost: a pass or two over the column.  The ticks are an array of their own, never a
view of the column.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, MICROSECONDS, NEVER

Ticks: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Reasons: TypeAlias = npt.NDArray[np.object_]

INT64 = pa.int64()

NULL = "time is NULL"
INFINITE = "time is infinite"
OUTSIDE = "time is outside the int64 microseconds"
OUTSIDE_INTEGER = "time is outside int64"
ENDS = "time is at an end of int64, which stands for infinity"


def is_integer_time(kind: pa.DataType) -> bool:
    """Whether times of this type count ticks of their own instead of microseconds."""
    return bool(pa.types.is_integer(_value_type(kind)))


def check_time_type(stream: str, column: str, kind: pa.DataType) -> None:
    """Refuse a column that is no event time: neither an integer, a timestamp nor a date."""
    value = _value_type(kind)
    types = pa.types
    if types.is_integer(value) or types.is_timestamp(value) or types.is_date(value) or types.is_null(value):
        return
    if types.is_floating(value) or types.is_decimal(value):
        hint = "a fraction has no exact tick: store an integer or a timestamp"
    elif _is_text(value):
        hint = "store a timestamp; text becomes one in CSV and JSON lines when it is ISO 8601 (2026-01-31T12:00:00Z)"
    else:
        hint = "name a column of integers, timestamps or dates"
    raise Refused(f"the time '{column}' of stream '{stream}' is of type {kind}, which is no event time", hint)


def ticks(column: pa.Array, integer: bool) -> tuple[Ticks, Reasons | None]:
    """The tick of every row, and None when all are good; else the reason of each bad row (its tick is 0)."""
    if column.type != INT64:  # nothing of this costs anything in the usual case, where rows may come one by one
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_null(column.type):
            return np.zeros(len(column), np.int64), np.full(len(column), NULL, object)
    assert integer == (column.type == INT64 or pa.types.is_integer(column.type)), column.type
    reached, outside = _integers(column) if integer else _microseconds(column)
    if outside is None and not column.null_count and len(reached) and _within(reached):
        return reached.copy(), None
    infinite = (reached == FOREVER) | (reached == NEVER)
    if pa.types.is_timestamp(column.type) and column.type.unit == "us":
        infinite |= reached == -FOREVER  # how several engines write minus infinity
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if missing is None and outside is None and not infinite.any():
        return reached.copy(), None
    reasons = np.full(len(column), None, object)
    reasons[infinite] = ENDS if integer else INFINITE
    if outside is not None:
        reasons[outside] = OUTSIDE_INTEGER if integer else OUTSIDE
    if missing is not None:
        reasons[missing] = NULL
    return np.where(reasons == None, reached, 0), reasons  # noqa: E711 (elementwise)


def span(reached: Ticks) -> tuple[int, int]:
    """The least and the greatest of some ticks."""
    if len(reached) == 1:
        return int(reached[0]), int(reached[0])
    return int(reached.min()), int(reached.max())


def _within(reached: Ticks) -> bool:
    """Whether all stand clear of the ends of the axis: the usual case, seen in one pass."""
    least, greatest = span(reached)
    return least > -FOREVER and greatest < FOREVER


def _integers(column: pa.Array) -> tuple[Ticks, Mask | None]:
    if column.type == INT64:
        return _raw(column), None
    if column.type != pa.uint64():
        return _raw(column.cast(pa.int64())), None
    unsigned = _raw(column)
    outside = unsigned > np.uint64(FOREVER)
    return np.where(outside, 0, unsigned).astype(np.int64), outside if outside.any() else None


def _microseconds(column: pa.Array) -> tuple[Ticks, Mask | None]:
    kind = column.type
    if pa.types.is_date32(kind):
        return _scaled(_raw(column.view(pa.int32())).astype(np.int64), MICROSECONDS["d"])
    if pa.types.is_date64(kind):
        return _scaled(_raw(column.view(pa.int64())), MICROSECONDS["ms"])
    raw = _raw(column.view(pa.int64()))
    if kind.unit == "ns":
        return raw // 1_000, None
    return (raw, None) if kind.unit == "us" else _scaled(raw, MICROSECONDS[kind.unit])


def _scaled(raw: Ticks, factor: int) -> tuple[Ticks, Mask | None]:
    limit = FOREVER // factor
    outside = (raw > limit) | (raw < -limit)
    if not outside.any():
        return raw * factor, None
    return np.where(outside, 0, raw) * factor, outside


def _raw(column: pa.Array) -> npt.NDArray[np.int64]:
    """The values as numpy, whatever stands in NULLs replaced by 0."""
    values: npt.NDArray[np.int64] = (column.fill_null(0) if column.null_count else column).to_numpy()
    return values


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
