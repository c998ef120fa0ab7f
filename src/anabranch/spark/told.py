"""What a bucket says of one batch, and how that adds up over the buckets."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import pyarrow as pa


@dataclass
class Told:
    """Lists are by stream; ``total_`` is what has come of it since the first start."""

    rows: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    dead: list[int] = field(default_factory=list)
    total_rows: list[int] = field(default_factory=list)
    total_late: list[int] = field(default_factory=list)
    total_dead: list[int] = field(default_factory=list)
    newest: list[int] = field(default_factory=list)
    frontier: list[int] = field(default_factory=list)
    given_up: list[int] = field(default_factory=list)
    buffered: list[int] = field(default_factory=list)  # tuples
    received: int = 0  # rows of all streams that came to this bucket
    matches: int = 0
    total_matches: int = 0
    candidates: int = 0  # inside their windows, tested against the predicate
    memory: int = 0  # bytes in the operator
    peak_tuples: int = 0  # at most at one time, within this batch or before it
    peak_memory: int = 0
    stored: int = 0  # bytes in the state
    written: int = 0
    rebuilt: int = 0  # whether the operator was built anew from the state
    restore_ms: float = 0.0
    join_ms: float = 0.0
    store_ms: float = 0.0
    hot_share: float = 0.0  # of the rows of one stream that have one key
    hot_key: str | None = None

    @classmethod
    def of(cls, streams: int) -> Told:
        """Nothing has happened yet."""
        told = cls()
        for name in LISTS:
            setattr(told, name, [0] * streams)
        return told


LISTS = tuple(each.name for each in fields(Told) if each.type == "list[int]")
COUNTS = tuple(each.name for each in fields(Told) if each.type == "int")
TIMES = tuple(each.name for each in fields(Told) if each.type == "float")
PEAKS = ("hot_share",)  # the most of any bucket counts
SAME = ("newest", "frontier", "given_up")  # every bucket says the same; all else adds up

SAID = pa.schema(
    [
        ("bucket", pa.int32()),
        ("body", pa.binary()),
        *((name, pa.list_(pa.int64())) for name in LISTS),
        *((name, pa.int64()) for name in COUNTS),
        *((name, pa.float64()) for name in TIMES),
        ("hot_key", pa.string()),
    ]
)
