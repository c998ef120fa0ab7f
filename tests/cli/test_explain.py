import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anabranch.cli import explain
from anabranch.core.errors import Refused

Run = Callable[..., str]

QUERY = "SELECT A.k AS k FROM a A, b B WHERE A.k = B.k AND A.v < B.v DWINDOW (A, B) = 5"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``anabranch explain`` with these arguments after the query; what it prints."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"ts": [1], "k": [2], "v": [3.0]})
    pq.write_table(table, "a.parquet")
    pq.write_table(table, "b.parquet")

    def printed(*arguments: str, query: str = QUERY) -> str:
        Path("query.sql").write_text(query, encoding="utf-8")
        parser = argparse.ArgumentParser()
        explain.configure(parser)
        given = ["query.sql", "--stream", "a=a.parquet", "--stream", "b=b.parquet", *arguments]
        assert explain.run(parser.parse_args(given)) == 0
        return capsys.readouterr().out

    return printed


def test_the_plan_is_a_tree(run: Run) -> None:
    lines = run("--rate", "A=200", "--lateness", "b=3").splitlines()
    assert lines[0] == "SELECT k"
    assert "   │  ├─ A: a, time ts" in lines
    assert "   │  │     kept for 8, when the streams are in step" in lines
    assert "   │  │     state about 1,600 tuples, 51.2 kB at 200 rows a unit of time (32 bytes a tuple)" in lines
    assert "   │  └─ B: b, time ts, up to 3 out of order" in lines


def test_the_plan_is_json(run: Run) -> None:
    plan = json.loads(run("--json", "--rate", "a=200", "--rate", "b=1"))
    (join,) = plan["joins"]
    assert plan["output"] == ["k"] and plan["not_local"] is None
    assert join["closed"] == [[0, 5], [0, 0]]
    assert [stream["life"] for stream in join["streams"]] == [5, 0]
    assert [stream["tuples"] for stream in join["streams"]] == [1_000, 0]
    assert [condition["place"] for condition in join["conditions"]] == ["key", "compiled"]
    assert [[step["stream"] for step in order] for order in join["arrivals"]] == [["B"], ["A"]]


def test_a_function_is_part_of_the_plan(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def near(x, y):\n    return abs(x - y) < 2\n", encoding="utf-8")
    query = "SELECT A.k AS k FROM a A, b B WHERE near(A.v, B.v) WINDOW = 5"
    assert "near(A.v, B.v): compiled" in run("--functions", "mine.py", query=query)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rate", "c=1"], "--rate names the stream 'c', which is not given; there are a, b"),
        (["--lateness", "a=3s"], "--lateness a=3s is no tick count"),
        (["--functions", "none.py"], "the functions file 'none.py' is no Python file"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, arguments: list[str], words: str) -> None:
    with pytest.raises(Refused) as refusal:
        run(*arguments)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT count(*) AS n FROM a A, b B WINDOW = 5 GROUP BY CUBE (A.k)", "the local runtime does not have cube()"),
        ("SELECT explode(split(A.k, ',')) AS x FROM a A, b B WINDOW = 5", "the local runtime does not have explode()"),
        ("SELECT current_timestamp() AS x FROM a A, b B WINDOW = 5", "does not have current_timestamp()"),
        (
            "SELECT A.k AS x FROM a A, b B WINDOW = 5 UNION ALL SELECT '1' AS x FROM a A, b B WINDOW = 5",
            "column 'x' of UNION ALL mixes bigint and string",
        ),
        ("SELECT row_number() OVER () AS x FROM a A, b B WINDOW = 5", "ROW_NUMBER() OVER () needs an order"),
        ("SELECT CAST(A.v AS STRING) AS x FROM a A, b B WINDOW = 5", "which Java does differently"),
    ],
)
def test_what_only_spark_can_select_is_explained(run: Run, query: str, why: str) -> None:
    said = run(query=query).splitlines()[1]
    assert said.startswith("│  on Spark, which may have what the local runtime refuses: line 1, column ")
    assert why in said and "documentation" not in said
    assert why in json.loads(run("--json", query=query))["not_local"]


def test_a_query_that_run_would_refuse_is_refused(run: Run) -> None:
    with pytest.raises(Refused, match="line 1, column"):
        run(query="SELECT A.k AS k FROM a A, b B WHERE A.k = B.k")
