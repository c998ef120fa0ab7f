"""The questions of ``spark_cases.txt``, one value each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    table: str
    text: str
    note: str = ""  # nearly, narrower, refused or unread


def cases() -> Iterator[Case]:
    table = ""
    for line in (Path(__file__).parent / "spark_cases.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            table = line[1:-1]
        elif line.strip() and not line.startswith("#"):
            text, _, note = line.partition(" -- ")
            yield Case(table, text, note)
