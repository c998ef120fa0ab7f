"""The report: what was measured, on what, and against what it was held, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.machine import installed
from bench.result import Result, Run, base_of, ratios
from bench.workload import Workload, contender

PREFACE = """\
Each run is a process of its own on one core with one thread. Arrow tables in memory go in, an Arrow table of the
members' ids comes out. Import, compilation and a first run over 500 rows of each stream are told apart and not counted.
Contenders take turns, and another one begins each round. Figures are medians, with the least and the most in brackets.
Speed is input rows per second of processor time, so that a neighbour on the machine does not count; the clock's time
stands beside it. The ratio is to DuckDB's fastest formulation, taken round by round. Answers are held together by the
number of matches and a checksum over the ids; an answer that one contender alone gives is checked with DuckDB."""


@dataclass(frozen=True)
class Measured:
    """A workload and its results; ``texts`` are the formulations by contender and name."""

    name: str
    workload: Workload
    results: Sequence[Result]
    texts: Mapping[str, str]


def report(all_measured: Sequence[Measured], about: Mapping[str, str], command: str, failed: Sequence[str] = ()) -> str:
    """The whole report; it begins with what *failed*, if anything did."""
    packages = sorted({contender(r.point.contender).package for m in all_measured for r in m.results})
    wrong = ["", "**This run failed:**", "", *(f"- {line}" for line in failed)] if failed else []
    lines = ["# Measurements", *wrong, "", PREFACE, "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in about.items()]
    lines += [f"| {package.partition('.')[0]} | {installed(package)} |" for package in packages]
    lines += [f"| command | `{command}` |"]
    for measured in all_measured:
        lines += ["", *_section(measured)]
    return "\n".join(lines) + "\n"


def summary(measured: Measured) -> list[str]:
    """The claims of a workload, one line each."""
    told = []
    for claim in measured.workload.claims:
        value = claim.measured(measured.results)
        if value is not None:
            told.append(f"{'met' if claim.holds(value) else 'NOT MET'}: {claim.text} (measured: {_number(value)})")
    return told


def _section(measured: Measured) -> list[str]:
    workload = measured.workload
    lines = [f"## {workload.title}", "", f"`{measured.name}`: {workload.about}", ""]
    lines += _figures(measured) if workload.figures else _speeds(measured)
    if claims := summary(measured):
        lines += ["", *(f"- {claim}" for claim in claims)]
    if measured.texts:
        lines += ["", "<details><summary>The queries</summary>"]
        for name, text in measured.texts.items():
            lines += ["", f"{name}:", "```sql", text, "```"]
        lines += ["</details>"]
    return lines


def _speeds(measured: Measured) -> list[str]:
    lines = [
        "| contender | rows in | matches | processor s | clock s | rows/s | x DuckDB | import s | first run s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for result in measured.results:
        if not result.runs:
            lines.append(f"| {_who(result)} | {result.failure} |" + " |" * 7)
            continue
        run = result.runs[0]
        base = base_of(measured.results, result.point.variant)
        cells = [
            _who(result),
            f"{run.rows:,}",
            f"{run.answer.matches:,}" if run.answer else "",
            _spread(result, lambda run: run.cpu),
            f"{result.middle(lambda run: run.wall):.2f}",
            f"{result.middle(lambda run: run.speed):,.0f}",
            _ratio(result, base) if base else "",
            f"{result.middle(lambda run: run.imports):.2f}",
            f"{result.middle(lambda run: run.warm_up):.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _figures(measured: Measured) -> list[str]:
    names = list(dict.fromkeys(name for result in measured.results for run in result.runs for name in run.figures))
    units = measured.workload.units
    lines = [
        "| " + " | ".join(["contender", *(f"{n}, {units[n]}" if n in units else n for n in names)]) + " |",
        "|---|" + "--:|" * len(names),
    ]
    for result in measured.results:
        cells = [_number(result.figure(name)) for name in names] if result.runs else [result.failure]
        lines.append("| " + " | ".join([_who(result), *cells]) + " |")
    return lines


def _who(result: Result) -> str:
    point = result.point
    extra = [part for part in (point.variant, point.formulation) if part]
    if point.scale != 1:
        extra.append(f"at {point.scale:g} of the size")
    name = contender(point.contender).title + (f" ({', '.join(extra)})" if extra else "")
    return f"{name}, {len(result.runs)} run{'s' if len(result.runs) > 1 else ''}" if result.runs else name


def _spread(result: Result, of: Callable[[Run], float]) -> str:
    values = [of(run) for run in result.runs]
    return f"{median(values):.3f} ({min(values):.3f}-{max(values):.3f})"


def _ratio(result: Result, base: Result) -> str:
    values = ratios(result, base)
    return f"{median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
