"""The user's Python functions in a predicate: compiled where numba can.

A function gets one value for each argument; a NULL argument makes the call NULL
without calling it, and a result of None or NaN is not TRUE.  A function marked with
``vectorized`` gets whole columns as NumPy arrays instead and is never compiled.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from numba import njit, types
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.code import NotCompiled
from anabranch.plan.sql.names import place

F = TypeVar("F", bound=Callable[..., Any])

TYPES = {"int": types.int64, "real": types.float64, "bool": types.boolean}
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


@dataclass
class Compiler:
    """Compiles functions for the kinds of arguments that a predicate gives them."""

    functions: dict[str, Callable[..., Any]]
    used: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def named(self, name: str) -> Callable[[tuple[str, ...]], tuple[str, str]]:
        """What ``Coder`` asks: the name in generated code and the kind of the result, for these arguments."""

        def compiled(kinds: tuple[str, ...]) -> tuple[str, str]:
            function = self.functions[name]
            if is_vectorized(function):
                raise NotCompiled(f"{name} takes whole columns")
            dispatcher = _dispatcher(function)
            signature = tuple(TYPES[kind] for kind in kinds)
            try:
                with warnings.catch_warnings():  # what numba does not like it says below, in one line
                    warnings.simplefilter("ignore")
                    dispatcher.compile(signature)
            except Exception as error:  # noqa: BLE001  (numba has many ways to say that it cannot)
                raise NotCompiled(f"numba cannot compile {name}: {_first_line(error)}") from None
            result = dispatcher.overloads[signature].signature.return_type
            self.used[f"user_{name}"] = dispatcher
            if isinstance(result, types.Boolean):
                return f"user_{name}", "bool"
            if isinstance(result, types.Integer) and result.signed:
                return f"user_{name}", "int"
            if isinstance(result, types.Float):
                return f"user_{name}", "real"
            raise NotCompiled(f"{name} returns {result}, which is neither a number nor a boolean")

        return compiled


@lru_cache(maxsize=256)
def _dispatcher(function: Callable[..., Any]) -> Any:
    """The function under numba; the same one each time, so that it is compiled once a process."""
    return function if hasattr(function, "overloads") else njit(function)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Failed in")), "unknown reason")[:120]
