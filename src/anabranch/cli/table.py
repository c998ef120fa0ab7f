"""Rows as a plain table on standard output: aligned, one line a row, no colours, ready for a pipe."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anabranch.files.json_text import json_texts, plain

LOOKED_AT = 10_000  # rows that decide how wide the columns are
CONTROLS = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160))}  # a terminal would obey them


class TablePrinter:
    """Prints tables of one schema below one heading."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._right = [bool(pa.types.is_integer(f.type) or pa.types.is_floating(f.type)) for f in schema]
        self._waiting: list[list[str]] = []
        self._widths: list[int] | None = None

    def write(self, table: pa.Table) -> None:
        """Print, or keep until the widths are known."""
        columns = [[_text(value) for value in _values(column.combine_chunks())] for column in table.columns]
        rows = [list(row) for row in zip(*columns, strict=True)]
        if self._widths is None:
            self._waiting += rows
            if len(self._waiting) >= LOOKED_AT:
                self._begin()
        else:
            self._print(rows)

    def finish(self) -> None:
        """Print what was kept, and see it off."""
        if self._widths is None:
            self._begin()
        sys.stdout.flush()

    def _begin(self) -> None:
        names = list(self._schema.names)
        self._widths = [max(map(len, column)) for column in zip(names, *self._waiting, strict=True)]
        self._print([names, ["-" * width for width in self._widths]])
        self._print(self._waiting)
        self._waiting = []

    def _print(self, rows: list[list[str]]) -> None:
        assert self._widths is not None
        for row in rows:
            cells = [
                text.rjust(width) if right else text.ljust(width)
                for text, width, right in zip(row, self._widths, self._right, strict=True)
            ]
            sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _values(column: pa.Array) -> list[Any]:
    """The values; those that Python may not have (nanoseconds, the year 10000) as the text that files have for them."""
    kind = column.type
    if pa.types.is_nested(kind):
        column = pc.if_else(column.is_null(), None, json_texts(column))
    elif pa.types.is_temporal(kind) and kind != pa.duration("us"):
        column = pc.replace_substring(plain(column), "T", " ")
    return list(column.to_pylist())


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).translate(CONTROLS)
