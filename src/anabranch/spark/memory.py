"""The state of one bucket in memory: for a batch query, and for tests."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Remembered:
    """A state that lives as long as this object."""

    body: bytes | None = None
    chunks: dict[int, bytes] = field(default_factory=dict)

    def head(self) -> bytes | None:
        return self.body

    def keep_head(self, body: bytes) -> None:
        self.body = body

    def chunk(self, number: int) -> bytes:
        return self.chunks[number]

    def keep_chunk(self, number: int, body: bytes) -> None:
        assert number not in self.chunks, "a chunk is written once"
        self.chunks[number] = body

    def drop_chunk(self, number: int) -> None:
        del self.chunks[number]

    def copy(self) -> Remembered:
        """Another state, the same as this one now."""
        return Remembered(self.body, dict(self.chunks))
