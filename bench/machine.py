"""One core, one thread, and what to say about the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "PATHWAY_THREADS",
        "RAYON_NUM_THREADS",
    ),
    "1",
)


def hold(core: int | None) -> None:
    """Keep this process on one core, where the system can: this one, or the last that it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if core is None else core})


def installed(package: str) -> str:
    """The version of a package, empty if it is not there."""
    try:
        return version(package.partition(".")[0])
    except PackageNotFoundError:
        return ""


def about() -> dict[str, str]:
    """The machine, in a few words."""
    told = {"processor": _processor(), "cores": str(os.cpu_count()), "memory": _memory()}
    if hasattr(os, "getloadavg"):
        told["load, last minute"] = f"{os.getloadavg()[0]:.1f}"
    return {**told, "system": f"{platform.system()} {platform.machine()}", "Python": platform.python_version()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _memory() -> str:
    if not hasattr(os, "sysconf"):
        return "unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
