"""What a compiled kernel pays to call a predicate that it meets only at run time.

A kernel that is compiled once takes the predicate as a first-class function.
How the columns travel decides the price: as NumPy arrays, every call unpacks
each array's structure and takes and gives back a reference; as int64 addresses
read by a load intrinsic, a call is the plain machine instruction.  Both
predicates here answer the same question over the same columns, and a direct
call, which the compiler may inline, is the floor.

    python bench/micro/function_pointer.py [calls]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

ROWS = 1024
WORDS, REALS = types.int64[::1], types.float64[::1]


@intrinsic  # type: ignore[misc]
def word(_typing: Any, _address: Any, _index: Any) -> Any:
    """The int64 at ``address[index]``."""

    def load(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, index = arguments
        base = builder.inttoptr(address, ir.IntType(64).as_pointer())
        return builder.load(builder.gep(base, [index]))

    return types.int64(types.int64, types.int64), load


@intrinsic  # type: ignore[misc]
def real(_typing: Any, _address: Any, _index: Any) -> Any:
    """The float64 at ``address[index]``."""

    def load(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, index = arguments
        base = builder.inttoptr(address, ir.DoubleType().as_pointer())
        return builder.load(builder.gep(base, [index]))

    return types.float64(types.int64, types.int64), load


def arrays() -> tuple[Callable[..., int], Callable[..., bool]]:
    """A kernel and a predicate whose columns are array arguments."""
    shape = types.boolean(WORDS, REALS, WORDS)

    @njit(shape)
    def predicate(words, reals, at):  # type: ignore[no-untyped-def]
        return words[at[0]] > 511 and reals[at[0]] < 768.0

    @njit(types.int64(types.FunctionType(shape), WORDS, REALS, WORDS, types.int64))
    def kernel(holds, words, reals, at, calls):  # type: ignore[no-untyped-def]
        true = 0
        for call in range(calls):
            at[0] = call % ROWS
            if holds(words, reals, at):
                true += 1
        return true

    return kernel, predicate


def addresses() -> tuple[Callable[..., int], Callable[..., bool]]:
    """A kernel and a predicate whose columns are int64 addresses."""
    shape = types.boolean(types.int64, types.int64, types.int64)

    @njit(shape)
    def predicate(words, reals, at):  # type: ignore[no-untyped-def]
        return word(words, word(at, 0)) > 511 and real(reals, word(at, 0)) < 768.0

    @njit(types.int64(types.FunctionType(shape), WORDS, REALS, WORDS, types.int64))
    def kernel(holds, words, reals, at, calls):  # type: ignore[no-untyped-def]
        w, r, a = np.int64(words.ctypes.data), np.int64(reals.ctypes.data), np.int64(at.ctypes.data)
        true = 0
        for call in range(calls):
            at[0] = call % ROWS
            if holds(w, r, a):
                true += 1
        return true

    return kernel, predicate


def direct() -> tuple[Callable[..., int], None]:
    """The floor: the predicate is known when the kernel is compiled."""

    @njit(types.int64(types.none, WORDS, REALS, WORDS, types.int64))
    def kernel(_, words, reals, at, calls):  # type: ignore[no-untyped-def]
        true = 0
        for call in range(calls):
            at[0] = call % ROWS
            if words[at[0]] > 511 and reals[at[0]] < 768.0:
                true += 1
        return true

    return kernel, None


def nanoseconds(pair: tuple[Callable[..., int], Callable[..., bool] | None], calls: int) -> float:
    """The least time of a call in five rounds; a wrong answer ends the run."""
    kernel, predicate = pair
    words, at = np.arange(ROWS), np.zeros(1, np.int64)
    reals = words.astype(np.float64)
    expected = sum(words[c % ROWS] > 511 and reals[c % ROWS] < 768.0 for c in range(4 * ROWS))
    assert kernel(predicate, words, reals, at, 4 * ROWS) == expected
    times = []
    for _ in range(5):
        begun = perf_counter()
        kernel(predicate, words, reals, at, calls)
        times.append(perf_counter() - begun)
    return min(times) / calls * 1e9


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    for name, pair in (("array arguments", arrays()), ("int64 addresses", addresses()), ("no call", direct())):
        print(f"{name:<16} {nanoseconds(pair, calls):6.1f} ns a call")


if __name__ == "__main__":
    main()
