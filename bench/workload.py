"""What a workload file and a contender file have to say; both are found by their place.

A workload module binds ``WORKLOAD``, a contender module ``CONTENDER``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bench.case import Case

if TYPE_CHECKING:
    from bench.result import Result

HERE = Path(__file__).parent
Run = Callable[[], pa.Table]


@dataclass(frozen=True)
class Contender:
    """An engine.  ``prepare(case, formulation)`` does what is not measured and returns what is.

    ``formulations(case)`` names the ways to state the case, none if it cannot be
    stated.  An engine that is too slow for a workload takes a part of it: ``scale``.
    ``session`` opens a join that is fed by hand, where there is such a thing.
    """

    title: str
    package: str
    prepare: Callable[[Case, str], Run]
    formulations: Callable[[Case], Sequence[str]] = lambda case: ("",)
    scale: float = 1.0
    session: Callable[[Case], Any] | None = None


@dataclass(frozen=True)
class Claim:
    """What the measurement is meant to show: ``measured`` finds it in the results, if they have it."""

    text: str
    measured: Callable[[Sequence[Result]], float | None]
    at_least: float | None = None
    at_most: float | None = None

    def holds(self, value: float) -> bool:
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)


@dataclass(frozen=True)
class Workload:
    """Cases by variant, each made at a scale; ``figures`` replaces the time of a whole join as what is measured.

    ``by`` names the contenders that take part, all if it is empty.
    """

    title: str
    about: str
    cases: Mapping[str, Callable[[float], Case]]
    by: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    figures: Callable[[Contender, Case], Mapping[str, Any]] | None = None
    units: Mapping[str, str] = field(default_factory=dict)


def names(room: str) -> list[str]:
    """The files of a room, by name."""
    return sorted(path.stem for path in (HERE / room).glob("*.py") if not path.stem.startswith("_"))


def workload(name: str) -> Workload:
    found = importlib.import_module(f"bench.workloads.{name}").WORKLOAD
    assert isinstance(found, Workload)
    return found


def contender(name: str) -> Contender:
    found = importlib.import_module(f"bench.contenders.{name}").CONTENDER
    assert isinstance(found, Contender)
    return found
