"""64-bit words: the one currency between Arrow columns and compiled loops.

A kernel sees memory as int64 words.  ``word`` and ``real`` load one from an
address without the cost of passing arrays through a function pointer (a
first-class call with array arguments takes 37 ns, one with addresses 2.5 ns;
``bench/micro/function_pointer.py`` measures both).  ``mix`` is a bijective hash,
``ordered`` turns the bits of a double into an integer of the same order, with
NaN largest and -0.0 = 0.0 as SQL wants.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from anabranch.core.integers import add_overflows, sub_overflows, wrapped_add, wrapped_mul
from anabranch.core.ticks import FOREVER, NEVER

Words = npt.NDArray[np.int64]

NAN_WORD = 0x7FF8000000000000
LOW32 = 0xFFFFFFFF


def address(array: npt.NDArray[Any]) -> int:
    """Where the first word of a contiguous array lies; the array must outlive the use."""
    return int(array.__array_interface__["data"][0])


def _load(result: Any, llvm: ir.Type) -> Any:
    def typed(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], llvm.as_pointer())
            return builder.load(builder.gep(pointer, [arguments[1]]))

        return result(types.int64, types.int64), generate

    return intrinsic(typed)


word = _load(types.int64, ir.IntType(64))
real = _load(types.float64, ir.DoubleType())


@intrinsic
def keep(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Store one word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _call(parameters: int, result: ir.Type) -> Any:
    """A call of compiled code by its address: 1 or the result, 0, or -1 when the code raised."""

    def typed(typing_context: Any, function: Any, *arguments: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            word_type, byte = ir.IntType(64), ir.IntType(8).as_pointer()
            shape = ir.FunctionType(ir.IntType(32), [result.as_pointer(), byte.as_pointer()] + [word_type] * parameters)
            answer, error = cgutils.alloca_once(builder, result), cgutils.alloca_once(builder, byte)
            status = builder.call(builder.inttoptr(values[0], shape.as_pointer()), [answer, error, *values[1:]])
            value = builder.load(answer)
            if result.width < 64:
                value = builder.zext(value, word_type)
            failed = builder.icmp_signed("!=", status, ir.Constant(ir.IntType(32), 0))
            return builder.select(failed, ir.Constant(word_type, -1), value)

        return types.int64(types.int64, *[types.int64] * parameters), generate

    typed.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in "tfabcd"[: parameters + 2]]
    )
    return intrinsic(typed)


call_admit = _call(3, ir.IntType(8))
call_span = _call(4, ir.IntType(64))


def entry(dispatcher: Any) -> int:
    """The address of a compiled function, for ``call_admit`` and ``call_span``; the dispatcher must outlive the use."""
    (compiled,) = dispatcher.overloads.values()
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@intrinsic
def prefetch(typing_context: Any, base: Any, index: Any) -> Any:
    """Ask for the cache line of a word before it is needed; never faults."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.gep(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), [arguments[1]])
        shape = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0i8")
        constants = [ir.Constant(flag, value) for value in (0, 3, 1)]  # read, keep, data
        builder.call(function, [builder.bitcast(place, byte), *constants])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def keep_byte(typing_context: Any, base: Any, index: Any, value: Any) -> Any:
    """Store the lowest byte of a word, at a byte index."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        builder.store(builder.trunc(arguments[2], ir.IntType(8)), builder.gep(pointer, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def bits(typing_context: Any, value: Any) -> Any:
    """The bits of a double as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@njit(forceinline=True)
def ordered(x: float) -> int:
    """An integer that orders as the double does in SQL."""
    if x != x:
        return 0x7FFFFFFFFFFFFFFF
    w = bits(x + 0.0)
    return w ^ ((w >> 63) & 0x7FFFFFFFFFFFFFFF)


@njit(forceinline=True)
def mix(x: int) -> int:
    """A bijective scramble of 64 bits (the finaliser of splitmix64)."""
    x = wrapped_mul(x ^ ((x >> 30) & 0x3FFFFFFFF), -4658895280553007687)
    x = wrapped_mul(x ^ ((x >> 27) & 0x1FFFFFFFFF), -7723592293110705685)
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


@njit(forceinline=True)
def mixed(code: int, x: int) -> int:
    """The code of a row of words, from that of all but the last."""
    return mix(wrapped_add(wrapped_mul(code, 31), x))


@njit(forceinline=True)
def ordered_word(w: int) -> int:
    """``ordered`` of the double whose bits are *w*."""
    if w == -0x8000000000000000:
        return 0
    if (w & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000:
        return 0x7FFFFFFFFFFFFFFF
    return w ^ ((w >> 63) & 0x7FFFFFFFFFFFFFFF)


@njit(forceinline=True)
def ordered_low(x: float) -> int:
    """``ordered`` of a lower limit; a limit that is no number excludes nothing."""
    return -0x8000000000000000 if x != x else ordered(x)


@njit(forceinline=True)
def ordered_high(x: float) -> int:
    """``ordered`` of an upper limit; a limit that is no number excludes nothing."""
    return 0x7FFFFFFFFFFFFFFF if x != x else ordered(x)


@njit(forceinline=True)
def before(t: int, ticks: int) -> int:
    """``t - ticks``, saturating."""
    if ticks == FOREVER:
        return NEVER
    if sub_overflows(t, ticks):
        return NEVER if t < 0 else FOREVER
    return t - ticks


@njit(forceinline=True)
def after(t: int, ticks: int) -> int:
    """``t + ticks``, saturating."""
    if ticks == FOREVER:
        return FOREVER
    if add_overflows(t, ticks):
        return NEVER if t < 0 else FOREVER
    return t + ticks
