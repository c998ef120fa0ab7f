from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import (
    LOW32,
    NAN_WORD,
    address,
    bits,
    keep,
    mix,
    ordered,
    ordered_high,
    ordered_low,
    ordered_word,
    real,
    word,
)  # fmt: skip
from anabranch.testing.predicates import below, equal

INT64 = st.integers(NEVER, FOREVER)
DOUBLES = st.floats() | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 5e-324, -5e-324])


@njit
def copied(source: int, target: int, n: int) -> None:
    for i in range(n):
        keep(target, n - 1 - i, word(source, i))


@njit
def first_real(source: int) -> float:
    return real(source, 0)


@njit
def first_bits(x: float) -> int:
    return bits(x)


@given(st.lists(INT64))
def test_words_come_back(values: list[int]) -> None:
    source, target = np.array(values, np.int64), np.zeros(len(values), np.int64)
    copied(address(source), address(target), len(values))
    assert target.tolist() == values[::-1]


@given(DOUBLES)
def test_a_double_is_a_word(x: float) -> None:
    (expected,) = struct.unpack("<q", struct.pack("<d", x))
    array = np.array([x])
    assert first_bits(x) == array.view(np.int64)[0] == expected
    assert struct.pack("<d", first_real(address(array))) == struct.pack("<d", x)


@given(st.lists(INT64, unique=True, max_size=50))
def test_mix_loses_nothing(values: list[int]) -> None:
    assert len({mix(np.int64(value)) for value in values}) == len(values)


def test_mix_spreads_neighbours() -> None:
    """A table of neighbours is filled evenly: no tenth of the range of hashes gets twice its share."""
    high = np.array([(mix(np.int64(i)) >> 32) & LOW32 for i in range(10_000)])
    assert np.histogram(high, 10, (0, 1 << 32))[0].max() < 1_200


@given(DOUBLES, DOUBLES)
def test_the_order_of_doubles_is_that_of_sql(x: float, y: float) -> None:
    assert (ordered(x) < ordered(y)) == below(x, y)
    assert (ordered(x) == ordered(y)) == equal(x, y)
    assert ordered(x) == ordered_word(np.array([x]).view(np.int64)[0])


def test_every_nan_is_one() -> None:
    nans = [NAN_WORD, NAN_WORD + 1, 0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF, -1, NEVER + 0x7FF8000000000000]
    assert {ordered_word(np.int64(each)) for each in nans} == {FOREVER}
    assert ordered(math.inf) < FOREVER


@pytest.mark.parametrize("x", [0.0, -1.5, math.inf, -math.inf])
def test_a_limit_is_its_number(x: float) -> None:
    assert ordered_low(x) == ordered_high(x) == ordered(x)


def test_a_limit_that_is_no_number_excludes_nothing() -> None:
    assert (ordered_low(math.nan), ordered_high(math.nan)) == (NEVER, FOREVER)
