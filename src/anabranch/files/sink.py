"""One file of rows: written beside its place under another name, and moved there when it is whole.

So a file that is there is complete, whatever happens to the run, and an older file of
that name stays until the new one is finished.  A place that cannot be written is
refused when the sink is opened, before a row is computed.

Cost: CSV and JSON lines are put together a column at a time in Arrow; Parquet waits
for row groups of some size.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anabranch.core.errors import Refused
from anabranch.files.json_text import joined, json_texts, plain, rows_json

GROUP = 1 << 17  # rows of a Parquet row group
SLICE = 1 << 13  # rows made text at once


class Sink(Protocol):
    """Where rows go; nothing is seen at its place before ``close``."""

    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...

    def discard(self) -> None: ...


class Writer(Protocol):
    """One format."""

    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...

    def discard(self) -> None: ...


def open_sink(path: str, schema: pa.Schema) -> FileSink:
    """A sink of the format that the ending of *path* names."""
    return FileSink(output_argument(path), schema, WRITERS[_ending(path)])


def output_argument(path: str) -> str:
    """The *path* of an output, whose ending must name a format."""
    if _ending(path) not in WRITERS:
        raise Refused(f"the output '{path}' has no known format", "its name should end in .parquet, .csv or .jsonl")
    return path


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


class FileSink:
    """A file in the making."""

    def __init__(self, path: str, schema: pa.Schema, writer: Callable[[BinaryIO, pa.Schema], Writer]) -> None:
        self.path, self.schema = path, schema
        self._place = os.path.realpath(path)
        folder, name = os.path.split(self._place)
        if os.path.isdir(self._place):
            raise Refused(f"the output '{path}' is a folder", "name a file")
        if os.path.exists(self._place) and not stat.S_ISREG(os.stat(self._place).st_mode):
            raise Refused(f"the output '{path}' is not a file that could be replaced", "name a file")
        if not os.path.isdir(folder) and os.path.islink(path):
            raise Refused(
                f"the output '{path}' is a link to '{self._place}', whose folder is not there", "make it first"
            )
        if not os.path.isdir(folder):
            raise Refused(f"there is no folder '{os.path.dirname(path)}' for the output '{path}'", "make it first")
        self._made = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.tmp")
        try:
            self._file = open(self._made, "xb")  # noqa: SIM115 (open until close or discard)
        except OSError as e:
            raise self._refusal(e) from e
        try:
            self._writer = writer(self._file, schema)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as e:
            self._remove()
            raise Refused(f"the output '{path}' cannot hold these columns: {e}", "write .jsonl, or cast them") from e

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        try:
            self._writer.write(table if table.schema.equals(self.schema) else table.cast(self.schema))
        except OSError as e:
            self.discard()
            raise self._refusal(e) from e

    def close(self) -> None:
        """Put the file in its place; closing twice is closing once."""
        if self._file.closed:
            return
        try:
            self._writer.close()
            self._file.close()
            os.replace(self._made, self._place)
        except OSError as e:
            self.discard()
            raise self._refusal(e) from e

    def discard(self) -> None:
        """Leave the place as it was; after ``close``, do nothing."""
        if not self._file.closed:
            self._writer.discard()
        self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            self.discard()

    def _remove(self) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(FileNotFoundError):
            os.unlink(self._made)

    def _refusal(self, error: OSError) -> Refused:
        return Refused(f"the output '{self.path}' cannot be written: {error.strerror or error}")


class ParquetWriter:
    """Row groups of at least GROUP rows, the last one excepted; a column of no type is text, as every reader has it."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._schema = pa.schema([f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in schema])
        self._writer = pq.ParquetWriter(file, self._schema)
        self._waiting: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        self._waiting.append(table)
        if sum(part.num_rows for part in self._waiting) >= GROUP:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def discard(self) -> None:
        with suppress(OSError):
            self._writer.close()
        self._writer.is_open = False  # else it would try again when it is collected, and complain to the terminal

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting).cast(self._schema))
            self._waiting = []


class TextWriter:
    """What needs no end."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._file = file

    def close(self) -> None:
        pass

    def discard(self) -> None:
        pass


class CsvWriter(TextWriter):
    """A header, then rows; text is quoted where it must be, so that NULL and the empty string differ."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        super().__init__(file, schema)
        names = joined_fields([_quoted(pa.array([name])) for name in schema.names])
        self._file.write(b"".join(name.encode() for name in names.to_pylist()))

    def write(self, table: pa.Table) -> None:
        for batch in _slices(table):
            cells = [_csv_cells(column) for column in batch.columns]
            if len(cells) == 1:  # a line with nothing in it would be no row at all
                cells = [pc.fill_null(pc.if_else(pc.equal(cells[0], ""), '""', cells[0]), '""')]
            self._file.write(_bytes(joined_fields(cells)))


class JsonLinesWriter(TextWriter):
    """An object a line."""

    def write(self, table: pa.Table) -> None:
        for batch in _slices(table):
            self._file.write(_bytes(joined([rows_json(batch), "\n"])))


WRITERS: dict[str, Callable[[BinaryIO, pa.Schema], Writer]] = {
    ".parquet": ParquetWriter,
    ".csv": CsvWriter,
    ".jsonl": JsonLinesWriter,
}


def joined_fields(cells: list[pa.Array]) -> pa.Array:
    """Lines of CSV from their fields."""
    parts: list[object] = []
    for cell in cells:
        parts += [",", cell]
    return joined([*parts[1:], "\n"])


def _csv_cells(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    nested = pa.types.is_nested(column.type)
    text = pc.if_else(column.is_null(), None, json_texts(column)) if nested else plain(column)
    return pc.fill_null(_quoted(text), "")


def _quoted(text: pa.Array) -> pa.Array:
    needed = pc.or_(pc.match_substring_regex(text, '[",\r\n]'), pc.equal(text, ""))
    return pc.if_else(needed, joined(['"', pc.replace_substring(text, '"', '""'), '"']), text)


def _slices(table: pa.Table) -> Iterator[pa.RecordBatch]:
    return (batch for batch in table.combine_chunks().to_batches(max_chunksize=SLICE) if batch.num_rows)


def _bytes(lines: pa.Array) -> memoryview:
    """The text of strings that were just made, one after the other as they lie in memory."""
    _, offsets, text = lines.buffers()
    ends = np.frombuffer(offsets, np.int32)
    return memoryview(text)[int(ends[lines.offset]) : int(ends[lines.offset + len(lines)])]
