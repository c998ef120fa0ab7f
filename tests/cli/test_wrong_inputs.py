"""What cannot be right ends in one line and exit status 1, wrong usage in 2, and leaves the folder as it was."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Command

GOOD = "SELECT A.k AS k FROM one A, two B WHERE A.k = B.k WINDOW = 5"
STREAMS = (
    "--stream",
    "one=one.parquet",
    "--stream",
    "two=two.parquet",
    "--stream",
    "at=at.parquet",
    "--stream",
    "wide=wide.parquet",
)
LOCAL = ("--runtime", "local")


def cases(file: str) -> Iterator[object]:
    for line in Path(__file__).with_name(file).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield pytest.param(*line.split(" | "), id=line.split(" | ")[0])


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the files that the table names."""
    ticks = pa.table({"ts": [1, 2, 3], "k": [7, 8, 9], "v": [0.5, 1.5, None], "s": ["a", "b", None]})
    files = {"one.parquet": ticks, "two.parquet": ticks, "untimed.parquet": ticks.drop(["ts"])}
    files["at.parquet"] = ticks.set_column(0, "ts", [[datetime(2024, 1, 1, tzinfo=UTC)] * 3])
    files["wide.parquet"] = pa.table({"ts": [1], "b": [b"x"], "d": pa.array([None], pa.decimal256(50, 2))})
    files |= {"mixed/a.parquet": ticks, "nested/a.parquet": ticks}
    files |= {"differ/a.parquet": ticks, "differ/b.parquet": ticks.drop(["v"])}
    texts = {
        "good.sql": GOOD, "empty.sql": " \n", "nul.sql": "SELECT \0", "mixed/b.csv": "ts\n1\n",
        "text.parquet": "ts,k\n1,2\n",
        "empty.parquet": "", "empty.csv": "", "raises.py": "raise RuntimeError('not\\ntoday')",
        "syntax.py": "def f(:\n",
        "exits.py": "import sys\nsys.exit('enough')\n",
    }  # fmt: skip
    for folder in ("folder", "folder.csv", "nothing", "mixed", "nested/deep", "differ", "locked"):
        (tmp_path / folder).mkdir(parents=True)
    for name, table in files.items():
        pq.write_table(table, tmp_path / name)
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "latin.sql").write_bytes("SELECT 'é'".encode("latin-1"))
    whole = (tmp_path / "one.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "spoiled.parquet").write_bytes(whole[:4] + bytes(64) + whole[68:])
    (tmp_path / "locked").chmod(0o500)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(p): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


@pytest.mark.parametrize(("wrong", "said"), list(cases("wrong_inputs.txt")))
def test_wrong(wrong: str, said: str, here: Path, command: Command) -> None:
    if "locked" in wrong and os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    if wrong.startswith("run "):
        words = tuple(shlex.split(wrong))
    elif wrong.startswith("--"):
        words = ("run", "good.sql", *STREAMS, *LOCAL, *shlex.split(wrong))
    else:
        (here / "wrong.sql").write_text(wrong, encoding="utf-8")
        words = ("run", "wrong.sql", *STREAMS, *LOCAL, "--output", "out.parquet")
    before = contents(here)
    done = command(*words)
    assert said in done.err
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("anabranch: ")
    assert done.err.count("\n") == 1
    assert contents(here) == before


@pytest.mark.parametrize(("wrong", "said"), list(cases("wrong_usage.txt")))
def test_wrong_usage(wrong: str, said: str, here: Path, command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(wrong)
    before = contents(here)
    with pytest.raises(SystemExit) as end:
        command(*(("run", "good.sql", *STREAMS, *LOCAL, *words) if wrong.startswith("--") else words))
    told = capsys.readouterr()
    assert (end.value.code, told.out) == (2, "")
    assert told.err.startswith("usage: anabranch ")
    assert said in told.err.splitlines()[-1]
    assert contents(here) == before
