"""SQL text on the embedded runtime against the definition, on random timelines."""

from collections import Counter
from dataclasses import replace

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch import local
from anabranch.testing.on_session import OnSession
from anabranch.testing.oracle import answer
from anabranch.testing.play import check, play
from anabranch.testing.predicates import PREDICATES
from anabranch.testing.query import alias_in_sql, schema, sql
from anabranch.testing.seams import seams
from anabranch.testing.strategies import regrouped, timelines
from anabranch.testing.timeline import Case
from anabranch.testing.tuples import table

PANES = st.sampled_from([1, 2, 64])


@settings(max_examples=120)
@given(timelines(PREDICATES, crashes=False, bad=True), st.booleans(), st.booleans(), PANES)
def test_a_session_agrees_with_the_definition(case: Case, integer: bool, computed: bool, pane: int) -> None:
    with seams(pane):
        runtime = OnSession(case, integer, computed)
        right = check(case, play(case, runtime), spare=pane)
    for stream, metrics in runtime.session.metrics.streams.items():
        assert metrics.rows == len(case.arrivals[stream])
        assert metrics.late == sum(1 for name, _ in right.late if name == stream)
        assert metrics.dead == sum(1 for name, _ in right.bad if name == stream)
        assert metrics.rows == len(right.accepted[stream]) + metrics.late + metrics.dead
    assert runtime.session.metrics.matches == len(right.matches)
    assert runtime.session.metrics.buffered_tuples == 0


@settings(max_examples=40)
@given(timelines(PREDICATES, crashes=False), st.booleans())
def test_finite_tables_agree_with_the_definition(case: Case, integer: bool) -> None:
    """In a table no tuple is late, whatever its order."""
    patient = replace(regrouped(case, []), lateness=dict.fromkeys(case.streams, 1_000))
    tables = {
        stream: pa.Table.from_batches([table(list(enumerate(arrivals)), schema(integer))])
        for stream, arrivals in patient.arrivals.items()
    }
    rows = local.sql(sql(patient, integer=integer), tables)
    found = Counter(zip(*(rows.column(alias_in_sql(alias)).to_pylist() for alias in case.aliases), strict=True))
    assert found == Counter(list(answer(patient).matches))
