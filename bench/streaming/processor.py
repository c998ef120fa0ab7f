"""Processor time of a run and all its processes: what a neighbour on the machine does not change much."""

from __future__ import annotations

import os
import time
from pathlib import Path


def seconds() -> float:
    """Seconds of the processor so far, of all processes of this session: a run is one.

    Children that have ended are counted by those who waited for them.  Where the system
    does not tell, it is the time of this process alone.
    """
    if not Path("/proc/self/stat").exists():
        return time.process_time()
    mine, ticks = os.getsid(0), 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended since
        if int(fields[3]) == mine:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
