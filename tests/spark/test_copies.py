"""Copies of chunks on disk: whatever goes wrong with them, it is only slower; and they go when they are of no use."""

import os
from pathlib import Path
from typing import Any

from tests.spark.folders import lay, options, read, run

import anabranch as ab
from anabranch.spark import processor
from anabranch.spark.chunks import UNUSED, Copies, clear


def age(*files: Path) -> None:
    """As if nobody had used them for longer than they stay."""
    for file in files:
        at = file.stat().st_mtime - UNUSED - 1
        os.utime(file, (at, at))


def test_a_copy_that_cannot_be_kept_or_dropped_is_no_error(tmp_path: Path) -> None:
    copies = Copies(tmp_path)
    (tmp_path / "digest" / "in the way").mkdir(parents=True)
    copies.add("digest", b"rows")
    copies.drop("digest")
    assert copies.find("digest") is None
    assert [place.name for place in tmp_path.iterdir()] == ["digest"]


def test_copies_go_that_nobody_has_used_for_long(tmp_path: Path) -> None:
    stopped, running = Copies(tmp_path / "stopped"), Copies(tmp_path / "running")
    stopped.add("old", b"rows")
    for name in ("found", "lost", "new"):
        running.add(name, b"rows")
    age(*(tmp_path / name for name in ("stopped/old", "running/found", "running/lost")))
    assert running.find("found") is not None
    clear(tmp_path)
    assert sorted(place.name for place in tmp_path.rglob("*")) == ["found", "new", "running"]
    clear(tmp_path / "nothing")


def test_what_a_stopped_query_has_left_goes_when_another_one_begins(spark: Any, tmp_path: Path) -> None:
    def start(folder: Path) -> Path:
        streams = {name: read(spark, tmp_path, name) for name in "ab"}
        text = "SELECT A.id AS id FROM a A, b B WHERE A.id = B.id WINDOW = 5 SECONDS"
        return processor.copies() / str(run(ab.sql(spark, text, options(folder), **streams), folder).id)

    for name in "ab":
        lay(tmp_path, name, (1, 1), (2, 2))
    left = start(tmp_path / "first")
    assert list(left.rglob("*"))
    age(*(file for file in left.rglob("*") if file.is_file()))
    assert start(tmp_path / "second").exists()
    assert not left.exists()
