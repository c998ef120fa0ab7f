"""Joins along a graph and along a path of windows: what the papers would lose, and which way the search goes."""

import pytest

from anabranch.core.errors import Refused
from anabranch.joins.family.graph import Graph
from anabranch.joins.family.path import Path
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.query import program
from anabranch.testing.timeline import timeline


@pytest.mark.parametrize("kind", [Graph, Path])
def test_a_tuple_outlives_its_own_window(kind: type[Graph | Path]) -> None:
    """b@6 is out of the only window of a@0, but c@13 still needs it for b@5."""
    case = timeline("a-b 5, b-c 8 | a@0 b@5 b@6 c@13 out=1 c@14 out=1 | a@0 b@5 c@13")
    check(case, on_operator(case, kind))


@pytest.mark.parametrize("kind", [Graph, Path])
def test_an_object_passes_in_one_direction(kind: type[Graph | Path]) -> None:
    """Figure 12, ABCD: the arriving tuple may be any of them."""
    case = timeline(
        """
        a-b 0..5, b-c 0..5, c-d 0..5, b late 9, c late 9
        | a@1 d@14 b@4 c@9 out=1 d@3 c@3 b@9 out=1
        | a@1 b@4 c@9 d@14, late d@3
        """
    )
    check(case, on_operator(case, kind))


def test_the_search_goes_outwards() -> None:
    operator = Path(program(timeline("a-c 5, c-b 0..5, b-d -1..2 | |")))
    a, c, b, d = range(4)  # in the order in which they are named
    assert operator.orders == [[a, c, b, d], [c, b, d, a], [b, d, c, a], [d, b, c, a]]


def test_the_streams_follow_along_the_windows() -> None:
    operator = Graph(program(timeline("a-d 5, b-d 5, c-d 5, a#2, b#2, c#2, d#2 | |")))
    a, d, b, c = range(4)
    assert operator.orders == [[a, d, b, c], [d, b, c, a], [b, d, c, a], [c, d, a, b]]


@pytest.mark.parametrize(
    ("windows", "words"),
    [
        ("a-b-c 5", "no path from stream to stream; graph"),
        ("a-b 5, a-c 5, a-d 5", "no path from stream to stream; graph"),
        ("a-b 5, c-d 5", "no path from stream to stream; graph"),
        ("a-b 5, b#2", "it has a count window; graph"),
    ],
)
def test_what_is_no_path_is_refused(windows: str, words: str) -> None:
    with pytest.raises(Refused) as refusal:
        Path(program(timeline(f"{windows} | |")))
    assert words in str(refusal.value)
