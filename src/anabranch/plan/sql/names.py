"""Names: which column of which stream a word of the query means.

Names ignore case, as in Spark, and resolve to the exact spelling of the schema under
the alias as written in FROM.  A word that means nothing is refused with what it may have
been meant to be; a word that means two things is refused always.

Cost: linear in the columns in scope, once for each word of the query.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.plan.sql.clauses import Place

_SHOWN = 8


class UnknownStream(Refused):
    """A name in FROM that no stream has."""


class UnknownFunction(Refused):
    """A call of what is neither Spark's nor the user's."""


@dataclass(frozen=True)
class Source:
    """Something with columns in FROM; *of* is the name that *alias* stands for."""

    alias: str
    columns: tuple[str, ...]
    of: str = ""


@dataclass(frozen=True)
class Found:
    """What a column reference means; *fields* lead into a struct."""

    alias: str
    column: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scope:
    """The sources of one FROM; *row* is what ``*`` stands for, with columns of USING once and first."""

    sources: tuple[Source, ...] = ()
    row: tuple[tuple[str, str], ...] = ()
    outer: Scope | None = None

    @classmethod
    def of(cls, source: Source) -> Scope:
        return cls((source,), tuple((source.alias, column) for column in source.columns))

    def beside(self, other: Scope, node: exp.Expr) -> Scope:
        """Both, as for a comma or JOIN ... ON."""
        for source in other.sources:
            if self.source(source.alias):
                raise Refused(
                    f"two streams of this FROM are called '{source.alias}'",
                    f"give each its own alias: {source.of or source.alias} {source.alias}2",
                    place(node),
                )
        return replace(self, sources=self.sources + other.sources, row=self.row + other.row)

    def using(self, other: Scope, names: Iterable[exp.Expr], node: exp.Expr) -> tuple[Scope, list[tuple[Found, Found]]]:
        """Both joined by USING, and the pairs of columns that must be equal."""
        pairs = []
        for name in names:
            column = exp.Column(this=name.copy())
            pairs.append((self.find(column), other.find(column)))
        keys = [(left.alias, left.column) for left, _ in pairs]
        dropped = {*keys, *((right.alias, right.column) for _, right in pairs)}
        both = self.beside(other, node)
        return replace(both, row=(*keys, *(cell for cell in both.row if cell not in dropped))), pairs

    def source(self, alias: str) -> Source | None:
        return next((source for source in self.sources if same(source.alias, alias)), None)

    def hits(self, column: exp.Column) -> list[Found]:
        """All that *column* may mean here; more than one is ambiguous."""
        parts = [part.name for part in column.parts]
        source = self.source(parts[0]) if len(parts) > 1 else None
        word = parts.pop(1 if source else 0)
        cells = [(source.alias, name) for name in source.columns] if source else self.row
        fields = tuple(parts[1:] if source else parts)
        return [Found(alias, name, fields) for alias, name in cells if same(name, word)]

    def knows(self, column: exp.Column) -> bool:
        """Whether *column* means anything, here or further out."""
        return bool(self.hits(column)) or (self.outer is not None and self.outer.knows(column))

    def find(self, column: exp.Column) -> Found:
        """What *column* means; refused where that is nothing, or more than one thing."""
        scope: Scope | None = self
        while scope and not scope.hits(column):
            scope = scope.outer
        if not scope:
            raise self._unknown(column)
        hits = scope.hits(column)
        if len(hits) > 1:
            word = column.parts[-1 - len(hits[0].fields)].name
            within = {hit.alias for hit in hits}
            raise Refused(
                f"column '{word}' is ambiguous" + (f" in {hits[0].alias}" if len(within) == 1 else ""),
                "names ignore case, and it has " + " and ".join(written(hit.column) for hit in hits)
                if len(within) == 1
                else "write " + " or ".join(written(hit.alias, hit.column) for hit in hits),
                place(column),
            )
        return hits[0]

    def star(self, star: exp.Expr, alias: str) -> tuple[tuple[str, str], ...]:
        """The columns of ``*`` (no alias) or ``alias.*``."""
        if not alias:
            return self.row
        source = self.source(alias)
        if not source:
            raise self._unknown_alias(alias, place(star))
        return tuple((source.alias, name) for name in source.columns)

    def _unknown(self, column: exp.Column) -> Refused:
        parts = [part.name for part in column.parts]
        at = place(column)
        if len(parts) > 1:
            source = self.source(parts[0])
            if not source:
                return self._unknown_alias(parts[0], at)
            names = [written(source.alias, name) for name in source.columns]
            return Refused(
                f"{source.of or source.alias} has no column '{parts[1]}'",
                meant(f"{source.alias}.{parts[1]}", names, f"{source.alias} has", list(map(written, source.columns))),
                at,
            )
        if same(parts[0], "match_time") or same(parts[0], "match_start"):
            return Refused(f"unknown column '{parts[0]}'", f"did you mean {parts[0].lower()}()?", at)
        names = list(dict.fromkeys(written(name) for _, name in self.row))
        return Refused(f"unknown column '{parts[0]}'", meant(parts[0], names, "the columns here are", names), at)

    def _unknown_alias(self, alias: str, at: Place | None) -> Refused:
        renamed = next((source for source in self.sources if same(source.of, alias)), None)
        if renamed:
            hint = f"{renamed.of} is called {renamed.alias} here"
        else:
            aliases = [source.alias for source in self.sources]
            hint = meant(alias, aliases, "the aliases here are", aliases)
        return Refused(f"unknown alias '{alias}'", hint, at)


def same(a: str, b: str) -> bool:
    """Whether two names are one."""
    return a.lower() == b.lower()


def written(*names: str) -> str:
    """Names with dots between them, in backticks where they need them."""
    return ".".join(
        name if name.isidentifier() and name.isascii() else f"`{name.replace('`', '``')}`" for name in names
    )


def place(node: exp.Expr) -> Place | None:
    """Line and column where *node* starts, as far as the parser noted it."""
    if "at" in node.meta:
        line, column = node.meta["at"]
        return line, column
    starts = []
    for part in node.walk():
        if "at" in part.meta:
            starts.append(part.meta["at"])
        elif part.meta.get("line"):
            starts.append((part.meta["line"], max(1, part.meta["col"] - part.meta["end"] + part.meta["start"])))
    return min(starts, default=None)


def meant(word: str, names: Collection[str], otherwise: str, listed: Collection[str]) -> str:
    """A hint: the name most like *word*, or what there is."""
    lower = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), lower, n=1, cutoff=0.7)
    if close:
        return f"did you mean {lower[close[0]]}?"
    shown = list(listed)[:_SHOWN]
    return f"{otherwise} {', '.join(shown)}" + (", ..." if len(listed) > _SHOWN else "") if shown else ""
