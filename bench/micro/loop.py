"""The same small join in the ways that a Python package can have a fast loop.

Three streams, one key, a window for each of the three pairs; the number of
matches is counted.  One core.  Compiled and interpreted run the same lines;
NumPy has to write out all pairs of the first two streams before it can look at
the third; DuckDB gets the join as SQL.  All have to count the same.

    python bench/micro/loop.py [rows of a stream]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

import duckdb
import numpy as np
import numpy.typing as npt
from numba import njit

AB, BC, AC = 400, 400, 600
Column = npt.NDArray[np.int64]
Stream = tuple[Column, Column, Column]  # key, time, and where each key begins; rows in order of key and time


def stream(rows: int, seed: int) -> Stream:
    keys = np.random.default_rng(seed).integers(0, rows // 100 + 1, rows)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    return keys, order.astype(np.int64), np.searchsorted(keys, np.arange(keys[-1] + 2))


def loop(a: Stream, b: Stream, c: Stream) -> int:
    """For each tuple of A its run in B, for each of these its run in C; times within a key are sorted."""
    (keys, times_a, _), (_, times_b, starts_b), (_, times_c, starts_c) = a, b, c
    matches, key = 0, -1
    first_b = end_b = first_c = end_c = 0
    for i in range(keys.size):
        if keys[i] != key:
            key = keys[i]
            known_b, known_c = key + 1 < starts_b.size, key + 1 < starts_c.size
            first_b, end_b = (starts_b[key], starts_b[key + 1]) if known_b else (0, 0)
            first_c, end_c = (starts_c[key], starts_c[key + 1]) if known_c else (0, 0)
        t = times_a[i]
        while first_b < end_b and times_b[first_b] < t - AB:
            first_b += 1
        while first_c < end_c and times_c[first_c] < t - AC:
            first_c += 1
        j = first_b
        while j < end_b and times_b[j] <= t + AB:
            k = first_c
            while k < end_c and times_c[k] <= t + AC:
                if abs(times_c[k] - times_b[j]) <= BC:
                    matches += 1
                k += 1
            j += 1
    return matches


compiled = njit(loop)


def pairs(a: Stream, b: Stream, within: int) -> tuple[Column, Column]:
    """All pairs of rows with one key whose times are within the window."""
    wide = 1 << 40
    low = np.searchsorted(b[0] * wide + b[1], a[0] * wide + a[1] - within)
    high = np.searchsorted(b[0] * wide + b[1], a[0] * wide + a[1] + within, side="right")
    sizes = high - low
    left = np.repeat(np.arange(low.size), sizes)
    right = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(low, sizes)
    return left, right


def vectorised(a: Stream, b: Stream, c: Stream) -> int:
    left, right = pairs(a, b, AB)
    both = (a[0][left], a[1][left], c[2])
    pair, third = pairs(both, c, AC)
    return int(np.count_nonzero(np.abs(b[1][right][pair] - c[1][third]) <= BC))


def sql(a: Stream, b: Stream, c: Stream) -> int:
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, columns in zip("abc", (a, b, c), strict=True):
            connection.register(name, {"k": columns[0], "t": columns[1]})
        found = connection.execute(
            f"""SELECT count(*) FROM a, b, c WHERE a.k = b.k AND b.k = c.k
                AND b.t BETWEEN a.t - {AB} AND a.t + {AB} AND c.t BETWEEN a.t - {AC} AND a.t + {AC}
                AND c.t BETWEEN b.t - {BC} AND b.t + {BC}"""
        ).fetchone()
    assert found is not None
    return int(found[0])


def best(way: Callable[[Stream, Stream, Stream], int], streams: tuple[Stream, Stream, Stream]) -> tuple[int, float]:
    """The count, and the least of three times in seconds."""
    times = []
    for _ in range(3):
        begun = perf_counter()
        matches = way(*streams)
        times.append(perf_counter() - begun)
    return matches, min(times)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    streams = (stream(rows, 1), stream(rows, 2), stream(rows, 3))
    compiled(*streams)
    expected = compiled(*streams)
    print(f"3 streams of {rows:,} rows, {expected:,} matches")
    ways = {"numba": compiled, "NumPy": vectorised, "DuckDB": sql, "Python": loop}
    for name, way in ways.items():
        matches, seconds = best(way, streams)
        assert matches == expected, f"{name} counts {matches}"
        print(f"{name:<8} {3 * rows / seconds / 1e6:8.3f} million rows a second")


if __name__ == "__main__":
    main()
