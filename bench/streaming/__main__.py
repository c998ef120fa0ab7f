"""Measure joins of live streams and write the report; ``python -m bench.streaming --help`` says how.

Words choose workloads by name.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from bench import machine
from bench.rounds import ROOT
from bench.streaming.environment import Missing, environment
from bench.streaming.report import Measured, report, summary
from bench.streaming.rounds import Result, Site, checked, once, turns, wrong
from bench.streaming.truth import truth
from bench.streaming.workload import HERE, contender, names, workload


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.streaming", description="Measure joins of live streams.")
    parser.add_argument("words", nargs="*", help="workloads whose names contain one of these")
    parser.add_argument("--by", action="append", choices=names("contenders"), help="measure only these contenders")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contender (default: %(default)s)")
    parser.add_argument("--batches", type=int, help="batches of a run, those to warm up included")
    parser.add_argument("--scale", type=float, default=1, help="part of each feed's size (default: all of it)")
    parser.add_argument("--limit", type=float, default=1800, help="give up a run after so many seconds")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "streams", help="where feeds and state lie")
    parser.add_argument(
        "--report", type=Path, default=HERE / "REPORT.md", help="where to write it (default: %(default)s)"
    )
    return parser.parse_args()


def main() -> int:
    wanted = _arguments()
    chosen = [n for n in names("workloads") if not wanted.words or any(word in n for word in wanted.words)]
    if not chosen:
        print("nothing is called that; there are", ", ".join(names("workloads")), file=sys.stderr)
        return 2
    about, found = {**machine.about(), **_versions()}, []
    for name in chosen:
        found.append(_measured(name, wanted))
        for line in summary(found[-1]):
            print(f"{name}: {line}", flush=True)
    command = shlex.join(["python", "-m", "bench.streaming", *sys.argv[1:]])
    wanted.report.write_text(report(found, about, command), "utf-8")
    print(f"the report is {wanted.report}")
    failed = [f"{measured.name}: {line}" for measured in found for line in measured.wrong]
    for line in failed:
        print(f"FAILED: {line}", file=sys.stderr)
    return 1 if failed else 0


def _measured(name: str, wanted: argparse.Namespace) -> Measured:
    """One workload by all that can take part."""
    this = workload(name)
    feed = replace(this.feed, batches=wanted.batches or this.feed.batches).scaled(wanted.scale)
    site, absent = Site(wanted.data.absolute(), {}, wanted.limit), {}
    results = []
    for other in names("contenders"):
        if wanted.by and other not in wanted.by:
            continue
        try:
            home = environment(other, contender(other), ROOT / "build" / "environments")
        except Missing as why:
            absent[other] = str(why)
            print(f"left out: {other}: {why}", file=sys.stderr)
            continue
        site = replace(site, environments={**site.environments, other: home})
        results.append(Result(other, feed.scaled(contender(other).scale)))
    truths = {feed: truth(feed, feed.folders(site.data)) for feed in {result.feed for result in results}}

    def play(result: Result) -> Result:
        after = once(result, site)
        print(f"{name} {result.contender}: " + (after.failure or f"{after.runs[-1].speed:,.0f} rows/s"), flush=True)
        return after

    results = turns(results, wanted.rounds, play)
    results = [checked(result, site, truths[result.feed]) for result in results]
    faults = [line for r in results for line in wrong(r, truths[r.feed], bool(contender(r.contender).loses))]
    return Measured(name, replace(this, feed=feed), results, faults, absent)


def _versions() -> dict[str, str]:
    """Of what is measured in this environment, and of the Java below it."""
    packages = ("anabranch", "duckdb", "pyspark")
    return {package: machine.installed(package) for package in packages if machine.installed(package)}


if __name__ == "__main__":
    sys.exit(main())
