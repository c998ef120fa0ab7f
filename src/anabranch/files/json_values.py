"""What a JSON value becomes in a column of each type.

Integers keep their 64 bits: they never pass through a double.  A list of scalars is
a list (vectors for the user's functions); anything else that is nested becomes its
own JSON text in a column of strings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Final, TypeAlias

import pyarrow as pa

from anabranch.files import infer
from anabranch.files.typed_text import NAIVE, ZONED, has_zone, instant

Value: TypeAlias = object
STRANGE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Beyond(str):
    """A number that no double holds, as it is written."""


def number(written: str) -> float | Beyond:
    """A JSON number that has a fraction or an exponent."""
    value = float(written)
    return Beyond(written) if isinf(value) else value


TOO_LARGE = {pa.int64(): (int,), pa.float64(): (int, Beyond)}  # what never fits for any other reason


class _Misfit:
    """The answer that a value does not fit; None is a NULL that does."""


MISFIT: Final = _Misfit()


def integer(value: Value) -> Value:
    return value if type(value) is int and -(2**63) <= value < 2**63 else MISFIT


def double(value: Value) -> Value:
    if type(value) is float:
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return MISFIT
    return STRANGE.get(value, MISFIT) if isinstance(value, str) else MISFIT


def boolean(value: Value) -> Value:
    return value if isinstance(value, bool) else MISFIT


def timestamp(value: Value) -> Value:
    moment = instant(value.strip(" \t")) if isinstance(value, str) else None
    return MISFIT if moment is None else moment


def text(value: Value) -> Value:
    return value if type(value) is str else MISFIT


def any_text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def list_of(one: Callable[[Value], Value]) -> Callable[[Value], Value]:
    def several(value: Value) -> Value:
        if not isinstance(value, list):
            return MISFIT
        items = [None if item is None else one(item) for item in value]
        return MISFIT if MISFIT in items else items

    return several


@dataclass(frozen=True)
class Kind:
    """One kind of column: how messages call its values, and what a value becomes in it."""

    called: str
    type: pa.DataType
    fit: Callable[[Value], Value]

    def refusal(self, value: Value) -> str:
        """Why this value is none of the kind."""
        written = f"'{value}'" if type(value) is str else any_text(value)
        shown = written if len(written) <= 60 else written[:57] + "..."
        if type(value) in TOO_LARGE.get(self.type, ()):
            return f"{shown} is outside {self.type}"
        return f"{shown} is not {self.called}"


STRING = Kind("text", pa.string(), any_text)
NOTHING = Kind("NULL", pa.null(), lambda value: MISFIT)
KINDS = (  # from the narrowest
    Kind("an integer", pa.int64(), integer),
    Kind("a number", pa.float64(), double),
    Kind("true or false", pa.bool_(), boolean),
    Kind("an ISO 8601 timestamp", NAIVE, timestamp),
    Kind("a list of integers", pa.list_(pa.int64()), list_of(integer)),
    Kind("a list of numbers", pa.list_(pa.float64()), list_of(double)),
    Kind("a list of booleans", pa.list_(pa.bool_()), list_of(boolean)),
    Kind("a list of strings", pa.list_(pa.string()), list_of(text)),
)
OF_TYPE = {kind.type: kind for kind in (*KINDS, STRING, NOTHING)} | {
    kind: Kind("an ISO 8601 timestamp", pa.string(), text)  # read as text, and held to the type a column at a time
    for kind in (NAIVE, ZONED)
}


def column_type(sample: Sequence[Value], is_time: bool = False, nothing: bool = False) -> pa.DataType:
    """The narrowest type that fits at least three in four of these values (none of them NULL)."""
    if not sample:
        return infer.no_values(is_time, nothing)
    for kind in KINDS:
        fitting = [value for value in sample if kind.fit(value) is not MISFIT]
        if infer.enough(len(fitting), len(sample)):
            return ZONED if kind.type == NAIVE and has_zone(pa.array(fitting, pa.string())) else kind.type
    return STRING.type


def column(values: Sequence[Value], kind: pa.DataType) -> pa.Array:
    """Values that fit, as an Arrow column; timestamps stay text."""
    return pa.array(values, OF_TYPE[kind].type)
