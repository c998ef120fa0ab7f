"""A checksum of matches that every engine can add up by itself, in 64-bit integers without overflow.

The ids of a match make one number below a prime, and what is added up is its square,
so that partners that are exchanged between matches change the sum.  The order of
matches does not count; duplicates do.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bench.answer import Answer

PRIME = 2_147_483_647
WEIGHTS = (73_856_093, 19_349_663, 83_492_791, 50_331_653, 12_582_917, 6_291_469)


def checksum(streams: str) -> str:
    """What a match adds, as SQL over columns of ids that are called as their streams."""
    sides = " + ".join(f"{stream} * {weight}" for stream, weight in zip(streams, WEIGHTS, strict=False))
    return f"(({sides}) % {PRIME}) * (({sides}) % {PRIME}) % {PRIME}"


def answer(matches: pa.Table, streams: str) -> Answer:
    """The same of a table of matches."""
    ids = [matches.column(stream).cast(pa.int64()).to_numpy() for stream in streams]
    mixed = np.zeros(matches.num_rows, np.int64)
    for column, weight in zip(ids, WEIGHTS, strict=False):
        mixed += column * weight
    mixed %= PRIME
    return told(matches.num_rows, int((mixed * mixed % PRIME).sum()))


def told(matches: int, total: int | None) -> Answer:
    """An answer from what an engine added up, which is NULL where there was nothing."""
    return Answer(matches, f"{total or 0:016x}")
