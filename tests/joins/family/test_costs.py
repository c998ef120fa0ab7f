"""Comparisons of the eager nested loops on random input, beside the cost model of Golab and Ozsu (section 4.2).

For an arriving tuple each window is scanned in order, once for each partial match; partial matches multiply by the
size of the window over the greater of the distinct values so far and those of the window.  The streams are those of
section 6.1: a tuple is of stream i with probability rate_i over the sum of rates, values are uniform in 1 .. distinct.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from anabranch.core.tally import Tally
from anabranch.engine.join import Arrived, ArrowJoin
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse

Set = Sequence[tuple[int, int, int]]  # rate, window, distinct values

SETS: dict[str, tuple[Set, dict[str, int]]] = {
    "table 5": ([(10, 100, 500), (1, 100, 50), (1, 200, 40), (3, 100, 5)], {"1234": 16_000, "2134": 19_600}),
    "table 6": (
        [(100, 100, 200), (1, 100, 200), (1, 100, 20), (3, 100, 2)],
        {"2134": 80_400, "2314": 123_150, "1234": 120_000},
    ),
    "table 7": (
        [(11, 100, 200), (10, 100, 100), (1, 100, 65), (1, 100, 20)],
        {"3142": 47_977, "3412": 49_542, "1234": 68_200},
    ),
}
EVEN = {2: 200, 3: 900, 4: 2_800, 5: 7_500, 6: 18_600}  # windows of 100, rate 1, 50 distinct values

SCHEMA = pa.schema([("ts", pa.int64()), ("v", pa.int64())])


def model(streams: Set, order: Sequence[int]) -> float:
    """Comparisons per unit of time."""
    cost = 0.0
    for arriving, (rate, _, distinct) in enumerate(streams):
        partial, so_far = 1.0, distinct
        for k in (k for k in order if k != arriving):
            size = streams[k][0] * streams[k][1]
            cost += rate * partial * size
            partial *= size / max(so_far, streams[k][2])
            so_far = min(so_far, streams[k][2])
    return cost


def counted(streams: Set, order: Sequence[int], units: int, seed: int) -> float:
    """The same, counted by the operator once its windows are full."""
    random = np.random.default_rng(seed)
    rates = np.array([rate for rate, _, _ in streams])
    a_unit = int(rates.sum())  # tuples in a unit of time, and ticks
    filling = 1 + max(window for _, window, _ in streams)
    of = random.choice(len(streams), (filling + units) * a_unit, p=rates / a_unit)
    names = "abcdef"[: len(streams)]
    tables = ", ".join(f"{n} [RANGE {streams[i][1] * a_unit}] {n.upper()}" for i, n in enumerate(names))
    equal = " AND ".join(f"{x}.v = {y}.v" for x, y in pairwise(names))
    text = f"SELECT {', '.join(f'{n}.v AS {n}' for n in names)} FROM {tables} WHERE {equal}"
    text = text.replace("SELECT", f"SELECT /*+ ALGORITHM(eager(order={' '.join(names[k].upper() for k in order)})) */")
    (join,) = parse(text, {n: Stream(n, SCHEMA) for n in names}).joins
    tally = Tally()
    operator = ArrowJoin(join, tally=tally)
    filled = 0
    for start, stop in ((0, filling * a_unit), (filling * a_unit, len(of))):
        filled = tally.comparisons
        arrived = {}
        for i, n in enumerate(names):
            times = start + np.nonzero(of[start:stop] == i)[0]
            values = random.integers(1, streams[i][2] + 1, len(times))
            arrived[n] = Arrived(times, pa.record_batch([pa.array(times), pa.array(values)], schema=SCHEMA))
        operator.push(arrived, dict.fromkeys(names, stop))
    return (tally.comparisons - filled) / units


def numbers(order: str) -> list[int]:
    return [int(digit) - 1 for digit in order]


PUBLISHED = [(name, order) for name, (_, orders) in SETS.items() for order in orders]


@pytest.mark.parametrize(("name", "order"), PUBLISHED)
def test_the_model_gives_the_published_costs(name: str, order: str) -> None:
    streams, orders = SETS[name]
    assert model(streams, numbers(order)) == pytest.approx(orders[order], rel=0.01)


@pytest.mark.parametrize("streams", EVEN)
def test_the_model_gives_the_published_costs_of_even_streams(streams: int) -> None:
    assert model([(1, 100, 50)] * streams, range(streams)) == EVEN[streams]


@pytest.mark.parametrize("name", SETS)
def test_the_operator_does_as_many_comparisons(name: str) -> None:
    """The mean of some runs, in the best order that is published."""
    streams, orders = SETS[name]
    order = numbers(min(orders, key=lambda each: orders[each]))
    units = 6_000 // sum(rate for rate, _, _ in streams)
    found = [counted(streams, order, units, seed) for seed in range(8)]
    assert sum(found) / len(found) == pytest.approx(model(streams, order), rel=0.05)
