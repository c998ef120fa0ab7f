"""The pipeline of the documentation, as it stands there: a second run adds what is new."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.spark.folders import lay

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "pipelines.md"
QUIET = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}


def test_a_second_run_adds_only_the_new_matches(connect: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="a declarative pipeline needs more: pip install pyyaml")
    data = tmp_path / "data"
    written = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text("utf-8").replace("/data", str(data)), re.DOTALL))
    (tmp_path / "transformations").mkdir()
    (tmp_path / "transformations" / "matches.py").write_text(written["python"], "utf-8")
    (tmp_path / "spark-pipeline.yml").write_text(written["yaml"], "utf-8")
    name, *arguments = shlex.split(written["sh"])
    command = [str(Path(sys.executable).with_name(name)), *(f"--conf={key}={value}" for key, value in QUIET.items())]

    def run() -> tuple[list[tuple[int, float]], list[tuple[int, int]], int]:
        answer = subprocess.run(
            [*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, env=connect
        )
        assert answer.returncode == 0, (answer.stdout + answer.stderr)[-4_000:]
        tables = {name: pq.read_table(tmp_path / "spark-warehouse" / name) for name in ("matches", "by_order")}
        matches, by_order = ([tuple(row.values()) for row in each.to_pylist()] for each in tables.values())
        return sorted(matches), sorted(by_order), len(list((data / "pipeline").rglob("commits/[0-9]*")))

    lay(data, "orders", (1, 1), (2, 2))
    lay(data, "payments", (1, 2, 0.5), (3, 3, 0.5))
    assert run() == ([(1, 0.5)], [(1, 1)], 1)
    lay(data, "orders", (3, 4))
    lay(data, "payments", (2, 4, 1.5), (1, 4, 2.5))
    assert run() == ([(1, 0.5), (1, 2.5), (2, 1.5), (3, 0.5)], [(1, 2), (2, 1), (3, 1)], 2)
