"""Walks over expressions that stay within one SELECT, and the replacing of columns.

A column of a subquery belongs to that subquery's own FROM, so no walk enters one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from anabranch.plan.sql.names import Found, Scope

Write = Callable[[Found, exp.Column], exp.Expr]


def walk(node: exp.Expr) -> Iterator[exp.Expr]:
    """Every node of an expression, subqueries themselves but not what is inside them."""
    return node.walk(prune=lambda part: isinstance(part, exp.Query))


def columns(node: exp.Expr) -> list[exp.Column]:
    return [part for part in walk(node) if isinstance(part, exp.Column)]


def subqueries(node: exp.Expr) -> list[exp.Query]:
    return [part for part in walk(node) if isinstance(part, exp.Query)]


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The operands of the outermost ANDs; TRUE is none."""
    found: list[exp.Expr] = []
    pending = [node]
    while pending:
        part = pending.pop()
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, exp.And):
            pending += [part.right, part.left]
        elif not (isinstance(part, exp.Boolean) and part.this):
            found.append(part)
    return found


def resolve(node: exp.Expr, scope: Scope, write: Write) -> exp.Expr:
    """*node* with every column replaced by what *write* makes of its meaning in *scope*."""
    for column in columns(node):
        if not isinstance(column.this, exp.Star):
            node = swap(node, column, write(scope.find(column), column))
    return node


def swap(root: exp.Expr, old: exp.Expr, new: exp.Expr) -> exp.Expr:
    """*root* with *old*, a part of it, replaced in place; *new* itself if *old* is the root."""
    if old is root:
        if root.parent:
            root.replace(new)
        return new
    old.replace(new)
    return root


def with_fields(node: exp.Expr, fields: tuple[str, ...]) -> exp.Expr:
    """``node.field.field``."""
    for field in fields:
        node = exp.Dot(this=node, expression=exp.to_identifier(field, quoted=True))
    return node


def name_of(call: exp.Anonymous) -> str:
    return call.name.lower()
