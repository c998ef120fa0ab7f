"""Intermediate results: kept while they can be joined, found anew after a crash, never emitted again."""

import pytest

from anabranch.core.tally import Tally
from anabranch.joins.family import member
from anabranch.testing.on_operator import OnOperator
from anabranch.testing.play import check, play
from anabranch.testing.timeline import timeline

TREES = ["chain", "pipelined"]


@pytest.mark.parametrize("name", TREES)
def test_each_join_keeps_what_the_next_one_joins_with(name: str) -> None:
    """Each b makes a partial match with a@0, and c@4 one with each of these; d completes two and keeps nothing."""
    text = "a-b-c-d 5, where same | a@0:1 a@1:2 b@2:1 b@3:1 c@4:1 d@5:1 | a@0 b@2 c@4 d@5, a@0 b@3 c@4 d@5"
    assert held(name, text) == [1, 2, 3 + 1, 4 + 2, 5 + 4, 6 + 4, 0]


@pytest.mark.parametrize("name", TREES)
def test_a_partial_match_goes_with_a_member(name: str) -> None:
    """When the others are at 6, a@0 goes, and so does what it is a part of; when a and b are at 20, both c go."""
    text = "a-b-c 5, where same | a@0:1 a@3:1 b@3:1 [b@6:2 c@6:2] ~b@7 c@7:1 ~a@20 ~b@20 ~c@20 | a@3 b@3 c@7"
    assert held(name, text) == [1, 2, 3 + 2, 4 + 1, 4 + 1, 5 + 1, 5 + 1, 3 + 1, 0, 0]


@pytest.mark.parametrize("name", TREES)
def test_a_crash_loses_no_partial_match_and_repeats_no_match(name: str) -> None:
    matches = "a@0 b@2 c@3, a@0 b@3 c@3, a@0 b@2 c@5, a@0 b@3 c@5"
    text = f"a-b-c 5, where same | a@0:1 b@2:1 c@3:1 b@3:1 ! ~b@4 c@5:1 | {matches}"
    assert held(name, text) == [1, 2 + 1, 3 + 1, 4 + 2, 4 + 2, 5 + 2, 0]


def held(name: str, text: str) -> list[int]:
    """Tuples and partial matches after each batch; what comes out is the answer."""
    case, tally, joined = timeline(text), Tally(), member(name)
    check(case, play(case, OnOperator(case, lambda program: joined(program, joined.Options(), tally))))
    return tally.buffered
