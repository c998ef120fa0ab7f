"""The judge judges: each kind of wrong answer is found, and said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from anabranch.testing.on_operator import on_operator
from anabranch.testing.oracle import answer
from anabranch.testing.play import Played, Step, check
from anabranch.testing.timeline import timeline

CASE = timeline("a-b 0..5, a late 1 | a@1 b@2 a@3 a@1 b@4 ~a@9 ~b@9 kept=0 | a@1 b@2, a@1 b@4, a@3 b@4, late a@1")


def step(played: Played, place: int, matches: tuple[tuple[int, ...], ...]) -> Played:
    steps = [replace(each, matches=matches) if i == place else each for i, each in enumerate(played.steps)]
    return replace(played, steps=tuple(steps))


def moved(played: Played, where: int, to: int) -> Played:
    first = played.steps[where].matches
    return step(step(played, where, ()), to, (*played.steps[to].matches, *first))


WRONG: dict[str, tuple[Callable[[Played], Played], str]] = {
    "a match is missing": (lambda played: step(played, 1, ()), "missing: a@1 b@2"),
    "a match comes twice": (lambda played: step(played, 5, ((0, 0),)), "extra: a@1 b@2"),
    "a match is made up": (lambda played: step(played, 5, ((2, 0),)), "extra: a@1 b@2"),
    "a match comes early": (lambda played: moved(played, 4, 0), "came out at event 0, final at 4"),
    "a match comes later": (lambda played: moved(played, 1, 3), "came out at event 3, final at 1"),
    "nothing is late": (lambda played: replace(played, late=()), "late"),
    "something is bad": (lambda played: replace(played, bad=(("a", 0),)), "bad"),
    "something remains": (
        lambda played: replace(played, steps=(*played.steps[:-1], Step((), (1, 0)))),
        "remembered after the end",
    ),
    "too much is remembered": (
        lambda played: replace(played, steps=(*played.steps[:6], Step((), (3, 2)), *played.steps[7:])),
        "3 of a remembered after event 6, needed 0",
    ),
    "not what the case says": (
        lambda played: replace(played, steps=(*played.steps[:7], Step((), (1, 0)), *played.steps[8:])),
        "kept=0 expected, 1 seen",
    ),
}  # fmt: skip


def test_what_is_right_is_right() -> None:
    assert len(check(CASE, on_operator(CASE)).matches) == 3


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    wrong, why = WRONG[name]
    with pytest.raises(AssertionError) as failure:
        check(CASE, wrong(on_operator(CASE)), spare=1)
    assert why in str(failure.value)
    assert str(CASE) in str(failure.value)


def test_who_is_not_eager_may_come_later_but_not_earlier() -> None:
    played = on_operator(CASE)
    check(CASE, moved(played, 1, 7), eager=False)
    with pytest.raises(AssertionError, match="came out at event 1, final at 4"):
        check(CASE, moved(played, 4, 1), eager=False)


def test_the_oracle_says_when() -> None:
    counted = timeline("a#1, a-b 9 | a@1 b@3 ~a@3 ~a@4 a@4 b@5 | a@1 b@3, a@4 b@3, a@4 b@5")
    assert answer(counted).matches == {(0, 0): 3, (1, 0): 6, (1, 1): 6}
    timed = timeline("a-b 9 | [b@3 a@1] a@4 | a@1 b@3, a@4 b@3")
    assert answer(timed).matches == {(0, 0): 0, (1, 0): 1}


def test_the_oracle_says_what_is_needed() -> None:
    case = timeline("a-b 0..5 | a@1 a@2 b@7 a@9 b@8 |")
    right = answer(case)
    assert [right.needed(event, "a") for event in range(5)] == [(1, 1), (2, 2), (1, 1), (2, 2), (1, 1)]
    assert right.needed(2, "b") == (1, 1)
    assert right.needed(3, "b") == (0, 0)
