"""Python's arithmetic in compiled functions: the number that Python has, or an exception.

numba's integers end at 64 bits, and become doubles where they meet one; Python's do
neither.  Here each operator, and each function that is known, gives what Python gives or
raises, and the caller asks Python itself.  What numba's types do not tell apart, such as
Python's truth values and NumPy's, is not compiled.

Cost: after an operation on integers a flag of the processor is looked at; doubles cost nothing.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import compiler, ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.ir_utils import get_definition, guard
from numba.core.typed_passes import NopythonTypeInference
from numba.core.unsafe.eh import mark_try_block
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import overload

from anabranch.core.integers import add_overflows, mul_overflows, sub_overflows
from anabranch.core.words import address, real

NOT_EXACT = "not as in Python: "
LEAST, WHOLE = -(2**63), 2**53  # each integer up to WHOLE is a double
KINDS = {types.int64: "int", types.float64: "real", types.boolean: "bool"}
AS_IT_IS = {len, range, enumerate, zip, float, bool, math.isnan, math.isinf, math.isfinite, math.copysign, math.fabs}
ZERO = np.zeros(1)
SECRET = address(ZERO)  # to hide an exponent from LLVM, which makes x * x of x ** 2: not always the same double

Code = Callable[..., Any]
EXACT: dict[Any, Code] = {}  # what stands for an operator or a function in compiled code


def exact(function: Code) -> Any:
    """*function* under numba; it raises where only Python has the answer."""
    return njit(function, pipeline_class=_Compiler)


# -- types --------------------------------------------------------------------------


def _kind(t: Any) -> str:
    """``int``, ``real`` or ``bool`` as Python has them; ``other`` is no number, and numba's own."""
    t = types.unliteral(t)
    if t not in KINDS and isinstance(t, types.Number | types.Optional):
        raise _refused(f"numba's {t}")
    return KINDS.get(t, "other")


def _is_double(t: Any) -> bool:
    """Whether it stays what it is as a double."""
    if isinstance(t, types.IntegerLiteral):
        return bool(abs(t.literal_value) <= WHOLE)
    return _kind(t) != "int"


def _integers(*operands: Any) -> bool:
    """Whether it is arithmetic on integers; with truth values there is none, since NumPy has its own."""
    kinds = {_kind(t) for t in operands}
    if "bool" in kinds:
        raise _refused("arithmetic on truth values")
    return kinds == {"int"}


def _comparable(a: Any, b: Any) -> bool:
    """Whether an integer meets a double; refused where doubles may do so, or be the same NaN, within tuples."""
    within = [_kind(each) for t in (a, b) if isinstance(t, types.BaseTuple) for each in t.types]
    if "real" in within or "other" in within:
        raise _refused("a comparison of tuples of other than integers")
    return {_kind(a), _kind(b)} == {"int", "real"}


def _refused(what: str) -> TypingError:
    return TypingError(NOT_EXACT + what)


# -- what stands for what -----------------------------------------------------------


def _for(*known: Any) -> Callable[[Code], Code]:
    """Let the code that a function of types gives stand for each of *known*, which it is told first."""

    def declare(code: Code) -> Code:
        for each in known:
            EXACT[each] = _stand_in(each, code)
        return code

    return declare


def _stand_in(known: Any, code: Code) -> Code:
    """A function that numba compiles to what *code* gives, and calls itself where it finds constants."""

    def unary(a: Any) -> Any:
        return known(a)

    def binary(a: Any, b: Any) -> Any:
        return known(a, b)

    def several(*a: Any) -> Any:
        return known(*a)

    for each in (unary, binary, several):
        each.__qualname__ = known.__name__  # as numba names it in what it says
    exactly = partial(overload, prefer_literal=True, strict=False)
    if inspect.getfullargspec(code).varargs:
        exactly(several)(lambda *a: code(known, *a))
        return several
    if len(inspect.getfullargspec(code).args) == 2:
        exactly(unary)(lambda a: code(known, a))
        return unary
    exactly(binary)(lambda a, b: code(known, a, b))
    return binary


def _native(op: Any) -> Code:
    return lambda a, b: op(a, b)


