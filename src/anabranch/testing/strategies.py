"""Random timelines for Hypothesis: all forms of windows, all predicates, tuples in any order, crashes.

    @given(timelines())
    def test_agrees(case):
        check(case, on_operator(case))

A timeline is drawn so that it shrinks to few tuples at small times without columns.
Sizes suit the definition, which looks at every combination.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, nan

from hypothesis import assume
from hypothesis import strategies as st

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.testing.forms import Band, Count, Form, Range, Width
from anabranch.testing.predicates import PREDICATES
from anabranch.testing.timeline import Arrival, Batch, Case, Crash, End, Event, Heartbeat, Row

COMPILED = tuple(name for name, each in PREDICATES.items() if each.compiled)
MOVES = {2: 36, 3: 30, 4: 26}  # at most so many events, by the number of aliases

ROWS = st.builds(
    Row,
    k=st.sampled_from([0, 0, 0, 0, 0, 1, 1, 1, 2, None]),
    g=st.sampled_from([0, 0, 0, 0, 1, 1, 1, 1, 2, None]),
    v=st.sampled_from([0.0, 0.0, -0.0, 0.5, 0.5, 1.0, 1.25, 2.0, -1.0, nan, nan, inf, -inf, None]),
    s=st.sampled_from(["red", "red", "red", "rot", "", "été", "vert", None]),
)
REACH = st.sampled_from([0, 1, 2, 3, 5, 8, 8, 20])


SHAPES = ("uniform", "path", "star", "ranges", "graph")


@st.composite
def windows(draw: st.DrawFn, counts: bool = True, most: int = 4, shapes: Collection[str] = SHAPES) -> tuple[Form, ...]:
    """Any forms of windows over two to *most* aliases, never contradictory, not always bounded."""
    choices = [("a", "b"), ("a", "b", "c"), ("a", "a'"), ("a", "a'", "b"), ("a", "b", "c", "d")]
    aliases = draw(st.sampled_from([each for each in choices if len(each) <= most]))
    shape = draw(st.sampled_from(tuple(shapes)))
    forms: list[Form] = []
    if shape == "uniform":
        forms.append(Width(aliases, draw(REACH), draw(st.booleans()) and len(aliases) > 2))
    elif shape == "ranges":
        forms += [Range(alias, draw(REACH)) for alias in aliases]
    elif shape == "path":
        forms += [draw(_pair(a, b)) for a, b in pairwise(aliases)]
    elif shape == "star":
        forms += [draw(_pair(aliases[0], b)) for b in aliases[1:]]
    else:
        pairs = [(a, b) for i, a in enumerate(aliases) for b in aliases[i + 1 :]]
        kept = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
        forms += [Width((a, b), FOREVER) for a, b in pairwise(aliases)]  # so that each stream is named in its order
        forms += [draw(_pair(a, b)) for a, b in kept]
    if draw(st.booleans()):
        more: list[Form] = [Range(aliases[-1], draw(REACH)), Width(aliases[:2], draw(REACH))]
        forms.append(draw(st.sampled_from(more)))
    if counts and draw(st.integers(0, 3)) == 0:
        counted = draw(st.lists(st.sampled_from(aliases), min_size=1, unique=True))
        forms += [Count(alias, draw(st.integers(1, 4))) for alias in counted]
    try:
        _ = Case(tuple(forms)).windows
    except Refused:
        assume(False)
    return tuple(forms)


@st.composite
def _pair(draw: st.DrawFn, a: str, b: str) -> Form:
    """A window of one pair: both ways, directed, strict, or a band with a positive lower end or no end."""
    kind, width = draw(st.sampled_from(["both", "directed", "strict", "band", "open"])), draw(REACH)
    if kind == "both":
        return Width((a, b), width)
    if kind == "directed":
        return Band(a, b, 0, width)
    if kind == "strict":
        strict: list[Form] = [Width((a, b), width + 1, strict=True), Band(a, b, 0, width + 1, strict=True)]
        return draw(st.sampled_from(strict))
    low = draw(st.integers(-4, 3))
    if kind == "open":
        return draw(st.sampled_from([Band(a, b, low, FOREVER), Band(a, b, NEVER, low)]))
    return Band(a, b, low, low + width)


@st.composite
def timelines(
    draw: st.DrawFn,
    predicates: Collection[str] = COMPILED,
    crashes: bool = True,
    bad: bool = False,
    counts: bool = True,
    most: int = 4,
    shapes: Collection[str] = SHAPES,
) -> Case:
    """Any timeline: tuples in any order up to a lateness and sometimes beyond, in any batches, heartbeats, ends."""
    forms = draw(windows(counts, most, shapes))
    case = Case(forms, predicate=draw(st.sampled_from(sorted(predicates))))
    lateness = {stream: draw(st.integers(0, 4)) for stream in case.streams if draw(st.booleans())}
    ahead = {stream: draw(st.sampled_from([0, 0, 0, 0, 0, 3, 20])) for stream in case.streams}
    kinds = ["skip"] * 2 + ["tuple"] * 16 + ["joined"] * 8 + ["far", "heartbeat", "end"] + ["crash"] * crashes
    move = st.tuples(
        st.sampled_from(kinds),
        st.sampled_from(case.streams),
        st.sampled_from([0, 0, 0, 0, 1, 1, 2]),
        st.sampled_from([0] * 8 + [1, 2, 3, 4] * 3 + [5]),
        st.just(Row()) if case.predicate == "any" else ROWS,
        st.integers(0, 19) if bad else st.just(1),
    )
    moves = draw(st.lists(move, min_size=MOVES[len(case.aliases)], max_size=MOVES[len(case.aliases)]))
    return replace(case, events=tuple(_events(moves, lateness, ahead)), lateness=lateness)


def _events(
    moves: Sequence[tuple[str, str, int, int, Row, int]], lateness: Mapping[str, int], ahead: Mapping[str, int]
) -> list[Event]:
    """Moves as events; a stream that has ended brings nothing more."""
    events: list[Event] = []
    ended: set[str] = set()
    clock = 0
    for kind, stream, step, lag, row, fault in moves:
        clock += step + (15 if kind == "far" else 0)
        here = clock + ahead[stream]
        last = events[-1] if events else None
        if kind == "skip" or (stream in ended and kind != "crash"):
            continue
        if kind == "crash":
            events.append(Crash())
        elif kind == "heartbeat":
            events.append(Heartbeat(stream, here - lag))
        elif kind == "end":
            events.append(End(stream))
            ended.add(stream)
        else:
            behind = lag if lag == 5 else min(lag, lateness.get(stream, 0))  # perhaps too late
            arrival = Arrival(stream, here - behind if fault else None, row)
            if kind == "joined" and isinstance(last, Batch):
                events[-1] = Batch((*last.arrivals, arrival))
            else:
                events.append(Batch((arrival,)))
    return events


def regrouped(case: Case, sizes: Collection[int]) -> Case:
    """The same tuples without heartbeats, ends and crashes, in batches of these sizes (again and again)."""
    arrivals = [arrival for event in case.events if isinstance(event, Batch) for arrival in event.arrivals]
    events: list[Event] = []
    wanted = list(sizes) or [len(arrivals) or 1]
    while arrivals:
        size = wanted[len(events) % len(wanted)]
        events.append(Batch(tuple(arrivals[:size])))
        arrivals = arrivals[size:]
    return replace(case, events=tuple(events))
