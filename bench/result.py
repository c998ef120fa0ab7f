"""What was measured: points, their runs, and ratios between points.

A ratio is taken round by round and the median of those is told, so that a machine
that slows down for a while slows both sides of most pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.answer import Answer

BASE = "duckdb"


@dataclass(frozen=True)
class Point:
    """One workload, in one variant, at one scale, by one contender in one formulation."""

    workload: str
    variant: str
    contender: str
    formulation: str
    scale: float = 1.0

    @property
    def case(self) -> tuple[str, str, float]:
        """What two points that must give the same answer have in common."""
        return self.workload, self.variant, self.scale

    def __str__(self) -> str:
        parts = [self.workload, self.variant, self.contender, self.formulation]
        return " ".join(part for part in parts if part) + (f" (at {self.scale:g})" if self.scale != 1 else "")


@dataclass(frozen=True)
class Run:
    """One measurement in a process of its own; seconds of the processor and of the clock."""

    rows: int
    cpu: float
    wall: float
    imports: float
    warm_up: float
    answer: Answer | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def speed(self) -> float:
        """Rows a second of one core."""
        return self.rows / self.cpu


@dataclass(frozen=True)
class Result:
    """The runs of a point, by round; ``failure`` says why there are no more."""

    point: Point
    runs: tuple[Run, ...] = ()
    failure: str = ""

    def middle(self, of: Callable[[Run], float]) -> float:
        return median(of(run) for run in self.runs)

    def figure(self, name: str) -> float:
        return self.middle(lambda run: run.figures[name])


def ratios(one: Result, other: Result) -> list[float]:
    """How much faster *one* is than *other*, by round."""
    return [a.speed / b.speed for a, b in zip(one.runs, other.runs, strict=False)]


def base_of(results: Sequence[Result], variant: str = "") -> Result | None:
    """DuckDB's fastest result for a variant."""
    found = [r for r in results if r.runs and (r.point.contender, r.point.variant) == (BASE, variant)]
    return min(found, key=lambda r: r.middle(lambda run: run.cpu), default=None)


def speed_to_duckdb(contender: str, formulation: str = "") -> Callable[[Sequence[Result]], float | None]:
    """For a claim: the ratio of a contender's speed to DuckDB's, in this formulation or in its fastest."""

    def measured(results: Sequence[Result]) -> float | None:
        mine = [r for r in results if r.runs and r.point.contender == contender]
        if formulation:
            base = next((r for r in results if r.runs and r.point.formulation == formulation), None)
        else:
            base = base_of(results)
        if not mine or base is None:
            return None
        return max(median(ratios(result, base)) for result in mine)

    return measured


def variants(
    above: str, below: str, of: Callable[[Result], float], contender: str = "anabranch"
) -> Callable[[Sequence[Result]], float | None]:
    """For a claim: what *of* says of one variant, divided by what it says of another."""

    def measured(results: Sequence[Result]) -> float | None:
        found = {r.point.variant: r for r in results if r.runs and r.point.contender == contender}
        return of(found[above]) / of(found[below]) if above in found and below in found else None

    return measured


def figure(
    name: str, worst: Callable[..., float], variant: str | None = None
) -> Callable[[Sequence[Result]], float | None]:
    """For a claim: a figure of one variant, or the worst of all."""

    def measured(results: Sequence[Result]) -> float | None:
        asked = [r for r in results if r.runs and variant in (None, r.point.variant)]
        return worst((r.figure(name) for r in asked if name in r.runs[0].figures), default=None)

    return measured
