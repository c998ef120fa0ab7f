"""One row at a time: how many in a second, and how long from a row to the matches that it completes."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from bench.case import Case
from bench.result import figure
from bench.workload import Claim, Contender, Workload
from bench.workloads.clique4 import clique

ROWS = 10_000
WARM_UP = 500  # rows that are pushed into a join of their own first


def figures(by: Contender, case: Case) -> tuple[Mapping[str, float], pa.Table]:
    assert by.session is not None
    arrivals = _arrivals(case)
    first = by.session(case)
    for stream, row in arrivals[:WARM_UP]:
        first.insert(stream, row)
    session, found = by.session(case), []
    taken, worked = np.zeros(len(arrivals), np.int64), np.zeros(len(arrivals), np.int64)
    completed = np.zeros(len(arrivals), np.bool_)
    for i, (stream, row) in enumerate(arrivals):
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        matches = session.insert(stream, row)
        worked[i], taken[i] = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
        if matches:
            completed[i] = True
            found += matches
    return {
        "rows a second": len(arrivals) / worked.sum() * 1e9,
        "rows a second by the clock": len(arrivals) / taken.sum() * 1e9,
        "a row, median": float(np.percentile(worked, 50)) / 1_000,
        "a row, 99th": float(np.percentile(worked, 99)) / 1_000,
        "to a match, median": float(np.percentile(worked[completed], 50)) / 1_000,
        "to a match, 99th": float(np.percentile(worked[completed], 99)) / 1_000,
        "to a match by the clock, 99th": float(np.percentile(taken[completed], 99)) / 1_000,
    }, pa.concat_tables(found)


def _arrivals(case: Case) -> list[tuple[str, pa.RecordBatch]]:
    """Every row as a batch of its own, in the order of time over all streams."""
    batches = {name: table.combine_chunks().to_batches()[0] for name, table in case.streams.items()}
    due = [(int(t), name, i) for name, batch in batches.items() for i, t in enumerate(batch.column("ts").to_numpy())]
    return [(name, batches[name].slice(i, 1)) for _, name, i in sorted(due)]


WORKLOAD = Workload(
    title="One row at a time",
    about=(
        "Four streams of 10,000 rows with 1,000 keys, every pair within 4,000 ticks, each row an Arrow batch of its "
        "own, pushed in the order of time. Latency is the time of one push, of the processor and by the clock; a match "
        "comes out of the push of its last member."
    ),
    cases={"": lambda scale: clique(int(ROWS * scale), 1_000, 4_000)},
    figures=figures,
    units={
        "a row, median": "µs",
        "a row, 99th": "µs",
        "to a match, median": "µs",
        "to a match, 99th": "µs",
        "to a match by the clock, 99th": "µs",
    },
    claims=(
        Claim("At least 20,000 rows a second, one at a time", figure("rows a second", min), at_least=20_000),
        Claim("In 99 of 100 pushes a match comes out within 1,000 µs", figure("to a match, 99th", max), at_most=1_000),
    ),
)
