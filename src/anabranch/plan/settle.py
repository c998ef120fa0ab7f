"""Types for columns without a single value: each takes that of what it meets in the query.

A file that has only a header says nothing of its types, and a day without rows must not
fail for that.  Such a column comes as Arrow's null.  The time of a stream takes the type
that the times beside it have, and any other column that of the first column or literal
that it is compared or computed with.  What meets nothing stays null, which goes with
everything.  A stream that does not even say its columns has those that the query names.

This reads the statement before it is understood: where it finds nothing it leaves things
as they are, and what is wrong with a query is said by those who read it in earnest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.query import Stream
from anabranch.plan.sql.members import stream_of
from anabranch.plan.sql.statement import statement

NULL, TEXT, WHOLE, REAL = pa.null(), pa.string(), pa.int64(), pa.float64()
NAIVE, ZONED = pa.timestamp("us"), pa.timestamp("us", "UTC")

Cell = tuple[str, str]  # a stream and a column of it


def settled(text: str, streams: Mapping[str, Stream], nameless: Collection[str] = ()) -> dict[str, pa.Schema]:
    """The schemas of *streams* with such types; *nameless* are those that do not say their columns."""
    types = {(name, f.name): f.type for name, stream in streams.items() for f in stream.schema}
    if nameless or NULL in types.values():
        try:
            read = _Read(statement(text, frozenset()), streams)
        except Refused:
            read = None
        if read is not None:
            types |= {cell: NULL for cell in read.named() if cell[0] in nameless and cell not in types}
            pairs = [*read.times(), *sorted(read.meetings(), key=lambda pair: isinstance(pair[1], pa.DataType))]
            while any(_met(types, *pair) for pair in pairs):
                pass
    for name, stream in streams.items():
        if types.get((name, stream.time)) == NULL:
            types[name, stream.time] = ZONED
    return {name: pa.schema([(c, kind) for (of, c), kind in types.items() if of == name]) for name in streams}


def _met(types: dict[Cell, pa.DataType], one: Cell, other: Cell | pa.DataType) -> bool:
    """Give a column without a type that of what it meets; whether that was news."""
    for a, b in ((one, other), (other, one)):
        kind = types.get(b, NULL) if isinstance(b, tuple) else b
        if isinstance(a, tuple) and types.get(a) == NULL and _readable(kind) != NULL:
            types[a] = _readable(kind)
            return True
    return False


def _readable(kind: pa.DataType) -> pa.DataType:
    """The type that text would be read as beside values of this type."""
    is_ = pa.types
    if is_.is_dictionary(kind):
        return _readable(kind.value_type)
    if is_.is_integer(kind):
        return WHOLE
    if is_.is_floating(kind) or is_.is_decimal(kind):
        return REAL
    if is_.is_timestamp(kind) or is_.is_date(kind):
        return ZONED if is_.is_timestamp(kind) and kind.tz else NAIVE
    if is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind):
        return TEXT
    return kind if is_.is_boolean(kind) else NULL


class _Read:
    """Which columns of which streams stand where in a statement, as far as that can be told from the words."""

    def __init__(self, shell: exp.Expr, streams: Mapping[str, Stream]) -> None:
        self.shell = shell
        self.streams: dict[str, Stream] = {}  # by alias, in lower case
        for table in shell.find_all(exp.Table):
            stream = stream_of(table, streams)
            if stream is not None:
                self.streams[(table.alias or table.name).lower()] = stream

    def named(self) -> Iterator[Cell]:
        """Columns that are written with their stream."""
        for column in self.shell.find_all(exp.Column):
            if len(column.parts) > 1 and not isinstance(column.this, exp.Star):
                alias, name = column.parts[0].name.lower(), column.parts[1].name
                if alias in self.streams:
                    yield self._cell(self.streams[alias], name)

    def times(self) -> Iterator[tuple[Cell, Cell]]:
        """All streams of a query have one kind of time."""
        first, *others = [(s.name, s.time) for s in self.streams.values() if s.time in s.schema.names] or [("", "")]
        yield from ((first, other) for other in others)

    def meetings(self) -> Iterator[tuple[Cell, Cell | pa.DataType]]:
        """Columns and the columns and numbers that they are compared or computed with."""
        for join in self.shell.find_all(exp.Join):
            for name in join.args.get("using") or ():
                cells = [self._cell(stream, name.name) for stream in self.streams.values()]
                yield from ((cells[0], cell) for cell in cells[1:])
        for node in self.shell.find_all(exp.Binary, exp.Between, exp.In):
            found = [self._meant(each) for each in node.iter_expressions()]
            cells = [each for each in found if isinstance(each, tuple)]
            yield from ((cell, other) for cell in cells for other in found if other is not None and other is not cell)

    def _meant(self, node: exp.Expr) -> Cell | pa.DataType | None:
        node = node.unnest()
        if isinstance(node, exp.Literal) and not node.is_string:
            return REAL
        if not isinstance(node, exp.Column):
            return None
        alias, name = (node.parts[0].name.lower() if len(node.parts) > 1 else ""), node.name
        having = [s for a, s in self.streams.items() if (a == alias if alias else name.lower() in _lower(s))]
        return self._cell(having[0], name) if len({stream.name for stream in having}) == 1 else None

    def _cell(self, stream: Stream, name: str) -> Cell:
        return stream.name, _lower(stream).get(name.lower(), name)


def _lower(stream: Stream) -> dict[str, str]:
    return {name.lower(): name for name in stream.schema.names}
