"""JSON lines as one table: an object a line, types told by the values.

The first records give the columns; a key that is missing is NULL, and a record with a
key that came too late to be a column is bad rather than cut short.  A block of lines
goes through Arrow's parser as a whole when that finds nothing to object to; otherwise
its pieces do, and only a piece with a fault is read line by line.

Cost: Arrow's parser; some microseconds a line in pieces with trouble, and in all of
them when a column holds nested values as JSON text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json

from anabranch.core.errors import Refused
from anabranch.files import infer, json_values
from anabranch.files.batches import BadRow, Batch, cut
from anabranch.files.fit import fit
from anabranch.files.handed import handed
from anabranch.files.json_text import quoted
from anabranch.files.json_values import MISFIT, Value
from anabranch.files.paths import reading

BLOCK = 1 << 22
PIECE = 256  # lines that share the fate of a bad one among them
BOM = b"\xef\xbb\xbf"


class _Bad(Exception):
    """Why a line is no record."""


@dataclass(frozen=True)
class JsonLines:
    """Files of JSON lines, in the order in which they are read."""

    files: tuple[str, ...]
    schema: pa.Schema
    rows_hint: int | None

    @classmethod
    def open(cls, files: Sequence[str], time: str) -> JsonLines:
        """Read as many records as the columns and types need; *time* is the column to take for the time.

        Without a single record there are no columns.
        """
        samples: dict[str, list[Value]] = {}
        records = size = 0
        for line in _lines(files):
            size += len(line) + 1
            try:
                record = _object(line)
            except _Bad:
                continue
            records += 1
            for key, value in record.items():
                sample = samples.setdefault(key, [])
                if value is not None and len(sample) < infer.VALUES:
                    sample.append(value)
            if records >= infer.VALUES and all(len(sample) >= infer.VALUES for sample in samples.values()):
                break
            if records >= infer.RECORDS:
                break
        else:
            size = 0  # all has been read
        if records and not samples:
            raise Refused(f"'{files[0]}' has no records to tell the columns by", "write one JSON object a line")
        schema = pa.schema(
            [
                (key, json_values.column_type(s, key.casefold() == time.casefold(), nothing=not size))
                for key, s in samples.items()
            ]
        )
        total = sum(os.path.getsize(file) for file in files)
        return cls(tuple(files), schema, total * records // size if size else records)

    def typed(self, schema: pa.Schema) -> JsonLines:
        """The same with other types for columns that hold nothing, and with more of those."""
        return replace(self, schema=schema)

    def batches(self, rows: int, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All rows; those that do not fit are bad whether or not their *columns* are asked for."""
        for file in self.files:
            with reading(file), open(file, "rb") as handle:
                for block in _blocks(handle):
                    table, bad = _raw(block, self.schema)
                    for raw, unread in cut(table, bad, rows):
                        batch, misfits = fit(raw, self.schema)
                        yield batch if columns is None else batch.select(columns), [*unread, *misfits]


def _blocks(handle: BinaryIO) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    if handle.read(len(BOM)) != BOM:
        handle.seek(0)
    rest = b""
    while read := handle.read(BLOCK):
        end = read.rfind(b"\n") + 1
        if end:
            yield rest + read[:end]
            rest = read[end:]
        else:
            rest += read
    if rest:
        yield rest


def _lines(files: Sequence[str]) -> Iterator[bytes]:
    for file in files:
        with reading(file), open(file, "rb") as handle:
            for block in _blocks(handle):
                yield from block.split(b"\n")


def _raw(block: bytes, schema: pa.Schema) -> tuple[pa.Table, list[BadRow]]:
    """The rows of whole lines, timestamps still text, and the lines that are none."""
    table = _at_once(block, schema)
    if table is not None:
        return table, []
    lines = block.split(b"\n")
    tables: list[pa.Table] = []
    bad: list[BadRow] = []
    for i in range(0, len(lines), PIECE):
        piece = lines[i : i + PIECE]
        table = _at_once(b"\n".join(piece), schema)
        if table is None:
            table, more = _by_line(piece, schema)
            bad += more
        tables.append(table)
    return pa.concat_tables(tables), bad


