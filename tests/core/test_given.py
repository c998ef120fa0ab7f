from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from anabranch.core.errors import Refused
from anabranch.core.given import length, moment
from anabranch.core.ticks import FOREVER, NEVER

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
NOON_TICKS = 1_769_860_800_000_000


@pytest.mark.parametrize(
    ("value", "integer", "ticks"),
    [
        (0, True, 0), (5, False, 5), (np.int32(5), True, 5), (2**70, True, FOREVER),
        ("5s", False, 5_000_000), ("5 seconds", False, 5_000_000),
    ],
)  # fmt: skip
def test_lengths(value: object, integer: bool, ticks: int) -> None:
    assert length("the lateness of a", value, integer) == ticks


@pytest.mark.parametrize(
    ("value", "integer", "why"),
    [
        (-1, True, "the lateness of a is negative; it starts at 0"),
        ("-5s", False, "the lateness of a: '-5s' is negative"),
        ("5 parsecs", False, "the lateness of a: '5 parsecs' is not a duration; write a number and one of us, ms, s"),
        ("5s", True, "the lateness of a is '5s', and its time is an integer; give a number"),
        (1.5, True, "the lateness of a is 1.5; give a whole number"),
        (True, True, "the lateness of a is True; give a whole number"),
        (None, True, "the lateness of a is None; give a whole number"),
        (timedelta(5), False, "; write it as '5 seconds'"),
    ],
)
def test_what_is_no_length(value: object, integer: bool, why: str) -> None:
    with pytest.raises(Refused) as refusal:
        length("the lateness of a", value, integer)
    assert why in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "integer", "tick"),
    [
        (-7, True, -7), (np.int64(7), False, 7), (FOREVER, True, FOREVER), (NEVER, False, NEVER),
        (NOON, False, NOON_TICKS), (NOON.replace(tzinfo=None), False, NOON_TICKS),
        (NOON.astimezone(timezone(timedelta(hours=9))), False, NOON_TICKS),
    ],
)  # fmt: skip
def test_moments(value: object, integer: bool, tick: int) -> None:
    assert moment("the heartbeat of a", value, integer) == tick


@pytest.mark.parametrize(
    ("value", "integer", "why"),
    [
        (2**63, True, "is 9223372036854775808, which is outside int64; finish() says that nothing more will come"),
        (-(2**70), False, "which is outside int64"),
        (5.0, True, "is 5.0; give a whole number"),
        (False, True, "is False; give a whole number"),
        (NOON, True, "; give a whole number"),
        ("2026-01-31", False, "is '2026-01-31'; give a datetime, or microseconds since 1970 as a whole number"),
        (date(2026, 1, 31), False, "; give a datetime"),
    ],
)
def test_what_is_no_moment(value: object, integer: bool, why: str) -> None:
    with pytest.raises(Refused) as refusal:
        moment("the heartbeat of a", value, integer)
    assert why in str(refusal.value)
