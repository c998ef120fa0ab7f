"""What a million remembered rows cost: in bytes, and in the time of looking for what to forget."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

import numpy as np

from bench.case import Case
from bench.result import figure
from bench.workload import Claim, Contender, Workload
from bench.workloads.clique4 import clique

ROWS = 250_000
OVERHEAD = 32  # bytes a tuple that are not counted against the state
CALLS = 200


def figures(by: Contender, case: Case) -> tuple[Mapping[str, float], None]:
    assert by.session is not None
    session = by.session(case)
    session.insert_all(dict(case.streams))
    tuples, held = session.state()
    assert tuples == case.rows, f"{tuples} of {case.rows} rows are remembered: the window is too small"
    columns = sum(table.nbytes for table in case.streams.values())
    taken = np.zeros(CALLS)
    for i in range(CALLS):
        frontier = case.rows + i  # newer than all rows, and nothing is out of its window yet
        start = time.perf_counter()
        session.advance("a", frontier)
        taken[i] = time.perf_counter() - start
    assert session.state()[0] == tuples, "something was forgotten"
    return {
        "tuples": tuples,
        "bytes a tuple": held / tuples,
        "of columns + 32 bytes": held / (columns + OVERHEAD * tuples),
        "expiry of nothing, median": float(np.median(taken)) * 1e6,
        "expiry of nothing, worst": float(taken.max()) * 1e6,
    }, None


def _case(scale: float, keys_a_row: float) -> Case:
    rows = int(ROWS * scale)
    return clique(rows, int(rows * keys_a_row), 100 * rows)


WORKLOAD = Workload(
    title="State",
    about=(
        "Four streams of 250,000 rows, all inside the window, with 100,000 keys and with 1,000,000 (where most keys "
        "of a stream occur in no other). State is what the join reports of itself, set against the rows' columns "
        "(three of 8 bytes) and 32 bytes a tuple. Then a frontier rises 200 times and nothing is old enough to go."
    ),
    cases={
        "100,000 keys": partial(_case, keys_a_row=0.4),
        "1,000,000 keys": partial(_case, keys_a_row=4.0),
    },
    figures=figures,
    units={"expiry of nothing, median": "µs", "expiry of nothing, worst": "µs"},
    claims=(
        Claim(
            "State is at most 1.25 times the columns and 32 bytes a tuple, where keys meet (100,000 keys)",
            figure("of columns + 32 bytes", max, "100,000 keys"),
            at_most=1.25,
        ),
        Claim(
            "State is at most 1.5 times that where most keys meet nobody (1,000,000 keys, a slot for each)",
            figure("of columns + 32 bytes", max, "1,000,000 keys"),
            at_most=1.5,
        ),
        Claim(
            "A look for what to forget takes at most 1,000 µs",
            figure("expiry of nothing, median", max),
            at_most=1_000,
        ),
    ),
)
