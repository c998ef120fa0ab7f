"""Which member of the join family answers a join: named by the user, or chosen here.

``eager(order=B A C, buckets=10)`` is a member and its options; ``auto`` leaves the choice
to the planner, which takes the operator of the house: no other does less work for one
tuple, whatever the windows and the predicate are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.core.program import Program
from anabranch.core.tally import Tally
from anabranch.joins.family import DEFAULT, Member, member
from anabranch.joins.options import read

AUTO = "auto"
HINT = "ALGORITHM"
WHY_AUTO = "one operator for all streams, no intermediate matches"
WHY_NAMED = "as the query says"


@dataclass(frozen=True)
class Algorithm:
    """A member by name, and its options as they were written."""

    name: str = AUTO
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> Algorithm:
        """``name`` or ``name(option=value, ...)``; refused where there is no such member."""
        name, bracket, rest = text.strip().partition("(")
        name = name.strip().lower()
        if name != AUTO:
            member(name)
        if bracket and not rest.rstrip().endswith(")"):
            raise Refused(f"the algorithm '{text}' has no closing bracket", f"write {name}(option=value, ...)")
        options = []
        for part in filter(str.strip, rest.rstrip().removesuffix(")").split(",")):
            option, equals, value = part.partition("=")
            if not equals:
                raise Refused(f"'{part.strip()}' is no option of {name}", f"write {name}(option=value, ...)")
            options.append((option.strip().lower(), value.strip()))
        if name == AUTO and options:
            raise Refused("auto has no options", "name an algorithm")
        return cls(name, tuple(options))

    def __str__(self) -> str:
        inside = ", ".join(f"{option}={value}" for option, value in self.options)
        return f"{self.member.name}({inside})" if inside else self.member.name

    @property
    def member(self) -> type[Member]:
        """The member that it comes to."""
        return member(DEFAULT if self.name == AUTO else self.name)

    @property
    def why(self) -> str:
        """Why this member."""
        return WHY_AUTO if self.name == AUTO else WHY_NAMED

    def operator(self, program: Program, integer_time: bool, tally: Tally | None = None) -> Member:
        """The member over a program; refused where it cannot answer it."""
        chosen: Any = self.member
        found: Member = chosen(program, read(chosen.Options, chosen.name, dict(self.options), integer_time), tally)
        return found


def hinted(select: exp.Select) -> Algorithm | None:
    """What ``SELECT /*+ ALGORITHM(name) */`` names; Spark's own hints mean nothing to a join of streams."""
    hint = select.args.get("hint")
    for each in hint.expressions if hint else []:
        text = each if isinstance(each, str) else each.sql()  # sqlglot leaves what is no list of arguments as it is
        name, bracket, rest = text.partition("(")
        if bracket and name.strip().upper() == HINT:
            return Algorithm.of(rest.rstrip().removesuffix(")").strip(" '"))
    return None