def _sum(overflows: Any) -> Code:
    def code(op: Any, a: Any, b: Any) -> Code:
        def checked(a: Any, b: Any) -> Any:
            if overflows(a, b):
                raise OverflowError
            return op(a, b)

        return checked if _integers(a, b) else _native(op)

    return code


_for(operator.add, operator.iadd)(_sum(add_overflows))
_for(operator.sub, operator.isub)(_sum(sub_overflows))
_for(operator.mul, operator.imul)(_sum(mul_overflows))


@_for(operator.truediv, operator.itruediv)
def _quotient(op: Any, a: Any, b: Any) -> Code:
    def checked(a: Any, b: Any) -> Any:
        if not (-WHOLE <= a <= WHOLE and -WHOLE <= b <= WHOLE):
            raise OverflowError
        return op(a, b)

    return checked if _integers(a, b) else _native(op)


@_for(operator.floordiv, operator.ifloordiv, operator.mod, operator.imod)
def _whole_quotient(op: Any, a: Any, b: Any) -> Code:
    def checked(a: Any, b: Any) -> Any:
        if b == -1 and a == LEAST:  # to the processor a fault
            raise OverflowError
        return op(a, b)

    return checked if _integers(a, b) else _native(op)


@_for(operator.pow, operator.ipow, pow, math.pow)
def _power(op: Any, a: Any, b: Any) -> Code:
    def product(a: Any, b: Any) -> Any:
        result = 1
        for _ in range(b):
            if mul_overflows(result, a):
                raise OverflowError
            result *= a
        return result

    def of_reals(a: Any, b: Any) -> Any:
        result = float(a) ** (float(b) + real(SECRET, 0))
        if not math.isfinite(result):
            raise OverflowError
        return result

    if not _integers(a, b) or op is math.pow:
        return of_reals if {_kind(a), _kind(b)} <= {"int", "real"} else _native(op)
    if not isinstance(b, types.IntegerLiteral) or not 0 <= b.literal_value < 64:
        raise _refused("a power whose exponent is no small number")
    return product


@_for(operator.lshift, operator.ilshift, operator.rshift, operator.irshift)
def _shift(op: Any, a: Any, b: Any) -> Code:
    def left(a: Any, b: Any) -> Any:
        if not 0 <= b < 63 or (a << b) >> b != a:
            raise OverflowError
        return a << b

    def right(a: Any, b: Any) -> Any:
        if b < 0:
            raise OverflowError
        return a >> min(b, 63)

    if not _integers(a, b):
        return _native(op)
    return left if op in (operator.lshift, operator.ilshift) else right


@_for(operator.and_, operator.iand, operator.or_, operator.ior, operator.xor, operator.ixor)
def _bits(op: Any, a: Any, b: Any) -> Code:
    _kind(a), _kind(b)
    return _native(op)


