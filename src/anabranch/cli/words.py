"""Numbers as a sentence has them."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """``1 row``, ``2,000 rows``; *many* where it is not *one* with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
