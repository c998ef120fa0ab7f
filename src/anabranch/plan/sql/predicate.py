"""WHERE and ON of a join: what may stand there.

A predicate is asked of candidates, tuple by tuple, so nothing may stand in it that
needs the whole: no aggregate, no subquery, no time of the finished match.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.query import MATCH_START, MATCH_TIME, Member
from anabranch.plan.sql.kinds import check_condition, of_type
from anabranch.plan.sql.names import UnknownFunction, meant, place
from anabranch.plan.sql.resolve import name_of

AGGREGATES = (exp.AggFunc, exp.Any)  # sqlglot reads Spark's any() as a quantifier
# aggregates of Spark that sqlglot does not know
OTHER_AGGREGATES = {"some", "every", "mean", "std", "try_sum", "try_avg", "histogram_numeric", "count_min_sketch"}
CHANGING = (
    exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.Localtimestamp, exp.Rand, exp.Randn, exp.Randstr,
    exp.Uniform, exp.Shuffle, exp.Uuid,
)  # fmt: skip
OTHER_CHANGING = {"now", "monotonically_increasing_id"}

DEEPEST = 100  # Python compiles no more than 200 brackets within each other


def check_predicate(node: exp.Expr, functions: Mapping[str, str]) -> None:
    """Refuse what no predicate of a join may hold; *functions* are the user's, by lower-case name."""
    _check_depth(node)
    for part in node.walk():
        if isinstance(part, exp.Query):
            raise Refused(
                "a subquery cannot stand in the condition of a join",
                "join its stream too, or filter the matches in an outer SELECT",
                place(part),
            )
        if isinstance(part, exp.Window):
            raise Refused("a window function cannot stand in WHERE or ON", "filter in an outer SELECT", place(part))
        if isinstance(part, AGGREGATES) or (isinstance(part, exp.Anonymous) and name_of(part) in OTHER_AGGREGATES):
            raise Refused(f"{_called(part)} is an aggregate and cannot stand in WHERE or ON", "use HAVING", place(part))
        if isinstance(part, CHANGING) or (
            isinstance(part, exp.Anonymous) and name_of(part) in OTHER_CHANGING - {*functions}
        ):
            raise Refused(
                f"the value of {_called(part)} changes while the query runs",
                "conditions take functions whose value does not; write the value, or give it as a column",
                place(part) or place(part.parent or node),
            )
        if isinstance(part, (exp.Placeholder, exp.Parameter, exp.SessionParameter)):
            raise Refused("the query has a parameter without a value", "write the value", place(part) or place(node))
        if isinstance(part, exp.UDTF):
            raise Refused("a condition makes no rows", "filter in an outer SELECT", place(part))
        if isinstance(part, exp.Star):
            raise Refused("* is no condition", "name a column", place(node))
        if isinstance(part, exp.Anonymous):
            _check_call(part, functions)


def check_kinds(node: exp.Expr, members: tuple[Member, ...]) -> None:
    """Refuse a resolved conjunct that mixes text and numbers, and the like."""
    types = {(member.alias, field.name): of_type(field.type) for member in members for field in member.stream.schema}
    check_condition(node, lambda column: types.get((column.table, column.name)))


def _check_call(call: exp.Anonymous, functions: Mapping[str, str]) -> None:
    name = name_of(call)
    if name in functions:
        call.set("this", functions[name])
        return
    if name in (MATCH_TIME, MATCH_START):
        raise Refused(
            f"{name}() is known only of a whole match",
            "bound the times by WINDOW, or filter in an outer SELECT",
            place(call),
        )
    hint = meant(name, functions.values(), "your functions are", functions.values())
    raise UnknownFunction(
        f"unknown function {name}()", hint or "conditions take Spark's functions and your own", place(call)
    )


def _check_depth(node: exp.Expr) -> None:
    """Refuse sums of hundreds of terms and the like; a chain of AND or of OR may be as long as it likes."""
    pending = [(node, 0)]
    while pending:
        part, depth = pending.pop()
        if depth > DEEPEST:
            raise Refused("a condition is nested too deeply", "compute a part of it in a Python function", place(part))
        deeper = 0 if isinstance(part, exp.Connector | exp.Paren) else 1
        pending += [(child, depth + deeper) for child in part.iter_expressions()]


def _called(node: exp.Expr) -> str:
    return f"{node.name if isinstance(node, exp.Anonymous) else node.sql_name().lower()}()"  # type: ignore[attr-defined]
