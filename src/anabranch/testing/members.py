"""Members of the join family on timelines: their options at random, and which timelines they answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from anabranch.core.operator import Operator
from anabranch.core.program import Program
from anabranch.joins.family import Member
from anabranch.joins.options import Buckets, Options, Order, Ticks
from anabranch.testing.query import program
from anabranch.testing.strategies import COMPILED, timelines
from anabranch.testing.timeline import Case, timeline

SHAPES = {
    "uniform": "a-b-c 5",
    "path": "a-b 5, b-c 5",
    "star": "a-b 5, a-c 5",
    "ranges": "a 5, b 4, c 3",
    "graph": "a-b 5, a-b-c ..",
}  # one of each that ``strategies`` draws


def options(member: type[Member], aliases: Sequence[str]) -> st.SearchStrategy[Options]:
    """Any options that a member has, small enough to matter to a dozen tuples."""
    found = {name: _values(kind, aliases) for name, kind in get_type_hints(member.Options).items()}
    return st.builds(member.Options, **{name: values for name, values in found.items() if values is not None})


def _values(kind: Any, aliases: Sequence[str]) -> st.SearchStrategy[Any] | None:
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if kind is bool:
        return st.booleans()
    if kind is Ticks:
        return st.sampled_from([0, 1, 3, 10])
    if kind is int:
        return st.sampled_from([1, 2, 7, 10_000])
    if kind == Order:
        return st.one_of(st.just(()), st.permutations(aliases).map(tuple))
    if kind == Buckets:
        return st.dictionaries(st.sampled_from(["", *aliases]), st.sampled_from([1, 2, 5]), max_size=3)
    return None  # what is only text has to be tried in words


def answers(member: type[Member], case: Case) -> bool:
    """Whether a member takes part: what it cannot answer it refuses."""
    return member.refuses(program(case)) is None


def timelines_of(member: type[Member], crashes: bool = True) -> st.SearchStrategy[Case]:
    """Timelines with predicates and windows that a member answers, the latter as far as their shape alone tells."""
    predicates = [name for name in COMPILED if answers(member, timeline(f"a-b 5, where {name} | |"))]
    counts = answers(member, timeline("a-b 5, a#2, where same | |"))
    shapes = [shape for shape, each in SHAPES.items() if answers(member, timeline(f"{each}, where same | |"))]
    if not shapes:  # it joins two streams
        return timelines(predicates, crashes=crashes, counts=counts, most=2)
    return timelines(predicates, crashes=crashes, counts=counts, shapes=shapes)


def over(member: type[Member], chosen: Options) -> Callable[[Program], Operator]:
    """What makes an operator of a program."""
    return lambda program: member(program, chosen)


def prompt(member: type[Member], chosen: Options, case: Case) -> bool:
    """Whether matches come out with the tuple that completes them: no row waits for the frontiers to move."""
    streams = len(case.aliases)
    return member(program(case), chosen).gate([0] * streams) > 0
