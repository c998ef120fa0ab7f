"""Three streams without any equality: windows, and a band on a real value."""

from __future__ import annotations

from bench import texts
from bench.case import Band, Case, within
from bench.result import speed_to_duckdb
from bench.streams import interleaved, uniform
from bench.workload import Claim, Workload

STREAMS, TICKS = "abc", 3_000
BANDS = (Band("a", "b", "v", 0.001), Band("b", "c", "v", 0.001))


def bands(scale: float) -> Case:
    where, bounds = texts.conditions((), BANDS), within(STREAMS, TICKS)
    return Case(
        streams=interleaved(STREAMS, int(100_000 * scale), v=uniform),
        bounds=bounds,
        equalities=(),
        bands=BANDS,
        anabranch=texts.windowed(STREAMS, where, TICKS),
        duckdb={
            "cells": texts.cells("bac", bounds, (), BANDS),
            "natural": _natural(),
            "by value": _by_value(),
        },
    )


def _natural() -> str:
    """The join as one would say it; windows as ranges, which DuckDB can join by."""
    near = [f"{a}.ts BETWEEN {b}.ts - {TICKS} AND {b}.ts + {TICKS}" for a, b in ("ab", "cb", "ac")]
    return f"{texts.select(STREAMS)}\nWHERE {' AND '.join([*texts.conditions((), BANDS), *near])}"


def _by_value() -> str:
    """Bands as ranges, so that DuckDB's inequality join sorts by the value; windows as comparisons, tested after."""
    near = [f"{s}.v > b.v - 0.001 AND {s}.v < b.v + 0.001" for s in "ac"]
    times = [f"abs({a}.ts - {b}.ts) <= {TICKS}" for a, b in ("ab", "bc", "ac")]
    return f"{texts.select(STREAMS)}\nWHERE {' AND '.join([*near, *texts.conditions((), BANDS), *times])}"


WORKLOAD = Workload(
    title="Three streams, bands and no equality",
    about=(
        "Three streams of 100,000 rows; one row a tick over all streams; every pair within 3,000 ticks; "
        "`abs(a.v - b.v) < 0.001 AND abs(b.v - c.v) < 0.001` over values uniform in [0, 1)."
    ),
    cases={"": bands},
    claims=(
        Claim("Anabranch is at least as fast as DuckDB with cells", speed_to_duckdb("anabranch"), at_least=1.0),
        Claim(
            "Anabranch is at least 20 times as fast as DuckDB with the natural query",
            speed_to_duckdb("anabranch", "natural"),
            at_least=20.0,
        ),
    ),
)