@_for(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
def _comparison(op: Any, a: Any, b: Any) -> Code:
    def of_int(a: Any, b: Any) -> Any:
        if not -WHOLE <= a <= WHOLE:
            raise OverflowError
        return op(a, b)

    def with_int(a: Any, b: Any) -> Any:
        if not -WHOLE <= b <= WHOLE:
            raise OverflowError
        return op(a, b)

    if not _comparable(a, b):
        return _native(op)
    return of_int if _kind(a) == "int" else with_int


@_for(operator.contains)
def _membership(op: Any, a: Any, b: Any) -> Code:
    items = a.types if isinstance(a, types.BaseTuple) else [a.dtype] if hasattr(a, "dtype") else []
    if "real" in {_kind(t) for t in (*items, b)}:
        raise _refused("a search among doubles")
    return _native(op)


@_for(operator.neg, abs)
def _sign(op: Any, a: Any) -> Code:
    def checked(a: Any) -> Any:
        if a == LEAST:
            raise OverflowError
        return op(a)

    return checked if _integers(a) else lambda a: op(a)


@_for(operator.pos, operator.invert)
def _same_size(op: Any, a: Any) -> Code:
    _integers(a)
    return lambda a: op(a)


@_for(int, round, math.floor, math.ceil, math.trunc)
def _whole(op: Any, a: Any) -> Code:
    def checked(a: Any) -> Any:
        if not -9223372036854775808.0 <= a < 9223372036854775808.0:
            raise OverflowError
        return int(op(a))

    if _integers(a):
        return lambda a: a
    if _kind(a) != "real":
        raise _refused(f"{op.__name__} of {a}")
    return checked


@_for(min, max)
def _extreme(op: Any, *a: Any) -> Code:
    doubles = [_is_double(each) for each in a]
    if len(a) < 2 or not (all(doubles) or _integers(*a)):
        raise _refused(f"{op.__name__} of unlike values")
    return lambda *a: op(*a)


@_for(
    math.sqrt, math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sin, math.cos, math.tan,
    math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh, math.asinh, math.acosh, math.atanh,
    math.degrees, math.radians, math.erf, math.erfc,
)  # fmt: skip
def _function(op: Any, a: Any) -> Code:
    def checked(a: Any) -> Any:
        result = op(float(a))
        if not math.isfinite(result):
            raise OverflowError
        return result

    _integers(a)
    return checked


@_for(math.atan2)
def _angle(op: Any, a: Any, b: Any) -> Code:
    _integers(a, b)
    return lambda a, b: op(float(a), float(b))


# -- the compiler -------------------------------------------------------------------


@register_pass(mutates_CFG=False, analysis_only=False)
class _Known(FunctionPass):  # type: ignore[misc]
    """Put what is exact in the place of operators and functions."""

    _name = "anabranch_known"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        for block in state.func_ir.blocks.values():
            for assign in block.find_insts(ir.Assign):
                value = assign.value
                if isinstance(value, ir.Global | ir.FreeVar):
                    assign.value = self._stand_in(value.value, value)
                elif isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop", "unary"):
                    value.fn = EXACT.get(value.fn, value.fn)
                    if value.op == "inplace_binop":  # of numbers
                        value.immutable_fn = value.fn
                elif isinstance(value, ir.Expr) and value.op == "getattr":
                    owner = guard(get_definition, state.func_ir, value.value)
                    if isinstance(owner, ir.Global | ir.FreeVar) and isinstance(owner.value, ModuleType):
                        assign.value = self._stand_in(getattr(owner.value, value.attr, None), value)
                elif isinstance(value, ir.Expr) and value.op == "make_function":
                    raise _refused("a function within the function")
        return True

    def _stand_in(self, known: Any, value: Any) -> Any:
        """What stands for a function of Python's own; anything else is left as it is."""
        if known is mark_try_block:  # it would catch what is raised here
            raise _refused("a try")
        if not callable(known) or getattr(known, "__module__", "") not in ("builtins", "math", "_operator"):
            return value
        if known in EXACT:
            return ir.Global(known.__name__, EXACT[known], value.loc)
        if known in AS_IT_IS or (isinstance(known, type) and issubclass(known, BaseException)):
            return value
        raise _refused(f"{known.__name__}()")


@register_pass(mutates_CFG=False, analysis_only=True)
class _Widened(FunctionPass):  # type: ignore[misc]
    """Refuse integers that would become doubles on the way."""

    _name = "anabranch_widened"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        for block in state.func_ir.blocks.values():
            for assign in block.find_insts(ir.Assign):
                target, value = state.typemap[assign.target.name], assign.value
                if types.unliteral(getattr(target, "dtype", target)) != types.float64:
                    continue
                for source in self._sources(value):
                    if not _is_double(state.typemap[source.name]):
                        raise _refused("an integer that becomes a double")
        return False

    def _sources(self, value: Any) -> list[Any]:
        if isinstance(value, ir.Var):
            return [value]
        if not isinstance(value, ir.Expr):
            return []
        if value.op == "phi":
            return [each for each in value.incoming_values if isinstance(each, ir.Var)]
        if value.op == "cast":
            return [value.value]
        return list(value.items) if value.op in ("build_list", "build_set") else []


class _Compiler(compiler.CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_Known, InlineClosureLikes)
        passes.add_pass_after(_Widened, NopythonTypeInference)
        passes.finalize()
        return [passes]
