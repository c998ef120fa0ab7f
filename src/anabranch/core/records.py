"""Between columns and records: packing what arrives, saying where what matched stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anabranch.core.cache import kernel
from anabranch.core.memory import I64, Array
from anabranch.core.operator import Rows
from anabranch.core.program import MARKS, TIME, Program, lane_word, null_mark
from anabranch.core.words import address, call_admit, keep, word

TIME_LANE = -1  # in Program.output: the time itself


class Packed:
    """Records on their way into the buffers, one after another, in memory that is used again and again."""

    def __init__(self) -> None:
        self._words = np.zeros(0, np.int64)
        self.at = 0  # the address of the first record

    def pack(self, rows: Rows, width: int) -> Array:
        """Lay rows out as records of *width* words; those behind the lanes are left to the caller."""
        n = len(rows.times)
        if n * width > len(self._words):
            self._words = np.zeros(n * width, np.int64)
            self.at = address(self._words)
        records = self._words[: n * width].reshape(n, width)
        first = lane_word(len(rows.lanes), 0)
        records[:, TIME] = rows.times
        records[:, MARKS:first] = 0
        for lane, values in enumerate(rows.lanes, first):
            records[:, lane] = values
        for lane, null in enumerate(rows.nulls):
            if null is not None:
                word, bit = null_mark(lane)
                records[:, word] |= null.astype(np.int64) << bit
        return records


def admitted(
    admit: int, mask: int, s: int, records: int, n: int, width: int, required: Sequence[int], program: Program
) -> int:
    """Keep the records that have their keys and pass the stream's own conjuncts; how many, or -1 if one raised."""
    marks = np.array([null_mark(lane) for lane in required], np.int64).reshape(-1, 2)
    at = np.zeros(program.n, np.int64)
    return int(_admitted(admit, mask, s, records, n, width, address(marks), len(marks), address(at)))


@kernel(I64(I64, I64, I64, I64, I64, I64, I64, I64, I64))
def _admitted(
    admit: int, mask: int, s: int, records: int, n: int, width: int, marks: int, required: int, at: int
) -> int:
    kept = 0
    for i in range(n):
        whole = True
        for j in range(required):
            if (word(records, i * width + word(marks, 2 * j)) >> word(marks, 2 * j + 1)) & 1:
                whole = False
        if not whole:
            continue
        keep(at, s, i * width)
        verdict = 1 if mask == 0 else call_admit(admit, mask, records, at)
        if verdict < 0:  # the user's function raised
            return -1
        if verdict == 0:
            continue
        if kept < i:
            for w in range(width):
                keep(records, kept * width + w, word(records, i * width + w))
        kept += 1
    return kept


def wanted(program: Program, sides: Array) -> Array:
    """Where each entry of ``Program.output`` stands in a record: stream, word, and the word and bit that mark NULL.

    After them come the side row numbers, of the streams that have a word for it in *sides*.
    """
    places = [_where(program, stream, lane) for stream, lane in program.output]
    places += [(s, int(side), TIME, -1) for s, side in enumerate(sides) if side >= 0]
    return np.array(places, np.int64).reshape(-1, 4)


def _where(program: Program, stream: int, lane: int) -> tuple[int, int, int, int]:
    if lane == TIME_LANE:
        return stream, TIME, TIME, -1
    return stream, lane_word(len(program.lanes[stream]), lane), *null_mark(lane)
