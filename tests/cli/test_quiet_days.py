"""A day on which a stream brings nothing: the query that runs on other days runs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Command, Run
from tests.cli.streams import ONE, TWO, lines, rows, stream

QUERY = (
    "SELECT A.k AS k, B.ts - A.ts AS lag, B.v + 1 AS v, B.s AS s FROM one A, two B"
    " WHERE A.k = B.k AND abs(A.v - B.v) < 5 AND B.s > 'a' WINDOW = 5"
)
NOTHING = {
    "header.csv": "ts,k,v,s\n",
    "no-newline.csv": "ts,k,v,s",
    "nulls.csv": "ts,k,v,s\n10,,,\n11,,,\n",
    "untimed.csv": "ts,k,v,s\n,1,2.0,x\n",
    "bad.csv": "ts,k,v,s\n1,2\n3\n",
    "empty.jsonl": "",
    "blank.jsonl": "\n\n",
    "bad.jsonl": "{\n[]\n",
    "nulls.jsonl": '{"ts": 10, "k": null, "v": null, "s": null}\n',
}


@pytest.mark.parametrize("name", list(NOTHING))
def test_a_stream_without_values(run: Run, name: str) -> None:
    Path(name).write_text(NOTHING[name], "utf-8")
    done = run(
        QUERY,
        "--output",
        "out.parquet",
        "--lateness",
        "two=5",
        streams={"one": stream("one.pq.parquet", ONE), "two": name},
    )
    assert done.status == 0, done.err
    assert rows("out.parquet") == []
    assert pq.read_schema("out.parquet").names == ["k", "lag", "v", "s"]
    counted = {"untimed.csv": 1, "bad.csv": 2, "bad.jsonl": 2}.get(name, 0)
    assert len(lines("out.parquet.dead.jsonl")) == counted if counted else not Path("out.parquet.dead.jsonl").exists()


def test_explain_takes_it_too(command: Command) -> None:
    Path("two.csv").write_text("ts,k,v,s\n", "utf-8")
    Path("query.sql").write_text(QUERY, "utf-8")
    done = command("explain", "query.sql", "--stream", f"one={stream('one.parquet', ONE)}", "--stream", "two=two.csv")
    assert done.status == 0, done.err
    assert "key (looked up in an index" in done.out


def test_a_column_of_nulls_goes_with_everything_and_is_text_in_parquet(run: Run) -> None:
    Path("two.csv").write_text("ts,k,v,x,y,z\n" + "".join(f"{t},{k},{v},,,\n" for t, k, v in TWO), "utf-8")
    query = (
        "SELECT A.k AS k, B.x AS x, coalesce(B.x, A.v) AS c, upper(B.y) AS u FROM one A, two B"
        " WHERE A.k = B.k AND (B.z IS NULL OR B.z < A.v) WINDOW = 5"
    )
    streams = {"one": stream("one.parquet", ONE), "two": "two.csv"}
    done = run(query, streams=streams)
    assert done.status == 0, done.err
    assert rows("out.parquet") == [(1, None, 1.0, None), (2, None, 3.0, None), (2, None, None, None)]
    assert pq.read_schema("out.parquet").types == [pa.int64(), pa.string(), pa.float64(), pa.string()]


def test_an_empty_text_is_a_value(run: Run) -> None:
    Path("two.csv").write_text('ts,k,s\n4,1,""\n', "utf-8")
    done = run(
        "SELECT B.s AS s FROM one A, two B WHERE A.k = B.k WINDOW = 5",
        streams={"one": stream("one.parquet", ONE), "two": "two.csv"},
    )
    assert done.status == 0, done.err
    assert rows("out.parquet") == [("",)]
