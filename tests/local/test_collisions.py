"""Texts whose hashes agree are still told apart."""

import random

import pyarrow as pa

from anabranch import local
from anabranch.core.lanes import SEED, lane
from anabranch.core.words import mix

WORD = 1 << 64


def mixed(x: int) -> int:
    return int(mix((x + (1 << 63)) % WORD - (1 << 63))) % WORD


def colliding() -> tuple[str, str]:
    """Two texts of sixteen bytes with the same hash: the second half undoes the difference of the first."""
    dice = random.Random(1)
    start = (SEED ^ 16) % WORD
    one, tail = "red bike", "123456\t!"
    while True:
        other = "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=8))
        first, second = (mixed(start ^ int.from_bytes(text.encode(), "little")) * 3 for text in (one, other))
        end = (first ^ second ^ int.from_bytes(tail.encode(), "little")) % WORD
        bytes_ = end.to_bytes(8, "little")
        if all(0 < byte < 128 for byte in bytes_):
            return one + tail, other + bytes_.decode()


def test_equal_hashes_are_no_proof() -> None:
    one, two = colliding()
    words, _ = lane(pa.array([one, two]), "hash")
    assert one != two
    assert words[0] == words[1]
    seen = pa.table({"ts": [1, 2], "s": [one, two], "id": [1, 2]})
    found = local.sql("SELECT A.id AS a, B.id AS b FROM a A, b B WHERE A.s = B.s WINDOW = 5", {"a": seen, "b": seen})
    assert sorted(found.to_pylist(), key=str) == [{"a": 1, "b": 1}, {"a": 2, "b": 2}]
