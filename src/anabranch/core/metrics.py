"""What an engineer asks of a running query, counted as it goes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class StreamMetrics:
    """One stream: rows that came, were late or bad, and how far it promises to be."""

    rows: int = 0
    late: int = 0
    dead: int = 0
    frontier: int | None = None
    finished: bool = False
    given_up: int = 0


@dataclass
class Metrics:
    """A whole query."""

    streams: dict[str, StreamMetrics] = field(default_factory=dict)
    matches: int = 0
    buffered_tuples: int = 0
    buffered_bytes: int = 0
    peak_tuples: int = 0
    peak_bytes: int = 0
    held_back_by: str | None = None
    seconds: float = 0.0

    def buffered(self, tuples: int, size: int) -> None:
        """Note what is remembered now."""
        self.buffered_tuples, self.buffered_bytes = tuples, size
        self.peak_tuples, self.peak_bytes = max(self.peak_tuples, tuples), max(self.peak_bytes, size)

    @property
    def rows(self) -> int:
        """Rows in, over all streams."""
        return sum(stream.rows for stream in self.streams.values())

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        rate = self.rows / self.seconds if self.seconds > 0 else None
        return {**asdict(self), "rows": self.rows, "rows_per_second": rate}
