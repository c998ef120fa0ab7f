from __future__ import annotations

import math

import pytest
from hypothesis import given

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.testing.forms import Band, Count, Range, Width, form
from anabranch.testing.predicates import PREDICATES
from anabranch.testing.strategies import regrouped, timelines
from anabranch.testing.timeline import Arrival, Batch, Case, Crash, End, Heartbeat, Row, Seen, cases, timeline

FORMS = [
    ("a-b 0..5", Band("a", "b", 0, 5), {("a", "b"): 5, ("b", "a"): 0}),
    ("a-b 0..<5", Band("a", "b", 0, 5, strict=True), {("a", "b"): 4, ("b", "a"): 0}),
    ("a-b -3..5", Band("a", "b", -3, 5), {("a", "b"): 5, ("b", "a"): 3}),
    ("a-b 2..", Band("a", "b", 2, FOREVER), {("a", "b"): FOREVER, ("b", "a"): -2}),
    ("a-b ..-2", Band("a", "b", NEVER, -2), {("a", "b"): -2, ("b", "a"): FOREVER}),
    ("a-b 5", Width(("a", "b"), 5), {("a", "b"): 5, ("b", "a"): 5}),
    ("a-a' <5", Width(("a", "a'"), 5, strict=True), {("a", "a'"): 4, ("a'", "a"): 4}),
    ("a-b ..", Width(("a", "b"), FOREVER), {("a", "b"): FOREVER, ("b", "a"): FOREVER}),
    ("a 5", Range("a", 5), {("a", "b"): 5}),
    ("a#3", Count("a", 3), {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "meant", "bounds"), FORMS, ids=[text for text, _, _ in FORMS])
def test_forms(text: str, meant: object, bounds: dict[tuple[str, str], int]) -> None:
    read = form(text)
    assert read == meant
    assert str(read) == text
    assert {(b.earlier, b.later): b.ticks for b in read.bounds(("a", "b"))} == bounds


@pytest.mark.parametrize("text", ["a-b", "a", "a-b 5..x", "a@1", "a-b 5 c", "A-b 5", "a#-1", ""])
def test_what_is_no_form(text: str) -> None:
    assert form(text) is None


def test_three_are_bound_each_to_each() -> None:
    bounds = Width(("a", "b", "c"), 5).bounds(("a", "b", "c"))
    assert len({(bound.earlier, bound.later) for bound in bounds}) == 6


def test_every_event_is_read() -> None:
    case = timeline(
        "a-b 5, a late 2, b idle 9, where same | a@1 [a@2:7 b@-3{v=nan, s=red}] ~a@9 ! out=0 kept=3 ~b b@null |"
    )
    assert case.events[0] == Batch((Arrival("a", 1),))
    together = case.events[1]
    assert isinstance(together, Batch)
    assert together.arrivals[0] == Arrival("a", 2, Row(k=7))
    assert (together.arrivals[1].time, together.arrivals[1].row.s) == (-3, "red")
    assert math.isnan(together.arrivals[1].row.v or 0)
    assert case.events[2:7] == (Heartbeat("a", 9), Crash(), Seen("out", 0), Seen("kept", 3), End("b"))
    assert case.events[7] == Batch((Arrival("b", None),))
    assert (case.lateness, case.idle, case.predicate) == ({"a": 2}, {"b": 9}, "same")


def test_what_is_expected_is_read() -> None:
    case = timeline("a-a' 5, a-b 5 | | b@1 a'@2 a@3, a@3 a'@4 b@4, late a@9")
    assert case.matches == ((("a", 3), ("a'", 2), ("b", 1)), (("a", 3), ("a'", 4), ("b", 4)))
    assert case.late == (("a", 9),)
    assert case.aliases == ("a", "a'", "b")
    assert case.streams == ("a", "b")
    assert timeline("a-b 5 | | refused: never mind").refused == "never mind"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a-b 5 | a1 | ", "nothing that can arrive: a1"),
        ("a-b 5 | a@1{z=3} | ", "no column: z=3"),
        ("a-b five | a@1 | ", "no window: a-b five"),
        ("a-b 5 | a@1 | a@1", "no match of a, b: a@1"),
    ],
)
def test_what_cannot_be_read_is_an_error(text: str, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        timeline(text)


@given(timelines(PREDICATES, bad=True))
def test_a_timeline_is_written_as_it_is_read(case: Case) -> None:
    again = timeline(str(case))
    assert repr(again) == repr(case)
    assert str(again) == str(case)


@given(timelines(crashes=False))
def test_regrouping_keeps_the_tuples_of_each_stream(case: Case) -> None:
    for sizes in ([1], [2, 3], []):
        assert repr(regrouped(case, sizes).arrivals) == repr(case.arrivals)


def test_a_file_of_cases() -> None:
    found = cases("# A heading\n\nthe first\na-b 5 | a@1\n   b@2 | a@1 b@2\n\n\nthe second\na-b 5 | |\n")
    assert list(found) == ["the first", "the second"]
    assert len(found["the first"].events) == 2


def test_two_cases_of_one_title_are_an_error() -> None:
    with pytest.raises(AssertionError, match="two cases have the title: once"):
        cases("once\na-b 5 | |\n\nonce\na-b 6 | |\n")
