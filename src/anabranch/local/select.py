"""The SELECT list on DuckDB: whole shells over tables of matches.

The text and the types of the result come from ``plan.translate``; here it is run, and what
comes out gets the type that it has in Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from anabranch.engine.duck import USERS, database, entering, refused
from anabranch.plan.translate import NUMBER, Expression, select


class Select:
    """A shell, ready to be run over tables of its joins' matches; *output* are its column names."""

    def __init__(self, shell: Expression, relations: Mapping[str, pa.Schema], output: Sequence[str]) -> None:
        self.relations = dict(relations)
        selection = select(shell, self.relations)
        self.sql = selection.sql
        self.schema = pa.schema([field.with_name(name) for field, name in zip(selection.schema, output, strict=True)])
        self._kept = selection.kept
        self._connection = database().cursor()

    def rows(self, matches: Mapping[str, pa.Table]) -> pa.Table:
        """The statement's rows over *matches*, a table for each relation."""
        for name in self.relations:
            table = entering(matches[name])
            if self._kept:
                table = table.append_column(NUMBER, pa.array(range(len(table)), pa.int64()))
            self._connection.register(name, table)
        try:
            found = self._connection.sql(self.sql).to_arrow_table()
        except USERS as error:
            raise refused(error) from None
        finally:
            for name in self.relations:
                self._connection.unregister(name)
        columns = found.columns
        if self._kept:
            *columns, numbers = columns
            (relation,) = matches.values()
            for place, name in self._kept.items():
                columns[place] = relation.column(name).take(numbers)
        columns = [_leaving(column, field.type) for column, field in zip(columns, self.schema, strict=True)]
        return pa.table(columns, schema=self.schema)


def _leaving(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column of the result as the type that it is to have."""
    if column.type == kind:
        return column
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(column))])
    if pa.types.is_duration(kind):
        column = column.cast(pa.duration("us"))
    return column.cast(kind)
