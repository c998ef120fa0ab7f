"""Four streams, one key, all six pairs within one window: few keys, a narrow window."""

from __future__ import annotations

from bench.result import speed_to_duckdb
from bench.workload import Claim, Workload
from bench.workloads.clique4 import clique

WORKLOAD = Workload(
    title="Four streams, narrow window",
    about=(
        "The same with 1,000 keys and every pair within 2,000 ticks: a key comes a thousand times in a stream, and "
        "about one of them is within reach."
    ),
    cases={"": lambda scale: clique(int(1_000_000 * scale), 1_000, 2_000)},
    claims=(Claim("Anabranch is at least 1.3 times as fast as DuckDB", speed_to_duckdb("anabranch"), at_least=1.3),),
)
