"""Compiled functions against Python: the same answer or an exception, never another answer."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from numba import types
from numba.core.errors import NumbaError

from anabranch.core.exact import NOT_EXACT, exact

INTS = [0, 1, -1, 2, 3, 7, -(2**63), 2**63 - 1, 2**62, 2**53, 2**53 + 1, -(2**53) - 1, 2**32, -(2**31)]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1.1, 2.0**53, 2.0**63, -(2.0**63), 1e300, math.inf, -math.inf, math.nan]
VALUES: dict[Any, list[Any]] = {types.int64: INTS, types.float64: REALS}


def product_of(x: Any, y: Any) -> Any:
    total = 1
    for each in (x, y):
        total *= each
    total -= x
    return total


def divisor(x: Any, y: Any) -> Any:
    steps = 0
    while y != 0 and steps < 50:
        x, y = y, x % y
        steps += 1
    return x if steps > 0 else y


def root(x: Any, y: Any) -> Any:
    return math.sqrt(x) + math.log(y)


def chosen(x: Any, y: Any) -> Any:
    d = abs(x - y)
    if d > 2:
        d = -d
    return max(d, 0) if x < y else min(d, 1)


FUNCTIONS: list[Callable[..., Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x // y,
    lambda x, y: x % y,
    lambda x, y: x << y,
    lambda x, y: x >> y,
    lambda x, y: x & y | 1 ^ x,
    lambda x, y: (x - y) ** 2 > 100,
    lambda x, y: x**3 - y,
    lambda x, y: x**0.5 < y,
    lambda x, y: pow(x, 2) == y,
    lambda x, y: x == y,
    lambda x, y: x < y <= 2**60,
    lambda x, y: x != y and not x > y,
    lambda x, y: x in (y, 1),
    lambda x, y: (x, y) == (y, x),
    lambda x, y: -x < ~y,
    lambda x, y: +x > -y,
    lambda x, y: abs(x) > abs(y),
    lambda x, y: int(x) + round(y),
    lambda x, y: math.floor(x) < math.ceil(y) + math.trunc(x),
    lambda x, y: operator.mul(x, y) > 1,
    lambda x, y: math.atan2(x, y) + math.exp(x) + math.pow(x, y),
    lambda x, y: float(x) == float(y) or bool(x),
    lambda x, y: [i * x for i in range(3)][2] == y,
    product_of,
    divisor,
    root,
    chosen,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__ + str(f.__code__.co_firstlineno))
def test_a_compiled_function_says_what_python_says(function: Callable[..., Any]) -> None:
    compiled = 0
    for signature in product(VALUES, repeat=2):
        fast = exact(function)
        try:
            fast.compile(signature)
        except NumbaError:
            continue
        compiled += 1
        for given in product(*(VALUES[kind] for kind in signature)):
            try:
                said = fast(*given)
            except (ArithmeticError, ValueError):
                continue
            wanted = function(*given)
            assert said == wanted or (said != said and wanted != wanted), given
            assert not isinstance(wanted, complex)
    assert compiled


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda x, y: (x - y) ** 2 > 100, (3, -8)),
        (lambda x, y: x * y, (2**31, 2**31)),
        (lambda x, y: x == y, (2**53, 9007199254740992.0)),
        (lambda x, y: max(x - y, 0) < 3, (1.0, 2.0)),
        (lambda x, y: math.sqrt(x * x + y * y) <= 5, (3.0, 4.0)),
    ],
)
def test_what_python_is_not_asked_for(function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    assert exact(function)(*given) == function(*given)


def widened(x: Any, y: Any) -> Any:
    d = x - y
    if d < 0:
        d = d * 1.5
    return d > 10


def caught(x: Any, y: Any) -> Any:
    try:
        return x * y > 100
    except Exception:  # noqa: BLE001
        return False


@pytest.mark.parametrize(
    ("function", "given", "why"),
    [
        (lambda x: ~x, (True,), "arithmetic on truth values"),
        (lambda x, y: (x > y) + 1 > 1, (1, 2), "arithmetic on truth values"),
        (lambda x, y: x**y, (1, 2), "a power whose exponent is no small number"),
        (lambda x, y: max(x, y), (1, 2.0), "max of unlike values"),
        (lambda x, y: (x, y) == (y, x), (1, 2.0), "a comparison of tuples of other than integers"),
        (lambda x, y: x in (y, 2), (1, 2.0), "a search among doubles"),
        (lambda x: sum((x, x)), (1,), "sum()"),
        (lambda x: round(x, 1), (1.0,), "positional arguments"),
        (lambda x, y: math.hypot(x, y), (1.0, 1.0), "hypot()"),
        (lambda x, y: x + 0x9E3779B97F4A7C15 > y, (1, 1), "numba's uint64"),
        (caught, (2**62, 2), "a try"),
        (widened, (1, 2), "an integer that becomes a double"),
    ],
)
def test_what_would_mean_something_else_is_not_compiled(
    function: Callable[..., Any], given: tuple[Any, ...], why: str
) -> None:
    with pytest.raises(NumbaError) as refusal:
        exact(function)(*given)
    assert why in str(refusal.value)
    assert (NOT_EXACT in str(refusal.value)) == (why != "positional arguments")
