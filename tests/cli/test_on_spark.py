"""The command line on Spark: a process of its own, since it has a session of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

QUERY = """
WITH met AS (
    SELECT A.k AS k, A.name AS name, B.ts - A.ts AS lag
    FROM one A, two B
    WHERE A.k = B.k
    WINDOW (A, B) BETWEEN 0 AND 5
)
SELECT name, count(*) AS n, max(lag) AS longest FROM met GROUP BY name ORDER BY name
"""


def anabranch(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "anabranch", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


def test_a_run_answers_as_the_local_runtime_does(tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text(QUERY, encoding="utf-8")
    (tmp_path / "one.csv").write_text("ts,k,name\n1,7,été\n2,8,b\n?,9,c\n4,7,été\n1,8,late\n9,9,z\n", encoding="utf-8")
    pq.write_table(pa.table({"ts": [3, 4, 6], "k": [7, 8, 7]}), tmp_path / "two.parquet")
    given = ["query.sql", "--stream", "one=one.csv", "--stream", "two=two.parquet", "--lateness", "one=3"]
    answers = {}
    for runtime in ("local", "spark"):
        out = ["--output", f"{runtime}.parquet", "--summary", f"{runtime}.json", "--runtime", runtime]
        done = anabranch(tmp_path, "run", *given, *out)
        assert done.returncode == 0, done.stderr
        assert f"bad rows are in {runtime}.parquet.dead.jsonl" in done.stderr
        answers[runtime] = pq.read_table(tmp_path / f"{runtime}.parquet").to_pylist()
        told = json.loads((tmp_path / f"{runtime}.json").read_text(encoding="utf-8"))
        assert (told["streams"]["one"]["rows"], told["streams"]["one"]["dead"], told["matches"]) == (6, 1, 5)
        assert "?" in (tmp_path / f"{runtime}.parquet.dead.jsonl").read_text(encoding="utf-8")
    assert answers["spark"] == answers["local"]
    assert answers["spark"][-1] == {"name": "été", "n": 3, "longest": 5}


def test_the_demonstration_is_exact(tmp_path: Path) -> None:
    script = (
        "from anabranch.cli import demo, road; from anabranch.cli.main import main;"
        "road.OBJECTS, road.LENGTH, demo.STEPS['spark'] = 900, 200 * road.SECOND, 60 * road.SECOND;"
        "raise SystemExit(main(['demo']))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert "none is missing, none is extra" in done.stdout
    assert (tmp_path / "anabranch-demo" / "query.sql").exists()
