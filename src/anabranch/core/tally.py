"""Counts of what a join does, as the papers count it; compiled out where nobody counts.

A kernel is given the address of the counts, or None.  numba leaves out whatever stands
below ``if counts is not None`` where it is None, so a kernel that does not count is the
code without the counts, and ``tests/core/test_tally.py`` looks at the two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from anabranch.core.words import address, keep, word

COMPARED, SCANNED, PROBED, BUCKETS, EXPIRED, MODE_1, MODE_2, SINCE, KINDS = range(9)


@intrinsic
def cycles(typing_context: Any) -> Any:
    """The processor's own clock; only differences within one kernel mean anything."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shape = ir.FunctionType(ir.IntType(64), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, shape, "llvm.readcyclecounter"), [])

    return types.int64(), generate


@njit(forceinline=True)
def tally(counts: int | None, kind: int, more: int) -> None:
    """Count so many more."""
    if counts is not None:
        keep(counts, kind, word(counts, kind) + more)


@njit(forceinline=True)
def turn(counts: int | None, mode: int) -> None:
    """The time since the last turn was spent in *mode* (MODE_1 or MODE_2)."""
    if counts is not None:
        now = cycles()
        keep(counts, mode, word(counts, mode) + now - word(counts, SINCE))
        keep(counts, SINCE, now)


@njit(forceinline=True)
def begin(counts: int | None) -> None:
    """Start the clock, and note the counts in case that the work has to be done once more."""
    if counts is not None:
        keep(counts, SINCE, cycles())


@njit(forceinline=True)
def mark(counts: int | None) -> None:
    """Note the counts, in case that what follows is done once more."""
    if counts is not None:
        for kind in range(KINDS):
            keep(counts, KINDS + kind, word(counts, kind))


@njit(forceinline=True)
def back(counts: int | None) -> None:
    """Take the counts back to where they were noted; what was let go since then stays so."""
    if counts is not None:
        expired = word(counts, EXPIRED)
        for kind in range(KINDS):
            keep(counts, kind, word(counts, KINDS + kind))
        keep(counts, EXPIRED, expired)


@dataclass
class Tally:
    """What a member has done so far."""

    words: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(2 * KINDS, np.int64))
    buffered: list[int] = field(default_factory=list)  # tuples, after each batch
    arrived: list[int] = field(default_factory=list)  # tuples, in each batch
    seconds: list[float] = field(default_factory=list)  # of each batch

    @property
    def address(self) -> int:
        return address(self.words)

    @property
    def comparisons(self) -> int:
        """Tuples of the right time that were held against the predicate."""
        return int(self.words[COMPARED])

    @property
    def scanned(self) -> int:
        """Tuples that were looked at."""
        return int(self.words[SCANNED])

    @property
    def probes(self) -> int:
        """Look-ups of one stream for one partial match."""
        return int(self.words[PROBED])

    @property
    def buckets(self) -> int:
        """Buckets that were looked into, to find or to expire."""
        return int(self.words[BUCKETS])

    @property
    def expired(self) -> int:
        """Tuples that were let go."""
        return int(self.words[EXPIRED])

    @property
    def modes(self) -> tuple[int, int]:
        """Ticks of the processor's clock in the two modes of a merge join."""
        return int(self.words[MODE_1]), int(self.words[MODE_2])
