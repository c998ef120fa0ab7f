"""Names for buckets such that Spark's own hash puts each into a shuffle partition of its own.

Spark sends the group ``bucket = v`` to the partition ``pmod(murmur3(v), partitions)``.
The i-th name is the least integer that lands on i where there are as many partitions
as buckets, and evenly where their number divides the other.  The names follow from
the number of buckets alone, so they are the same after any restart.
"""

from __future__ import annotations

from itertools import count

SEED = 42
WORD = 0xFFFFFFFF


def bucket_names(buckets: int) -> tuple[int, ...]:
    """A name for each bucket."""
    found: dict[int, int] = {}
    for name in count():
        found.setdefault(_hash(name) % buckets, name)
        if len(found) == buckets:
            return tuple(found[i] for i in range(buckets))
    raise AssertionError("there is always one more integer")


def _hash(value: int) -> int:
    """Murmur3 of a 32-bit integer, signed, as Spark computes ``hash(cast(value as int))``."""
    k = value * 0xCC9E2D51 & WORD
    k = _rotated(k, 15) * 0x1B873593 & WORD
    h = _rotated(SEED ^ k, 13) * 5 + 0xE6546B64 & WORD
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & WORD
    h = (h ^ h >> 13) * 0xC2B2AE35 & WORD
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & WORD
