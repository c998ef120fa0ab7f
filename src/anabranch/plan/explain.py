"""What a query will do, as plain values: how each join looks tuples up, what it forgets, what it holds.

``explain`` reads the plan that a runtime would run and adds nothing of its own: the
orders and the record are those of the operator that would join,
and a tuple's life is a row of the closed matrix.  So an explanation is right when the
plan is, and it can be printed (``plan.outline``), compared, or written as JSON.

A SELECT list that the local runtime refuses is no mistake, since Spark may run it: it is
translated here as well, to say why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.core.program import Program
from anabranch.core.ticks import FOREVER, plus
from anabranch.joins.family import DEFAULT
from anabranch.joins.order import Order, Step
from anabranch.plan import translate
from anabranch.plan.feeds import Wish, feeds
from anabranch.plan.lower import Lowered
from anabranch.plan.query import MATCH_START, MATCH_TIME, Join, Member, Query, matches_column
from anabranch.plan.sql.differences import difference_bounds

TICKS_A_SECOND = 1_000_000


@dataclass(frozen=True)
class Expected:
    """What is known of the streams, by name: rows a second (a unit of integer time) and allowed lateness in ticks."""

    rates: Mapping[str, float] = field(default_factory=dict)
    lateness: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Condition:
    """A conjunct and its place: ``key``, ``filter``, ``compiled`` or ``candidates``; ``why`` is for the reader."""

    text: str
    streams: tuple[str, ...]
    place: str
    why: str
    window: bool  # whether it also bounds times


@dataclass(frozen=True)
class LookUp:
    """One step of an order: the stream, what finds its tuples, and the conditions that are tested then."""

    stream: str
    key: tuple[str, ...]  # equalities, "obj = A.obj"
    band: str | None  # the column whose range is read
    tested: tuple[str, ...]


@dataclass(frozen=True)
class Remembered:
    """One stream of a join and what it keeps; None is unknown, and ``bounded`` tells it from what never ends.

    ``life`` is how long a tuple is kept, in ticks, when all streams are in step: the
    greatest closed bound of its row, with the lateness of the stream that it is on.
    """

    alias: str
    stream: str
    time: str
    rows: int | None
    lateness: int
    sorted_by: str | None
    side: tuple[str, ...]
    record_bytes: int
    bounded: bool
    life: int | None
    rate: float | None
    tuples: float | None
    bytes: float | None


@dataclass(frozen=True)
class Joined:
    """One join.  ``closed`` has None for no bound; ``implied`` marks bounds that no clause states."""

    name: str
    algorithm: str
    why: str
    integer_time: bool
    streams: tuple[Remembered, ...]
    conditions: tuple[Condition, ...]
    closed: tuple[tuple[int | None, ...], ...]
    implied: tuple[tuple[bool, ...], ...]
    arrivals: tuple[tuple[LookUp, ...], ...]
    ordered_by_size: bool
    fixed: bool  # whether the order never changes, and tuples hang in lists: all members of the family but the default
    buckets: str  # which rows go where on Spark, and why


@dataclass(frozen=True)
class Explanation:
    """A whole query; ``select`` is ``plain``, ``batch`` or ``end``: when and how rows of the answer are made.

    ``not_local`` is what the local runtime says of a SELECT list that it refuses.
    """

    output: tuple[str, ...]
    select: str
    not_local: str | None
    shell: str
    joins: tuple[Joined, ...]

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def explain(query: Query, lowered: Sequence[Lowered], expected: Expected | None = None) -> Explanation:
    """The plan of *query*, whose joins are *lowered*."""
    select = "plain" if query.plain is not None else "end" if query.finite else "batch"
    joins = tuple(_joined(one, expected or Expected()) for one in lowered)
    return Explanation(query.output, select, _not_local(query), query.shell.sql(dialect="spark"), joins)


def _not_local(query: Query) -> str | None:
    """Why the local runtime does not have the SELECT list, in its own words, without what else to write."""
    if query.plain is not None:
        return None
    try:
        translate.select(query.shell, {join.name: _relation(join) for join in query.joins})
    except Refused as refusal:
        return str(Refused(refusal.what, at=refusal.at))
    return None


def _relation(join: Join) -> pa.Schema:
    """The columns of the matches of a join, as the SELECT list sees them."""
    streams = {member.alias: member.stream for member in join.members}
    fields = [streams[alias].schema.field(name).with_name(matches_column(alias, name)) for alias, name in join.columns]
    kind = pa.int64() if join.members[0].stream.integer_time else pa.timestamp("us", "UTC")
    return pa.schema([*fields, (MATCH_TIME, kind), (MATCH_START, kind)])


def _joined(lowered: Lowered, expected: Expected) -> Joined:
    program, members = lowered.program, lowered.join.members
    algorithm, integer = lowered.join.algorithm, members[0].stream.integer_time
    operator = algorithm.operator(program, integer)
    streams = tuple(_remembered(lowered, s, operator.record_bytes(s), expected) for s in range(program.n))
    sizes = [stream.tuples for stream in streams]
    known = [size + 1 for size in sizes if size is not None]
    chosen = operator.looked_up(known if len(known) == program.n else None)
    closed, given = program.windows.closed.tolist(), program.windows.given.tolist()
    return Joined(
        lowered.join.name,
        str(algorithm),
        algorithm.why,
        integer,
        streams,
        tuple(_condition(condition, lowered) for condition in lowered.join.where),
        tuple(tuple(None if ticks == FOREVER else ticks for ticks in row) for row in closed),
        tuple(tuple(a < b for a, b in zip(*rows, strict=True)) for rows in zip(closed, given, strict=True)),
        tuple(_look_ups(order, program, lowered) for order in chosen),
        len(known) == program.n and algorithm.member.name == DEFAULT,
        algorithm.member.name != DEFAULT,
        feeds(lowered, Wish(rates=expected.rates)).why,
    )


# -- streams -----------------------------------------------------------------------


def _remembered(lowered: Lowered, s: int, record_bytes: int, expected: Expected) -> Remembered:
    program, member = lowered.program, lowered.join.members[s]
    life = _life(program, lowered.join.members, s, expected.lateness)
    rate = expected.rates.get(member.stream.name)
    tuples = _tuples(life, rate, member)
    band = next((band for band in program.bands if band.stream == s), None)
    return Remembered(
        member.alias,
        member.stream.name,
        member.stream.time,
        member.rows,
        expected.lateness.get(member.stream.name, 0),
        program.lanes[s][band.lane].column if band else None,
        lowered.side[s],
        record_bytes,
        life is not None or member.rows is not None,
        life,
        rate,
        tuples,
        None if tuples is None else tuples * record_bytes,
    )


def _life(program: Program, members: Sequence[Member], s: int, lateness: Mapping[str, int]) -> int | None:
    """How much newer than a tuple the others are when it goes; with count windows all wait for who counts."""
    behind = [lateness.get(member.stream.name, 0) for member in members]
    gate = max((late for late, member in zip(behind, members, strict=True) if member.rows is not None), default=0)
    others = [j for j in range(program.n) if j != s]
    reach = max(gate, *(plus(int(program.windows.closed[s, j]), max(gate, behind[j])) for j in others), 0)
    return None if reach == FOREVER else reach


def _tuples(life: int | None, rate: float | None, member: Member) -> float | None:
    """How many tuples are remembered: as many as arrive in a life, and no more than the count window holds."""
    if rate is None or life is None:
        return None if member.rows is None else float(member.rows)
    arriving = rate * life / (1 if member.stream.integer_time else TICKS_A_SECOND)
    return arriving if member.rows is None else min(arriving, float(member.rows))


# -- conditions --------------------------------------------------------------------


def _condition(condition: exp.Expression, lowered: Lowered) -> Condition:
    members = lowered.join.members
    used = {column.table for column in condition.find_all(exp.Column)}
    streams = tuple(member.alias for member in members if member.alias in used)
    place, why = _place(condition, streams, lowered)
    return Condition(readable(condition), streams, place, why, bool(difference_bounds(condition, members, "")))


def _place(condition: exp.Expression, streams: tuple[str, ...], lowered: Lowered) -> tuple[str, str]:
    text = condition.unnest().sql(dialect="spark")
    refined = next((one.why for one in lowered.refined if one.condition.unnest() is condition.unnest()), None)
    refined = refined and refined.replace("`", "")
    if any(conjunct.key is not None and conjunct.text == text for conjunct in lowered.program.conjuncts):
        found = (
            "looked up in an index" if lowered.join.algorithm.member.name == DEFAULT else "compared with each candidate"
        )
        return "key", refined or f"{found}, and exact"
    if refined is not None:
        return "candidates", refined
    if len(streams) == 1:
        counted = any(member.rows is not None for member in lowered.join.members if member.alias == streams[0])
        when = "after its row was counted, before it is stored" if counted else "before a row is stored"
        if any(mine is condition for *_, filters in lowered.computed for mine in filters):
            return "filter", f"{when}, a batch at once"
        return "filter", f"{when}, compiled"
    return "compiled", "into the loop"


def readable(condition: exp.Expression) -> str:
    """A condition as a reader would write it: without quotes that no name needs, functions as they are written."""
    shown = condition.copy()
    for identifier in shown.find_all(exp.Identifier):
        identifier.set("quoted", not (identifier.name.isidentifier() and identifier.name.isascii()))
    return shown.sql(dialect="spark", normalize_functions=False)


# -- orders ------------------------------------------------------------------------


def _look_ups(order: Order, program: Program, lowered: Lowered) -> tuple[LookUp, ...]:
    return tuple(_look_up(step, program, lowered) for step in order)


def _look_up(step: Step, program: Program, lowered: Lowered) -> LookUp:
    aliases, k = program.windows.streams, step.stream

    def column(stream: int, key: int) -> str:
        return program.lanes[stream][program.keys[key][stream]].column

    equalities = tuple(
        f"{column(k, key)} = {aliases[source]}.{column(source, key)}"
        for key, source in zip(step.keys, step.source, strict=True)
    )
    band = next((band for band in program.bands if band.stream == k), None)
    spellings = {condition.unnest().sql(dialect="spark"): readable(condition) for condition in lowered.join.where}
    texts = tuple(program.conjuncts[number].text for number in step.conjuncts)
    return LookUp(
        aliases[k],
        equalities,
        program.lanes[k][band.lane].column if band and step.band >= 0 else None,
        tuple(spellings.get(text, text) for text in texts),
    )
