"""What a workload file and a contender file have to say; both are found by their place.

A workload module binds ``WORKLOAD``, a contender module ``CONTENDER``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.answer import Answer
from bench.streaming.feed import Feed

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Play:
    """One run: the feed, the folder of each stream, one to work in, and the environment's own.

    Matches are counted and summed where they come out; they are written to ``matches``
    as Parquet, with a column of ids for each stream, only if it is given.
    """

    feed: Feed
    folders: Mapping[str, Path]
    work: Path
    matches: Path | None = None
    environment: Path | None = None


@dataclass(frozen=True)
class Found:
    """What a run found: its rows in steady state, their seconds, and the answer for the whole feed.

    ``seconds`` are those of the clock, ``worked`` those of the processor, of all processes.

    An engine that holds matches back until they are final says up to which tick its
    answer is complete: it has all matches whose newest member is at most ``final``, and
    no others.  None says that it has all.
    """

    rows: int
    seconds: float
    worked: float
    answer: Answer
    final: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def speed(self) -> float:
        """Rows a second by the clock."""
        return self.rows / self.seconds


@dataclass(frozen=True)
class Contender:
    """An engine: ``run`` plays a feed in a process of its own.

    ``about`` is for the report: how it was used.  ``loses`` says why matches may be
    missing in its answer; they are counted in the report and are no failure then.  An engine that cannot
    live beside the others names the packages and jars ``needs`` of an environment of its
    own.  One that is too slow takes a part of the feed: ``scale``.
    """

    title: str
    package: str
    run: Callable[[Play], Found]
    about: str
    loses: str = ""
    needs: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()
    scale: float = 1.0


@dataclass(frozen=True)
class Claim:
    """How many rows a second by the clock a contender is meant to take; with ``to``, how many times that one's."""

    text: str
    contender: str
    at_least: float
    to: str = ""


@dataclass(frozen=True)
class Workload:
    """A feed, what is claimed for it, and the contenders that the others are set against."""

    title: str
    about: str
    feed: Feed
    bases: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()


def names(room: str) -> list[str]:
    """The files of a room, by name."""
    return sorted(path.stem for path in (HERE / room).glob("*.py") if not path.stem.startswith("_"))


def workload(name: str) -> Workload:
    found = importlib.import_module(f"bench.streaming.workloads.{name}").WORKLOAD
    assert isinstance(found, Workload)
    return found


def contender(name: str) -> Contender:
    found = importlib.import_module(f"bench.streaming.contenders.{name}").CONTENDER
    assert isinstance(found, Contender)
    return found
