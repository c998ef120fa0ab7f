"""The merge join and its hash form: the worked example of the report, what they wait for, what they refuse."""

from unittest.mock import patch

import pyarrow as pa
import pytest

from anabranch import local
from anabranch.core.errors import Refused
from anabranch.core.tally import Tally
from anabranch.joins import listed
from anabranch.joins.family.merge import Merge
from anabranch.joins.family.merge_hash import MergeHash
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import Played, check
from anabranch.testing.query import program
from anabranch.testing.timeline import Case, timeline

FIGURE_6 = timeline(
    """
    a-b-c-d-e 10, where same
    | [a@14 b@13 c@19 d@7 e@12 d@26 e@24 a@25 b@22 b@27 d@40 e@40 a@40 b@40] out=0 ~c@40 out=2 kept=4
    | a@25 b@22 c@19 d@26 e@24, a@25 b@27 c@19 d@26 e@24
    """
)
SCHEMA = pa.schema([("ts", pa.int64())])


def played(case: Case, kind: type[Merge], tally: Tally | None = None) -> Played:
    return on_operator(case, lambda p: kind(p, None, tally))


@pytest.mark.parametrize("kind", [Merge, MergeHash])
def test_figure_6(kind: type[Merge]) -> None:
    """Mode 1 drops d1, e1, a1 and b1 and finds a2, b2, c1, d2, e2; Mode 2 adds b3; then c1 goes."""
    tally = Tally()
    check(FIGURE_6, played(FIGURE_6, kind, tally), eager=False, spare=4)
    assert tally.comparisons == 7, "e2 met a2 once, b2 and b3, c1 and d2 with both of them; no other tuple met any"


def test_figure_6_where_matches_have_no_room() -> None:
    with patch.object(listed, "ROOM", 1):
        tally = Tally()
        check(FIGURE_6, played(FIGURE_6, Merge, tally), eager=False)
    assert tally.comparisons == 7


def test_what_another_stream_is_far_from_is_swept_without_a_comparison() -> None:
    case = timeline("a-b-c 2 | [a@1 a@2 a@3 a@4 a@5 b@1 b@2 b@3 c@90 c@91 b@92 a@91] | a@91 b@92 c@90, a@91 b@92 c@91")
    tally = Tally()
    check(case, played(case, Merge, tally), eager=False)
    assert tally.comparisons == 4, "each of two c met one a and one b"


def test_both_modes_are_timed() -> None:
    tally = Tally()
    played(FIGURE_6, Merge, tally)
    assert min(tally.modes) > 0


def test_a_match_waits_until_the_slowest_stream_has_passed_it() -> None:
    case = timeline("a-b-c 5 | a@1 b@2 c@3 out=0 ~a@4 out=0 b@9 out=0 ~c@3 out=0 ~c@4 out=1 | a@1 b@2 c@3")
    check(case, played(case, Merge), eager=False)


def test_a_session_says_who_holds_the_matches_back() -> None:
    session = local.start(
        "SELECT A.ts AS x, C.ts AS z FROM a A, b B, c C WINDOW = 5",
        dict.fromkeys("abc", SCHEMA),
        options=local.Options(algorithm="merge"),
    )
    for name, times in (("a", [1, 8]), ("b", [2]), ("c", [3, 9])):
        assert not any(map(len, session.push({name: pa.record_batch([pa.array(times)], schema=SCHEMA)})))
    assert session.metrics.held_back_by == "b"
    assert [each.to_pylist() for each in session.heartbeat("b", 10) if len(each)] == [[{"x": 1, "z": 3}]]
    assert session.metrics.held_back_by == "a"


@pytest.mark.parametrize(
    ("windows", "kind", "words"),
    [
        ("a-b 5, b-c 5", Merge, "no one window for all pairs of its streams; lca"),
        ("a-b 0..5", Merge, "no one window for all pairs of its streams; lca"),
        ("a-b ..", Merge, "no one window for all pairs of its streams; lca"),
        ("a-b 5, a#2", Merge, "it has a count window; lca"),
        ("a-b 5, b-c 5", MergeHash, "no one window for all pairs of its streams; lca"),
        ("a-b 5", MergeHash, "no equality leads to b; merge"),
    ],
)
def test_what_they_cannot_answer_they_refuse(windows: str, kind: type[Merge], words: str) -> None:
    with pytest.raises(Refused) as refusal:
        kind(program(timeline(f"{windows} | |")))
    assert words in str(refusal.value)
