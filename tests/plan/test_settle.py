"""What columns without values become, by the query that they stand in."""

from __future__ import annotations

import pyarrow as pa
import pytest

from anabranch.plan.query import Stream
from anabranch.plan.settle import settled

WHOLE, REAL, TEXT, NULL, ZONED = pa.int64(), pa.float64(), pa.string(), pa.null(), pa.timestamp("us", "UTC")
TICKS = pa.schema([("ts", pa.int32()), ("k", pa.int32()), ("v", pa.float32()), ("s", pa.large_string())])
TIMES = TICKS.set(0, pa.field("ts", pa.timestamp("ns", "Europe/Paris")))
EMPTY = pa.schema([("ts", NULL), ("k", NULL), ("w", NULL)])


def types(where: str, a: pa.Schema = TICKS, e: pa.Schema = EMPTY) -> list[pa.DataType]:
    """The types of ts, k and w."""
    query = f"SELECT * FROM a A, e E, f F WHERE {where} WINDOW = 5"
    streams = {"a": Stream("a", a), "e": Stream("e", e), "f": Stream("f", EMPTY), "g": Stream("g", TIMES)}
    return list(settled(query, streams)["e"].types)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("TRUE", [WHOLE, NULL, NULL]),
        ("A.k = E.k", [WHOLE, WHOLE, NULL]),
        ("A.K = e.K AND (E.w) = a.s", [WHOLE, WHOLE, TEXT]),
        ("E.w = F.w AND F.w = A.s", [WHOLE, NULL, TEXT]),
        ("w = s", [WHOLE, NULL, NULL]),  # E's or F's
        ("abs(E.w - A.v) < 0.5", [WHOLE, NULL, REAL]),
        ("E.w BETWEEN A.s AND A.s", [WHOLE, NULL, TEXT]),
        ("E.w IN (1, 2)", [WHOLE, NULL, REAL]),
        ("E.w > 5 AND E.w < A.k", [WHOLE, NULL, WHOLE]),
        ("E.w > '2026-01-01'", [WHOLE, NULL, NULL]),
        ("E.k = nowhere.k AND E.nothing = A.k", [WHOLE, NULL, NULL]),
    ],
)
def test_it_takes_the_type_of_what_it_meets(where: str, expected: list[pa.DataType]) -> None:
    assert types(where) == expected


def test_the_time_is_that_of_the_streams_in_from() -> None:
    assert types("TRUE")[0] == WHOLE  # a's, whatever g has
    assert types("TRUE", a=TIMES)[0] == ZONED
    assert types("TRUE", a=EMPTY)[0] == ZONED


def test_using_is_a_meeting() -> None:
    streams = {"a": Stream("a", TICKS), "e": Stream("e", EMPTY)}
    assert settled("SELECT * FROM a JOIN e USING (k) WINDOW = 5", streams)["e"].field("k").type == WHOLE


def test_a_stream_without_names_has_those_of_the_query() -> None:
    streams = {"a": Stream("a", TICKS), "e": Stream("e", pa.schema([("ts", NULL)]))}
    schemas = settled("SELECT E.w FROM a A, e E WHERE A.k = E.k AND E.TS > 5 WINDOW = 5", streams, ["e"])
    assert schemas == {"a": TICKS, "e": pa.schema([("ts", WHOLE), ("w", NULL), ("k", WHOLE)])}


@pytest.mark.parametrize("query", ["", "SELECT", "SELECT 'a", "DROP TABLE e", "SELECT 1; SELECT 2"])
def test_what_is_no_query_says_nothing(query: str) -> None:
    assert settled(query, {"e": Stream("e", EMPTY)})["e"].types == [ZONED, NULL, NULL]
