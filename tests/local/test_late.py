"""What is set apart: late and bad rows, with their stream, how late they are, and the row."""

import json

import pyarrow as pa

from anabranch import local

SCHEMA = pa.schema([("ts", pa.int64()), ("id", pa.int64())])
QUERY = "SELECT A.id AS a, B.id AS b FROM a A, b B WINDOW = 5"


def apart(batches: list[list[int | None]], lateness: int = 0) -> tuple[list[tuple[int, int, int]], list[int]]:
    """(time, lateness, id) of the late rows and ids of the bad ones, when these times arrive in stream a."""
    late: list[tuple[int, int, int]] = []
    bad: list[int] = []
    options = local.Options(
        {"a": lateness},
        late=lambda rows: late.extend(
            (row["time"], row["lateness"], json.loads(row["row"])["id"]) for row in rows.to_pylist()
        ),
        dead=lambda rows: bad.extend(json.loads(row["row"])["id"] for row in rows.to_pylist()),
    )
    session = local.start(QUERY, {"a": SCHEMA, "b": SCHEMA}, options=options)
    start = 0
    for times in batches:
        ids = range(start, start + len(times))
        start += len(times)
        session.push({"a": pa.RecordBatch.from_arrays([pa.array(times, pa.int64()), pa.array(ids)], schema=SCHEMA)})
    return late, bad


def test_a_late_row_lags_behind_the_newest_that_came_before_it() -> None:
    assert apart([[10, 3, 20, 18, 19]], lateness=1) == ([(3, 7, 1), (18, 2, 3)], [])


def test_the_borders_of_batches_do_not_matter() -> None:
    assert apart([[10], [3], [20], [18], [19]], lateness=1) == apart([[10, 3, 20, 18, 19]], lateness=1)


def test_bad_rows_are_neither_late_nor_newest() -> None:
    assert apart([[10, None, 3, 2**63 - 1, 10]]) == ([(3, 7, 2)], [1, 3])


def test_the_lag_behind_the_other_end_of_the_axis() -> None:
    assert apart([[2**63 - 2, -(2**63) + 1]]) == ([(-(2**63) + 1, 2**63 - 1, 1)], [])
