"""The command line called in this process, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.streams import ONE, TWO, stream

from anabranch.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit status, and what it wrote to standard output and standard error."""

    status: int
    out: str
    err: str


Command = Callable[..., Ran]
Run = Callable[..., Ran]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """``anabranch`` with these words, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def called(*words: str) -> Ran:
        status = main(words)
        told = capsys.readouterr()
        return Ran(status, told.out, told.err)

    return called


@pytest.fixture
def run(command: Command) -> Run:
    """``anabranch run`` of a query over streams by name, ``one`` and ``two`` without any; no progress, no summary."""

    def called(query: str, *words: str, streams: Mapping[str, str] | None = None) -> Ran:
        if streams is None:
            streams = {"one": stream("one.parquet", ONE), "two": stream("two.parquet", TWO)}
        Path("query.sql").write_text(query, encoding="utf-8")
        given = [word for name, place in streams.items() for word in ("--stream", f"{name}={place}")]
        return command("run", "query.sql", *given, "--runtime", "local", *(words or ("--output", "out.parquet")))

    return called
