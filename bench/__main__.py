"""Measure against other engines and write the report; ``python -m bench --help`` says how.

Words choose workloads by name.  A word may also name a script below ``micro``, which
is then run as it is; ``micro`` names them all.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import machine
from bench.report import Measured, report, summary
from bench.result import Point
from bench.rounds import TINY, Effort, contenders, disagreements, measured, points, unchecked
from bench.workload import HERE, Workload, contender, names, workload


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description="Measure against other engines.")
    parser.add_argument("words", nargs="*", help="workloads (or scripts of micro) whose names contain one of these")
    parser.add_argument("--by", action="append", choices=contenders(), help="measure only these contenders")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each point (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=20, help="do not repeat a run that took longer, in seconds")
    parser.add_argument("--limit", type=float, default=600, help="give up a run after so many seconds")
    parser.add_argument("--scale", type=float, default=1, help="part of each workload's size (default: all of it)")
    parser.add_argument("--core", type=int, help="the core to run on (default: the last one)")
    parser.add_argument(
        "--report", type=Path, default=HERE / "REPORT.md", help="where to write it (default: %(default)s)"
    )
    return parser.parse_args()


def main() -> int:
    wanted = _arguments()
    scripts = [path for path in sorted((HERE / "micro").glob("*.py")) if _named(path.stem, wanted.words, "micro")]
    chosen = [name for name in names("workloads") if not wanted.words or _named(name, wanted.words, "workloads")]
    if not chosen and not scripts:
        print("nothing is called that; there are", ", ".join(_all_names()), file=sys.stderr)
        return 2
    failed = [path.stem for path in scripts if subprocess.run([sys.executable, str(path)], check=False).returncode]
    if chosen:
        failed += _compare(chosen, wanted)
    for line in failed:
        print(f"FAILED: {line}", file=sys.stderr)
    return 1 if failed else 0


def _named(name: str, words: Sequence[str], room: str) -> bool:
    return name in words or any(word in f"{room}/{name}" for word in words if word not in _all_names())


def _all_names() -> list[str]:
    """A word that is a name means that one, not all that contain it."""
    return [*names("workloads"), *names("micro")]


def _compare(chosen: Sequence[str], wanted: argparse.Namespace) -> list[str]:
    """Measure the workloads, write the report; what went wrong, a line each."""
    effort = Effort(wanted.rounds, wanted.patience, wanted.limit, wanted.core)
    about, failed, found = machine.about(), [], []
    missing = [name for name in contenders() if not machine.installed(contender(name).package)]
    if missing:
        print(f"not installed, and left out: {', '.join(missing)}", file=sys.stderr)
    for name in chosen:
        this = workload(name)
        results = measured(
            points(name, this, [c for c in contenders() if c in (wanted.by or contenders())], wanted.scale),
            effort,
            _say,
        )
        checks = measured(unchecked(results, lambda point, this=this: _stated(this, point)), Effort(1), _say)  # type: ignore[misc]
        failed += disagreements([*results, *checks])
        failed += [f"{result.point}: {result.failure}" for result in [*results, *checks] if result.failure]
        found.append(Measured(name, this, results, _texts(this)))
        for line in summary(found[-1]):
            print(f"{name}: {line}", flush=True)
    command = shlex.join(["python", "-m", "bench", *sys.argv[1:]])
    wanted.report.write_text(report(found, about, command, failed), "utf-8")
    print(f"the report is {wanted.report}")
    return failed


def _stated(this: Workload, point: Point) -> Sequence[str]:
    return tuple(this.cases[point.variant](TINY).duckdb)


def _texts(this: Workload) -> dict[str, str]:
    """The SQL of a workload's first case."""
    case = next(iter(this.cases.values()))(1.0)
    return {"Anabranch": case.anabranch, **{f"DuckDB, {name}": text for name, text in case.duckdb.items()}}


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
