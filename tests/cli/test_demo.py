import io
import shlex
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from anabranch import local
from anabranch.cli import demo, road
from anabranch.cli.main import main
from anabranch.cli.watch import View, blocks


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A road with less traffic, and a folder to work in."""
    monkeypatch.setattr(road, "OBJECTS", 900)
    monkeypatch.setattr(road, "LENGTH", 200 * road.SECOND)
    monkeypatch.chdir(tmp_path)


def commands(printed: str) -> Iterator[list[str]]:
    """The commands that are shown to be tried."""
    for part in printed.replace("\\\n", " ").splitlines():
        if part.startswith("    anabranch "):
            yield shlex.split(part)[1:]


def test_the_answer_is_exact_and_can_be_had_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--runtime", "local", "--folder", "a road"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(road.QUERY)
    assert "waiting for camera3" in printed
    assert "too late: kept apart and counted" in printed
    assert "none is missing, none is extra" in printed
    found = int(printed.split("exact: all ")[1].split(" ")[0].replace(",", ""))
    assert found > 300
    more = int(printed.split("there are ")[1].split(" ")[0].replace(",", ""))
    (command,) = commands(printed)
    assert "camera2=40s" in command
    assert main(command) == 0
    matches = (Path("a road") / "matches.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(matches) == found + more


def test_a_seed_is_one_road(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(seed: int) -> str:
        assert main(["demo", "--runtime", "local", "--seed", str(seed), "--folder", "road"]) == 0
        return capsys.readouterr().out

    first = printed(7)
    assert pq.read_table("road/camera2.parquet").schema == road.SCHEMA
    assert printed(7) == first
    assert printed(8) != first


def test_a_wrong_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "definition", lambda group, windows: iter(()))
    assert main(["demo", "--runtime", "local"]) == 1
    assert "the answer is wrong: 0 matches are missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seconds", "nan"], "argument --seconds: 'nan' is no length of time; write 12"),
        (["--seconds", "soon"], "argument --seconds: 'soon' is no length of time; write 12"),
        (["--seed", "-1"], "argument --seed: '-1' is no whole number from 0 on; write 1"),
        (["--folder", ""], "argument --folder: the name is empty"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", *arguments])
    assert end.value.code == 2
    assert words in capsys.readouterr().err


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["demo", "--folder", "file"]) == 1
    assert "the folder 'file' cannot be made" in capsys.readouterr().err


def test_the_view_names_who_holds_the_others_back() -> None:
    streams = road.road(1)
    session = local.start(road.QUERY, dict.fromkeys(streams, road.SCHEMA))
    out = io.StringIO()
    with View(Console(file=out, force_terminal=True, width=120)) as view:
        for name, arrivals in streams.items():
            session.push({name: arrivals.rows.slice(0, 50 if name == "camera3" else 100)})
        view.update(road.BEGIN + 60 * road.SECOND, session.metrics)
    line = next(line for line in out.getvalue().splitlines() if "holds the others back" in line)
    assert str(session.metrics.held_back_by) in line


def test_a_history_fits_its_place() -> None:
    assert blocks([]) == ""
    assert blocks([0, 1, 8]) == " ▁█"
    assert len(blocks(list(range(1_000)))) <= 56
