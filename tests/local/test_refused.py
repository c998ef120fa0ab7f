"""What a program gives a session wrongly is refused in one line, and nothing has happened then."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from anabranch import local
from anabranch.core.errors import Refused

SCHEMA = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("v", pa.float64())])
TIMED = pa.schema([("id", pa.int64()), ("ts", pa.timestamp("us"))])
QUERY = "SELECT A.id AS i, B.id AS j FROM a A, b B WHERE A.id = B.id WINDOW = 50"
SECONDS = QUERY.replace("50", "50 SECONDS")


def batch(*rows: tuple[int, int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"id": i, "ts": t} for i, t in rows], schema=SCHEMA)


def started(query: str = QUERY, schema: pa.Schema = SCHEMA, **more: Any) -> local.Session:
    return local.start(query, {"a": schema, "b": schema}, **more)


def rows(tables: list[pa.Table]) -> list[dict[str, Any]]:
    return [row for table in tables for row in table.to_pylist()]


def refused(why: str, call: Callable[[], object]) -> None:
    with pytest.raises(Refused) as refusal:
        call()
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)


# -- a push is taken in whole or not at all ---------------------------------------------------

GOOD = batch((1, 1), (2, 5))
WRONG = [
    ("a batch of stream 'b' has string in column 'id'", pa.record_batch({"id": ["x"], "ts": [1]})),
    ("a batch of stream 'b' has no column 'id'; give every batch one schema", pa.record_batch({"ts": [1]})),
    ("a batch of stream 'b' has no column 'ts'", pa.record_batch({"id": [1]})),
    ("has two columns 'id'", pa.RecordBatch.from_arrays([pa.array([1])] * 3, names=["id", "id", "ts"])),
    ("the rows of stream 'b' are a list", [{"id": 1, "ts": 1}]),
]


@pytest.mark.parametrize(("why", "wrong"), WRONG, ids=[why for why, _ in WRONG])
def test_a_push_that_is_refused_can_be_repeated(why: str, wrong: object) -> None:
    session = started()
    refused(why, lambda: session.push({"a": GOOD, "b": wrong}, last=True))
    assert session.metrics.rows == 0
    assert rows(session.push({"a": GOOD, "b": GOOD})) == [{"i": 1, "j": 1}, {"i": 2, "j": 2}]
    assert [stream.late for stream in session.metrics.streams.values()] == [0, 0]


def test_a_stream_that_is_unknown_or_has_finished_holds_up_the_whole_push() -> None:
    session = started()
    refused("there is no stream 'c' in the query; it reads a, b", lambda: session.push({"a": GOOD, "c": GOOD}))
    refused("there is no stream 'c'", lambda: session.finish("a", "c"))
    session.finish("b")
    refused("the stream 'b' has finished", lambda: session.push({"a": GOOD, "b": GOOD}))
    session.push({"a": GOOD, "b": GOOD.slice(0, 0)})
    assert session.metrics.streams["a"].rows == 2


def test_a_column_that_nothing_reads_may_be_missing() -> None:
    session = started()
    assert rows(session.push({name: GOOD.select(["ts", "id"]) for name in "ab"})) == [
        {"i": 1, "j": 1},
        {"i": 2, "j": 2},
    ]


def test_rows_come_as_a_table_too() -> None:
    table = pa.Table.from_batches([batch((1, 1)), batch((2, 5))])
    assert len(rows(started().push({"a": table, "b": table}))) == 2


def test_a_session_that_failed_half_way_says_so() -> None:
    def odd(a: int, b: int) -> bool:
        raise KeyError(a)

    session = started(QUERY.replace("WINDOW", "AND odd(A.id, B.id) WINDOW"), functions={"odd": odd})
    refused("odd", lambda: session.push({"a": GOOD, "b": GOOD}))
    for call in (lambda: session.push({"a": GOOD}), lambda: session.heartbeat("a", 9), session.finish):
        refused("the session has failed before; start another", call)


# -- heartbeats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [2**70, -(2**70), 5.5, "2026-01-01", True, datetime(2026, 1, 1)], ids=repr)
def test_a_heartbeat_that_is_no_time_promises_nothing(wrong: Any) -> None:
    session = started()
    refused("the heartbeat of stream 'b' is ", lambda: session.heartbeat("b", wrong))
    assert rows(session.push({"a": GOOD, "b": GOOD})) == [{"i": 1, "j": 1}, {"i": 2, "j": 2}]


def test_a_heartbeat_may_be_a_datetime() -> None:
    session = started(SECONDS, TIMED)
    session.heartbeat("b", datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC))
    assert session.metrics.streams["b"].frontier == 5_000_000


# -- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["lateness", "idle"])
def test_lengths_of_time_are_checked(what: str) -> None:
    for schema, query, wrong in ((SCHEMA, QUERY, [-1, "5s", 1.5]), (TIMED, SECONDS, [-1, "-5s", "5", 1.5])):
        for value in wrong:
            options = local.Options(**{what: {"a": value}})  # type: ignore[arg-type]
            refused(f"the {what} of stream 'a'", lambda: started(query, schema, options=options))  # noqa: B023
    refused("there is no stream 'c'", lambda: started(options=local.Options(**{what: {"c": 1}})))  # type: ignore[arg-type]


def test_lateness_may_be_a_duration() -> None:
    session = started(SECONDS, TIMED, options=local.Options({"a": "5 seconds", "b": 5_000_000}))
    assert [frontier.lateness for frontier in session.frontiers.streams] == [5_000_000, 5_000_000]


# -- streams --------------------------------------------------------------------------------------

TABLE = pa.Table.from_batches([GOOD])
MISNAMED = [
    ("the streams 'a' and 'A' differ in case alone; names ignore case", {"A": TABLE}, {}),
    ("time names the stream 'typo', which is not given; there are a, b", {}, {"typo": "ts"}),
    ("the time of stream 'a' is 5; name a column: time={'a': 'ts'}", {}, {"a": 5}),
    ("the rows of stream 'a' are a dict; give a table or a data frame", {"a": {"id": [1], "ts": [1]}}, {}),
]


@pytest.mark.parametrize(("why", "more", "time"), MISNAMED, ids=[why for why, *_ in MISNAMED])
def test_streams_are_checked(why: str, more: dict[str, Any], time: dict[str, Any]) -> None:
    streams = {"a": TABLE, "b": TABLE, **more}
    refused(why, lambda: local.sql(QUERY, streams, time=time))
    if all(isinstance(table, pa.Table) for table in streams.values()):
        refused(why, lambda: local.start(QUERY, {name: table.schema for name, table in streams.items()}, time=time))


class Frame:
    """What data frames have in common."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def test_a_data_frame_is_a_table() -> None:
    assert local.sql(QUERY, {"a": Frame(TABLE), "b": TABLE}).to_pylist() == [{"i": 1, "j": 1}, {"i": 2, "j": 2}]


def test_a_data_frame_that_arrow_cannot_hold_is_refused() -> None:
    frame = pytest.importorskip("pandas", reason="pandas is not installed").DataFrame({"id": ["x", 1], "ts": [1, 2]})
    refused(
        "the rows of stream 'a' are nothing that Arrow can hold", lambda: local.sql(QUERY, {"a": frame, "b": TABLE})
    )
