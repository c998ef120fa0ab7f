"""Play a feed with every contender, each run in a fresh process; then hold what was found to the truth.

Contenders take turns.  Where an answer is not right, one more run, which is not
measured, writes the matches down, so that they can be compared one by one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench.rounds import ROOT
from bench.streaming.environment import python
from bench.streaming.feed import Feed
from bench.streaming.measure import Order, found
from bench.streaming.truth import Truth
from bench.streaming.workload import Found, Play


@dataclass(frozen=True)
class Checked:
    """The run that was not measured: what it found, and what the truth says of its matches."""

    found: Found
    expected: int
    missing: int
    surplus: int


@dataclass(frozen=True)
class Result:
    """The runs of a contender, by round; ``failure`` says why there are no more."""

    contender: str
    feed: Feed
    runs: tuple[Found, ...] = ()
    checked: Checked | None = None
    failure: str = ""

    @property
    def speed(self) -> float:
        return median(run.speed for run in self.runs)


@dataclass(frozen=True)
class Site:
    """Where things lie: data, environments by contender, and how long a run may take, in seconds."""

    data: Path
    environments: Mapping[str, Path | None]
    limit: float


def once(result: Result, site: Site) -> Result:
    """The result after one more run that is measured."""
    with tempfile.TemporaryDirectory(dir=site.data) as work:
        done = _run(result, site, Path(work), None)
    return replace(result, failure=done) if isinstance(done, str) else replace(result, runs=(*result.runs, done))


def right(result: Result, truth: Truth) -> bool:
    """Whether all runs gave the right answer."""
    return all(run.answer == truth.answer(run.final) for run in result.runs)


def checked(result: Result, site: Site, truth: Truth) -> Result:
    """The result after a look at what is wrong, if anything is."""
    if result.failure or right(result, truth):
        return result
    with tempfile.TemporaryDirectory(dir=site.data) as work:
        kept = Path(work) / "matches"
        done = _run(result, site, Path(work), kept)
        if isinstance(done, str):
            return replace(result, failure=done)
        missing, surplus = truth.compared(kept, done.final)
    return replace(result, checked=Checked(done, truth.answer(done.final).matches, missing, surplus))


def by_clock(one: Result, other: Result) -> list[float]:
    """How much faster *one* is than *other*, by round."""
    return [a.speed / b.speed for a, b in zip(one.runs, other.runs, strict=False)]


def by_processor(one: Result, other: Result) -> list[float]:
    """The same for the work a row is to the processor."""
    return [(b.worked / b.rows) / (a.worked / a.rows) for a, b in zip(one.runs, other.runs, strict=False)]


def wrong(result: Result, truth: Truth, may_miss: bool) -> list[str]:
    """What is wrong with the answers of a contender, a line each; *may_miss* if it is known to lose matches."""
    told, seen = [result.failure] if result.failure else [], result.checked
    known = {seen.found.answer} if seen and may_miss and not seen.surplus else set()
    if seen and seen.found.answer not in known:
        told.append(f"{seen.missing} of {seen.expected} matches are missing, {seen.surplus} are too many")
    others = {run.answer for run in result.runs if run.answer not in {truth.answer(run.final), *known}}
    told += [f"{other.matches} matches, {other.checksum}, is not the right answer" for other in others]
    return [f"{result.contender}: {line}" for line in told]


def _run(result: Result, site: Site, work: Path, matches: Path | None) -> Found | str:
    """What a process of its own finds, or why it does not."""
    home = site.environments[result.contender]
    play = Play(result.feed, result.feed.folders(site.data), work, matches, home)
    out = work / "found.json"
    command = [str(python(home)), "-m", "bench.streaming.measure", Order(result.contender, play).text(), str(out)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            _, errors = process.communicate(timeout=site.limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # an engine may have processes of its own
            return f"not finished after {site.limit:.0f} s"
    if process.returncode or not out.exists():
        return f"failed: {_reason(errors) or f'exit status {process.returncode}'}"
    return found(out.read_text("utf-8"))


def _reason(errors: str) -> str:
    """The last line that names an error, or the last line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception"))]
    return ["", *lines[-1:], *named[-1:]][-1][:300]


def turns(wanted: Sequence[Result], rounds: int, play: Callable[[Result], Result]) -> list[Result]:
    """All contenders, round by round; another one begins each round."""
    results = {result.contender: result for result in wanted}
    order = list(results)
    for number in range(rounds):
        turn = number % max(1, len(order))
        for name in (*order[turn:], *order[:turn]):
            if not results[name].failure:
                results[name] = play(results[name])
    return list(results.values())
