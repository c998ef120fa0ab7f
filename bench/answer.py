"""What two contenders must agree on: how many matches there are, and a checksum of the bag of them.

The checksum is a sum of one hash a match, so the order of matches does not count
while duplicates and the order of the members do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Answer:
    """A bag of matches, in brief."""

    matches: int
    checksum: str

    @classmethod
    def of(cls, table: pa.Table, members: Sequence[str]) -> Answer:
        """The answer in a table with a column of ids for each member."""
        hashes = np.zeros(table.num_rows, np.uint64)
        for name in members:
            ids = table.column(name).cast(pa.int64()).to_numpy()
            hashes = _mixed(hashes ^ ids.view(np.uint64))
        return cls(table.num_rows, f"{int(hashes.sum(dtype=np.uint64)):016x}")


def _mixed(words: Words) -> Words:
    """The finaliser of splitmix64: every bit of a word moves half of the bits."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
