"""Anabranch: a stream database for multi-way window joins.

On Spark, ``sql`` and ``join`` make a DataFrame of DataFrames; ``status``, ``why``,
``late`` and ``dead`` ask a running query.  ``anabranch.local`` runs queries in this
process.  ``vectorized`` marks a Python function that a predicate calls with whole
columns.  Every mistake of the user's is a ``Refused``: one line that says what is
wrong and what would be right.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anabranch.core.errors import Refused

if TYPE_CHECKING:
    from anabranch.plan.functions import vectorized
    from anabranch.spark.builder import join
    from anabranch.spark.sql import Options, sql
    from anabranch.spark.status import dead, late, status, why
    from anabranch.spark.streams import stream

__all__ = ["Options", "Refused", "dead", "join", "late", "sql", "status", "stream", "vectorized", "why"]

_HOMES = {
    "vectorized": "anabranch.plan.functions",
    "join": "anabranch.spark.builder",
    "Options": "anabranch.spark.sql",
    "sql": "anabranch.spark.sql",
    "dead": "anabranch.spark.status",
    "late": "anabranch.spark.status",
    "status": "anabranch.spark.status",
    "why": "anabranch.spark.status",
    "stream": "anabranch.spark.streams",
}


def __getattr__(name: str) -> Any:
    """Load a part only when it is asked for: ``anabranch --help`` is instant, and Spark may be missing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'anabranch' has no attribute '{name}'")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("pyspark", "pandas", "google"):
            raise
        raise Refused(
            f"anabranch.{name} runs on Spark, and {missing.name} is not installed", "pip install 'anabranch[spark]'"
        ) from None
