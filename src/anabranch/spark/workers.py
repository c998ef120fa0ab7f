"""Spark's Python workers: whether they have Anabranch, and what they do between tasks.

Spark starts ``python3`` for them unless it is told otherwise before the session begins,
and in a virtual environment that is another Python.

A worker collects garbage after every task, and the next task waits for that: 30 ms for
the 150,000 objects of the libraries that it has loaded, four times a batch and core.
"""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from functools import cache, lru_cache

from pyspark.sql import SparkSession

from anabranch.core.errors import Refused


def check_workers(spark: SparkSession) -> None:
    """Refuse a session on this machine whose workers could not import this package; elsewhere nobody can tell."""
    context = getattr(spark, "_sc", None)
    if context is None or not str(context.master).startswith("local"):
        return
    python = shutil.which(context.pythonExec) or str(context.pythonExec)
    if os.path.dirname(os.path.abspath(python)) == os.path.dirname(os.path.abspath(sys.executable)) or _knows(python):
        return
    raise Refused(
        f"Spark's Python workers are {python}, which has no anabranch",
        "before the session is made: os.environ['PYSPARK_PYTHON'] = sys.executable",
    )


@cache
def settled() -> None:
    """In a worker that has done its first work: no collection looks at what is loaded by now any more."""
    gc.freeze()


@lru_cache(maxsize=8)
def _knows(python: str) -> bool:
    try:
        done = subprocess.run([python, "-c", "import anabranch"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
