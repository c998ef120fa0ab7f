"""What went wrong in a running query, in one line."""

from __future__ import annotations

import re

from pyspark.errors import PySparkException

from anabranch.core.errors import Refused


def told(error: PySparkException) -> Refused:
    """What went wrong in Spark, in one line: our own words if they are in it, else the first of Spark's."""
    text = str(error)
    ours = re.findall(r"anabranch\.core\.errors\.Refused: (.+)", text)
    if ours:
        what, _, hint = ours[-1].strip().partition("; ")
        return Refused(what, hint)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    conditions = [line for line in lines if re.match(r"(org\.apache\.spark|java)\.[\w.]+: ", line)]
    line = conditions[-1] if conditions else lines[0] if lines else type(error).__name__
    line = re.sub(r"^(\w+\.)+\w+: ", "", line)
    line = re.sub(r"^\[[\w.]+\] ", "", line)
    line = re.sub(r"\s*SQLSTATE: .*$", "", line).rstrip(".")
    what, _, hint = line.partition(". ")
    return Refused(what[:1].lower() + what[1:], hint)
