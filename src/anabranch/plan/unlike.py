"""Columns that a condition must not compare: by bytes they are equal or not, by their type something else, or nothing.

The engine sees what a column is made of.  A runtime whose types say more (a collation,
under which ``a`` equals ``A``; a variant, of which two encodings are one value; a map,
whose entries have no order) names such columns, and conditions that would compare them
are refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.query import Join
from anabranch.plan.sql.kinds import spelled
from anabranch.plan.sql.names import place

COMPARISONS = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In,
)  # fmt: skip


def check_compared(join: Join, unlike: Mapping[tuple[str, str], tuple[str, str]]) -> None:
    """Refuse comparisons of the *unlike* columns, which are given by alias and name with what they are, and a hint."""
    for condition in join.where:
        for node in condition.find_all(*COMPARISONS):
            for column in node.find_all(exp.Column):
                what, hint = unlike.get((column.table, column.name), ("", ""))
                direct = any(part.unnest() is column for part in node.iter_expressions())
                if what and (direct or "collation" in what):
                    raise Refused(f"{spelled(column)} is {what}, by which a join cannot compare", hint, place(column))