def _at_once(block: bytes, schema: pa.Schema) -> pa.Table | None:
    """The block by Arrow's parser, times still text; None when a line needs a closer look."""
    block = block.replace(b"\r\n", b"\n").strip(b"\n")
    if not _objects_by_line(block):
        return None
    fields = [(field.name, json_values.OF_TYPE[field.type].type) for field in schema]
    try:
        block.decode("utf-8")
        table = arrow_json.read_json(
            handed(block),
            arrow_json.ReadOptions(block_size=len(block) + 1),
            arrow_json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="error"),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    whole = table.num_rows == block.count(b"\n") + 1
    return table if whole and not any(map(_infinite, table.columns)) else None


def _infinite(column: pa.ChunkedArray) -> bool:
    """Whether a number was too large for a double: nothing else makes an infinity of JSON."""
    if pa.types.is_list(column.type):
        column = pc.list_flatten(column)
    return bool(pa.types.is_floating(column.type) and pc.any(pc.is_inf(column)).as_py())


def _objects_by_line(block: bytes) -> bool:
    """Whether every line begins and ends as an object does; with as many rows as lines, each then is one."""
    if not (block.startswith(b"{") and block.endswith(b"}")):
        return False
    seen = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(seen == ord("\n"))
    return bool((seen[ends - 1] == ord("}")).all() and (seen[ends + 1] == ord("{")).all())


def _by_line(lines: Sequence[bytes], schema: pa.Schema) -> tuple[pa.Table, list[BadRow]]:
    """Line by line, the slow and forgiving way."""
    kinds = [(field.name, json_values.OF_TYPE[field.type]) for field in schema]
    known = set(schema.names)
    values: list[list[Value]] = [[] for _ in kinds]
    bad: list[BadRow] = []
    for line in lines:
        if not line.strip():
            continue
        try:
            record = _object(line)
        except _Bad as e:
            bad.append(BadRow(str(e), quoted(_shown(line))))
            continue
        row = [None if record.get(name) is None else kind.fit(record[name]) for name, kind in kinds]
        if MISFIT in row or not known.issuperset(record):
            bad.append(BadRow(_why(record, row, kinds, known), _strict(line, record)))
            continue
        for held, value in zip(values, row, strict=True):
            held.append(value)
    columns = [json_values.column(held, field.type) for held, field in zip(values, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema.names), bad


def _object(line: bytes) -> dict[str, Value]:
    """The record of one line; a bare NaN or Infinity is the text that stands for it."""
    try:
        record = json.loads(
            line.decode("utf-8"), object_pairs_hook=_distinct, parse_float=json_values.number, parse_constant=str
        )
    except UnicodeDecodeError:
        raise _Bad("not UTF-8") from None
    except json.JSONDecodeError as e:
        raise _Bad(f"not JSON: {e.msg} at character {e.pos + 1}") from None
    except (ValueError, RecursionError):  # thousands of digits, thousands of brackets
        raise _Bad("not JSON that can be read: a number or a nesting is too long") from None
    if not isinstance(record, dict):
        raise _Bad("not a JSON object")
    if b"\\u" in line:
        _check_surrogates(record)
    return record


def _distinct(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    record = dict(pairs)
    if len(record) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _Bad(f"key {next(key for key in keys if keys.count(key) > 1)} occurs twice")
    return record


def _check_surrogates(record: dict[str, Value]) -> None:
    """An escape may spell half of a character, which no text can hold."""
    try:
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _Bad("not UTF-8: half of a surrogate pair") from None


def _why(record: dict[str, Value], row: list[Value], kinds: list[tuple[str, json_values.Kind]], known: set[str]) -> str:
    for value, (name, kind) in zip(row, kinds, strict=True):
        if value is MISFIT:
            return f"column {name}: {kind.refusal(record[name])}"
    return f"key {next(key for key in record if key not in known)} is no column: the first records did not have it"


def _strict(line: bytes, record: dict[str, Value]) -> str:
    """The record as it was written, unless it has what JSON does not: that is text, as elsewhere."""
    bare = b"NaN" in line or b"Infinity" in line
    return json.dumps(record, ensure_ascii=False) if bare else _shown(line)


def _shown(line: bytes) -> str:
    return line.strip().decode("utf-8", "backslashreplace")
