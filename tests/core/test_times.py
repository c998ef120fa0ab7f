from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest

from anabranch.core import times
from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.times import check_time_type, is_integer_time, ticks

DAY = 86_400_000_000

GOOD = [
    ("int64", pa.array([-5, 0, FOREVER - 1, NEVER + 1]), [-5, 0, FOREVER - 1, NEVER + 1]),
    ("int8", pa.array([-128, 127], pa.int8()), [-128, 127]),
    ("uint8", pa.array([255], pa.uint8()), [255]),
    ("uint32", pa.array([2**32 - 1], pa.uint32()), [2**32 - 1]),
    ("uint64 that fits", pa.array([0, FOREVER - 1], pa.uint64()), [0, FOREVER - 1]),
    ("microseconds", pa.array([-1, 7], pa.timestamp("us")), [-1, 7]),
    ("microseconds in a zone", pa.array([7], pa.timestamp("us", "Asia/Tokyo")), [7]),
    ("milliseconds", pa.array([-1, 7], pa.timestamp("ms")), [-1_000, 7_000]),
    ("seconds", pa.array([-1, 7], pa.timestamp("s", "UTC")), [-1_000_000, 7_000_000]),
    ("nanoseconds are floored", pa.array([-1, -1000, -1001, 1999], pa.timestamp("ns")), [-1, -1, -2, 1]),
    ("the newest nanosecond", pa.array([FOREVER], pa.timestamp("ns")), [FOREVER // 1000]),
    ("a date is midnight", pa.array([date(1970, 1, 2), date(1969, 12, 31)]), [DAY, -DAY]),
    ("a date in milliseconds", pa.array([86_400_000], pa.date64()), [DAY]),
    ("a dictionary", pa.array([3, 4, 3]).dictionary_encode(), [3, 4, 3]),
    ("a slice", pa.array([1, 2, 3, 4]).slice(1, 2), [2, 3]),
    ("a slice of dates", pa.array([1, 2, 3], pa.date32()).slice(2), [3 * DAY]),
    ("nothing", pa.array([], pa.timestamp("s")), []),
]

BAD = [
    ("a NULL integer", pa.array([1, None]), [None, times.NULL]),
    ("a NULL timestamp", pa.array([None, 1], pa.timestamp("ns")), [times.NULL, None]),
    ("a NULL date", pa.array([None], pa.date32()), [times.NULL]),
    ("NULL of no type", pa.nulls(2), [times.NULL, times.NULL]),
    ("NULL in a dictionary", pa.array([None, 3]).dictionary_encode(), [times.NULL, None]),
    ("uint64 beyond", pa.array([2**63, 5, None], pa.uint64()), [times.OUTSIDE_INTEGER, None, times.NULL]),
    ("ends of int64", pa.array([FOREVER, NEVER, -FOREVER]), [times.ENDS, times.ENDS, None]),
    ("the end of int64 in uint64", pa.array([FOREVER], pa.uint64()), [times.ENDS]),
    ("infinities", pa.array([FOREVER, -FOREVER, NEVER, 0], pa.timestamp("us")), [times.INFINITE] * 3 + [None]),
    ("seconds beyond", pa.array([2**53, -(2**53), 1], pa.timestamp("s")), [times.OUTSIDE, times.OUTSIDE, None]),
    ("milliseconds beyond", pa.array([FOREVER // 1000 + 1, NEVER], pa.timestamp("ms")), [times.OUTSIDE] * 2),
    ("dates beyond", pa.array([2**31 - 1, -(2**31)], pa.date32()), [times.OUTSIDE] * 2),
]


def is_integer(column: pa.Array) -> bool:
    return is_integer_time(column.type)


@pytest.mark.parametrize(("column", "expected"), [case[1:] for case in GOOD], ids=[case[0] for case in GOOD])
def test_ticks(column: pa.Array, expected: list[int]) -> None:
    found, reasons = ticks(column, is_integer(column))
    assert (found.tolist(), reasons) == (expected, None)
    assert found.dtype == np.int64 and found.flags.writeable and found.flags.c_contiguous


@pytest.mark.parametrize(("column", "expected"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_bad_time_has_a_reason_and_no_tick(column: pa.Array, expected: list[str | None]) -> None:
    found, reasons = ticks(column, is_integer(column))
    assert reasons is not None and reasons.tolist() == expected
    assert all(tick == 0 for tick, reason in zip(found.tolist(), expected, strict=True) if reason)


def test_good_times_beside_bad_ones_keep_their_ticks() -> None:
    found, _ = ticks(pa.array([None, 5, FOREVER, 7], pa.timestamp("ms")), False)
    assert found.tolist() == [0, 5_000, 0, 7_000]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_agrees_with_the_calendar(unit: str) -> None:
    moment = datetime(1901, 3, 4, 5, 6, 7, tzinfo=UTC)
    found, _ = ticks(pa.array([moment], pa.timestamp(unit, "UTC")), False)
    assert found[0] == int(moment.timestamp()) * 1_000_000


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint64(), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.date32(), pa.date64(), pa.null(),
     pa.dictionary(pa.int8(), pa.int64())],
    ids=str,
)  # fmt: skip
def test_event_times(kind: pa.DataType) -> None:
    check_time_type("A", "ts", kind)


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        (pa.float64(), "no exact tick"),
        (pa.decimal128(10, 0), "no exact tick"),
        (pa.string(), "ISO 8601"),
        (pa.dictionary(pa.int8(), pa.string()), "ISO 8601"),
        (pa.bool_(), "integers, timestamps or dates"),
        (pa.time64("us"), "integers, timestamps or dates"),
        (pa.duration("us"), "integers, timestamps or dates"),
        (pa.list_(pa.int64()), "integers, timestamps or dates"),
    ],
    ids=str,
)
def test_what_is_no_event_time_is_refused_with_a_hint(kind: pa.DataType, hint: str) -> None:
    with pytest.raises(Refused, match=f"^the time 'seen' of stream 'A' is of type .*; .*{hint}"):
        check_time_type("A", "seen", kind)
