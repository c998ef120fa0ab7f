"""Every member of the family on both runtimes: in a session, and in the buckets of Spark with all that befalls them."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.joins.family.test_agrees import EXAMPLES

from anabranch.joins.family import member, names
from anabranch.testing.members import answers, timelines_of
from anabranch.testing.on_buckets import on_buckets
from anabranch.testing.on_session import on_session
from anabranch.testing.play import check
from anabranch.testing.timeline import Case

SLOW = [HealthCheck.filter_too_much, HealthCheck.too_slow]
TOLD = {"lazy": "lazy(tau=3, liveness=true)", "general_lazy": "general_lazy(tau=5)"}  # with rows that wait


@pytest.mark.parametrize("name", names())
def test_a_session_agrees_with_the_definition(name: str) -> None:
    @settings(max_examples=EXAMPLES // 10, suppress_health_check=SLOW)
    @given(timelines_of(member(name), crashes=False))
    def agrees(case: Case) -> None:
        assume(answers(member(name), case))
        check(case, on_session(case, algorithm=TOLD.get(name, name)), eager=False)

    agrees()


@pytest.mark.parametrize("name", names())
def test_buckets_agree_with_the_definition(name: str) -> None:
    @settings(max_examples=EXAMPLES // 8, suppress_health_check=SLOW)
    @given(timelines_of(member(name)), st.integers(1, 3), st.integers(0, 9_999))
    def agrees(case: Case, buckets: int, seed: int) -> None:
        assume(answers(member(name), case))
        with TemporaryDirectory() as folder:
            played = on_buckets(case, buckets, Random(seed), Path(folder), algorithm=TOLD.get(name, name))
        check(case, played, eager=False, by_row=False)

    agrees()
