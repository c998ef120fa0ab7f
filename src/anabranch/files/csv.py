"""CSV files as one table: a header, quoted newlines, types told by the values.

Every field is read as bytes first and then held to the type of its column, so that
nothing that the file says is lost: what does not fit comes apart with its text.  An
unquoted empty field is NULL; ``""`` is the empty string where the column holds strings.

Cost: Arrow's parser and one cast a column; no Python a row unless the row is bad.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from anabranch.core.errors import Refused
from anabranch.files import infer, utf8
from anabranch.files.batches import BadRow, Batch, cut
from anabranch.files.csv_records import Torn, blocks, fields, first_record, sieve, wrong_width
from anabranch.files.fit import fit
from anabranch.files.handed import handed
from anabranch.files.json_text import quoted
from anabranch.files.paths import reading

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CsvFiles:
    """CSV files with one header, in the order in which they are read."""

    files: tuple[str, ...]
    schema: pa.Schema
    rows_hint: int | None

    @classmethod
    def open(cls, files: Sequence[str], time: str) -> CsvFiles:
        """Read the headers and as many records as the types need; *time* is the column to take for the time."""
        names = _header(files[0])
        for file in files[1:]:
            if _header(file) != names:
                raise Refused(
                    f"'{file}' has another header than '{files[0]}'", "files of one folder share their columns"
                )
        samples: list[list[pa.Array]] = [[] for _ in names]
        nothing = [True] * len(names)
        records = size = 0
        for raw, used in _raw_batches(files, names):
            raw = raw.slice(0, infer.RECORDS - records)
            records, size = records + raw.num_rows, size + used
            for i, (sample, column) in enumerate(zip(samples, raw.columns, strict=True)):
                nothing[i] &= column.null_count == len(column)
                _extend(sample, column)
            if records >= infer.RECORDS or all(sum(map(len, s)) >= infer.VALUES for s in samples):
                break
        else:
            size = 0  # all has been read
        types = [
            infer.column_type(
                pa.concat_arrays(sample) if sample else pa.array([], pa.string()),
                is_time=_same(name, time),
                nothing=null and not size,
            )
            for name, sample, null in zip(names, samples, nothing, strict=True)
        ]
        total = sum(os.path.getsize(file) for file in files)
        hint = total * records // size if size else records
        return cls(tuple(files), pa.schema(list(zip(names, types, strict=True))), hint)

    def typed(self, schema: pa.Schema) -> CsvFiles:
        """The same with other types for columns that hold nothing."""
        return replace(self, schema=schema)

    def batches(self, rows: int, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All rows; those that do not fit are bad whether or not their *columns* are asked for."""
        for file in self.files:
            with reading(file), open(file, "rb") as handle:
                _skip_header(handle)
                for block in blocks(handle):
                    table, bad = _parsed(block.records, self.schema.names)
                    bad = [*map(_bad_row, block.torn), *bad]
                    for raw, unread in cut(table, bad, rows):
                        batch, misfits = fit(raw, self.schema)
                        yield batch if columns is None else batch.select(columns), [*unread, *misfits]


def _raw_batches(files: Sequence[str], names: list[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Records as bytes, with the size of the block that they come from; torn records left out."""
    for file in files:
        with reading(file), open(file, "rb") as handle:
            _skip_header(handle)
            for block in blocks(handle):
                table, _ = _parsed(block.records, names)
                for i, (raw, _) in enumerate(cut(table, [], table.num_rows or 1)):
                    yield raw, len(block.records) if i == 0 else 0


def _extend(sample: list[pa.Array], column: pa.Array) -> None:
    """Add the next values of a column to its sample, up to what a type is told by."""
    wanted = infer.VALUES - sum(map(len, sample))
    if wanted > 0:
        held = column.drop_null()
        held = held.filter(pc.greater(pc.binary_length(held), 0)).slice(0, wanted)
        sample.append(utf8.decoded(held)[0])


def _parsed(records: bytes, names: Sequence[str]) -> tuple[pa.Table, list[BadRow]]:
    """Whole records as columns of bytes, and those with too few or too many fields."""
    try:
        return _table(records, names, None), []
    except pa.ArrowInvalid:
        pass
    bad: list[BadRow] = []

    def of_wrong_width(row: arrow_csv.InvalidRow) -> str:
        bad.append(BadRow(wrong_width(row.actual_columns, row.expected_columns), quoted(row.text)))
        return "skip"

    try:
        records.decode("utf-8")  # Arrow cannot tell its handler of a row that is not
        return _table(records, names, of_wrong_width), bad
    except UnicodeDecodeError:
        block, _ = sieve(records, final=True, width=len(names))
        return _table(block.records, names, None), list(map(_bad_row, block.torn))


def _table(records: bytes, names: Sequence[str], invalid: object) -> pa.Table:
    if not records.strip(b"\r\n"):
        return pa.schema([(name, pa.binary()) for name in names]).empty_table()
    return arrow_csv.read_csv(
        handed(records),
        # a function of Python's, as memory is, must not be let go of by another thread
        arrow_csv.ReadOptions(column_names=names, block_size=len(records) + 1, use_threads=invalid is None),
        arrow_csv.ParseOptions(newlines_in_values=b'"' in records, invalid_row_handler=invalid),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.binary()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _bad_row(torn: Torn) -> BadRow:
    return BadRow(torn.reason, quoted(torn.line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")))


def _header(file: str) -> list[str]:
    with reading(file), open(file, "rb") as handle:
        record = _skip_header(handle)
    if record is None:
        raise Refused(f"the header of '{file}' has a quote that is not closed or that is followed by text")
    if not record:
        raise Refused(f"'{file}' has no header", "its first line should name its columns")
    if b"\0" in record:
        raise Refused(f"the header of '{file}' has NUL bytes, as UTF-16 has", "save it as UTF-8")
    try:
        names = [name.decode("utf-8").strip(" \t") or f"_c{i}" for i, name in enumerate(fields(record))]
    except UnicodeDecodeError:
        raise Refused(f"the header of '{file}' is not UTF-8", "save it as UTF-8") from None
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise Refused(f"the header of '{file}' names '{twice[0]}' twice", "give every column a name of its own")
    return names


def _skip_header(handle: BinaryIO) -> bytes | None:
    """The header's record; the file then stands at the first record after it."""
    start = len(BOM) if handle.read(len(BOM)) == BOM else 0
    handle.seek(start)
    record, used = first_record(handle)
    handle.seek(start + used)
    return record


def _same(name: str, other: str) -> bool:
    return name.casefold() == other.casefold()
