"""The report of streams in steady state, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.streaming.rounds import Result, by_clock, by_processor
from bench.streaming.workload import Claim, Workload, contender

PREFACE = """\
Each run is a process of its own that reads the same Parquet files on two cores. Speed is input rows per second by the
clock; the seconds of the processor, of all processes of a run, stand beside it. On Spark a run's time is from the start
of the first measured batch to the end of the last one, the commits of state and progress included; an engine without
batches says below what its time is. Contenders take turns, and another one begins each round. Figures are medians, with
the least and the most in brackets; ratios are taken round by round, by the clock and, behind the stroke, by the
processor. Every run counts its matches and sums a checksum over their ids, which is held against DuckDB's over all
files; where that is not right, the matches of one more run, which is not measured, are compared one by one."""

HEADS = ("rows measured", "clock s", "processor s", "rows/s", "matches", "missing", "too many")


@dataclass(frozen=True)
class Measured:
    """A workload, its results, and what is wrong with them; ``absent`` says why a contender is not there."""

    name: str
    workload: Workload
    results: Sequence[Result]
    wrong: Sequence[str]
    absent: Mapping[str, str]


def report(all_measured: Sequence[Measured], about: Mapping[str, str], command: str) -> str:
    """The whole report; it begins with what is wrong, if anything is."""
    failed = [f"{measured.name}: {line}" for measured in all_measured for line in measured.wrong]
    lines = ["# Measurements of streams", ""]
    lines += ["**This run failed:**", "", *(f"- {line}" for line in failed), ""] if failed else []
    lines += [PREFACE, "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in about.items()]
    lines += [f"| command | `{command}` |"]
    for measured in all_measured:
        lines += ["", *_section(measured)]
    return "\n".join(lines) + "\n"


def summary(measured: Measured) -> list[str]:
    """The claims of a workload, one line each, where they can be looked at."""
    found = {result.contender: result for result in measured.results if result.runs}
    told = []
    for claim in measured.workload.claims:
        value = _value(claim, found)
        if value is not None:
            told.append(f"{'met' if value >= claim.at_least else 'NOT MET'}: {claim.text} (measured: {_number(value)})")
    return told


def _value(claim: Claim, found: Mapping[str, Result]) -> float | None:
    if not {claim.contender, claim.to or claim.contender} <= set(found):
        return None
    mine = found[claim.contender]
    return median(by_clock(mine, found[claim.to])) if claim.to else mine.speed


def _section(measured: Measured) -> list[str]:
    feed = measured.workload.feed
    lines = [
        f"## {measured.workload.title}",
        "",
        f"`{measured.name}`: {measured.workload.about} {feed.batches} batches, the first {feed.warm_up} to warm up.",
        "",
        "| "
        + " | ".join(["contender", *HEADS, *(f"x {contender(base).title}" for base in measured.workload.bases)])
        + " |",
        "|---|" + "--:|" * (len(HEADS) + len(measured.workload.bases)),
    ]
    lines += [_row(result, measured) for result in measured.results]
    notes = [f"- {_title(result, measured)}: {_note(result)}" for result in measured.results]
    notes += [f"- {contender(name).title} is not there: {why}" for name, why in measured.absent.items()]
    claims = [f"- {claim}" for claim in summary(measured)]
    return [*lines, "", *notes, *(["", *claims] if claims else [])]


def _row(result: Result, measured: Measured) -> str:
    who, bases = _title(result, measured), measured.workload.bases
    if not result.runs:
        return f"| {who} | {result.failure} |" + " |" * (len(HEADS) + len(bases) - 1)
    seen = result.checked
    found = {other.contender: other for other in measured.results if other.runs}
    cells = [
        f"{who}, {len(result.runs)} run{'s' if len(result.runs) > 1 else ''}",
        f"{result.runs[0].rows:,}",
        _spread([run.seconds for run in result.runs], ".1f"),
        _spread([run.worked for run in result.runs], ".1f"),
        _spread([run.speed for run in result.runs], ",.0f"),
        f"{result.runs[0].answer.matches:,}",
        *([f"{seen.missing:,}", f"{seen.surplus:,}"] if seen else ["0", "0"]),
        *(_against(result, found[base]) if base in found else "" for base in bases),
    ]
    return "| " + " | ".join(cells) + " |"


def _against(one: Result, other: Result) -> str:
    return f"{_spread(by_clock(one, other), '.3g')} / {median(by_processor(one, other)):.3g}"


def _note(result: Result) -> str:
    """How a contender was used, what it held, and why its matches may be fewer."""
    by = contender(result.contender)
    held = [
        f"{name[0].upper()}{name[1:]}: {_number(value)}."
        for run in result.runs[-1:]
        for name, value in run.figures.items()
    ]
    return " ".join([by.about, *held, *([by.loses] if result.checked and by.loses else [])])


def _title(result: Result, measured: Measured) -> str:
    scale = result.feed.rows / measured.workload.feed.rows
    return contender(result.contender).title + (f" (at {scale:g} of the size)" if scale != 1 else "")


def _spread(values: Sequence[float], form: str) -> str:
    return f"{median(values):{form}} ({min(values):{form}}-{max(values):{form}})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
