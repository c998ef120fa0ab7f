"""Measure one point in this process, which is new: ``python -m bench.measure POINT OUT``, both JSON.

The engine is imported and the query run over the first rows before anything is
measured, so that what is compiled is compiled; both times are told apart.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa

from bench import machine
from bench.answer import Answer
from bench.case import Case
from bench.result import Point, Run
from bench.workload import Contender, Workload, contender, workload

WARM_UP = 500  # rows of each stream


def measure(point: Point, chosen: Workload, by: Contender) -> Run:
    """One run of a point."""
    started = time.perf_counter()
    importlib.import_module(by.package)
    imports = time.perf_counter() - started
    case = chosen.cases[point.variant](point.scale)
    if chosen.figures is not None and by.session is not None:
        return replace(_figures(chosen, by, case), imports=imports)
    started = time.perf_counter()
    by.prepare(case.first(WARM_UP), point.formulation)()
    warm_up = time.perf_counter() - started
    run = by.prepare(case, point.formulation)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    table = run()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Run(case.rows, cpu, wall, imports, warm_up, Answer.of(table, list(case.streams)))


def _figures(chosen: Workload, by: Contender, case: Case) -> Run:
    assert chosen.figures is not None
    wall, cpu = time.perf_counter(), time.process_time()
    found, table = chosen.figures(by, case)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    answer = None if table is None else Answer.of(table, list(case.streams))
    return Run(case.rows, cpu, wall, 0.0, 0.0, answer, found)


def main() -> None:
    told = json.loads(sys.argv[1])
    machine.hold(told.pop("core"))
    pa.set_cpu_count(1)
    point = Point(**told)
    run = measure(point, workload(point.workload), contender(point.contender))
    Path(sys.argv[2]).write_text(json.dumps(asdict(run)), "utf-8")


if __name__ == "__main__":
    main()
