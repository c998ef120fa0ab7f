"""Standard streams that are closed, full or no text: one line where it can be told, and nothing lost."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from tests.cli.conftest import Command
from tests.cli.streams import ONE, QUERY, TWO, stream

FULL = Path("/dev/full")
COMMANDS = [
    ("run", "query.sql", "--runtime", "local", "--stream", "one=one.parquet", "--stream", "two=two.parquet"),
    ("explain", "query.sql", "--stream", "one=one.parquet", "--stream", "two=two.parquet"),
    ("explain", "query.sql", "--json", "--stream", "one=one.parquet", "--stream", "two=two.parquet"),
]
RUN, *_ = COMMANDS


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a query and its streams."""
    monkeypatch.chdir(tmp_path)
    Path("query.sql").write_text(QUERY, encoding="utf-8")
    stream("one.parquet", ONE)
    stream("two.parquet", TWO)


@pytest.fixture
def full() -> Iterator[TextIO]:
    """A place that takes nothing."""
    if not FULL.exists():
        pytest.skip(f"there is no {FULL}")
    with FULL.open("w", encoding="utf-8") as file:
        yield file


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: f"{words[0]} {words[2]}")
def test_output_is_full_or_closed(
    words: tuple[str, ...], command: Command, full: TextIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, why in ((full, "No space left on device"), (None, "it is closed")):
        monkeypatch.setattr(sys, "stdout", place)
        done = command(*words)
        assert (done.status, done.err) == (1, f"anabranch: standard output cannot be written: {why}\n")


def test_help_is_full(command: Command, full: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", full)
    assert command("--help").status == 1


def test_nobody_can_be_told(command: Command, full: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (full, None):
        monkeypatch.setattr(sys, "stderr", place)
        assert command(*RUN, "--output", "out.csv").status == 0
        assert Path("out.csv").read_text("utf-8").count("\n") == 4
        assert command("run", "none.sql").status == 1
        Path("out.csv").unlink()


def test_a_query_is_read_in_utf8(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, why in (
        (io.TextIOWrapper(io.BytesIO(b"SELECT '\xe9'"), "utf-8", "surrogateescape"), "is not UTF-8 at byte 8; save it"),
        (None, "is closed; name a file"),
    ):
        monkeypatch.setattr(sys, "stdin", place)
        done = command("run", "-", *RUN[2:])
        assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
        assert done.err.startswith(f"anabranch: standard input {why}")


def test_a_process_with_everything_closed() -> None:
    words = " ".join((sys.executable, "-m", "anabranch", *RUN, "--output", "out.csv"))
    assert subprocess.run(["sh", "-c", f"{words} <&- >&- 2>&-"], check=False).returncode == 0
    assert Path("out.csv").read_text("utf-8").count("\n") == 4
