"""A finite stream in files: its name, its columns, which of them is its time, and its rows in order.

``@arrival`` is transaction time, whatever columns there are: the rows are stamped
when they arrive, and no column is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from anabranch.core.errors import Refused
from anabranch.core.times import check_time_type
from anabranch.files.batches import BadRow, Batch
from anabranch.files.csv import CsvFiles
from anabranch.files.jsonlines import JsonLines
from anabranch.files.parquet import ParquetFiles
from anabranch.files.paths import data_files

ARRIVAL = "arrival"
EVENT_TIME = "ts"
ROWS = 65_536

__all__ = ["ARRIVAL", "BadRow", "Batch", "Source", "open_source", "stream_argument"]


class Source(Protocol):
    """A finite stream of record batches; ``rows_hint`` is about how many rows there are, where that is known."""

    @property
    def name(self) -> str: ...

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def time(self) -> str: ...

    @property
    def rows_hint(self) -> int | None: ...

    def batches(self, rows: int = ROWS, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All rows from the first on, at each call; of the *columns* alone, in their order, where some are named."""


class Reader(Protocol):
    """Files of one kind, opened: what a source needs of them."""

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def rows_hint(self) -> int | None: ...

    def typed(self, schema: pa.Schema) -> Reader: ...

    def batches(self, rows: int, columns: Sequence[str] | None = None) -> Iterator[Batch]: ...


READERS: dict[str, Callable[[Sequence[str], str], Reader]] = {
    "parquet": ParquetFiles.open,
    "csv": CsvFiles.open,
    "jsonlines": JsonLines.open,
}


@dataclass(frozen=True)
class FileSource:
    """A stream whose rows stand in files; ``time`` is spelled as in the schema, or is ``ARRIVAL``.

    *nameless* files do not say which columns there are.
    """

    name: str
    time: str
    reader: Reader
    nameless: bool = False

    @property
    def schema(self) -> pa.Schema:
        return self.reader.schema

    @property
    def rows_hint(self) -> int | None:
        return self.reader.rows_hint

    def batches(self, rows: int = ROWS, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        return self.reader.batches(rows, columns)

    def typed(self, schema: pa.Schema) -> FileSource:
        """The stream with other types for columns that hold nothing, and with more of those if it is nameless."""
        return self if schema.equals(self.schema) else replace(self, reader=self.reader.typed(schema))


def open_source(name: str, path: str, time: str | None = None) -> FileSource:
    """Find the files and their types; what cannot be a stream is refused before a row is read."""
    kind, files = data_files(name, path)
    reader = READERS[kind](files, time or EVENT_TIME)
    nameless = kind == "jsonlines" and not reader.schema.names
    if nameless and time != ARRIVAL:
        reader = reader.typed(pa.schema([(time or EVENT_TIME, pa.null())]))
    return FileSource(name, _time_column(name, path, reader.schema, time), reader, nameless)


def stream_argument(text: str) -> tuple[str, str, str | None]:
    """``NAME=PATH[@TIME]`` as its parts; an ``@`` of the path itself is not mistaken for the time's."""
    name, equals, place = text.partition("=")
    hint = "write NAME=PATH or NAME=PATH@TIMECOLUMN, such as camera1=camera1.parquet"
    if not equals or not name.strip() or not place:
        raise Refused(f"'{text}' does not say which stream is where", hint)
    path, at, time = place.rpartition("@")
    if not at or os.path.exists(place) or "/" in time or os.sep in time:
        return name.strip(), place, None
    if not path or not time:
        raise Refused(f"'{text}' has nothing {'before' if not path else 'after'} its @", hint)
    return name.strip(), path, time


def _time_column(stream: str, path: str, schema: pa.Schema, asked: str | None) -> str:
    """The column that *asked* names (``ts`` by default), as the schema spells it."""
    if asked == ARRIVAL:
        return ARRIVAL
    wanted = EVENT_TIME if asked is None else asked
    names: list[str] = schema.names
    found = [wanted] if wanted in names else [name for name in names if name.casefold() == wanted.casefold()]
    if not found:
        there = [field.name for field in schema if _may_be_time(field.type)] or names
        listed = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")
        raise Refused(
            f"stream '{stream}' has no column '{wanted}' for its time",
            f"name one of {listed} as in {stream}={path}@{there[0]}" if there else "it has no columns at all",
        )
    if len(found) > 1:
        raise Refused(
            f"the time '{wanted}' of stream '{stream}' may be {' or '.join(found)}", "spell it as in the file"
        )
    if found[0] == ARRIVAL:
        raise Refused(f"the column '{ARRIVAL}' of stream '{stream}' cannot be its time", "@arrival is transaction time")
    check_time_type(stream, found[0], schema.field(found[0]).type)
    return found[0]


def _may_be_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind))
