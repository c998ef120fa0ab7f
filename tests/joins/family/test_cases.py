"""The readable cases on every member that answers them."""

from dataclasses import replace

import pytest
from tests.joins.test_cases import COMPILED

from anabranch.joins.family import member, names
from anabranch.testing.members import answers, over, prompt
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.timeline import Case, Seen


@pytest.mark.parametrize("name", names())
def test_every_member_does_so(name: str) -> None:
    joined, answered = member(name), 0
    for case in COMPILED.values():
        if answers(joined, case):
            answered += 1
            at_once = prompt(joined, joined.Options(), case)
            played = case if at_once else unhurried(case)
            check(played, on_operator(played, over(joined, joined.Options())), eager=at_once)
    assert answered, f"{name} answers no case at all"


def unhurried(case: Case) -> Case:
    """The same, whenever its matches come out."""
    return replace(case, events=tuple(event for event in case.events if not isinstance(event, Seen)))
