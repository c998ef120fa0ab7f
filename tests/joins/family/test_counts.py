"""Comparisons, counted by hand after the listings of the papers, and by the members."""

from unittest.mock import patch

import pytest

from anabranch.core.tally import MODE_1, Tally
from anabranch.joins import listed
from anabranch.joins.family import member
from anabranch.joins.options import read
from anabranch.testing.on_operator import OnOperator
from anabranch.testing.play import play
from anabranch.testing.timeline import timeline

# Golab and Ozsu, tables 2 and 3: windows of 100, all values equal, so what is compared is what the windows let through.
# The promises say what the paper takes for granted: that no stream is behind the others.
TABLES = (
    "a 100, b 100, c 100, where same | a@90:1 a@100:1 b@150:1 b@180:1 ~a@195 ~b@195 c@195:1 ~a@205 ~b@205 c@205:1 |"
)
TABLES_AT_ONCE = "a 100, b 100, c 100, where same | [a@90:1 a@100:1 b@150:1 b@180:1 c@195:1 c@205:1] |"
# Two values and a wide window, so what is compared is what the predicate lets through.
VALUES = "a-b-c 100, where same | a@1:1 a@2:2 b@3:1 b@4:2 c@5:1 |"
VALUES_AT_ONCE = "a-b-c 100, where same | [a@1:1 a@2:2 b@3:1 b@4:2 c@5:1] |"

COUNTED = {
    # While a@90 and a@100 come all else is empty, and while b comes there is no c.
    # b@150 and b@180 are compared with two a each (4), each of the equal ones scans an empty c.
    # c@195 meets a@100 alone, a@90 is older by 105 (1), which is equal and scans two b (2). For c@205 no a is left.
    ("eager", "", TABLES): 7,
    # One key is one bucket.
    ("eager", "buckets=1000", TABLES): 7,
    # The loops of b@150 and b@180: two a, and in the loop of b the new tuple alone (4).
    # c@195: the one a that has not expired, for it two b (2), for each of these the new c (2). For c@205 no a is left.
    ("naive", "", TABLES): 8,
    # One execution for all: each new tuple is the outermost loop, and meets those whose turn came before.
    # a@90 and a@100 meet nothing; the two b two a each (4); c@195 one a and two b (3); c@205 no a.
    ("lazy", "", TABLES_AT_ONCE): 7,
    # The loops go in turn from the arriving stream on: b scans c first, which is empty.
    # c@195 meets one a (1) and for it two b (2).
    ("nested_loop", "", TABLES): 3,
    ("hash", "", TABLES): 3,
    # No window in any loop, and no purge so soon: c@195 and c@205 meet two a each and for each of them two b (12).
    ("ripple", "", TABLES): 12,
    # On pairs: c@195 is compared with two a (2), of which one is in its window and is compared with two b (2);
    # c@205 is compared with two a (2), none of which is in its window.
    ("xjoin", "", TABLES): 6,
    # The two b meet two a each (4) and leave four partial matches, of which two have an a that c@195 still reaches:
    # with these it is compared (2). When c@205 comes, a@100 is out of reach too.
    ("chain", "", TABLES): 6,
    ("pipelined", "", TABLES): 6,
    # b@3 and b@4 meet two a each (4). c@5 meets two a (2), one is equal and scans two b (2).
    ("eager", "", VALUES): 8,
    # With buckets of one value each: b@3 and b@4 meet one a each (2), c@5 one a and one b (2).
    ("eager", "buckets=1000", VALUES): 4,
    # Other orders: first c, which is empty for both b; c@5 meets two b (2), one is equal and scans two a (2).
    ("eager", "order=C B A", VALUES): 4,
    # b@3 and b@4 are met by two a each (4). c@5: two a, for each two b (4), for each equal pair the new c (2).
    ("naive", "", VALUES): 10,
    # Loops in the order b, a, c. a@1 and a@2 meet no b. b@3 and b@4 meet two a each (4), c is empty.
    # c@5: two b, for each two a (4), for each equal pair the new c (2).
    ("naive", "order=B A C", VALUES): 10,
    ("lazy", "", VALUES_AT_ONCE): 8,
    ("lazy", "buckets=1000", VALUES_AT_ONCE): 4,
    # The new c in the middle: two b are bound first, the new tuple is held against each (2), the equal one scans
    # two a (2). The new b stay outermost, and meet two a each (4).
    ("general_lazy", "orders=C: B C A", VALUES_AT_ONCE): 8,
    # In turn: both b scan c, which is empty; c@5 meets two a (2), the equal one scans two b (2).
    ("nested_loop", "", VALUES): 4,
    ("hash", "", VALUES): 2,
    ("ripple", "", VALUES): 4,
    ("xjoin", "", VALUES): 2,
    # a is scanned for each b (4) and leaves one partial match each, c@5 is held against both (2).
    ("pipelined", "", VALUES): 6,
    # The same in one batch: the joins alternate, but each pair meets once.
    ("pipelined", "", VALUES_AT_ONCE): 6,
    # With buckets one a for each b (2), one partial match for c@5 (1).
    ("chain", "", VALUES): 3,
    # Only a is scanned: for b@3 and b@4 two a each (4); for c@5 two a (2), the equal one meets one b (1).
    ("hybrid", "buckets=B:1000 C:1000", VALUES): 7,
}


@pytest.mark.parametrize(("name", "told", "text"), COUNTED)
def test_comparisons_are_those_of_the_listing(name: str, told: str, text: str) -> None:
    assert counted(name, told, text).comparisons == COUNTED[name, told, text]


@pytest.mark.parametrize(("name", "told", "text"), COUNTED)
def test_what_is_searched_for_once_more_is_counted_once(name: str, told: str, text: str) -> None:
    plain = counted(name, told, text)
    with patch.object(listed, "ROOM", 1):
        again = counted(name, told, text)
    assert (again.words[:MODE_1] == plain.words[:MODE_1]).all()


def counted(name: str, told: str, text: str) -> Tally:
    """What a member with these options does over a timeline."""
    tally, case, joined = Tally(), timeline(text), member(name)
    options = read(joined.Options, name, dict(each.split("=") for each in told.split(", ") if each))
    play(case, OnOperator(case, lambda program: joined(program, options, tally)))
    return tally
