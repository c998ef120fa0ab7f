"""The same predicate as a Python function and as SQL."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench import texts
from bench.case import Case, Equality, within
from bench.result import variants
from bench.streams import interleaved, keys, uniform
from bench.workload import Claim, Workload

STREAMS, TICKS = "abc", 90_000
EQUALITIES = (Equality("a", "b", "k"), Equality("b", "c", "k"))
SQL = ["abs(a.v - b.v) < 0.1", "abs(b.v - c.v) < 0.1"]
FUNCTION = ["near(a.v, b.v)", "near(b.v, c.v)"]


def near(x: float, y: float) -> bool:
    """What a user would write, and numba compiles."""
    return abs(x - y) < 0.1


def case(scale: float, predicate: list[str]) -> Case:
    where, bounds = texts.conditions(EQUALITIES, ()), within(STREAMS, TICKS)
    functions: dict[str, Callable[[float, float], bool]] = {"near": near} if predicate is FUNCTION else {}
    return Case(
        streams=interleaved(STREAMS, int(300_000 * scale), k=keys(10_000), v=uniform),
        bounds=bounds,
        equalities=EQUALITIES,
        bands=(),
        anabranch=texts.windowed(STREAMS, [*where, *predicate], TICKS),
        duckdb={"plain": texts.plain(STREAMS, [*where, *SQL], TICKS)},
        functions=functions,
    )


WORKLOAD = Workload(
    title="A Python function in the predicate",
    about=(
        "Three streams of 300,000 rows with 10,000 keys, every pair within 90,000 ticks, about six partners in each "
        "other stream; of those, `abs(x - y) < 0.1` for a and b and for b and c: as SQL, and as a Python function."
    ),
    cases={"sql": partial(case, predicate=SQL), "function": partial(case, predicate=FUNCTION)},
    by=("anabranch",),
    claims=(
        Claim(
            "The function takes at most twice as long as the SQL",
            variants("function", "sql", lambda result: result.middle(lambda run: run.cpu)),
            at_most=2.0,
        ),
    ),
)
