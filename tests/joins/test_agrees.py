"""The operator against the definition, on random timelines."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import Played, check
from anabranch.testing.seams import seams
from anabranch.testing.strategies import COMPILED, regrouped, timelines
from anabranch.testing.timeline import Case, stream_of

PANES, ROUNDS = st.sampled_from([1, 2, 3, 8]), st.sampled_from([1, 4, 1000])
ROOMS, LOOKS = st.sampled_from([1, 3, 100]), st.sampled_from([1, 2, 50])


@settings(max_examples=400)
@given(timelines(), PANES, ROUNDS, ROOMS, LOOKS, LOOKS)
def test_agrees_with_the_definition(case: Case, pane: int, round_: int, room: int, reorder: int, sweep: int) -> None:
    """The bag, each match at the event that completes it, what is late, and that what is dead is forgotten."""
    with seams(pane, round_, room, reorder, sweep):
        check(case, on_operator(case), spare=pane)


@settings(max_examples=100)
@given(timelines())
def test_agrees_at_its_own_sizes(case: Case) -> None:
    check(case, on_operator(case))


@pytest.mark.parametrize("predicate", COMPILED)
def test_every_predicate_agrees(predicate: str) -> None:
    @settings(max_examples=15)
    @given(timelines([predicate]), PANES)
    def agrees(case: Case, pane: int) -> None:
        with seams(pane):
            check(case, on_operator(case), spare=pane)

    agrees()


@settings(max_examples=100)
@given(timelines(crashes=False), st.lists(st.integers(1, 9), max_size=4), PANES, ROUNDS)
def test_the_borders_of_batches_do_not_matter(case: Case, sizes: list[int], pane: int, round_: int) -> None:
    """One at a time, all at once, and anything between; what is late is judged row by row all the same."""
    with seams(pane, round_):
        one, some, whole = (on_operator(regrouped(case, each)) for each in ([1], sizes, []))
    assert one.matches == some.matches == whole.matches
    assert Counter(one.late) == Counter(some.late) == Counter(whole.late)


@settings(max_examples=100)
@given(timelines(counts=False, crashes=False), st.data())
def test_the_order_of_arrival_does_not_matter(case: Case, data: st.DataObject) -> None:
    """With lateness enough the same tuples in another order are the same answer, over all streams together."""
    patient = replace(regrouped(case, [1]), lateness=dict.fromkeys(case.streams, 1_000))
    shuffled = replace(patient, events=tuple(data.draw(st.permutations(patient.events))))
    assert with_rows(patient, on_operator(patient)) == with_rows(shuffled, on_operator(shuffled))


def with_rows(case: Case, played: Played) -> Counter[str]:
    """The matches, each by the tuples themselves instead of by their numbers."""
    arrivals = [case.arrivals[stream_of(alias)] for alias in case.aliases]
    return Counter(
        " ".join(str(stream[number]) for stream, number in zip(arrivals, match, strict=True))
        for match in played.matches.elements()
    )
