"""The faults: processes of one run that are killed, and folders that cannot be written for a while.

A process belongs to a run if the run's mark is in its environment; executors and Python
workers inherit it from the driver.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

MARK = "ANABRANCH_FAULTS"
KINDS = {
    "executor": b"CoarseGrainedExecutorBackend",
    "python": b"pyspark.daemon",
    "driver": b"deploy.SparkSubmit",
}
DROP, DAC_OVERRIDE = 24, 1  # prctl's PR_CAPBSET_DROP, and the right of root to write whatever its mode says
SEALS = (
    "disk/checkpoint",
    "disk/checkpoint/state",
    "disk/checkpoint/commits",
    "disk/checkpoint/offsets",
    "apart",
    "out",
)


def processes(mark: str, kind: str = "") -> list[int]:
    """The living processes of a run, or those of one kind."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                ours = f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0")
                if ours and KINDS.get(kind, b"") in (place / "cmdline").read_bytes().replace(b"\0", b" "):
                    found.append(int(place.name))
            except OSError:
                continue  # it has ended
    return sorted(found)


def kill(pid: int) -> bool:
    """Kill one process now."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def obeys_modes() -> None:
    """In a child before it runs: root without the right to write where a mode forbids it."""
    if os.geteuid() == 0:
        ctypes.CDLL(None, use_errno=True).prctl(DROP, DAC_OVERRIDE, 0, 0, 0)


@contextmanager
def sealed(root: Path) -> Iterator[None]:
    """No file below a folder can be made, renamed or removed in this block."""
    modes: dict[Path, int] = {}
    for folder, _, _ in os.walk(root):
        try:
            modes[Path(folder)] = Path(folder).stat().st_mode
            Path(folder).chmod(0o555)
        except FileNotFoundError:
            modes.pop(Path(folder), None)
    try:
        yield
    finally:
        for place, mode in modes.items():
            place.chmod(mode)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Nothing more fits on a disk in this block."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def small_disk(place: Path, small: bool) -> Iterator[bool]:
    """A folder; a disk of 32 MB of its own, if it shall be small and this process may mount one."""
    place.mkdir()
    mounted = small and sys.platform == "linux" and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(place)], capture_output=True, check=False
    ).returncode  # fmt: skip
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=True)


@dataclass
class Hand:
    """Does faults one after another, at random moments of the batches of some runs."""

    mark: str
    folders: list[Path]
    small: list[bool]
    faults: list[str]
    dice: Random
    done: Counter[str] = field(default_factory=Counter)
    driver: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.over = threading.Event()
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            for fault in self.faults:
                if self.dice.random() < 0.8:
                    self._next_batch()
                if self.over.wait(self.dice.uniform(0, 1)) or not self._going():
                    return
                self._do(fault)
        except BaseException as error:  # noqa: BLE001  # whoever waits for the thread says it
            self.error = error

    def _going(self) -> list[int]:
        return [i for i, folder in enumerate(self.folders) if not (folder / "done").exists()]

    def _next_batch(self, patience: float = 30) -> None:
        """Wait until one more batch has begun."""
        before, until = self._batches(), time.monotonic() + patience
        while self._batches() <= before and time.monotonic() < until and self._going() and not self.over.wait(0.05):
            pass

    def _hold(self, at: int, patience: float = 15) -> None:
        """Wait until a run has noticed: it has failed, or gone on for some time in spite of it."""
        log, until = self.folders[at] / "ends.log", time.monotonic() + patience
        before = log.stat().st_size if log.exists() else 0
        while time.monotonic() < until and at in self._going() and not self.over.wait(0.1):
            if log.exists() and log.stat().st_size > before:
                break
        self.over.wait(self.dice.uniform(0, 3))

    def _batches(self) -> int:
        places = [folder / "disk" / "checkpoint" / "offsets" for folder in self.folders]
        return sum(name.isdigit() for place in places if place.exists() for name in os.listdir(place))

    def _do(self, fault: str) -> None:
        if fault == "sealed":
            going = self._going() or [0]
            at = self.dice.choice(going)
            place = self.folders[at] / self.dice.choice(SEALS)
            if self.small[at] and self.dice.random() < 0.7:
                with full(self.folders[at] / "disk"):
                    self.done["full"] += 1
                    self._hold(at)
            elif place.exists():
                with sealed(place):
                    self.done["sealed"] += 1
                    self._hold(at)
            return
        while not (found := processes(self.mark, fault)):  # a driver may just be starting
            if self.over.wait(0.2) or not self._going():
                return
        if fault == "driver":
            if self.driver is not None:
                self.driver.kill()
            killed = [kill(pid) for pid in found]
            self.done[fault] += any(killed)
        elif kill(self.dice.choice(found)):
            self.done[fault] += 1


def reason(text: str) -> str:
    """The line that says why a query or a process has ended."""
    lines = text.partition("=== Streaming Query ===")[0].strip().splitlines()
    telling = [line.strip() for line in lines if re.search(r"Error|Exception|Refused|refused|Assert|Lost", line)]
    return " ... ".join(dict.fromkeys(line[:250] for line in (telling[:1] + telling[-1:] or lines[-1:])))
