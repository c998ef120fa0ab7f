"""Each file in ``explained`` is a query, in its first line what is expected of its streams, and its plan as text."""

import json
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from anabranch.core.ticks import duration
from anabranch.plan.explain import Expected, Explanation, explain
from anabranch.plan.lower import lower
from anabranch.plan.outline import extent, outline
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse

CASES = sorted((Path(__file__).parent / "explained").glob("*.txt"))
LINE = "-" * 20 + "\n"
CAMERAS = [
    ("obj", pa.int64()),
    ("ts", pa.timestamp("us", "UTC")),
    ("speed", pa.float64()),
    ("label", pa.string()),
]
TICKS = [("ts", pa.int64()), ("k", pa.int64()), ("v", pa.float64())]
STREAMS = {
    **{f"camera{i}": Stream(f"camera{i}", pa.schema(CAMERAS)) for i in (1, 2, 3, 4)},
    **{f"tick{i}": Stream(f"tick{i}", pa.schema(TICKS)) for i in (1, 2, 3)},
}


def explained(text: str, expected: Expected | None = None) -> Explanation:
    query = parse(text, STREAMS)
    return explain(query, [lower(join) for join in query.joins], expected)


def expectations(text: str) -> Expected:
    """From the first line: ``-- tick1 at 5, camera2 late 2s``."""
    rates, lateness = {}, {}
    first = text.splitlines()[0]
    for said in first.removeprefix("-- ").split(", ") if first.startswith("-- ") else []:
        name, word, value = said.split()
        if word == "at":
            rates[name] = float(value)
        else:
            lateness[name] = int(value) if value.isdigit() else duration(value)
    return Expected(rates, lateness)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_plan_reads_as_it_is_written_down(case: Path) -> None:
    query, plan = case.read_text(encoding="utf-8").split(LINE)
    assert "\n".join(outline(explained(query, expectations(query)))) + "\n" == plan


def test_there_are_plans_to_read() -> None:
    assert len(CASES) >= 4


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_plan_is_plain_values(case: Path) -> None:
    query = case.read_text(encoding="utf-8").split(LINE)[0]
    explanation = explained(query, expectations(query))
    assert explanation == explained(query, expectations(query))
    joins = json.loads(json.dumps(explanation.as_dict()))["joins"]
    assert [join["name"] for join in joins] == [join.name for join in explanation.joins]


SIZES = ("= 5", "BETWEEN -3 AND 9", "BETWEEN -1 AND 6")
WINDOWS = [f"WINDOW (A, B) {a} AND WINDOW (B, C) {b} AND WINDOW (C, A) {c}" for a, b, c in product(SIZES, SIZES, SIZES)]


@pytest.mark.parametrize("clause", WINDOWS)
def test_a_life_is_what_the_horizon_of_streams_in_step_leaves(clause: str) -> None:
    query = parse(f"SELECT A.k AS k FROM tick1 A, tick2 B, tick3 C WHERE A.k = B.k {clause}", STREAMS)
    lateness = {"tick1": 2, "tick3": 7}
    join = explain(query, [lower(query.joins[0])], Expected(lateness=lateness)).joins[0]
    now = 1_000
    frontiers = [now - lateness.get(stream.stream, 0) for stream in join.streams]
    for s, stream in enumerate(join.streams):
        assert stream.life is not None
        assert query.joins[0].windows.horizon(s, frontiers) == now - stream.life


@pytest.mark.parametrize(
    ("ticks", "text"),
    [
        (0, "0 s"),
        (5_000_000, "5 s"),
        (-3_000_000, "-3 s"),
        (90_000_000, "1.5 m"),
        (5_400_000_000, "1.5 h"),
        (100 * 60_000_000, "100 m"),
        (86_400_000_000, "1 d"),
        (30 * 86_400_000_000, "30 d"),
        (1_250_000, "1,250 ms"),
        (1_500, "1.5 ms"),
        (5_000_001, "5,000,001 us"),
    ],
)
def test_a_duration_is_spelled_exactly(ticks: int, text: str) -> None:
    assert extent(ticks, integer=False) == text


def test_a_number_of_ticks_has_no_unit() -> None:
    assert extent(-86_400_000_000, integer=True) == "-86,400,000,000"


def test_names_are_quoted_where_they_must_be() -> None:
    schema = pa.schema([("ts", pa.int64()), ("the key", pa.int64())])
    query = parse(
        "SELECT A.ts AS t FROM a A, b B WHERE A.`the key` = B.`the key` AND A.ts < B.ts WINDOW = 5",
        {name: Stream(name, schema) for name in "ab"},
    )
    conditions = explain(query, [lower(query.joins[0])]).joins[0].conditions
    assert [condition.text for condition in conditions] == ["A.`the key` = B.`the key`", "A.ts < B.ts"]
