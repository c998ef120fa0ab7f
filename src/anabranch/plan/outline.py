"""An explanation as lines of text: a tree drawn with lines, the windows as a table in the user's units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from anabranch.core.ticks import MICROSECONDS
from anabranch.plan.explain import Condition, Explanation, Joined, LookUp, Remembered

SELECT = {
    "plain": "columns as they are, without a SQL engine; rows leave with their matches",
    "batch": "in DuckDB, for each batch of matches",
    "end": "in DuckDB, over all matches, when every stream has ended",
}
ON_SPARK = "on Spark, which may have what the local runtime refuses"
PLACES = {"key": "key", "filter": "filter", "compiled": "compiled", "candidates": "over candidates"}
AT_MOST = "how much later, at most, the stream of a column may be than the stream of its row"
IMPLIED = "* implied by the other bounds, along the shortest way from row to column"


@dataclass(frozen=True)
class Node:
    """A line of the tree, what stands below it unbranched, and its branches."""

    text: str
    body: tuple[str, ...] = ()
    children: tuple[Node, ...] = ()


def outline(explanation: Explanation) -> list[str]:
    """The lines."""
    return list(_drawn(_query(explanation)))


def extent(ticks: int, integer: bool) -> str:
    """A length of time in the largest unit that says it exactly in at most one decimal."""
    if integer:
        return f"{ticks:,}"
    if ticks == 0:
        return "0 s"
    for unit in ("d", "h", "m", "s", "ms"):
        number = Decimal(ticks) / MICROSECONDS[unit]
        if abs(number) >= 1 and number * MICROSECONDS[unit] == ticks and number == round(number, 1):
            return f"{number.normalize():,f} {unit}"
    return f"{ticks:,} us"


def size(nbytes: float) -> str:
    """Bytes in the largest unit that leaves a whole one."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= factor:
            return f"{nbytes / factor:,.1f} {unit}" if nbytes < 1e15 else f"{nbytes / factor:.3g} {unit}"
    return f"{nbytes:,.0f} bytes"


