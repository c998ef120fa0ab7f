"""The output columns of a SELECT: stars spelled out, and the name of each column.

A column is called by its alias, else by its own name or the last field's as the user wrote
it, else by its text.  Names ignore case and are all different.
"""

from __future__ import annotations

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.sql.names import Scope, place
from anabranch.plan.sql.resolve import name_of


def expanded(select: exp.Select, scope: Scope) -> list[exp.Expr]:
    """The projections of *select*, with stars as columns."""
    projections: list[exp.Expr] = []
    for projection in select.expressions:
        star = projection.this if isinstance(projection, exp.Column) else projection
        if not isinstance(star, exp.Star):
            projections.append(projection)
            continue
        for alias, name in _cells(projection, star, scope):
            column = exp.column(name, table=alias, quoted=True)
            column.meta["at"] = place(projection) or place(select)
            projections.append(column)
    return projections


def output_name(projection: exp.Expr, text: str) -> str:
    """What a projection is called in the output; *text* is the whole query's."""
    if isinstance(projection, exp.Alias):
        return projection.alias
    if isinstance(projection, exp.Aliases):
        raise Refused("a projection has one name here", "make it one column", place(projection))
    if isinstance(projection, exp.Column):
        return projection.name
    if isinstance(projection, exp.Dot) and isinstance(projection.expression, exp.Identifier):
        return projection.expression.name
    if isinstance(projection, exp.Anonymous) and name_of(projection) == "window":
        return "window"  # as in Spark
    start, end = projection.meta.get("span", (0, 0))
    return " ".join(text[start:end].split()) or projection.sql(dialect="spark")


def check_names(names: list[str], projections: list[exp.Expr]) -> None:
    """Refuse two columns of one name."""
    seen: set[str] = set()
    for name, projection in zip(names, projections, strict=True):
        if name.lower() in seen:
            hint = "give one of them another alias"
            if isinstance(projection, exp.Column) and projection.table:
                hint = f"alias one of them, such as {projection.table}.{name} AS {name}_{projection.table.lower()}"
            raise Refused(f"two output columns are called '{name}'", hint, place(projection))
        seen.add(name.lower())


def _cells(projection: exp.Expr, star: exp.Star, scope: Scope) -> list[tuple[str, str]]:
    alias = ""
    if isinstance(projection, exp.Column):
        if len(projection.parts) > 2:
            raise Refused("the star of a struct is not supported", "write its fields", place(projection))
        alias = projection.table
    if star.args.get("replace") or star.args.get("rename"):
        raise Refused("a star has no REPLACE or RENAME here", "write the columns", place(projection))
    cells = list(scope.star(projection, alias))
    for but in star.args.get("except_") or []:
        dropped = scope.find(but if isinstance(but, exp.Column) else exp.Column(this=but.copy()))
        cells = [cell for cell in cells if cell != (dropped.alias, dropped.column)]
    return cells
