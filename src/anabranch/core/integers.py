"""Sums and products of 64 bits that say when they overflow, or wrap around.

numba promises LLVM that ``+``, ``-`` and ``*`` of signed integers never overflow, so a
test of what came out may be folded away.  What can overflow is computed here instead.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _overflows(operation: str) -> Any:
    """Whether the operation on two integers leaves 64 bits: one instruction and the processor's flag."""

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.extract_value(getattr(builder, f"{operation}_with_overflow")(*arguments), 1)

        return types.boolean(types.int64, types.int64), generate

    return intrinsic(typed)


def _wrapping(operation: str) -> Any:
    """The lowest 64 bits of what the operation gives."""

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, operation)(*arguments)

        return types.int64(types.int64, types.int64), generate

    return intrinsic(typed)


add_overflows, sub_overflows, mul_overflows = _overflows("sadd"), _overflows("ssub"), _overflows("smul")
wrapped_add, wrapped_mul = _wrapping("add"), _wrapping("mul")
