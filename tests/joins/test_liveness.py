"""Tuples that have waited in vain are let go before their horizon.

The operator looks for them when tuples arrive, so each case ends its wait with one.
"""

import pytest

from anabranch.testing.on_operator import on_operator
from anabranch.testing.play import check
from anabranch.testing.seams import seams
from anabranch.testing.timeline import timeline

LAGGING = {
    "c lags, and a has no b": "a-b-c 5, where same | a@1:1 a@2:2 a@3:3 b@2:2 ~b@99 a@99:9 kept=3 c@1:2 | a@2 b@2 c@1",
    "c lags, and a has no b near enough": "a-b-c 2, where same | a@1 a@5 a@9 b@9 kept=2 c@9 | a@9 b@9 c@9",
    "windows alone": "a-b-c 2 | a@1 a@5 a@9 b@9 kept=2 c@9 | a@9 b@9 c@9",
    "b may still come": "a-b-c 5, where same | a@1:1 a@2:2 a@3:3 ~b@6 a@99:9 kept=4 b@6:1 c@1:1 | a@1 b@6 c@1",
    "b can come no more": "a-b-c 5, where same | a@1:1 a@2:2 a@3:3 ~b@7 a@99:9 kept=3 b@7:2 c@2:2 | a@2 b@7 c@2",
    "b has ended": "a-b-c 5, where same | a@1:1 a@2:2 a@3:3 b@3:3 ~b a@99:9 kept=2 c@3:3 | a@3 b@3 c@3",
    "a later band": "a-b 2..3, b-c 0..9 | a@1 a@5 b@3 b@9 a@99 kept=3 c@4 | a@1 b@3 c@4",
    "different keys": "a-b-c 5, where chain | a@1{g=1} a@2{g=2} b@3{k=2, g=7} ~b@99 a@99 kept=3 c@3:7 | a@2 b@3 c@3",
}


@pytest.mark.parametrize("name", LAGGING)
def test_what_has_waited_in_vain_is_let_go(name: str) -> None:
    case = timeline(LAGGING[name])
    with seams(pane=1, sweep=1):
        check(case, on_operator(case), spare=1)
