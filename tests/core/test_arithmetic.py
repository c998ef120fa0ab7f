"""Compiled arithmetic against Python's integers, which have no end."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from anabranch.core import arithmetic
from anabranch.core.integers import wrapped_add, wrapped_mul
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.words import after, before

EDGES = st.sampled_from([NEVER, NEVER + 1, -(2**40), -1, 0, 1, 3, 2**31 - 1, 2**40, FOREVER - 1, FOREVER])
INTEGERS = st.integers(NEVER, FOREVER) | EDGES


@pytest.mark.parametrize(
    ("check", "exact"),
    [
        (arithmetic.add_ok, operator.add),
        (arithmetic.sub_ok, operator.sub),
        (arithmetic.mul_ok, operator.mul),
    ],
)
@given(INTEGERS, INTEGERS)
@example(2**40, 2**40)
def test_overflow_is_noticed(check: Any, exact: Callable[[int, int], int], a: int, b: int) -> None:
    assert check(a, b) == (NEVER <= exact(a, b) <= FOREVER)


@given(INTEGERS, INTEGERS)
@example(NEVER + 1, 3)
def test_division_goes_towards_zero(a: int, b: int) -> None:
    assert arithmetic.idiv_ok(a, b) == (b != 0 and (a, b) != (NEVER, -1))
    if b:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        assert arithmetic.imod(a, b) == a - quotient * b
        if (a, b) != (NEVER, -1):
            assert arithmetic.idiv(a, b) == quotient


@given(INTEGERS, INTEGERS)
def test_hashes_wrap_around_and_times_do_not(a: int, b: int) -> None:
    assert wrapping(a, b) == ((a + b + 2**63) % 2**64 - 2**63, (a * b + 2**63) % 2**64 - 2**63)
    assert after(a, b) == (FOREVER if b == FOREVER else min(max(a + b, NEVER), FOREVER))
    assert before(a, b) == (NEVER if b == FOREVER else min(max(a - b, NEVER), FOREVER))


@njit
def wrapping(a: int, b: int) -> tuple[int, int]:
    return wrapped_add(a, b), wrapped_mul(a, b)
