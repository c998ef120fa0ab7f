"""The readable cases of the joins, as SQL text on a session."""

from pathlib import Path

import pytest

from anabranch import local
from anabranch.core.errors import Refused
from anabranch.testing.on_session import on_session
from anabranch.testing.play import check
from anabranch.testing.query import schema
from anabranch.testing.seams import seams
from anabranch.testing.timeline import Case, Crash, cases

CASES = cases((Path(__file__).parents[1] / "joins" / "cases.txt").read_text(encoding="utf-8"))
UNBROKEN = {
    title: case
    for title, case in CASES.items()
    if not case.refused
    and not any(isinstance(event, Crash) for event in case.events)  # a session cannot be restored yet
}
EARTHLY = {title: case for title, case in UNBROKEN.items() if "axis" not in title}  # a tick is a second


def each(chosen: dict[str, Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", chosen.values(), ids=list(chosen))


@each(UNBROKEN)
def test_integer_time(case: Case) -> None:
    with seams(pane=1, sweep=1_000):
        check(case, on_session(case), spare=1)


@each(EARTHLY)
def test_timestamps_through_the_sql_engine(case: Case) -> None:
    check(case, on_session(case, integer=False, computed=True))


def test_contradictory_windows_are_refused_with_their_own_words() -> None:
    text = "SELECT A.id FROM a A, b B WINDOW (A, B) BETWEEN 3 AND 5 AND WINDOW (B, A) BETWEEN 1 AND 9"
    with pytest.raises(Refused, match=r"BETWEEN 3 AND 5 and WINDOW .B, A. BETWEEN 1 AND 9"):
        local.start(text, {"a": schema(True), "b": schema(True)})
