"""Four streams, one key, all six pairs within one window: many keys, a wide window."""

from __future__ import annotations

from bench import texts
from bench.case import Case, Equality, within
from bench.result import speed_to_duckdb
from bench.streams import interleaved, keys
from bench.workload import Claim, Workload

STREAMS = "abcd"
EQUALITIES = (Equality("a", "b", "k"), Equality("b", "c", "k"), Equality("c", "d", "k"))


def clique(rows: int, distinct: int, ticks: int) -> Case:
    """Rows of each stream, distinct keys, and the window of every pair."""
    where, bounds = texts.conditions(EQUALITIES, ()), within(STREAMS, ticks)
    return Case(
        streams=interleaved(STREAMS, rows, k=keys(distinct)),
        bounds=bounds,
        equalities=EQUALITIES,
        bands=(),
        anabranch=texts.windowed(STREAMS, where, ticks),
        duckdb={
            "cells": texts.cells(STREAMS, bounds, EQUALITIES),
            "plain": texts.plain(STREAMS, where, ticks),
        },
    )


WORKLOAD = Workload(
    title="Four streams, wide window",
    about=(
        "Four streams of 1,000,000 rows with 100,000 keys; one row a tick over all streams; every pair of members "
        "within 300,000 ticks. A row finds about one partner in each other stream."
    ),
    cases={"": lambda scale: clique(int(1_000_000 * scale), int(100_000 * scale), int(300_000 * scale))},
    claims=(
        Claim("Anabranch is at least 1.3 times as fast as DuckDB", speed_to_duckdb("anabranch"), at_least=1.3),
        Claim("Anabranch is at least twice as fast as DuckDB", speed_to_duckdb("anabranch"), at_least=2.0),
    ),
)
