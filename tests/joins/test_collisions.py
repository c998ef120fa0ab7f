"""Keys whose codes or hashes agree are still told apart."""

import numpy as np

from anabranch.core.memory import NOTHING
from anabranch.core.store import HASH_BITS
from anabranch.core.words import mix
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.seams import seams
from anabranch.testing.timeline import timeline

WORD = 1 << 64


def signed(x: int) -> int:
    return (x + (1 << 63)) % WORD - (1 << 63)


def mixed(x: int) -> int:
    return int(mix(np.int64(signed(x))))


def unmixed(y: int) -> int:
    """The inverse of ``mix``."""
    y %= WORD
    y ^= (y >> 31) ^ (y >> 62)
    y = y * pow(-7723592293110705685, -1, WORD) % WORD
    y ^= (y >> 27) ^ (y >> 54)
    y = y * pow(-4658895280553007687, -1, WORD) % WORD
    return signed(y ^ (y >> 30) ^ (y >> 60))


def test_the_inverse_is_one() -> None:
    for x in (0, 1, -1, 7, NOTHING, 2**63 - 1, -(2**63), 123456789123456789):
        assert unmixed(mixed(x)) == x == mixed(unmixed(x))


def test_two_keys_of_one_code() -> None:
    """(1, 5) and (2, other) have the same code, so they share a slot; the columns tell them apart."""
    other = signed(5 + 31 * (mixed(1) - mixed(2)))
    assert mixed(mixed(1) * 31 + 5) == mixed(mixed(2) * 31 + other)
    one, two = "{k=1, g=5}", f"{{k=2, g={other}}}"
    tuples = " ".join(f"{stream}@{time}{key}" for time in (1, 2) for key in (one, two) for stream in "abc")
    for pane in (1, 2, 64):
        case = timeline(f"a-b-c 5, where both | {tuples} |")
        with seams(pane):
            right = check(case, on_operator(case))
        assert len(right.matches) == 16


def test_keys_whose_hashes_order_a_pane_alike() -> None:
    """Their hashes differ only in bits that do not order the pane, so equal keys have to be brought together."""
    high = 12345 << (64 - HASH_BITS)
    keys = [unmixed(high + low) for low in (9, 4, 7, 1)]
    assert len({mixed(key) % WORD >> (64 - HASH_BITS) for key in keys}) == 1
    tuples = " ".join(f"{stream}@{time}:{keys[(time * 3) % 4]}" for time in range(12) for stream in "ab")
    case = timeline(f"a-b 7, where same | [{tuples}] [{tuples.replace('@', '@1')}] |")
    with seams(pane=12):
        right = check(case, on_operator(case))
    assert len(right.matches) > 50


def test_keys_that_want_the_same_slot() -> None:
    """Neighbours in the table, around its end too: a look-up goes on until it finds its key or a free slot."""
    keys = [unmixed(high << 32) for high in (2**32 - 1, 2**32 - 2, 0, 1, 2, 3, 2**32 - 3, 4)]
    tuples = " ".join(f"{stream}@{i}:{key}" for i, key in enumerate(keys) for stream in "ab")
    case = timeline(f"a-b 3, where same | {tuples} {tuples.replace('@', '@1')} |")
    assert len(check(case, on_operator(case)).matches) > 8
