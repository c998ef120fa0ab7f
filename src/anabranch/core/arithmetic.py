"""Scalar functions of compiled predicates: what SQL means by them.

An operation that can fail comes in two parts: ``xxx_ok`` says whether it has a
value (overflow and division by zero give NULL in a predicate), ``xxx`` computes
it.  Comparisons of doubles order NaN as the largest number and equal to itself.
"""

from __future__ import annotations

from math import isinf

from numba import int64, njit

from anabranch.core.integers import add_overflows, mul_overflows, sub_overflows

__all__ = [
    "add_ok", "eq", "fits", "ge", "gt", "idiv", "idiv_ok", "imod", "le", "lt", "mul_ok", "ne",
    "power", "sub_ok", "to_int", "to_int_ok",
]  # fmt: skip


@njit(forceinline=True)
def add_ok(a, b):  # type: ignore[no-untyped-def]
    return not add_overflows(a, b)


@njit(forceinline=True)
def sub_ok(a, b):  # type: ignore[no-untyped-def]
    return not sub_overflows(a, b)


@njit(forceinline=True)
def mul_ok(a, b):  # type: ignore[no-untyped-def]
    return not mul_overflows(a, b)


@njit(forceinline=True)
def fits(a, bits):  # type: ignore[no-untyped-def]
    """Whether *a* is an integer of so many bits."""
    return bits == 64 or -(1 << (bits - 1)) <= a < (1 << (bits - 1))


@njit(forceinline=True)
def idiv_ok(a, b):  # type: ignore[no-untyped-def]
    return b != 0 and not (b == -1 and a == -0x8000000000000000)


@njit(forceinline=True)
def idiv(a, b):  # type: ignore[no-untyped-def]
    """Integer division towards zero."""
    q = a // b
    return q + 1 if q < 0 and a % b != 0 else q


@njit(forceinline=True)
def imod(a, b):  # type: ignore[no-untyped-def]
    """Remainder with the sign of the dividend."""
    if b == -1:
        return 0
    return a - idiv(a, b) * b


@njit(forceinline=True)
def power(a, b):  # type: ignore[no-untyped-def]
    """As Java has it: NaN where C has 1, for an exponent that is NaN, or infinite over 1 or -1."""
    return b - b if b != b or (abs(a) == 1.0 and isinf(b)) else a**b


@njit(forceinline=True)
def to_int_ok(a):  # type: ignore[no-untyped-def]
    return -9223372036854775808.0 <= a <= 9223372036854775808.0


@njit(forceinline=True)
def to_int(a):  # type: ignore[no-untyped-def]
    """Cut towards zero; the double after the largest integer is that, as in Java."""
    return int64(a) if a < 9223372036854775808.0 else int64(0x7FFFFFFFFFFFFFFF)


@njit(forceinline=True)
def eq(a, b):  # type: ignore[no-untyped-def]
    return a == b or (a != a and b != b)


@njit(forceinline=True)
def ne(a, b):  # type: ignore[no-untyped-def]
    return not (a == b or (a != a and b != b))


@njit(forceinline=True)
def lt(a, b):  # type: ignore[no-untyped-def]
    return a < b or (b != b and a == a)


@njit(forceinline=True)
def le(a, b):  # type: ignore[no-untyped-def]
    return a <= b or b != b


@njit(forceinline=True)
def gt(a, b):  # type: ignore[no-untyped-def]
    return a > b or (a != a and b == b)


@njit(forceinline=True)
def ge(a, b):  # type: ignore[no-untyped-def]
    return a >= b or a != a
