"""Timelines: a join, what arrives and what must come out, in one line of text.

    windows | arrivals (~ a frontier, ! a crash) | matches

    a-b 0..5, b-c 0..5 | a@1 b@4 c@8 | a@1 b@4 c@8

**Windows**, separated by commas; the streams are joined in the order in which they
are first named, and ``a'`` is a second alias of the stream ``a`` (a self-join):

    a-b 0..5      b is from 0 to 5 later than a: ``2..5``, ``-3..5``, ``..5`` and ``2..`` are bands too
    a-b 0..<5     its upper end left out
    a-b 5         at most 5 apart, ``a-b <5`` less than 5, ``a-b-c 5`` each two of them
    a-b ..        no bound, on purpose
    a 5           a is at most 5 older than the newest member
    a#3           a is among the last 3 tuples of its stream
    a late 2      the stream a may be 2 out of order
    a idle 9      and is not waited for when it falls 9 behind the others
    where same    the predicate, by its name in ``predicates`` (``any`` if there is none)

**Arrivals** come in this order, each in a batch of its own:

    a@4           a tuple of stream a at time 4
    a@4:7         with k = 7; ``a@4{k=7, v=0.5, s=red}`` gives more columns (k, g, v, s; ``null``, ``nan``, ``inf``)
    [a@1 b@2]     one batch
    ~a@9          a promises that nothing older than 9 will come
    ~a            a ends; when the line is over, all streams end
    !             a crash: a new operator takes over the state
    out=2         by now two matches have come out
    kept=3        and three tuples are remembered (judged where memory is, see ``play.check``)

**Matches**, separated by commas, as a bag; a member is named by its alias and time.
``late a@3`` says that this tuple was set apart, and ``refused: words`` that the
windows are refused with these words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from anabranch.core.windows import Windows
from anabranch.testing.forms import NAME, NUMBER, Count, Form, form, members


class Row(NamedTuple):
    """What a tuple carries beside its time: two integers, a double and a text, each perhaps NULL."""

    k: int | None = 0
    g: int | None = 0
    v: float | None = 0.0
    s: str | None = ""


NO_COLUMNS = Row()


@dataclass(frozen=True)
class Arrival:
    """A tuple of a stream; without a time it is bad."""

    stream: str
    time: int | None
    row: Row = NO_COLUMNS

    def __str__(self) -> str:
        time = "null" if self.time is None else self.time
        return f"{self.stream}@{time}{_spelled(self.row)}"


@dataclass(frozen=True)
class Batch:
    """Tuples that arrive together, in this order."""

    arrivals: tuple[Arrival, ...]

    def __str__(self) -> str:
        text = " ".join(map(str, self.arrivals))
        return text if len(self.arrivals) == 1 else f"[{text}]"


@dataclass(frozen=True)
class Heartbeat:
    """A promise: nothing older is still to come."""

    stream: str
    time: int

    def __str__(self) -> str:
        return f"~{self.stream}@{self.time}"


@dataclass(frozen=True)
class End:
    """A stream ends."""

    stream: str

    def __str__(self) -> str:
        return f"~{self.stream}"


@dataclass(frozen=True)
class Crash:
    """Everything is lost but the state."""

    def __str__(self) -> str:
        return "!"


@dataclass(frozen=True)
class Seen:
    """How many matches have come out, or how many tuples are remembered, by now."""

    what: str
    number: int

    def __str__(self) -> str:
        return f"{self.what}={self.number}"


Event = Batch | Heartbeat | End | Crash | Seen
Match = tuple[tuple[str, int], ...]  # the (alias, time) of each member, in the order of the aliases


@dataclass(frozen=True)
class Case:
    """A timeline, read."""

    forms: tuple[Form, ...]
    events: tuple[Event, ...] = ()
    predicate: str = "any"
    lateness: Mapping[str, int] = field(default_factory=dict)
    idle: Mapping[str, int] = field(default_factory=dict)
    matches: tuple[Match, ...] = ()
    late: tuple[tuple[str, int], ...] = ()
    refused: str = ""

    @property
    def aliases(self) -> tuple[str, ...]:
        """The members of a match, in order."""
        return members(self.forms)

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams behind them."""
        return tuple(dict.fromkeys(map(stream_of, self.aliases)))

    @cached_property
    def windows(self) -> Windows:
        """The closed windows; refused if they contradict each other."""
        bounds = [bound for each in self.forms for bound in each.bounds(self.aliases)]
        counts = {each.member: each.rows for each in self.forms if isinstance(each, Count)}
        return Windows.of(self.aliases, bounds, counts)

    @property
    def arrivals(self) -> Mapping[str, list[Arrival]]:
        """What arrives in each stream; a tuple is known by its stream and its number in it."""
        found: dict[str, list[Arrival]] = {stream: [] for stream in self.streams}
        for event in self.events:
            for arrival in event.arrivals if isinstance(event, Batch) else ():
                found[arrival.stream].append(arrival)
        return found

    def named(self, match: tuple[int, ...]) -> Match:
        """A match of tuple numbers, as a timeline names it."""
        arrivals = self.arrivals
        times = (arrivals[stream_of(alias)][number].time for alias, number in zip(self.aliases, match, strict=True))
        return tuple((alias, time) for alias, time in zip(self.aliases, times, strict=True) if time is not None)

    def __str__(self) -> str:
        settings = [str(each) for each in self.forms]
        settings += [f"{stream} late {ticks}" for stream, ticks in self.lateness.items()]
        settings += [f"{stream} idle {ticks}" for stream, ticks in self.idle.items()]
        settings += [f"where {self.predicate}"] if self.predicate != "any" else []
        found = [spelled(match) for match in self.matches] + [f"late {spelled([each])}" for each in self.late]
        found += [f"refused: {self.refused}"] if self.refused else []
        return f"{', '.join(settings)} | {' '.join(map(str, self.events))} | {', '.join(found)}"


