"""One run: write the streams, let the driver run and be killed until all input is done, and judge what came out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from tests.faults.driver import END, PROMISE
from tests.faults.expected import expected
from tests.faults.faults import MARK, Hand, kill, obeys_modes, processes, reason, small_disk
from tests.faults.trial import KINDS, File, Trial, faults, together

from anabranch.core.ticks import FOREVER
from anabranch.testing.query import SECOND, schema
from anabranch.testing.tuples import table

ROOT = Path(__file__).parents[2]
STARTS = 20  # of the driver in one run; more would mean that it cannot go on
PATIENCE = 1_200  # seconds for all of them


@dataclass
class Report:
    """What a run was and what became of it."""

    run: Trial
    batches: int = 0
    matches: int = 0
    late: int = 0
    bad: int = 0
    ends: list[str] = field(default_factory=list)  # why the query ended before its end
    wrong: str = ""

    def __str__(self) -> str:
        line = (
            f"seed {self.run.seed}: {'WRONG' if self.wrong else 'right'}; {self.batches} batches,"
            f" {self.matches} matches, {self.late} late, {self.bad} bad; {self.run}"
        )
        return "\n".join([line, *(f"    started again: {end}" for end in self.ends), *self.wrong.splitlines()])


@dataclass
class Group:
    """Runs that share one Spark, and the faults that it has met."""

    reports: list[Report]
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    starts: int = 0
    wrong: str = ""

    def __str__(self) -> str:
        done = ", ".join(f"{kind} {count}" for kind, count in sorted(self.faults.items())) or "none"
        last = f"    {self.seconds:.0f} s, driver started {self.starts} times; faults: {done}"
        return "\n".join([*map(str, self.reports), last, *self.wrong.splitlines()])


def played(seeds: list[int], number: int, kinds: Sequence[str] = KINDS) -> Group:
    """Run the trials of these seeds; their folder is kept if something is wrong."""
    runs = together(seeds)
    group = Group([Report(run) for run in runs])
    began = time.monotonic()
    root = Path(mkdtemp(prefix=f"faults-{seeds[0]}-"))
    try:
        with ExitStack() as disks:
            folders, small = [], []
            for run in runs:
                folders.append(root / str(run.seed))
                folders[-1].mkdir()
                small.append(disks.enter_context(small_disk(folders[-1] / "disk", run.small)))
            disks.callback(_end, root.name)
            try:
                _drive(group, root, small, faults(Random(seeds[0]), number, kinds))
                for report in group.reports:
                    _judge(report, root / str(report.run.seed))
            except AssertionError as wrong:
                group.wrong = str(wrong)
            for report, folder in zip(group.reports, folders, strict=True):
                if report.wrong and report.run.small:
                    shutil.copytree(folder / "disk", folder / "disk-kept")
    finally:
        group.seconds = time.monotonic() - began
    if group.wrong or any(report.wrong for report in group.reports):
        group.wrong += f"\n    kept in {root}"
    else:
        shutil.rmtree(root, ignore_errors=True)
    return group


def _end(mark: str) -> None:
    """Let no process of the runs live on."""
    until = time.monotonic() + 20
    while (found := processes(mark)) and time.monotonic() < until:
        for pid in found:
            kill(pid)
        time.sleep(0.1)


def _drive(group: Group, root: Path, small: list[bool], planned: list[str]) -> None:
    """Start the driver until it comes to its end, with faults on the way."""
    inputs = [Input(report.run, root / str(report.run.seed)) for report in group.reports]
    seeds = [str(report.run.seed) for report in group.reports]
    hand = Hand(root.name, [each.folder for each in inputs], small, planned, Random())
    hand.thread.start()
    until = time.monotonic() + PATIENCE
    try:
        while not all((each.folder / "result.json").exists() for each in inputs):
            assert group.starts < STARTS, f"    the driver was started {STARTS} times, and is not done; kept in {root}"
            group.starts += 1
            with (root / f"driver-{group.starts}.log").open("wb") as log:
                driver = subprocess.Popen(
                    [sys.executable, "-m", "tests.faults.driver", str(root), *seeds],
                    cwd=ROOT, env=_environment(root), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    preexec_fn=obeys_modes,  # it calls the system and nothing else
                )  # fmt: skip
            hand.driver = driver
            while driver.poll() is None:
                assert time.monotonic() < until, f"    not done after {PATIENCE} s"
                time.sleep(0.05)
                for each in inputs:
                    each.lay()
            hand.driver = None
            if driver.returncode > 0:
                group.reports[0].ends.append(
                    "driver: " + reason((root / f"driver-{group.starts}.log").read_text("utf-8", "replace"))
                )
            for pid in processes(root.name, "driver"):
                kill(pid)  # what is left of a driver that was killed in part
    finally:
        hand.over.set()
        hand.thread.join()
        group.faults = hand.done
        if hand.driver is not None:
            hand.driver.kill()
            hand.driver.wait()
    assert hand.error is None, f"    the faults failed: {hand.error!r}"


@dataclass
class Input:
    """The files of a run, which come all at once or one round after another."""

    run: Trial
    folder: Path
    laid: int = 0

    def __post_init__(self) -> None:
        self.rounds = max(map(len, self.run.files.values()))
        self.pace = Random(self.run.seed).uniform(0.2, 2.0)
        while self.laid < (2 if self.run.live else self.rounds):
            self._lay()

    def lay(self) -> None:
        """Write the next round if it is time."""
        begun = (self.folder / "disk" / "checkpoint" / "offsets" / "0").exists()
        if self.laid < self.rounds and begun and time.monotonic() > self.after + self.pace:
            self._lay()

    def _lay(self) -> None:
        for stream, files in self.run.files.items():
            if self.laid < len(files):
                _write(self.run, self.folder / stream / f"{self.laid:04}.parquet", files, self.laid)
        self.laid, self.after = self.laid + 1, time.monotonic()
        if self.laid == self.rounds:
            (self.folder / "written").touch()


def _write(run: Trial, path: Path, files: Sequence[File], number: int) -> None:
    """One file, which is there at once."""
    file, scale = files[number], 1 if run.integer else SECOND
    first = sum(len(before.rows) for before in files[:number])
    rows = table(list(enumerate(file.rows, first)), schema(run.integer))
    mark = FOREVER if file.last else None if file.promise is None else file.promise * scale
    promises = pa.array([None] * len(rows) + ([] if mark is None else [mark]), pa.int64())
    columns = [pa.concat_arrays([c, pa.nulls(len(promises) - len(rows), c.type)]) for c in rows.columns]
    path.parent.mkdir(exist_ok=True)
    hidden = path.with_name(f".{path.name}")
    pq.write_table(pa.table([*columns, promises], names=[*rows.schema.names, PROMISE]), hidden)
    os.utime(hidden, (1_000_000 + number, 1_000_000 + number))
    hidden.replace(path)


def _environment(folder: Path) -> dict[str, str]:
    """The driver's, with a home of Spark in the run's folder: executors leave their files in it."""
    home = folder / "home"
    if not home.exists():
        home.mkdir()
        for place in Path(pyspark.__file__).parent.iterdir():
            (home / place.name).symlink_to(place)
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": path}
    return {**os.environ, **python, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", MARK: folder.name}


def _judge(report: Report, folder: Path) -> None:
    if (folder / "ends.log").exists():
        report.ends += [reason(end) for end in (folder / "ends.log").read_text("utf-8").split(END) if end]
    try:
        _compare(report, folder)
    except AssertionError as wrong:
        report.wrong = str(wrong)


def _compare(report: Report, folder: Path) -> None:
    run = report.run
    result: dict[str, Any] = json.loads((folder / "result.json").read_text("utf-8"))
    right = expected(run, folder / "disk" / "checkpoint")
    report.batches = len([event for event in right.case.events if hasattr(event, "arrivals")])
    report.matches, report.late, report.bad = len(right.matches), len(right.late), len(right.bad)
    found = Counter(tuple(match) for match in result["matches"])
    wanted = Counter(list(right.matches))
    assert found == wanted, f"    lost: {_some(wanted - found)}\n    too many: {_some(found - wanted)}"
    for what, rows in (("late", right.late), ("dead", right.bad)):
        apart, needed = _apart(folder, what), Counter(rows)
        assert apart == needed, f"    {what} lost: {_some(needed - apart)}\n    too many: {_some(apart - needed)}"
    assert not (folder / "differs.json").exists(), "    a batch that was repeated has other matches"
    heads = result["heads"]
    assert not any(head["chunks"] for head in heads), f"    rows are left in the state: {heads}"
    assert result["entries"] == len(heads), "    chunks are left in the state that no head knows"
    totals = {
        name: [sum(head[name][s] for head in heads) for s in range(len(run.files))] for name in ("rows", "late", "dead")
    }
    arrivals = right.case.arrivals
    assert totals["rows"] == [len(rows) for rows in arrivals.values()], f"    counted: {totals}"
    assert sum(totals["late"]) == report.late and sum(totals["dead"]) == report.bad, f"    counted: {totals}"
    assert sum(head["matches"] for head in heads) == report.matches, "    the state counts other matches"


def _apart(folder: Path, what: str) -> Counter[tuple[str, int]]:
    """The rows that were set apart, as anybody would read them."""
    files = [path for path in folder.glob(f"apart/*/{what}/*") if not path.name.startswith((".", "_"))]
    rows = [row for path in files for row in pq.read_table(path).to_pylist()]
    return Counter((row["stream"], json.loads(row["row"])["id"]) for row in rows)


def _some(bag: Counter[Any]) -> str:
    found = list(bag.elements())
    return f"{len(found)}" + (f", such as {found[:3]}" if found else "")
