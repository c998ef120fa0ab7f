"""Counting costs nothing where nobody counts: such code writes no counts."""

import re

from numba import njit

from anabranch.core.tally import KINDS, SCANNED, Tally, tally
from anabranch.core.words import word


@njit
def summed(at, n, counts):
    total = 0
    for i in range(n):
        tally(counts, SCANNED, 1)
        total += word(at, i)
    return total


@njit
def plain(at, n, counts):
    total = 0
    for i in range(n):
        total += word(at, i)
    return total


def stores(function: object, counts: int | None) -> int:
    """How many words its machine code writes to memory."""
    signature = next(each for each in function.signatures if ("none" in str(each)) == (counts is None))
    body = re.search(r"^define [^\n]*\n(.*?)^}", function.inspect_llvm(signature), re.MULTILINE | re.DOTALL)
    assert body is not None
    return len(re.findall(r"^ *store i64", body[1], re.MULTILINE))


def test_a_kernel_that_does_not_count_is_a_kernel_without_counts() -> None:
    words = Tally()
    for function in (summed, plain):
        assert function(words.address, KINDS, None) == 0
    assert words.scanned == 0
    assert stores(summed, None) == stores(plain, None)
    assert summed(words.address, KINDS, words.address) >= 0
    assert words.scanned == KINDS
    assert stores(summed, words.address) > stores(summed, None)