def _drawn(node: Node, first: str = "", rest: str = "") -> Iterator[str]:
    yield first + node.text
    below = rest + ("│  " if node.children else "   ")
    for line in node.body:
        yield (below + line).rstrip()
    for child in node.children:
        last = child is node.children[-1]
        yield from _drawn(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def _query(explanation: Explanation) -> Node:
    joins = tuple(_join(join) for join in explanation.joins)
    how = SELECT[explanation.select]
    if explanation.not_local is not None:
        how = f"{ON_SPARK}: {explanation.not_local}"
    return Node(f"SELECT {', '.join(explanation.output)}", (how,), joins)


def _join(join: Joined) -> Node:
    children = [Node(f"algorithm {join.algorithm}: {join.why}"), Node(f"on Spark {join.buckets}")]
    children.append(Node("streams", (), tuple(_stream(stream, join) for stream in join.streams)))
    between = [condition for condition in join.conditions if condition.place != "filter"]  # those are with their stream
    if between:
        children.append(Node("conditions", (), tuple(map(_condition, between))))
    children.append(Node("windows", tuple(_windows(join))))
    note = "at these rates" if join.ordered_by_size else "at the start; chosen anew when the streams differ in size"
    note = "always in this order" if join.fixed else note
    arrivals = zip(join.streams, join.arrivals, strict=True)
    children.append(
        Node(f"look-ups ({note})", (), tuple(_arrival(stream.alias, order, join.fixed) for stream, order in arrivals))
    )
    body = []
    counting = [stream.alias for stream in join.streams if stream.rows is not None]
    if counting and len(join.streams) > 1:
        body.append(f"a match is final once the frontier of {' and of '.join(counting)} is past it (ROWS)")
    return Node(f"{join.name}: join of {', '.join(s.alias for s in join.streams)}", tuple(body), tuple(children))


def _stream(stream: Remembered, join: Joined) -> Node:
    window = f" [ROWS {stream.rows:,}]" if stream.rows is not None else ""
    late = f", up to {extent(stream.lateness, join.integer_time)} out of order" if stream.lateness else ""
    time = "the time of arrival" if stream.time == "arrival" else f"time {stream.time}"
    head = f"{stream.alias}: {stream.stream}{window}, {time}{late}"
    filters = [
        f"filter {condition.text} ({condition.why})"
        for condition in join.conditions
        if condition.place == "filter" and condition.streams == (stream.alias,)
    ]
    lines = [*filters]
    if stream.sorted_by:
        lines.append(f"panes in the order of {stream.sorted_by}, so that a range of it is read at once")
    lines.append(_life(stream, join.integer_time))
    lines.append(_state(stream, join.integer_time, "up to" if filters else "about"))
    return Node(head, tuple(lines))


def _life(stream: Remembered, integer: bool) -> str:
    parts = []
    if stream.life is not None:
        parts.append(
            f"kept for {extent(stream.life, integer)}" if stream.life else "kept until the others have come as far"
        )
    if stream.rows is not None:
        parts.append(f"{'at most' if parts else 'kept:'} {stream.rows:,} {'rows' if stream.rows > 1 else 'row'}")
    if not parts:
        return "kept for ever: unbounded"
    return ", ".join(parts) + (", when the streams are in step" if stream.life else "")


def _state(stream: Remembered, integer: bool, about: str) -> str:
    side = f", and {', '.join(stream.side)} beside it" if stream.side else ""
    record = f"{stream.record_bytes} bytes a tuple{side}"
    if not stream.bounded:
        return f"state without bound, {record}"
    if stream.tuples is None:
        return f"state {record}; give --rate {stream.stream}=ROWS_PER_SECOND to see how much"
    at = ""
    if stream.rate is not None:
        at = f" at {stream.rate:,.12g} rows {'a unit of time' if integer else 'a second'}"
    tuples = f"{stream.tuples:,.0f}" if 10 <= stream.tuples < 1e15 else f"{stream.tuples:,.3g}"
    return f"state {about} {tuples} tuples, {size(stream.bytes or 0.0)}{at} ({record})"


def _condition(condition: Condition) -> Node:
    window = "; its bound on times is in the windows too" if condition.window else ""
    return Node(f"{condition.text}: {PLACES[condition.place]} ({condition.why}{window})")


def _windows(join: Joined) -> Iterator[str]:
    aliases = [stream.alias for stream in join.streams]
    cells = [["", *aliases]]
    for alias, bounds, implied in zip(aliases, join.closed, join.implied, strict=True):
        row = [alias]
        for other, ticks, star in zip(aliases, bounds, implied, strict=True):
            said = "unbounded" if ticks is None else extent(ticks, join.integer_time)
            row.append("-" if other == alias else said + "*" * star)
        cells.append(row)
    yield AT_MOST
    yield from _table(cells)
    if any(star for row in join.implied for star in row):
        yield IMPLIED


def _table(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        first, *others = zip(row, widths, strict=True)
        yield "   ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)])


def _arrival(alias: str, order: Sequence[LookUp], lists: bool) -> Node:
    if not order:
        return Node(f"{alias} arrives: it matches by itself")
    return Node(
        f"{alias} arrives: {', then '.join(step.stream for step in order)}",
        tuple(_look_up(step, lists) for step in order),
    )


def _look_up(step: LookUp, lists: bool) -> str:
    ways = []
    if step.key:
        ways.append(f"{'the bucket of' if lists else 'index on'} {' and '.join(step.key)}")
    elif step.band is not None:
        ways.append(f"the range of {step.band} in the panes of the window")
    else:
        ways.append("its list, through the window" if lists else "the panes of the window")
    if step.tested:
        ways.append(f"test {' and '.join(step.tested)}")
    return f"{step.stream} by {'; '.join(ways)}"
