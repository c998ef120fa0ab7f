"""What is known on the driver of the queries that were planned here, by the name under which they report.

Each planning has a name of its own, since the same query may run twice, with other
lateness, or twice within a UNION ALL, where Spark takes a name once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from anabranch.spark.apart import Apart
from anabranch.spark.bucket import Shard

OBSERVED = "anabranch_"  # before the name of a join, in the progress of its query


@dataclass(frozen=True)
class Watched:
    """A join that may be running, and the session that planned it."""

    name: str
    spark: Any
    shard: Shard
    apart: Apart
    text: str


WATCHED: dict[str, Watched] = {}
_numbers = count()


def new_name(join: str) -> str:
    """A name under which one planning of a join reports."""
    return f"{OBSERVED}{join}_{next(_numbers)}"


def watch(watched: Watched) -> None:
    """Remember a join by its name."""
    WATCHED[watched.name] = watched
