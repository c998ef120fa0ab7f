"""The user's Python functions in a predicate: compiled where numba can, and where that means the same.

A function gets one value for each argument; a NULL argument makes the call NULL
without calling it, and a result of None or NaN is not TRUE.  A function marked with
``vectorized`` gets whole columns as NumPy arrays instead and is never compiled.

Where compiled code raises, because an integer left 64 bits or because the function itself
raised, Python is asked for the same arguments: what it says is the result, or ends the run.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from ctypes import CFUNCTYPE, c_bool, c_double, c_int64
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numba import njit, types
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.core.exact import NOT_EXACT, exact
from anabranch.core.words import address, word
from anabranch.plan.code import NotCompiled
from anabranch.plan.sql.names import place

F = TypeVar("F", bound=Callable[..., Any])

TYPES = {"int": types.int64, "real": types.float64, "bool": types.boolean}
PASSED: dict[str, Any] = {"int": c_int64, "real": c_double, "bool": c_bool}
NUMBERS = bool | int | float | np.bool_ | np.integer | np.floating
COMPARED = "compare it inside of the function, and return True, False or None"
_MARK = "__anabranch_vectorized__"


def vectorized(function: F) -> F:
    """Mark a function that takes NumPy arrays, one for each argument, and returns an array of booleans."""
    setattr(function, _MARK, True)
    return function


def is_vectorized(function: Callable[..., Any]) -> bool:
    """Whether the function takes whole columns."""
    return bool(getattr(function, _MARK, False))


def check_call(call: exp.Anonymous, function: Callable[..., Any]) -> None:
    """Refuse a call with too many or too few arguments."""
    try:
        signature = inspect.signature(getattr(function, "py_func", function))
    except ValueError:  # some functions written in C have none
        return
    try:
        signature.bind(*call.expressions)
    except TypeError as error:
        given = len(call.expressions)
        raise Refused(
            f"{call.name}() does not take {given} argument{'' if given == 1 else 's'}: {error}",
            f"it is {call.name}{signature}",
            place(call),
        ) from None


# -- what a function says -----------------------------------------------------------


def truth(name: str, result: Any) -> bool:
    """Whether a result is TRUE."""
    if not isinstance(result, NUMBERS | None):
        raise Refused(
            f"the function '{name}' returned {result!r}, which is neither a boolean nor a number",
            "return True, False or None",
        )
    return result is not None and bool(result == result) and bool(result)


def number(name: str, result: Any) -> float | None:
    """A result as a double, which has to hold it."""
    if result is None:
        return None
    try:
        found = float(result) if isinstance(result, NUMBERS) else None
    except OverflowError:
        found = None
    if found is None or (isinstance(result, int | np.integer) and int(result) != found):
        raise Refused(f"the function '{name}' returned {result!r}, which is no number that a double can hold", COMPARED)
    return found


def _integer(name: str, result: Any) -> int:
    if not -(2**63) <= result < 2**63:
        raise Refused(f"the function '{name}' returned {result}, which is no number that 64 bits can hold", COMPARED)
    return int(result)


def raised(name: str, error: BaseException) -> Refused:
    """What to say of an exception in a function."""
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    return Refused(f"the function '{name}' raised {said}", "make it return None for such rows")


# -- compilation --------------------------------------------------------------------


@dataclass(frozen=True)
class Compiled:
    """A function as predicates call it, the kind of its result, and the exception that ended a call, if it is known."""

    name: str
    call: Callable[..., Any]
    kind: str
    failure: list[BaseException] = field(default_factory=list, compare=False)


@dataclass
class Compiler:
    """Compiles functions for the kinds of arguments that a predicate gives them."""

    functions: dict[str, Callable[..., Any]]
    used: dict[str, Compiled] = field(default_factory=dict)

    def named(self, name: str) -> Callable[[tuple[str, ...]], tuple[str, str]]:
        """What ``Coder`` asks: the name in generated code and the kind of the result, for these arguments."""

        def compiled(kinds: tuple[str, ...]) -> tuple[str, str]:
            function = self.functions[name]
            if is_vectorized(function):
                raise NotCompiled(f"{name} takes whole columns")
            if not (isinstance(function, FunctionType) or hasattr(function, "overloads")):
                raise NotCompiled(f"numba cannot compile {name}: it is no function written in Python")
            called = f"user_{name}_{'_'.join(kinds)}"
            self.used[called] = _compiled(name, function, kinds)
            return called, self.used[called].kind

        return compiled


@lru_cache(maxsize=256)
def _compiled(name: str, function: Callable[..., Any], kinds: tuple[str, ...]) -> Compiled:
    """The function under numba; the same one each time, so that it is compiled once a process."""
    signature = tuple(TYPES[kind] for kind in kinds)
    try:
        fast: Any = function if hasattr(function, "overloads") else exact(function)
        with warnings.catch_warnings():  # what numba does not like it says below, in one line
            warnings.simplefilter("ignore")
            fast.compile(signature)
    except Exception as error:  # noqa: BLE001  (numba has many ways to say that it cannot)
        raise NotCompiled(f"numba cannot compile {name}: {_reason(error)}") from None
    result = fast.overloads[signature].signature.return_type
    found = [kind for kind, known in TYPES.items() if known == result]
    if not found:
        raise NotCompiled(f"{name} returns {result}, which is neither a number nor a boolean")
    return Compiled(name, fast, found[0]) if fast is function else _asking(name, function, fast, kinds, found[0])


def _asking(name: str, function: Callable[..., Any], fast: Any, kinds: tuple[str, ...], kind: str) -> Compiled:
    """Compiled code that asks Python where it raises itself."""
    failed, failure = np.zeros(1, np.int64), list[BaseException]()
    of_result = {"int": _integer, "real": number, "bool": truth}[kind]

    def answer(*given: Any) -> Any:
        failure.clear()
        try:
            return of_result(name, function(*given))
        except BaseException as error:  # noqa: BLE001  (it must not leave through compiled code)
            failure.append(error)
            return 0
        finally:
            failed[0] = len(failure)

    slow, flag = CFUNCTYPE(PASSED[kind], *(PASSED[each] for each in kinds))(answer), address(failed)

    @njit
    def call(*given: Any) -> Any:
        try:
            return fast(*given)
        except Exception:  # noqa: BLE001  (numba knows no other)
            pass
        result = slow(*given)
        if word(flag, 0):
            raise ValueError
        return result

    return Compiled(name, call, kind, failure)


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    unlike = [line[line.index(NOT_EXACT) :] for line in lines if NOT_EXACT in line]
    plain = [line for line in lines if not line.startswith("Failed in")]
    return re.sub(" at 0x[0-9a-f]+", "", next(iter(unlike + plain), "unknown reason"))[:120]
