"""What lies outside of the windows, the key or the band is never touched."""

import pytest

from anabranch.testing.on_operator import OnOperator
from anabranch.testing.play import play
from anabranch.testing.seams import seams
from anabranch.testing.timeline import timeline

OTHERS = " ".join(f"a@{i}{{k={i % 10}, v={i}.0}}" for i in range(200))
ONE = "b@200{k=3, v=103.0}"
WORK = {  # tuples of a that the one tuple of b is tested against
    "a window": (f"a-b 0..9 | {OTHERS} {ONE} |", 9),
    "a band of times": (f"a-b 50..59 | {OTHERS} {ONE} |", 10),
    "a key": (f"a-b 500, where same | {OTHERS} {ONE} |", 20),
    "a key and a window": (f"a-b 0..50, where same | {OTHERS} {ONE} |", 5),
    "a key in many panes and a band of times": (f"a-b 50..69, where same | {OTHERS} {ONE} |", 2),
    "a band of values": (f"a-b 500, where near | {OTHERS} {ONE} |", 1),
    "a limit of values": (f"a-b 500, where below | {OTHERS} {ONE} |", 104),
    "a key that is not there": (f"a-b 500, where same | {OTHERS} {ONE.replace('k=3', 'k=33')} |", 0),
}


@pytest.mark.parametrize("name", WORK)
def test_only_what_may_match_is_tested(name: str) -> None:
    """In closed panes of 20; the last of them is open, and is read as a whole where only a band orders the panes."""
    text, tested = WORK[name]
    case = timeline(text)
    with seams(pane=20):
        runtime = OnOperator(case)
        play(case, runtime)
    compared = runtime.driver.operator.compared  # type: ignore[attr-defined]
    assert tested <= compared <= tested + (20 if "values" in name else 0)