def stream_of(alias: str) -> str:
    """The stream behind an alias."""
    return alias.rstrip("'")


def spelled(match: Iterable[tuple[str, int]]) -> str:
    """``a@1 b@4``."""
    return " ".join(f"{alias}@{time}" for alias, time in match)


def bag(matches: Iterable[Match]) -> Counter[str]:
    """Matches as text, counted."""
    return Counter(map(spelled, matches))


# -- reading -----------------------------------------------------------------

ARRIVAL = re.compile(rf"({NAME})@({NUMBER}|null)(?::({NUMBER}|null)|\{{([^}}]*)\}})?")
EVENT = re.compile(rf"\[[^\]]*\]|!|~{NAME}(?:@{NUMBER})?|(?:out|kept)=\d+|{ARRIVAL.pattern}|\S+")


def timeline(text: str) -> Case:
    """Read a line."""
    windows, arrivals, matches = (part.strip() for part in text.split("|"))
    forms: list[Form] = []
    lateness: dict[str, int] = {}
    idle: dict[str, int] = {}
    predicate = "any"
    for part in filter(None, map(str.strip, windows.split(","))):
        if found := re.fullmatch(rf"({NAME}) (late|idle) (\d+)", part):
            (lateness if found[2] == "late" else idle)[found[1]] = int(found[3])
        elif part.startswith("where "):
            predicate = part.removeprefix("where ").strip()
        else:
            each = form(part)
            assert each is not None, f"no window: {part}"
            forms.append(each)
    case = Case(tuple(forms), tuple(_event(found[0]) for found in EVENT.finditer(arrivals)), predicate, lateness, idle)
    return _expecting(case, matches)


def _expecting(case: Case, text: str) -> Case:
    if text.startswith("refused:"):
        return Case(case.forms, case.events, case.predicate, refused=text.removeprefix("refused:").strip())
    matches, late, order = [], [], {alias: i for i, alias in enumerate(case.aliases)}
    for part in filter(None, map(str.strip, text.split(","))):
        words = part.removeprefix("late ").split()
        pairs = [(word.split("@")[0], int(word.split("@")[1])) for word in words]
        if part.startswith("late "):
            late += pairs
        else:
            assert sorted(alias for alias, _ in pairs) == sorted(order), f"no match of {', '.join(order)}: {part}"
            matches.append(tuple(sorted(pairs, key=lambda pair: order[pair[0]])))
    return Case(case.forms, case.events, case.predicate, case.lateness, case.idle, tuple(matches), tuple(late))


def _event(text: str) -> Event:
    if text == "!":
        return Crash()
    if text.startswith("["):
        return Batch(tuple(_arrival(found) for found in ARRIVAL.finditer(text)))
    if text.startswith("~"):
        stream, _, time = text[1:].partition("@")
        return Heartbeat(stream, int(time)) if time else End(stream)
    what, _, number = text.partition("=")
    if what in ("out", "kept"):
        return Seen(what, int(number))
    found = ARRIVAL.fullmatch(text)
    assert found is not None, f"nothing that can arrive: {text}"
    return Batch((_arrival(found),))


def _arrival(found: re.Match[str]) -> Arrival:
    stream, time, key, columns = found.groups()
    given = (
        {"k": key} if key else dict(_pair(part) for part in filter(None, map(str.strip, (columns or "").split(","))))
    )
    return Arrival(stream, None if time == "null" else int(time), _row(given))


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    assert name in Row._fields, f"no column: {text}"
    return name, value


def _row(given: Mapping[str, str]) -> Row:
    kinds = {"k": int, "g": int, "v": float, "s": str}
    return Row()._replace(**{name: None if text == "null" else kinds[name](text) for name, text in given.items()})


def _spelled(row: Row) -> str:
    given = [
        (name, "null" if value is None else str(value))
        for name, value, usual in zip(Row._fields, row, Row(), strict=True)
        if value != usual or (isinstance(value, float) and math.copysign(1, value) < 0)
    ]
    if not given:
        return ""
    if [name for name, _ in given] == ["k"]:
        return f":{given[0][1]}"
    return "{" + ", ".join(f"{name}={value}" for name, value in given) + "}"


def cases(text: str) -> dict[str, Case]:
    """The cases of a file by their titles: a title, then the timeline on one or more lines, then an empty line.

    A line that begins with ``#`` and a blank is a heading.
    """
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    found: dict[str, Case] = {}
    for block in "\n".join(lines).split("\n\n"):
        title, *rest = block.strip().splitlines() or [""]
        if rest:
            assert title not in found, f"two cases have the title: {title}"
            found[title] = timeline(" ".join(line.strip() for line in rest))
    return found
