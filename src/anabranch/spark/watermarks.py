"""Watermarks of inputs: read, and then taken out of the plan.

Time inside of a join is Anabranch's own, and its result carries a watermark of its own.
Spark refuses a second one on the way from a source to a sink, so the nodes that
``withWatermark`` put in are left out, unless an operator in between needs them: then
they stay, and the result carries none.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

NODE = "EventTimeWatermark"
NEED = (
    "Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "Distinct", "FlatMapGroupsInPandasWithState",
    "FlatMapGroupsWithState", "GlobalLimit", "Join", "TransformWithState", "TransformWithStateInPySpark",
)  # fmt: skip


def without_watermarks(frame: DataFrame) -> tuple[DataFrame, bool]:
    """The same rows without watermarks, and whether that could be done."""
    if not frame.isStreaming:
        return frame, True
    if not hasattr(frame, "_jdf"):
        return _over_connect(frame)
    plan = frame._jdf.queryExecution().analyzed()
    if not _has(plan):
        return frame, True
    if _needed(plan):
        return frame, False
    session = frame._jdf.sparkSession()
    java = frame.sparkSession._jvm
    assert java is not None
    bare = getattr(java.org.apache.spark.sql.classic, "Dataset").ofRows(session, _bare(plan, java))  # noqa: B009
    return type(frame)(bare, frame.sparkSession), True


def _children(plan: Any) -> list[Any]:
    children = plan.children()
    return [children.apply(i) for i in range(children.size())]


def _is(plan: Any, *names: str) -> bool:
    return plan.getClass().getSimpleName() in names


def _has(plan: Any) -> bool:
    return _is(plan, NODE) or any(map(_has, _children(plan)))


def _needed(plan: Any, above: bool = False) -> bool:
    """Whether a watermark lies below an operator that forgets by it."""
    if _is(plan, NODE) and above:
        return True
    return any(_needed(child, above or _is(plan, *NEED)) for child in _children(plan))


def _bare(plan: Any, java: Any) -> Any:
    if not _has(plan):
        return plan
    if _is(plan, NODE):
        return _bare(plan.child(), java)
    children = java.java.util.ArrayList()
    for child in _children(plan):
        children.add(_bare(child, java))
    buffer = java.scala.jdk.javaapi.CollectionConverters.asScala(children)
    return plan.withNewChildren(buffer.toIndexedSeq())


def _over_connect(frame: DataFrame) -> tuple[DataFrame, bool]:
    """A client of a remote Spark sees its own calls: those at the end of the chain are taken back."""
    plan = getattr(frame, "_plan", None)
    clean = True
    while plan is not None and type(plan).__name__ == "WithWatermark":
        plan = plan._child
        frame = type(frame)(plan, frame.sparkSession)
    inner = plan
    while inner is not None:
        clean = clean and type(inner).__name__ != "WithWatermark"
        inner = getattr(inner, "_child", None)
    return frame, clean
