"""What the loop does not decide: filters before a tuple is stored, and the rest of the predicate on candidates.

SQL that is not compiled runs vectorised in DuckDB.  A Python function that numba
cannot compile gets whole columns if it is marked ``vectorized``, else it is called
row by row.  A NULL argument makes the call NULL; None and NaN are not TRUE; an
exception ends the run with one line that says which function and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anabranch.core.errors import Refused
from anabranch.engine.duck import Refine
from anabranch.plan.functions import is_vectorized, number, raised, truth
from anabranch.plan.lower import Lowered
from anabranch.plan.refinement import Call, Constant, Filter, filters, refinement

Mask = npt.NDArray[np.bool_]


class Filters:
    """The filters on single streams that are not compiled."""

    def __init__(self, lowered: Lowered) -> None:
        self._of: dict[int, tuple[Filter, Refine]] = {}
        for s in range(len(lowered.join.members)):
            found = filters(lowered, s)
            if found is not None:
                self._of[s] = found, Refine(found.conditions, found.columns)

    def outcome(self, s: int, rows: pa.RecordBatch) -> Mask:
        """Which rows of stream *s*, which has such filters, they let through."""
        filters, refine = self._of[s]
        columns = [rows.column(name) for name in filters.names]
        return refine.mask(pa.table(columns, names=filters.columns.names))


class Refiner:
    """The conjuncts that are evaluated over candidate matches."""

    def __init__(self, lowered: Lowered, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.functions = {name.lower(): function for name, function in functions.items()}
        self.plan = refinement(lowered, self.functions)
        self._refine = Refine(self.plan.conditions, self.plan.columns) if self.plan.conditions else None

    def passed(self, table: pa.Table) -> Mask:
        """Which candidates satisfy all of them."""
        kept = np.ones(len(table), np.bool_)
        for call in self.plan.calls:
            results = _called(call, self.functions[call.function], table)
            if call.decides:
                kept &= np.array([truth(call.function, result) for result in results], np.bool_)
            else:
                kind = self.plan.columns.field(call.result).type
                table = table.append_column(call.result, _as_column(call, results, kind))
        if self._refine is not None:
            kept &= self._refine.mask(table.select(self.plan.columns.names))
        return kept


def told(lowered: Lowered) -> Refused:
    """What to say when a compiled predicate raised."""
    for function in lowered.functions:
        while function.failure:
            error = function.failure.pop()
            if isinstance(error, Refused):
                return error
            if not isinstance(error, Exception | SystemExit):
                raise error
            return raised(function.name, error)
    called = " or ".join(sorted({f"'{function.name}'" for function in lowered.functions}))  # compiled by the user
    return Refused(f"the function {called} raised an exception on some rows", "make it return False for such rows")


def _called(call: Call, function: Callable[..., Any], table: pa.Table) -> list[Any]:
    """The results of a call for each row; None where an argument is NULL."""
    null = np.zeros(len(table), np.bool_)
    for argument in call.arguments:
        if isinstance(argument, str):
            null |= np.asarray(table.column(argument).is_null())
        elif argument.value is None:
            null[:] = True
    whole = np.nonzero(~null)[0]
    results: list[Any] = [None] * len(table)
    if not len(whole):
        return results
    rows = table.take(pa.array(whole))
    try:
        if is_vectorized(function):
            given = [a.value if isinstance(a, Constant) else rows.column(a).to_numpy() for a in call.arguments]
            answers = _one_a_row(call, np.asarray(function(*given)), len(whole))
        else:
            columns = [
                [a.value] * len(whole) if isinstance(a, Constant) else _values(call, rows.column(a))
                for a in call.arguments
            ]
            each = zip(*columns, strict=True) if columns else [()] * len(whole)
            answers = [function(*values) for values in each]
    except Refused:
        raise
    except (Exception, SystemExit) as error:
        raise raised(call.function, error) from error
    for place, answer in zip(whole, answers, strict=True):
        results[place] = answer
    return results


def _values(call: Call, column: pa.ChunkedArray) -> list[Any]:
    """The values as Python has them; it has no nanoseconds, which are floored, and no years beyond 9999."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = pc.floor_temporal(column, unit="microsecond").cast(pa.timestamp("us", column.type.tz))
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        raise Refused(
            f"the function '{call.function}' cannot be given a {column.type} beyond those that Python has",
            "keep such rows out by a condition on their stream",
        ) from None


def _one_a_row(call: Call, answer: npt.NDArray[Any], rows: int) -> list[Any]:
    if answer.shape != (rows,):
        raise Refused(
            f"the vectorized function '{call.function}' returned shape {answer.shape} for {rows} rows",
            "return one boolean a row",
        )
    return list(answer.tolist())


def _as_column(call: Call, results: list[Any], kind: pa.DataType) -> pa.Array:
    """The results as the condition around the call takes them: NaN is a number, but neither TRUE nor FALSE."""
    if pa.types.is_boolean(kind):
        true = [truth(call.function, result) for result in results]
        unknown = [result is None or bool(result != result) for result in results]
        return pa.array(true, kind, mask=np.array(unknown, np.bool_))
    return pa.array([number(call.function, result) for result in results], kind)
