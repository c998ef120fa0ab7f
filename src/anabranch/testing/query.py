"""A timeline's query: as SQL text, and as the program of an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import pyarrow as pa

from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.plan.lower import lower
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse
from anabranch.testing.forms import Count, Range
from anabranch.testing.predicates import PREDICATES
from anabranch.testing.timeline import Case, stream_of

SECOND = 1_000_000
COLUMNS = [("id", pa.int64()), ("k", pa.int64()), ("g", pa.int64()), ("v", pa.float64()), ("s", pa.string())]


def schema(integer: bool) -> pa.Schema:
    """The columns of every stream; a tick is an integer, or a second."""
    return pa.schema([("ts", pa.int64() if integer else pa.timestamp("us", "UTC")), *COLUMNS])


def alias_in_sql(alias: str) -> str:
    """``a`` is A, its second alias A1."""
    return f"{stream_of(alias).upper()}{alias.count(chr(39)) or ''}"


def sql(case: Case, select: Callable[[str], str] = lambda name: f"{name}.id AS {name}", integer: bool = True) -> str:
    """The query of a case; *select* gives what each alias adds to the SELECT list."""
    names = {alias: alias_in_sql(alias) for alias in case.aliases}

    def length(ticks: int) -> str:
        if ticks in (FOREVER, NEVER):
            return "UNBOUNDED" if ticks == FOREVER else "-UNBOUNDED"
        return str(ticks) if integer else f"{ticks} SECONDS"

    brackets = {each.member: f" [ROWS {each.rows}]" for each in case.forms if isinstance(each, Count)}
    clauses = [clause for each in case.forms for clause in each.sql(case.aliases, names.__getitem__, length)]
    for each in case.forms:
        if isinstance(each, Range) and each.member not in brackets:
            brackets[each.member] = f" [RANGE {length(each.ticks)}]"
        elif isinstance(each, Range):  # a stream has one bracket: the same as bands
            others = [names[other] for other in case.aliases if other != each.member]
            clauses += [
                f"WINDOW ({names[each.member]}, {other}) BETWEEN -UNBOUNDED AND {length(each.ticks)}"
                for other in others
            ]
    clauses += [f"WINDOW ({names[a]}, {names[b]}) = UNBOUNDED" for a, b in case.windows.unbounded()]
    tables = [f"{stream_of(alias)}{brackets.get(alias, '')} {name}" for alias, name in names.items()]
    text = f"SELECT {', '.join(map(select, names.values()))} FROM {', '.join(tables)}"
    where = PREDICATES[case.predicate].sql(tuple(names.values()))
    text += f" WHERE {where}" if where else ""
    return f"{text} {' AND '.join(clauses)}".strip()


def program(case: Case) -> Program:
    """The program of a case, whose output is the ``id`` of each member."""
    return replace(_program(case.aliases, case.predicate), windows=case.windows)


@lru_cache(maxsize=256)
def _program(aliases: tuple[str, ...], predicate: str) -> Program:
    """Windows do not change what is compiled, so they are left out."""
    assert PREDICATES[predicate].compiled, f"'{predicate}' needs a runtime to refine its matches"
    names = [alias_in_sql(alias) for alias in aliases]
    where = PREDICATES[predicate].sql(names)
    tables = ", ".join(f"{stream_of(alias)} {name}" for alias, name in zip(aliases, names, strict=True))
    text = f"SELECT {', '.join(f'{name}.id AS {name}' for name in names)} FROM {tables}"
    streams = {stream_of(alias): Stream(stream_of(alias), schema(True)) for alias in aliases}
    (join,) = parse(f"{text} WHERE {where}" if where else text, streams, batch=True).joins
    lowered = lower(join)
    assert not lowered.refined and not lowered.computed, f"'{predicate}' is not compiled"
    return lowered.program
