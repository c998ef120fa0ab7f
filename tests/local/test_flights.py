"""Departures of three airports in 2013: the same destination from several of them within an hour, known answers."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from anabranch import local
from anabranch.cli.main import main

DATA = Path(os.environ.get("ANABRANCH_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
FLIGHTS = DATA / "flights_nyc13" / "flights.csv.zip"
ROWS = {"EWR": 117_596, "JFK": 109_416, "LGA": 101_509}
PAIRS = "SELECT E.ts AS e, J.ts AS j FROM EWR E, JFK J WHERE E.dest = J.dest WINDOW = 1 HOUR"
TRIPLES = """\
SELECT E.dest AS dest, E.ts AS e, J.ts AS j, L.ts AS l
FROM EWR E, JFK J, LGA L
WHERE E.dest = J.dest AND J.dest = L.dest
WINDOW = 1 HOUR
"""

pytestmark = pytest.mark.skipif(not FLIGHTS.exists(), reason=f"there is no {FLIGHTS}; set ANABRANCH_DATA to its folder")


@pytest.fixture(scope="module")
def flights() -> dict[str, pa.Table]:
    """The departures of each airport in the order of their times; 24:00 is taken as 00:00 of the same date."""
    convert = pacsv.ConvertOptions(
        include_columns=["month", "day", "dep_time", "origin", "dest"],
        column_types={"dep_time": pa.int64()},
        null_values=["NA", ""],
    )
    with zipfile.ZipFile(FLIGHTS) as archive, archive.open("flights.csv") as file:
        table = pacsv.read_csv(file, convert_options=convert)
    table = table.filter(table["dep_time"].is_valid())
    month, day, clock = (table[name].to_numpy() for name in ("month", "day", "dep_time"))
    date = (np.datetime64("2013-01", "M") + (month - 1)).astype("M8[D]") + (day - 1)
    minutes = clock // 100 % 24 * 60 + clock % 100
    times = pa.array(date.astype("M8[us]") + minutes.astype("m8[m]"), pa.timestamp("us"))
    table = table.append_column("ts", times).select(["ts", "origin", "dest"]).sort_by("ts")
    return {airport: table.filter(pc.equal(table["origin"], airport)) for airport in ROWS}


def test_these_are_the_departures(flights: dict[str, pa.Table]) -> None:
    assert {airport: len(table) for airport, table in flights.items()} == ROWS


def test_pairs(flights: dict[str, pa.Table]) -> None:
    assert len(local.sql(PAIRS, flights)) == 100_993


def test_triples(flights: dict[str, pa.Table]) -> None:
    found = local.sql(TRIPLES, flights)
    assert len(found) == 67_110
    times = np.stack([found[name].to_numpy() for name in "ejl"])
    assert (times.max(axis=0) - times.min(axis=0)).max() == np.timedelta64(1, "h")
    assert min(pc.count_distinct(found[name]).as_py() for name in "ejl") > 10_000


def test_the_command_line(flights: dict[str, pa.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "q.sql", "--runtime", "local", "--output", "out.parquet", "--summary", "summary.json", "--quiet"]
    for airport, table in flights.items():
        pq.write_table(table, f"{airport}.parquet")
        words += ["--stream", f"{airport}={airport}.parquet"]
    Path("q.sql").write_text(TRIPLES, encoding="utf-8")
    assert main(words) == 0
    key = [(name, "ascending") for name in ("dest", "e", "j", "l")]
    assert pq.read_table("out.parquet").sort_by(key).equals(local.sql(TRIPLES, flights).sort_by(key))
    summary = json.loads(Path("summary.json").read_text("utf-8"))
    assert (summary["matches"], summary["rows"]) == (67_110, sum(ROWS.values()))
    assert summary["peak_tuples"] < sum(ROWS.values()) // 2  # a few batches, not the year
