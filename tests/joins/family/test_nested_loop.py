"""The nested-loop window join on the worked examples of the report on W-joins, with times that fit its pictures."""

from anabranch.joins.family.nested_loop import NestedLoop
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.timeline import timeline


def test_figure_2() -> None:
    """a2 finds b2, b3, b4, with each of them c1 and c3, then d2 and e2; tuples with k = 1 are white."""
    case = timeline(
        """
        a-b-c-d-e 10, where same
        | d@5 a@9:1 b@12:1 c@13 b@14 c@15:1 e@15 d@16 b@17 c@18 b@19 out=0 a@20 out=6
        | a@20 b@14 c@13 d@16 e@15, a@20 b@14 c@18 d@16 e@15, a@20 b@17 c@13 d@16 e@15,
          a@20 b@17 c@18 d@16 e@15, a@20 b@19 c@13 d@16 e@15, a@20 b@19 c@18 d@16 e@15
        """
    )
    check(case, on_operator(case, NestedLoop))


def test_figure_3() -> None:
    """A tuple goes when it is older by more than the window than the newest of all other streams, and not before."""
    case = timeline("a-b-c-d-e 10 | b@1 a@12 c@12 d@12 e@11 kept=5 e@12 kept=5 |")
    check(case, on_operator(case, NestedLoop), spare=1)
