"""Streams for the workloads: seeded, so that every process makes the same ones.

All streams of a case share one clock that ticks once a row; which stream a tick
belongs to is drawn at random.  So a stream has one row in n ticks, in order of time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

SEED = 7
Draw = Callable[[np.random.Generator, int], npt.NDArray[np.generic]]


def interleaved(names: str, rows: int, **columns: Draw) -> dict[str, pa.Table]:
    """A table of so many rows for each letter of *names*: ts, id, and what *columns* draw."""
    random = np.random.default_rng(SEED)
    owner = np.repeat(np.arange(len(names)), rows)
    random.shuffle(owner)
    return {
        name: pa.table(
            {
                "ts": np.flatnonzero(owner == number).astype(np.int64),
                "id": np.arange(rows, dtype=np.int64),
                **{column: draw(random, rows) for column, draw in columns.items()},
            }
        )
        for number, name in enumerate(names)
    }


def keys(distinct: int) -> Draw:
    """Integers below *distinct*, all equally likely."""
    return lambda random, rows: random.integers(0, distinct, rows)


def uniform(random: np.random.Generator, rows: int) -> npt.NDArray[np.generic]:
    """Reals in [0, 1)."""
    return random.random(rows)
