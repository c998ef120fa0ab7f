"""Every member of the family against the definition, with any options, on random timelines.

``ANABRANCH_EXAMPLES`` says how many queries of each member, where more than usual are wanted.
"""

import os
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from anabranch.joins import listed
from anabranch.joins.family import member, names
from anabranch.testing.members import answers, options, over, prompt, timelines_of
from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.seams import seams
from anabranch.testing.timeline import Case

EXAMPLES = int(os.environ.get("ANABRANCH_EXAMPLES", "50"))
ROUNDS, ROOMS = st.sampled_from([1, 4, 1000]), st.sampled_from([1, 3, 100])


@pytest.mark.parametrize("name", names())
def test_agrees_with_the_definition(name: str) -> None:
    """The bag; at once, where no row has to wait; what is late; and that nothing is remembered at the end."""
    joined = member(name)

    @settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
    @given(timelines_of(joined), ROUNDS, ROOMS, st.data())
    def agrees(case: Case, round_: int, room: int, data: st.DataObject) -> None:
        assume(answers(joined, case))
        chosen = data.draw(options(joined, case.aliases))
        with seams(round_=round_, room=room), patch.object(listed, "ROOM", room):
            check(case, on_operator(case, over(joined, chosen)), eager=prompt(joined, chosen, case))

    agrees()
