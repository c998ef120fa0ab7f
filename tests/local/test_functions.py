"""Python functions in a condition: compiled or not, the rows are those that Python gives."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from numba import njit

from anabranch import local
from anabranch.core.errors import Refused
from anabranch.plan.lower import lower
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse

LONGS = [0, 1, -1, 3, 2**32, -(2**32), 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
DOUBLES = [0.0, 1.0, -1.0, 0.5, 3.0, 2.0**32, 2.0**53, 1e200, math.inf, -math.inf]
ROWS = pa.table({"ts": pa.array([0] * 10), "id": pa.array(range(10)), "l": LONGS, "d": DOUBLES})
STREAMS = {name: Stream(name, ROWS.schema) for name in ("one", "two")}


def reason(condition: str, **functions: Callable[..., Any]) -> str:
    """Why the condition is not compiled."""
    query = f"SELECT A.id AS a, B.id AS b FROM one A, two B WHERE {condition} WINDOW = 0"
    refined = lower(parse(query, STREAMS, frozenset(functions)).joins[0], functions).refined
    return refined[0].why if refined else ""


def answer(condition: str, **functions: Callable[..., Any]) -> set[tuple[int, int]]:
    query = f"SELECT A.id AS a, B.id AS b FROM one A, two B WHERE {condition} WINDOW = 0"
    found = local.sql(query, {"one": ROWS, "two": ROWS}, functions=functions)
    return {(row["a"], row["b"]) for row in found.to_pylist()}


def python(function: Callable[[Any, Any], Any], x: list[Any], y: list[Any]) -> set[tuple[int, int]]:
    return {(a, b) for a, b in product(range(10), repeat=2) if function(x[a], y[b])}


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x - y) ** 2 > 100,
        lambda x, y: x + y > 0,
        lambda x, y: x * y < 2**62,
        lambda x, y: abs(x) > -y,
        lambda x, y: x << 3 > y,
        lambda x, y: x / (y + 0.5) > 1,
        lambda x, y: (x == y) | (x + 1 == y),
    ],
    ids=["power", "sum", "product", "sign", "shift", "quotient", "either"],
)
def test_integers_have_no_end(function: Callable[[Any, Any], Any]) -> None:
    assert not reason("f(A.l, B.l)", f=function)
    assert answer("f(A.l, B.l)", f=function) == python(function, LONGS, LONGS)
    assert answer("NOT f(A.l, B.l)", f=function) == python(lambda x, y: not function(x, y), LONGS, LONGS)


def test_integers_are_compared_with_doubles_exactly() -> None:
    for compare in (operator.eq, operator.lt, operator.ge):
        functions = {"f": lambda x, y, compare=compare: compare(x, y), "g": lambda x, y: x == y or x < y}
        assert answer("f(A.l, B.d)", f=functions["f"]) == python(functions["f"], LONGS, DOUBLES)
        assert answer("g(A.l, B.d)", g=functions["g"]) == python(functions["g"], LONGS, DOUBLES)


def test_a_result_is_a_number_that_the_query_compares() -> None:
    assert answer("f(A.l, B.l) > 100 ", f=lambda x, y: (x >> 2) - (y >> 2)) == python(
        lambda x, y: (x >> 2) - (y >> 2) > 100, LONGS, LONGS
    )
    with pytest.raises(
        Refused, match=r"^the function 'f' returned [0-9]{19}, which is no number that 64 bits can hold"
    ):
        answer("f(A.l, B.l) > 100", f=lambda x, y: x * y)


def test_a_compiled_function_says_what_it_raised() -> None:
    def brittle(x: int, y: int) -> bool:
        if x == 3:
            raise ValueError("not three")
        return x < y

    for _ in range(2):
        with pytest.raises(Refused, match=r"^the function 'brittle' raised ValueError: not three; make it return None"):
            answer("brittle(A.l, B.l)", brittle=brittle)
        with pytest.raises(Refused, match=r"^the function 'f' raised ZeroDivisionError: integer division or modulo by"):
            answer("f(A.l, B.l)", f=lambda x, y: x // y > 1)


def test_a_function_that_the_user_compiled_is_numbas() -> None:
    with pytest.raises(Refused, match=r"^the function 'f' raised an exception on some rows; make it return False"):
        answer("f(A.l, B.l)", f=njit(lambda x, y: x // y > 1))


class Near:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: float, y: float) -> bool:
        return abs(x - y) < 1

    def method(self, x: float, y: float) -> bool:
        return self(x, y)


@pytest.mark.parametrize(
    "function", [Near(), Near().method, partial(Near.method, Near())], ids=["object", "method", "partial"]
)
def test_what_is_no_function_written_in_python_runs_row_by_row(function: Callable[..., Any]) -> None:
    assert reason("f(A.d, B.d)", f=function) == "numba cannot compile f: it is no function written in Python"
    assert answer("f(A.d, B.d)", f=function) == python(function, DOUBLES, DOUBLES)


def test_what_python_cannot_hold_is_told_as_such() -> None:
    rows = pa.table({"ts": [0, 1], "at": pa.array([0, 2**60], pa.timestamp("us"))})
    with pytest.raises(
        Refused, match=r"^the function 'f' cannot be given a timestamp\[us\] beyond those that Python has"
    ):
        local.sql(
            "SELECT A.ts FROM one A, two B WHERE f(A.at) WINDOW = 0",
            {"one": rows, "two": rows},
            functions={"f": lambda at: at.year > 1},
        )


def test_functions_in_c_run_row_by_row() -> None:
    assert answer("m(A.d, B.d) = 3", m=max) == python(lambda x, y: max(x, y) == 3, DOUBLES, DOUBLES)
    assert answer("d(A.d)", d=DOUBLES.__contains__) == set(product(range(10), repeat=2))
