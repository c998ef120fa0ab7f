"""``join``: the same query, built call by call.

    matches = (ab.join(A=df1, B=df2, C=df3)
                 .on("A.obj = B.obj AND similar(B.sig, C.sig)", similar=similar)
                 .within("5 seconds", A_B="3 seconds")
                 .select("A.obj AS obj", "A.ts AS t1"))

It is written as SQL and read by the same parser, so both say the same, and are wrong in
the same words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from anabranch.core.errors import Refused
from anabranch.spark.sql import Options, sql
from anabranch.spark.streams import StreamFrame

Width = str | int | tuple[str | int, str | int]


@dataclass(frozen=True)
class Joined:
    """A join that is being described; every call gives a new one."""

    streams: dict[str, DataFrame | StreamFrame]
    conditions: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    functions: tuple[tuple[str, Callable[..., Any]], ...] = ()
    chosen: Options | None = None

    def on(self, condition: str, /, **functions: Callable[..., Any]) -> Joined:
        """A condition in SQL over the members; Python functions that it calls are given by their names."""
        _check_text("a condition", condition)
        taken = next((name for name in functions if name in self.streams), None)
        if taken is not None:
            raise Refused(f"'{taken}' is a stream and a function", "give the function another name")
        return replace(
            self,
            conditions=(*self.conditions, condition),
            functions=(*self.functions, *functions.items()),
        )

    def within(self, every: Width | None = None, /, **pairs: Width) -> Joined:
        """How far apart the members may be: all of them, and pairs such as ``A_B``.

        ``"5 seconds"`` (a number where time is an integer) is both ways; a pair of such
        is a band, how much later B may be than A: ``A_B=("0 seconds", "5 seconds")``.
        """
        found = [] if every is None else [self._uniform(every)]
        found += [self._pair(name, width) for name, width in pairs.items()]
        return replace(self, windows=(*self.windows, *found))

    def options(self, options: Options) -> Joined:
        """How the query runs."""
        return replace(self, chosen=options)

    def select(self, *columns: str) -> DataFrame:
        """The matches, as these expressions over the members; all columns of all members without any."""
        for column in columns:
            _check_text("a column", column)
        listed = ", ".join(columns or [f"{alias}.*" for alias in self.streams])
        tables = ", ".join(f"`{alias}`" for alias in self.streams)
        where = " AND ".join(f"({condition})" for condition in self.conditions)
        text = f"SELECT {listed} FROM {tables}"
        text += f" WHERE {where}" if where else ""
        text += f" {' AND '.join(self.windows)}" if self.windows else ""
        return sql(self._session(), text, self.chosen, **self.streams, **dict(self.functions))

    def _session(self) -> SparkSession:
        first = next(iter(self.streams.values()))
        return (first.frame if isinstance(first, StreamFrame) else first).sparkSession

    def _uniform(self, width: Width) -> str:
        _check_width(width)
        if isinstance(width, tuple):
            raise Refused("a band is between two members", f"name them: within({self._example}={width!r})")
        return f"WINDOW = {_spelled(width)}"

    def _pair(self, name: str, width: Width) -> str:
        found = [(a, b) for a in self.streams for b in self.streams if a != b and f"{a}_{b}".lower() == name.lower()]
        if not found:
            raise Refused(
                f"'{name}' names no pair of members", f"write two of {', '.join(self.streams)} as {self._example}"
            )
        if len(found) > 1:
            raise Refused(f"'{name}' may be {' or '.join(map(str, found))}", "choose other names for the members")
        a, b = found[0]
        _check_width(width)
        if isinstance(width, tuple):
            return f"WINDOW (`{a}`, `{b}`) BETWEEN {_spelled(width[0])} AND {_spelled(width[1])}"
        return f"WINDOW (`{a}`, `{b}`) = {_spelled(width)}"

    @property
    def _example(self) -> str:
        return "_".join(list(self.streams)[:2])


def join(**streams: DataFrame | StreamFrame) -> Joined:
    """A join of DataFrames, streaming or batch, under the names that its conditions use."""
    if len(streams) < 2:
        raise Refused(f"a join of {len(streams)} streams", "give two or more as name=DataFrame")
    for name, each in streams.items():
        if not isinstance(each, DataFrame | StreamFrame):
            raise Refused(f"'{name}' is {type(each).__name__}, not a DataFrame", "give the streams as name=DataFrame")
    return Joined(streams)


def _check_text(what: str, given: object) -> None:
    if not isinstance(given, str):
        raise Refused(f"{what} is {type(given).__name__}, not text", "write it in SQL, over the names of the members")


def _check_width(width: object) -> None:
    parts = width if isinstance(width, tuple) else (width,)
    if len(parts) > 2 or not parts or (isinstance(width, tuple) and len(parts) < 2):
        raise Refused(f"{width!r} is no band", "write how much later, at least and at most: ('0 seconds', '5 seconds')")
    for part in parts:
        if not isinstance(part, str | int) or isinstance(part, bool):
            raise Refused(
                f"{part!r} is no width of a window", "write '5 seconds', or a number where time is an integer"
            )


def _spelled(width: str | int) -> str:
    return str(width)
