from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, NEVER, clamp, duration, minus, plus

ENDS = [NEVER, NEVER + 1, -1, 0, 1, FOREVER - 1, FOREVER]
FINITE = st.integers(NEVER + 1, FOREVER - 1)


@given(FINITE, FINITE)
def test_sums_saturate(a: int, b: int) -> None:
    assert plus(a, b) == max(NEVER, min(FOREVER, a + b)) == plus(b, a)
    assert minus(a, b) == max(NEVER, min(FOREVER, a - b))


@pytest.mark.parametrize("a", ENDS)
def test_infinity_stays(a: int) -> None:
    assert plus(FOREVER, a) == FOREVER
    assert plus(NEVER, a) == NEVER
    assert minus(FOREVER, a) == FOREVER
    assert minus(NEVER, a) == NEVER
    assert plus(a, 0) == minus(a, 0) == clamp(a) == a


def test_a_finite_time_and_infinity() -> None:
    assert plus(5, FOREVER) == FOREVER
    assert plus(5, NEVER) == NEVER
    assert minus(5, FOREVER) == NEVER
    assert minus(5, NEVER) == FOREVER


@pytest.mark.parametrize(
    ("text", "ticks"),
    [
        ("5s", 5_000_000), ("250 ms", 250_000), ("1.5h", 5_400_000_000), ("0us", 0), (" 2 D ", 172_800_000_000),
        ("1w", 604_800_000_000), ("3m", 180_000_000), ("0.000001s", 1), ("99999999999999d", FOREVER),
    ],
)  # fmt: skip
def test_durations(text: str, ticks: int) -> None:
    assert duration(text) == ticks


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("5", "no|not a duration"), ("s", "not a duration"), ("5 parsecs", "not a duration"), ("-1s", "negative"),
        ("0.5us", "whole number of microseconds"), ("1,5s", "not a duration"), ("", "not a duration"), ("infs", "."),
        ("nans", "."), ("5s5s", "not a duration"),
    ],
)  # fmt: skip
def test_what_is_no_duration(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as refusal:
        duration(text)
    assert "\n" not in str(refusal.value)
