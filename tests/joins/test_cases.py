"""The readable cases: the operator, the definition and the words of the case agree."""

from pathlib import Path

import pytest

from anabranch.core.errors import Refused
from anabranch.testing.on_operator import on_operator
from anabranch.testing.oracle import answer
from anabranch.testing.play import check
from anabranch.testing.seams import seams
from anabranch.testing.timeline import Case, bag, cases, spelled

CASES = cases((Path(__file__).parent / "cases.txt").read_text(encoding="utf-8"))
REFUSED = {title: case for title, case in CASES.items() if case.refused}
JOINED = {title: case for title, case in CASES.items() if not case.refused}
COMPILED = {title: case for title, case in JOINED.items() if case.predicate != "text"}


def each(chosen: dict[str, Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", chosen.values(), ids=list(chosen))


@each(JOINED)
def test_the_definition_says_so(case: Case) -> None:
    right = answer(case)
    assert bag(map(case.named, right.matches)) == bag(case.matches)
    assert [named_late(case, *late) for late in right.late] == [spelled([late]) for late in case.late]


@each(COMPILED)
def test_the_operator_does_so(case: Case) -> None:
    check(case, on_operator(case))


@each(COMPILED)
def test_the_operator_does_so_across_seams(case: Case) -> None:
    with seams(pane=1, round_=1, room=1, reorder=1, sweep=1_000):  # what waits in vain is not looked for
        check(case, on_operator(case), spare=1)


@each(REFUSED)
def test_contradictions_are_refused(case: Case) -> None:
    with pytest.raises(Refused) as refusal:
        _ = case.windows
    assert case.refused in str(refusal.value)


def named_late(case: Case, stream: str, number: int) -> str:
    return f"{stream}@{case.arrivals[stream][number].time}"
