"""``anabranch run`` from the files that go in to the files that come out."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Command, Run
from tests.cli.streams import LATE, MATCHES, ONE, QUERY, TWO, at, lines, printed, rows, stream

# -- where rows go ------------------------------------------------------------------------


def test_parquet(run: Run) -> None:
    assert run(QUERY).status == 0
    assert rows("out.parquet") == sorted(MATCHES, key=repr)
    assert pq.read_schema("out.parquet") == pa.schema([("k", pa.int64()), ("a", pa.float64()), ("b", pa.float64())])
    assert sorted(os.listdir()) == ["one.parquet", "out.parquet", "query.sql", "two.parquet"]


def test_csv(run: Run) -> None:
    assert run(QUERY, "--output", "out.csv").status == 0
    with open("out.csv", encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file)
    assert header == ["k", "a", "b"]
    assert {(int(k), float(a) if a else None, float(b)) for k, a, b in found} == set(MATCHES)


def test_json_lines(run: Run) -> None:
    assert run(QUERY, "--output", "out.jsonl").status == 0
    assert {tuple(line.values()) for line in lines("out.jsonl")} == set(MATCHES)
    assert list(lines("out.jsonl")[0]) == ["k", "a", "b"]


def test_standard_output(run: Run) -> None:
    done = run(QUERY, "--quiet")
    header, *found = printed(done.out)
    assert header == ["k", "a", "b"]
    assert sorted(found) == [["1", "1.0", "5.0"], ["2", "3.0", "6.0"], ["2", "NULL", "8.0"]]
    assert done.err == ""


def test_standard_output_is_a_file_and_standard_error_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    done = run(QUERY, "--summary", "summary.json")
    assert len(printed(done.out)) == 4
    assert "\x1b" not in done.out
    assert "3 matches" in terminal.getvalue() and "NULL" not in terminal.getvalue()


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_no_rows_keep_their_columns(run: Run, ending: str) -> None:
    done = run(QUERY.replace("A.k = B.k", "A.k = B.k AND A.v > 100"), "--output", f"out.{ending}")
    assert done.status == 0
    text = Path(f"out.{ending}").read_bytes()
    assert text.strip() == {"csv": b"k,a,b", "jsonl": b""}.get(ending, text.strip())
    if ending == "parquet":
        assert pq.read_table("out.parquet").num_rows == 0
        assert pq.read_schema("out.parquet").names == ["k", "a", "b"]


def test_no_rows_as_a_table(run: Run) -> None:
    assert printed(run(QUERY + " AND WINDOW (A, B) < 1", "--quiet").out) == [["k", "a", "b"]]


def test_an_older_file_is_replaced(run: Run) -> None:
    Path("out.csv").write_text("something else\n" * 1_000, encoding="utf-8")
    run(QUERY, "--output", "out.csv")
    assert len(Path("out.csv").read_text(encoding="utf-8").splitlines()) == 4


def test_query_from_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = stream("one.parquet", ONE), stream("two.parquet", TWO)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(QUERY.encode())))
    done = command("run", "-", "--stream", f"one={one}", "--stream", f"two={two}", "--runtime", "local", "--quiet")
    assert (done.status, len(printed(done.out))) == (0, 4)


# -- streams ---------------------------------------------------------------------------------


def test_a_folder_is_one_stream(run: Run) -> None:
    os.mkdir("one")
    stream("one/b.parquet", ONE[2:])
    stream("one/a.parquet", ONE[:2])
    Path("one/_SUCCESS").write_text("", encoding="utf-8")
    run(QUERY, streams={"one": "one", "two": stream("two.parquet", TWO)})
    assert rows("out.parquet") == sorted(MATCHES, key=repr)


def test_a_csv_file_with_a_time_of_its_own(run: Run) -> None:
    text = "k,seen,v\n" + "".join(f"{k},{t.isoformat()},{'' if v is None else v}\n" for t, k, v in at(ONE))
    Path("one@home.csv").write_text(text, encoding="utf-8")
    two = stream("two.parquet", at(TWO), ts=pa.timestamp("ms"))
    query = QUERY.replace("SELECT", "SELECT A.seen AS seen, B.ts AS ts,").replace("= 5", "= 5 SECONDS")
    done = run(query, streams={"one": "one@home.csv@seen", "two": two})
    assert done.status == 0, done.err
    assert {row[2:] for row in rows("out.parquet")} == set(MATCHES)
    assert pq.read_schema("out.parquet").field("ts").type == pa.timestamp("ms")


def test_the_time_of_arrival(run: Run) -> None:
    streams = {"one": stream("one.parquet", ONE) + "@arrival", "two": stream("two.parquet", TWO) + "@arrival"}
    done = run(QUERY.replace("= 5", "= 1 DAY"), streams=streams)
    assert done.status == 0, done.err
    assert len(rows("out.parquet")) == sum(a[1] == b[1] for a in ONE for b in TWO)


def test_a_stream_that_the_query_does_not_read_is_not_read(run: Run) -> None:
    streams = {"one": stream("one.parquet", ONE), "two": stream("two.parquet", TWO), "three": stream("3.parquet", LATE)}
    run(QUERY, "--lateness", "three=5", "--summary", "s.json", "--quiet", streams=streams)
    assert set(json.loads(Path("s.json").read_text("utf-8"))["streams"]) == {"one", "two"}


# -- what is told ------------------------------------------------------------------------------


def test_the_summary(run: Run) -> None:
    done = run(QUERY, "--output", "out.csv", "--summary", "summary.json")
    assert "one: 4 rows in" in done.err
    assert "3 matches, 3 rows out to out.csv" in done.err
    assert re.search(r"^peak state [0-9]+ tuples, [0-9.]+ kB; ", done.err, re.MULTILINE)
    summary = json.loads(Path("summary.json").read_text("utf-8"))
    assert (summary["matches"], summary["rows_out"], summary["rows"]) == (3, 3, 9)
    assert summary["streams"]["two"]["rows"] == 5
    assert summary["streams"]["two"]["late"] == summary["streams"]["two"]["dead"] == 0
    assert summary["peak_tuples"] > 0 and summary["peak_bytes"] > 0
    assert (summary["late"], summary["dead_letter"]) == (None, None)


def test_quiet_says_nothing(run: Run) -> None:
    done = run(QUERY, "--quiet", "--output", "out.csv")
    assert (done.out, done.err) == ("", "")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["run"],
        ["run", "q.sql", "--runtime", "mars"],
        ["run", "q.sql", "--stream"],
        ["run", "q.sql", "--fast"],
    ],
    ids=" ".join,
)
def test_wrong_usage(command: Command, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command(*words)
    assert end.value.code == 2
    assert "usage: anabranch" in capsys.readouterr().err


# -- as a process ------------------------------------------------------------------------------


def process(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anabranch", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        **more,
    )


def test_a_process_answers(tmp_path: Path) -> None:
    one, two = stream(str(tmp_path / "one.parquet"), ONE), stream(str(tmp_path / "two.parquet"), TWO)
    (tmp_path / "q.sql").write_text(QUERY, encoding="utf-8")
    given = ["run", "q.sql", "--stream", f"one={one}", "--stream", f"two={two}", "--runtime", "local"]
    done = process(*given, cwd=tmp_path)
    assert done.returncode == 0
    assert len(printed(done.stdout)) == 4
    assert "3 matches, 3 rows out" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr  # no colours, no progress: this is no terminal


def test_a_process_refuses(tmp_path: Path) -> None:
    done = process("run", "none.sql", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("anabranch: the query file 'none.sql' does not exist")
    assert done.stderr.count("\n") == 1


def test_one_of_a_kind_is_told_as_one(run: Run) -> None:
    streams = {"one": stream("one.parquet", ONE[:1]), "two": stream("two.parquet", TWO[:1])}
    done = run(QUERY, "--output", "out.csv", streams=streams)
    assert done.err.startswith("one: 1 row in\ntwo: 1 row in\n1 match, 1 row out to out.csv\n")


def test_the_first_run_on_a_terminal_says_why_it_takes_long(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = "anabranch: compiling the join, once after an installation\n"
    for terminal, compiled, words in product((True, False), (True, False), ((), ("--quiet",))):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)  # noqa: B023
        monkeypatch.setattr("anabranch.core.cache.kernels", lambda: tmp_path if compiled else tmp_path / "none")  # noqa: B023
        done = command("run", "none.sql", "--runtime", "local", *words)
        assert done.err.startswith(said) == (terminal and not compiled and not words)


def test_names_are_told_as_they_are(run: Run) -> None:
    done = run(QUERY, "--output", "out[bold]:smile:[k].csv")
    assert "3 rows out to out[bold]:smile:[k].csv\n" in done.err


def test_a_value_does_not_command_the_terminal(run: Run) -> None:
    table = pa.table({"ts": [1], "k": ["a\tb\r\n\x1b[31m\x9b"]})
    pq.write_table(table, "one.parquet")
    query = "SELECT A.k AS k FROM one A, one B WINDOW = 0"
    assert run(query, "--quiet", streams={"one": "one.parquet"}).out.splitlines()[2] == r"a\tb\r\n\x1b[31m\x9b"
