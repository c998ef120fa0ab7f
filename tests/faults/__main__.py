"""``python -m tests.faults --runs 50 --seed 1``: one line for each run, and a last one for all of them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.faults.runs import played
from tests.faults.trial import KINDS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; the others follow")
    parser.add_argument("--together", type=int, default=5, help="how many runs share one Spark and its faults")
    parser.add_argument("--faults", type=int, default=7, help="at most so many for runs that share a Spark")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of faults")
    given = parser.parse_args()
    faults: Counter[str] = Counter()
    wrong: list[int] = []
    seconds = 0.0
    seeds = list(range(given.seed, given.seed + given.runs))
    for first in range(0, len(seeds), given.together):
        group = played(seeds[first : first + given.together], given.faults, given.kinds)
        faults += group.faults
        seconds += group.seconds
        wrong += [report.run.seed for report in group.reports if report.wrong or group.wrong]
        sys.stdout.write(f"{group}\n")
        sys.stdout.flush()
    done = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.items()))
    sys.stdout.write(f"{given.runs} runs, {seconds / given.runs:.0f} s each; {done}; wrong: {wrong or 'none'}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
