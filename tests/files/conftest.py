"""One way to read in all tests of files: bytes in, types, rows and bad rows out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from anabranch.files import BadRow, Source, open_source


@dataclass
class Got:
    """What a stream gave."""

    source: Source
    table: pa.Table
    bad: list[BadRow]

    @property
    def types(self) -> list[str]:
        return [str(kind) for kind in self.table.schema.types]

    @property
    def rows(self) -> list[tuple[object, ...]]:
        return [tuple(row.values()) for row in self.table.to_pylist()]

    @property
    def reasons(self) -> list[str]:
        return [bad.reason for bad in self.bad]


def drained(source: Source, **options: Any) -> Got:
    """Everything that a source has."""
    parts = list(source.batches(**options))
    batches = [batch for batch, _ in parts]
    table = pa.Table.from_batches(batches) if batches else source.schema.empty_table()
    return Got(source, table, [row for _, bad in parts for row in bad])


Read = Callable[..., Got]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def run(name: str, data: bytes | str, time: str | None = None, **options: object) -> Got:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return drained(open_source("A", str(path), time), **options)

    return run
