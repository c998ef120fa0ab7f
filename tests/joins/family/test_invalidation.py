"""When a tuple that has expired leaves: the strategies of the two-way joins, and the purges of the baselines."""

from collections.abc import Mapping

import pytest

from anabranch.core.errors import Refused
from anabranch.joins.family import member
from anabranch.joins.options import read
from anabranch.testing.members import over
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.timeline import timeline

# Six keys, each in a bucket of its own. a and b expire once they are older by more than 2 than the other stream.
ARRIVALS = "b@0:1 b@1:2 a@9:3 b@9:1 a@10:2 b@13:3 ~a@20 b@14:4"
KEPT = {
    # Only the bucket that is probed: a@10 finds b@1, b@13 finds a@9.
    "probe": "1 2 3 4 4 4 4 5",
    # And the one that is filled: b@9 finds b@0. b@14 finds nothing, b@9 is in another bucket than both.
    "probe_insert": "1 2 3 3 3 3 3 4",
    # All that b has when an a comes, and the other way round: a@9 finds b@0 and b@1, b@13 finds a@9 and a@10.
    "all_probe": "1 2 1 2 3 2 2 3",
    # And all in the stream of the arrival: b@14 finds b@9.
    "all_both": "1 2 1 2 3 2 2 2",
}
# In one bucket the oldest is always looked at: a@9 finds both b, b@13 both a, and b@14 finds b@9 only where it is put.
IN_ONE = {"probe": "1 2 1 2 3 2 2 3", "probe_insert": "1 2 1 2 3 2 2 2"}


@pytest.mark.parametrize("strategy", KEPT)
def test_a_strategy_looks_for_expired_tuples_where_it_says(strategy: str) -> None:
    assert kept("binary_hash", {"invalidation": strategy}, f"a-b 2, where same | {ARRIVALS} |") == KEPT[strategy]


@pytest.mark.parametrize("strategy", IN_ONE)
def test_nested_loops_are_a_hash_table_of_one_bucket(strategy: str) -> None:
    text = f"a-b 2, where same | {ARRIVALS} |"
    assert kept("binary_nested_loop", {"invalidation": strategy}, text) == IN_ONE[strategy]
    assert kept("binary_hash", {"invalidation": strategy, "buckets": "1"}, text) == IN_ONE[strategy]


@pytest.mark.parametrize("name", ["ripple", "xjoin"])
def test_a_baseline_forgets_with_every_so_many_arrivals(name: str) -> None:
    """The third arrival finds that b@0 has expired, the sixth a@0, a@5 and b@5."""
    text = "a-b 2, where same | a@0 b@0 a@5 b@5 a@9 b@9 a@9 | a@0 b@0, a@5 b@5, a@9 b@9, a@9 b@9"
    assert kept(name, {"purge": "3"}, text) == "1 2 2 3 4 2 3"
    assert kept(name, {}, text) == "1 2 3 4 5 6 7"


def test_a_stale_tuple_is_out_of_its_count_window_after_a_crash_too() -> None:
    """It is still in its buffer when the times are not known any more that say since when it is out."""
    kept("ripple", {}, "a#1, a-b .., where same | a@0:1 a@1:2 a@2:2 a@9:2 ~a@10 b@5:3 ! b@6:1 |")


@pytest.mark.parametrize("name", ["binary_hash", "binary_nested_loop"])
def test_two_streams_and_no_more(name: str) -> None:
    with pytest.raises(Refused, match=r"it joins two streams, not 3; (nested_loop|hash) joins any number"):
        kept(name, {}, "a-b-c 2, where same | |")


def test_a_purge_needs_a_number() -> None:
    with pytest.raises(Refused, match=r"ripple\(purge=0\) is no number of tuples; write 1 or more"):
        kept("ripple", {"purge": "0"}, "a-b 2 | |")


def kept(name: str, told: Mapping[str, str], text: str) -> str:
    """How many tuples are remembered after each event."""
    joined, case = member(name), timeline(text)
    played = on_operator(case, over(joined, read(joined.Options, name, told)))
    check(case, played)
    return " ".join(str(sum(step.kept)) for step in played.steps[:-1])
