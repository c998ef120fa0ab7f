"""Copies of chunks on disk: whatever goes wrong with them, it is only slower."""

from pathlib import Path

from anabranch.spark.chunks import Copies


def test_a_copy_that_cannot_be_kept_or_dropped_is_no_error(tmp_path: Path) -> None:
    copies = Copies(tmp_path)
    (tmp_path / "digest" / "in the way").mkdir(parents=True)
    copies.add("digest", b"rows")
    copies.drop("digest")
    assert copies.find("digest") is None
    assert [place.name for place in tmp_path.iterdir()] == ["digest"]
