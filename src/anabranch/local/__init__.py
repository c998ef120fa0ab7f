"""The embedded runtime: queries in this process, Arrow in and Arrow out, no JVM.

    >>> import pyarrow as pa
    >>> from anabranch import local
    >>> seen = {"a": pa.table({"ts": [1, 5], "k": [7, 8]}), "b": pa.table({"ts": [2, 9], "k": [7, 8]})}
    >>> local.sql("SELECT A.k AS k, B.ts - A.ts AS lag FROM a A, b B WHERE A.k = B.k WINDOW = 3", seen).to_pylist()
    [{'k': 7, 'lag': 1}]

``sql`` joins finite tables; ``start`` gives a session that is fed for as long as the
streams live.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from anabranch.core.errors import Refused
from anabranch.core.plain import plain_schema
from anabranch.core.ticks import FOREVER
from anabranch.core.times import check_time_type
from anabranch.local.rows import arrow, one_batch
from anabranch.local.session import Options, Session
from anabranch.plan.algorithm import AUTO
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse

__all__ = ["Options", "Session", "sql", "start"]


def sql(
    query: str,
    streams: Mapping[str, Any],
    functions: Mapping[str, Callable[..., Any]] | None = None,
    time: Mapping[str, str] | None = None,
    algorithm: str = AUTO,
) -> pa.Table:
    """The answer of *query* over finite tables (or data frames), by the names that stand in FROM.

    A table has no late rows: its order does not matter.  Rows whose time is NULL or
    out of reach are refused, since there is nowhere else for them to go; a session
    sets them apart instead.
    """
    tables = {name: arrow(name, given) for name, given in streams.items()}
    known = _known({name: table.schema for name, table in tables.items()}, time or {})
    parsed = parse(query, known, functions=tuple(functions or ()), batch=True).joined_by(algorithm)
    session = Session(parsed, functions, Options(lateness=dict.fromkeys(_read(parsed), FOREVER), dead=_refuse))
    used = {name: one_batch(table) for name, table in tables.items() if name in session.streams}
    return pa.concat_tables([session.schema.empty_table(), *session.push(used, last=True)])


def start(
    query: str,
    schemas: Mapping[str, pa.Schema],
    functions: Mapping[str, Callable[..., Any]] | None = None,
    time: Mapping[str, str] | None = None,
    options: Options | None = None,
) -> Session:
    """A session of *query* over live streams with these schemas."""
    parsed = parse(query, _known(schemas, time or {}), functions=tuple(functions or ())).joined_by(
        (options or Options()).algorithm
    )
    return Session(parsed, functions, options)


def _known(schemas: Mapping[str, pa.Schema], time: Mapping[str, str]) -> dict[str, Stream]:
    """The streams that the query may name."""
    there: dict[str, str] = {}
    for name in schemas:
        if name.lower() in there:
            raise Refused(f"the streams '{there[name.lower()]}' and '{name}' differ in case alone", "names ignore case")
        there[name.lower()] = name
    for name, column in time.items():
        if name not in schemas:
            raise Refused(f"time names the stream '{name}', which is not given", f"there are {', '.join(schemas)}")
        if not isinstance(column, str):
            raise Refused(f"the time of stream '{name}' is {column!r}", f"name a column: time={{'{name}': 'ts'}}")
    return {name: _stream(name, schema, time.get(name, "ts")) for name, schema in schemas.items()}


def _stream(name: str, schema: pa.Schema, time: str) -> Stream:
    schema = plain_schema(schema)
    found = [column for column in schema.names if column.lower() == time.lower()]
    if time == "arrival" and not found:
        return Stream(name, schema, time)
    if len(found) != 1:
        raise Refused(
            f"stream '{name}' has no column '{time}' for its time",
            f"name one of {', '.join(schema.names)} with time={{'{name}': ...}}",
        )
    check_time_type(name, found[0], schema.field(found[0]).type)
    return Stream(name, schema, found[0])


def _read(query: Any) -> list[str]:
    return list(dict.fromkeys(member.stream.name for join in query.joins for member in join.members))


def _refuse(rows: pa.Table) -> None:
    first = rows.to_pylist()[0]
    raise Refused(f"stream '{first['stream']}': {first['reason']} in row {first['row']}", "leave such rows out")
