"""Every member of the join family has a page, and every option of its own is explained there."""

from dataclasses import fields
from pathlib import Path

import pytest

from anabranch.joins.family import member, names
from anabranch.joins.options import Options

PAGES = Path(__file__).resolve().parents[2] / "docs" / "algorithms"
SHARED = {each.name for each in fields(Options)}


@pytest.mark.parametrize("name", names())
def test_a_member_has_a_page(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {name}\n")
    for option in {each.name for each in fields(member(name).Options)} - SHARED:
        assert f"`{option}" in page, f"{option} is not explained"
