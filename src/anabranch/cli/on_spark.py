"""Parts of the Spark runtime, loaded by a command that asks for them; without pyspark, one line says what to do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from anabranch.core.errors import Refused


def on_spark(name: str) -> Any:
    """A module of ``anabranch.spark``."""
    try:
        return import_module(f"anabranch.spark.{name}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("anabranch"):
            raise
        raise Refused(
            f"the spark runtime needs {missing.name}, which is not installed",
            "pip install 'anabranch[spark]', or add --runtime local to run in this process",
        ) from None
