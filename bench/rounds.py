"""Measure points, each run in a fresh process, contenders taking turns; then hold their answers together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.answer import Answer
from bench.machine import ONE_THREAD, installed
from bench.result import BASE, Point, Result, Run
from bench.workload import Workload, contender, names

ROOT = Path(__file__).parent.parent
TINY = 0.001  # a scale at which a case costs nothing, to ask how it can be stated


@dataclass(frozen=True)
class Effort:
    """How often to measure, and for how long; a run longer than ``patience`` seconds is not repeated."""

    rounds: int = 5
    patience: float = 20.0
    limit: float = 600.0
    core: int | None = None
    scale: float = 1.0


def points(name: str, chosen: Workload, contenders: Sequence[str], scale: float) -> list[Point]:
    """Every variant of a workload by every contender that can take part, in each of its formulations."""
    found = []
    for variant, make in chosen.cases.items():
        tiny = make(TINY)
        for other in contenders:
            by = contender(other)
            if (chosen.by and other not in chosen.by) or not installed(by.package):
                continue
            if chosen.figures is not None:
                found += [Point(name, variant, other, "", scale)] if by.session else []
                continue
            found += [Point(name, variant, other, way, scale * by.scale) for way in by.formulations(tiny)]
    return found


def measured(wanted: Sequence[Point], effort: Effort, say: Callable[[str], None]) -> list[Result]:
    """All points, round by round; another one begins each round."""
    results = {point: Result(point) for point in wanted}
    for number in range(effort.rounds):
        turn = number % max(1, len(wanted))
        for point in (*wanted[turn:], *wanted[:turn]):
            result = results[point]
            if result.failure or (number and result.runs[0].wall > effort.patience):
                continue
            results[point] = after = with_one_more(result, effort)
            say(f"{point}: " + (after.failure or f"{after.runs[-1].cpu:.3f} s"))
    return list(results.values())


def with_one_more(result: Result, effort: Effort) -> Result:
    """The result after one more run, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        told = json.dumps({**asdict(result.point), "core": effort.core})
        command = [sys.executable, "-m", "bench.measure", told, str(out)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True,
                timeout=effort.limit, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return replace(result, failure=f"not finished after {effort.limit:.0f} s")
        if done.returncode or not out.exists():
            return replace(result, failure=f"failed: {_reason(done.stderr) or f'exit status {done.returncode}'}")
        read = json.loads(out.read_text("utf-8"))
    answer = Answer(**read.pop("answer")) if read["answer"] else read.pop("answer")
    return replace(result, runs=(*result.runs, Run(answer=answer, **read)))


def _reason(errors: str) -> str:
    """The last line that names an error, or the last line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception", "Refused"))]
    return ["", *lines[-1:], *named[-1:]][-1]


def unchecked(results: Iterable[Result], stated: Callable[[Point], Sequence[str]]) -> list[Point]:
    """A point for DuckDB wherever an answer was given by one contender alone."""
    by: dict[tuple[str, str, float], set[str]] = {}
    for result in results:
        if any(run.answer for run in result.runs):
            by.setdefault(result.point.case, set()).add(result.point.contender)
    alone = [Point(w, v, BASE, "", s) for (w, v, s), who in by.items() if who != {BASE} and len(who) == 1]
    return [replace(point, formulation=stated(point)[0]) for point in alone]


def disagreements(results: Iterable[Result]) -> list[str]:
    """A line for each case that has more than one answer."""
    answers: dict[tuple[str, str, float], dict[Answer, list[str]]] = {}
    for result in results:
        for answer in {run.answer for run in result.runs if run.answer}:
            answers.setdefault(result.point.case, {}).setdefault(answer, []).append(str(result.point))
    return [
        f"{case[0]}: " + "; ".join(f"{a.matches} matches, {a.checksum}: {', '.join(by)}" for a, by in told.items())
        for case, told in answers.items()
        if len(told) > 1
    ]


def contenders() -> list[str]:
    """All contenders, the base of the ratios first."""
    return sorted(names("contenders"), key=lambda name: name != BASE)
