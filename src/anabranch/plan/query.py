"""What a query means, as values: streams, members, joins, and the SQL around them.

A query is one or more joins inside a *shell*.  A join is everything that a SELECT
over streams says about the members of a match: FROM, ON, WHERE and the windows.
The shell is the rest of the statement, reading each join's matches as a relation
with one column a member's column (``"A.obj"``).  The values are frozen and picklable,
and every name in them is exact: as written in FROM, as spelled in the schema.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
from sqlglot import exp

from anabranch.core.windows import Windows
from anabranch.plan.algorithm import AUTO, Algorithm

MATCH_TIME = "match_time"
MATCH_START = "match_start"


@dataclass(frozen=True)
class Stream:
    """What a name in FROM stands for."""

    name: str
    schema: pa.Schema
    time: str = "ts"

    @cached_property
    def integer_time(self) -> bool:
        """Whether time is an integer, its own unit; else it is a timestamp, in microseconds."""
        return self.time in self.schema.names and bool(pa.types.is_integer(self.schema.field(self.time).type))


@dataclass(frozen=True)
class Member:
    """A stream under one alias of one FROM; *rows* is its count window."""

    alias: str
    stream: Stream
    rows: int | None = None


@dataclass(frozen=True)
class Join:
    """One multi-way join: its members, windows and predicate, and what the shell reads of it.

    ``where`` holds the conjuncts of WHERE, ON and USING.  Comparisons of time
    columns that are difference bounds are in ``windows`` too.
    """

    name: str
    members: tuple[Member, ...]
    windows: Windows
    where: tuple[exp.Expression, ...]
    columns: tuple[tuple[str, str], ...]
    algorithm: Algorithm = Algorithm()


@dataclass(frozen=True)
class Query:
    """A statement, read: its joins, the shell over their matches, and its output columns.

    ``finite`` says that the shell needs the end of its input.  ``plain`` holds, for
    each join, the columns of its relation in output order, when the shell is no more
    than that (a SELECT of bare columns, or a UNION ALL of such).
    """

    text: str
    joins: tuple[Join, ...]
    shell: exp.Expression
    output: tuple[str, ...]
    finite: bool
    plain: tuple[tuple[str, ...], ...] | None

    def joined_by(self, algorithm: str) -> Query:
        """The same, with an algorithm for all joins for which the query names none itself."""
        chosen = Algorithm.of(algorithm)
        joins = tuple(replace(join, algorithm=chosen) if join.algorithm.name == AUTO else join for join in self.joins)
        return replace(self, joins=joins)


def reads_time(query: Query) -> bool:
    """Whether the shell asks for ``match_time()`` or ``match_start()``."""
    return any(column.name in (MATCH_TIME, MATCH_START) for column in query.shell.find_all(exp.Column))


def matches_column(alias: str, column: str) -> str:
    """The name that a member's column has in the relation of matches."""
    return f"{alias}.{column}"
