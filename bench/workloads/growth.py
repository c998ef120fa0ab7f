"""Streams ten times as long, with the same window: the time a row must not grow with the streams."""

from __future__ import annotations

from bench.result import variants
from bench.workload import Claim, Workload
from bench.workloads.clique4 import clique

ROWS = 100_000

WORKLOAD = Workload(
    title="Longer streams, same window",
    about=(
        "Four streams with 10,000 keys, every pair within 30,000 ticks; 100,000 rows each, and ten times as many. "
        "What is remembered stays the same, so the time a row should."
    ),
    cases={
        "1x": lambda scale: clique(int(ROWS * scale), 10_000, 30_000),
        "10x": lambda scale: clique(int(10 * ROWS * scale), 10_000, 30_000),
    },
    by=("anabranch",),
    claims=(
        Claim(
            "A row of the long streams takes at most a third more time than one of the short",
            variants("10x", "1x", lambda result: result.middle(lambda run: run.cpu / run.rows)),
            at_most=4 / 3,
        ),
    ),
)
