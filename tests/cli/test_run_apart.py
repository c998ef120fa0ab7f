"""Late and bad rows: set apart, counted, and never in the way of the others."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Run
from tests.cli.streams import BASE, LATE, MATCHES, ONE, QUERY, TWO, UTC_US, at, lines, rows, stream

OTHER = [(13, 1, 5.0), (20, 1, 6.0)]


def test_late_rows_stand_beside_the_output(run: Run) -> None:
    done = run(QUERY, streams={"one": stream("one.parquet", LATE), "two": stream("two.parquet", OTHER)})
    assert rows("out.parquet") == [(1, 2.0, 6.0), (1, 4.0, 6.0)]
    (late,) = lines("out.parquet.late.jsonl")
    assert list(late) == ["stream", "time", "lateness", "row"]
    assert (late["stream"], late["time"], late["lateness"]) == ("one", 14, 6)
    assert json.loads(late["row"]) == {"ts": 14, "k": 1, "v": 3.0}
    assert "one: 4 rows in, 1 late" in done.err
    assert "late rows are in out.parquet.late.jsonl" in done.err


def test_lateness_waits_for_them(run: Run) -> None:
    streams = {"one": stream("one.parquet", LATE), "two": stream("two.parquet", OTHER)}
    for lateness, late in ((5, True), (6, False)):
        run(QUERY, "--lateness", f"one={lateness}", "--output", "out.parquet", streams=streams)
        assert Path("out.parquet.late.jsonl").exists() == late  # the file of the run before goes
    assert (1, 3.0, 5.0) in rows("out.parquet")


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_late_rows_where_the_user_says(run: Run, ending: str) -> None:
    streams = {"one": stream("one.parquet", at(LATE), ts=UTC_US), "two": stream("two.parquet", at(OTHER), ts=UTC_US)}
    query = QUERY.replace("WINDOW = 5", "WINDOW = 5 SECONDS")
    run(query, "--late", f"late.{ending}", "--quiet", streams=streams)
    if ending == "parquet":
        (late,) = pq.read_table("late.parquet").to_pylist()
        assert (late["time"], late["lateness"]) == (BASE + timedelta(seconds=14), 6_000_000)
    else:
        assert Path(f"late.{ending}").read_text("utf-8").count("6000000") == 1


def test_files_that_were_asked_for_are_there(run: Run) -> None:
    run(QUERY, "--late", "late.csv", "--dead-letter", "dead.parquet", "--quiet")
    assert Path("late.csv").read_text("utf-8") == "stream,time,lateness,row\n"
    assert pq.read_table("dead.parquet").to_pydict() == {"stream": [], "reason": [], "row": []}


def test_without_an_output_they_are_counted(run: Run) -> None:
    done = run(
        QUERY, "--summary", "s.json", streams={"one": stream("one.parquet", LATE), "two": stream("t.parquet", OTHER)}
    )
    assert "1 late" in done.err
    assert not [name for name in os.listdir() if "late" in name]
    assert json.loads(Path("s.json").read_text("utf-8"))["late"] is None


ENDS = 2**63 - 1


def test_a_bad_time_in_parquet_stops_nothing(run: Run) -> None:
    bad = [*ONE[:2], (None, 1, 0.5), (ENDS, 1, 0.5), (-ENDS - 1, 1, 0.5), *ONE[2:]]
    done = run(QUERY, streams={"one": stream("one.parquet", bad), "two": stream("two.parquet", TWO)})
    assert done.status == 0
    assert rows("out.parquet") == sorted(MATCHES, key=repr)
    dead = lines("out.parquet.dead.jsonl")
    assert [list(line) for line in dead] == [["stream", "reason", "row"]] * 3
    assert [line["reason"] for line in dead] == [
        "time is NULL",
        *["time is at an end of int64, which stands for infinity"] * 2,
    ]
    assert json.loads(dead[0]["row"]) == {"ts": None, "k": 1, "v": 0.5}
    assert "one: 7 rows in, 3 bad" in done.err
    assert "bad rows are in out.parquet.dead.jsonl" in done.err


def test_an_absurd_instant_stops_nothing(run: Run) -> None:
    ones = {"k": [1] * 4, "v": [1.0] * 4}
    pq.write_table(pa.table({"ts": pa.array([0, -ENDS, None, 10_000_000]).cast(UTC_US), **ones}), "one.parquet")
    pq.write_table(
        pa.table({"ts": pa.array([2_000, 2**60, None, -(2**60)]).cast(pa.timestamp("ms")), **ones}), "two.parquet"
    )
    run(QUERY.replace("= 5", "= 5 SECONDS"), streams={"one": "one.parquet", "two": "two.parquet"})
    assert rows("out.parquet") == [(1, 1.0, 1.0)]
    outside = "time is outside the int64 microseconds"
    reasons = sorted((line["stream"], line["reason"]) for line in lines("out.parquet.dead.jsonl"))
    assert reasons == [
        ("one", "time is NULL"),
        ("one", "time is infinite"),
        ("two", "time is NULL"),
        ("two", outside),
        ("two", outside),
    ]


def test_rows_of_the_wrong_type_stop_nothing(run: Run) -> None:
    text = b"ts,k,v\n" + b"".join(b"%d,1,%d.5\n" % (i, i) for i in range(8))
    text += b"8,1\nx,1,2.5\n9,1,wrong\n10,\xff,1.5\n11,1,11.5\n"
    Path("one.csv").write_bytes(text)
    done = run("SELECT A.v AS v FROM one A, two B WINDOW = 0", streams={"one": "one.csv", "two": "one.csv"})
    assert done.status == 0
    assert [row[0] for row in rows("out.parquet")] == sorted((*(i + 0.5 for i in range(8)), 11.5), key=repr)
    dead = [line for line in lines("out.parquet.dead.jsonl") if line["stream"] == "one"]
    assert len(dead) == 4
    assert all(line["reason"] and line["row"] for line in dead)


def test_text_that_is_no_text_stops_nothing(run: Run) -> None:
    name = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")]
    )
    pq.write_table(pa.table({"ts": [1, 2, 3], "name": name}), "one.parquet")
    run("SELECT A.name AS name FROM one A, one B WINDOW = 0", streams={"one": "one.parquet"})
    assert rows("out.parquet") == [("a",), ("b",)]
    (dead,) = lines("out.parquet.dead.jsonl")
    assert "UTF-8" in dead["reason"]
    assert json.loads(dead["row"])["ts"] == 2


def test_json_lines_that_are_none_stop_nothing(run: Run) -> None:
    good = [json.dumps({"ts": i, "k": 1, "v": 1.0 * i}) for i in range(6)]
    Path("one.jsonl").write_text(
        "\n".join([*good, "{", "[1]", '{"ts": "no", "k": 1, "v": 1}']) + "\n", encoding="utf-8"
    )
    run("SELECT A.v AS v FROM one A, one B WINDOW = 0", streams={"one": "one.jsonl"})
    assert len(rows("out.parquet")) == 6
    assert len(lines("out.parquet.dead.jsonl")) == 3
