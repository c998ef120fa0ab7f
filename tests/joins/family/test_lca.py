"""The conservative approaches, global and local: what their filters let through, and that nothing is lost."""

import pytest

from anabranch.core.tally import Tally
from anabranch.joins.family.gca import GCA
from anabranch.joins.family.lca import LCA
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.timeline import Case, timeline

ONE_WIDE_PAIR = timeline(
    """
    a-b 20, a-c 10, b-c 10
    | [c@0 a@5 b@5 a@15 b@15 c@15]
    | a@5 b@5 c@0, a@5 b@5 c@15, a@5 b@15 c@15, a@15 b@5 c@15, a@15 b@15 c@15
    """
)


def comparisons(case: Case, kind: type[LCA]) -> int:
    tally = Tally()
    on_operator(case, lambda p: kind(p, None, tally))
    return tally.comparisons


@pytest.mark.parametrize("kind", [GCA, LCA])
def test_the_tuple_that_ends_a_period_goes_not_the_oldest(kind: type[LCA]) -> None:
    """a@0 reaches to 10 and b@1 to 9; c@10 is right of the period, and a@0 still meets it."""
    case = timeline("a-b 8, b-c 2 | [a@0 b@1 c@2 b@8 c@10] | a@0 b@1 c@2, a@0 b@8 c@10")
    check(case, on_operator(case, kind), eager=False)


@pytest.mark.parametrize("kind", [GCA, LCA])
def test_candidates_are_held_against_every_window(kind: type[LCA]) -> None:
    case = timeline(
        "a-b 0..5, b-c -1..2, a-c 4 | [a@3 b@2 b@4 b@8 c@3 c@6 c@7] | a@3 b@4 c@3, a@3 b@4 c@6, a@3 b@8 c@7"
    )
    check(case, on_operator(case, kind), eager=False)


@pytest.mark.parametrize("kind", [GCA, LCA])
def test_candidates_are_held_against_count_windows(kind: type[LCA]) -> None:
    case = timeline("a-b 9, a#2 | [a@1 a@2 a@3 b@3 b@4] a@5 b@5 | a@2 b@3, a@3 b@3, a@2 b@4, a@3 b@4, a@3 b@5, a@5 b@5")
    check(case, on_operator(case, kind), eager=False)


def test_one_wide_pair_costs_the_local_approach_less() -> None:
    """c reaches to 10 of its own; with the window of a and b it would meet what comes at 15 as well."""
    for kind in (GCA, LCA):
        check(ONE_WIDE_PAIR, on_operator(ONE_WIDE_PAIR, kind), eager=False)
    assert comparisons(ONE_WIDE_PAIR, LCA) < comparisons(ONE_WIDE_PAIR, GCA)
