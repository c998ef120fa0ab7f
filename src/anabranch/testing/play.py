"""Playing a timeline on a runtime, and judging what comes out.

``play`` walks the events and notes after each what came out; a runtime knows how to
push, promise, end and crash, and nothing of the answer.  ``check`` compares with the
oracle: the bag, that nothing is emitted twice or before it is final (eager runtimes:
exactly then), what was late, and that what can match nothing is forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from anabranch.testing.oracle import Answer, Found, answer
from anabranch.testing.timeline import Arrival, Batch, Case, Crash, End, Heartbeat, Seen, bag, spelled

Numbered = tuple[int, Arrival]


class Runtime(Protocol):
    """What can play a timeline; a match is given by the numbers of its members."""

    late: list[tuple[str, int]]
    bad: list[tuple[str, int]]

    def push(self, arrivals: dict[str, list[Numbered]]) -> list[Found]: ...

    def heartbeat(self, stream: str, time: int) -> list[Found]: ...

    def end(self, streams: Sequence[str]) -> list[Found]: ...

    def crash(self) -> None: ...

    def kept(self) -> list[int]:
        """Tuples remembered, by alias."""


@dataclass(frozen=True)
class Step:
    """What came out at one event, and what was remembered after it."""

    matches: tuple[Found, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True)
class Played:
    """All steps, and what was set apart."""

    steps: tuple[Step, ...]
    late: tuple[tuple[str, int], ...]
    bad: tuple[tuple[str, int], ...]

    @property
    def matches(self) -> Counter[Found]:
        """The bag of all matches."""
        return Counter(match for step in self.steps for match in step.matches)


def play(case: Case, runtime: Runtime) -> Played:
    """Let the events happen, then end all streams that have not ended."""
    steps, numbers, ended = [], dict.fromkeys(case.streams, 0), set()
    for event in case.events:
        found: list[Found] = []
        if isinstance(event, Batch):
            arrivals: dict[str, list[Numbered]] = {}
            for arrival in sorted(event.arrivals, key=lambda arrival: case.streams.index(arrival.stream)):
                arrivals.setdefault(arrival.stream, []).append((numbers[arrival.stream], arrival))
                numbers[arrival.stream] += 1
            found = runtime.push(arrivals)
        elif isinstance(event, Heartbeat):
            found = runtime.heartbeat(event.stream, event.time)
        elif isinstance(event, End):
            ended.add(event.stream)
            found = runtime.end([event.stream])
        elif isinstance(event, Crash):
            runtime.crash()
        steps.append(Step(tuple(found), tuple(runtime.kept())))
    last = runtime.end([stream for stream in case.streams if stream not in ended])
    steps.append(Step(tuple(last), tuple(runtime.kept())))
    return Played(tuple(steps), tuple(runtime.late), tuple(runtime.bad))


def check(case: Case, played: Played, eager: bool = True, spare: int | None = None, by_row: bool = True) -> Answer:
    """Assert that what was played is right; the answer.  *by_row* says how lateness is judged (see ``answer``).

    *spare* is how many tuples of one stream may be remembered although they can match
    nothing any more: at most one pane.  None leaves memory unchecked, ``kept=`` too.
    """
    right = answer(case, by_row)
    difference = _difference(case, right.matches, played.matches)
    assert not difference, f"{difference}\n{case}"
    assert Counter(played.late) == Counter(right.late), f"late {played.late}, not {right.late}\n{case}"
    assert Counter(played.bad) == Counter(right.bad), f"bad {played.bad}, not {right.bad}\n{case}"
    for place, step in enumerate(played.steps):
        for match in step.matches:
            final = right.matches[match]
            assert place == final if eager else place >= final, (
                f"{spelled(case.named(match))} came out at event {place}, final at {final}\n{case}"
            )
        if spare is not None:
            _check_memory(case, right, place, step, spare)
    assert sum(played.steps[-1].kept) == 0, f"remembered after the end: {played.steps[-1].kept}\n{case}"
    _check_seen(case, played, memory=spare is not None)
    return right


def _difference(case: Case, right: Iterable[Found], played: Counter[Found]) -> str:
    wanted = Counter(list(right))
    missing, extra = bag(map(case.named, wanted - played)), bag(map(case.named, (played - wanted).elements()))
    lines = [
        f"{word}: {', '.join(found.elements())}" for word, found in (("missing", missing), ("extra", extra)) if found
    ]
    return "\n".join(lines)


def _check_memory(case: Case, right: Answer, place: int, step: Step, spare: int) -> None:
    if place < len(case.events) and isinstance(case.events[place], Crash):
        return  # what was restored lies in other panes
    for alias, kept in zip(case.aliases, step.kept, strict=True):
        _, behind = right.needed(place, alias)
        assert kept <= behind + spare, f"{kept} of {alias} remembered after event {place}, needed {behind}\n{case}"


def _check_seen(case: Case, played: Played, memory: bool) -> None:
    out = 0
    for event, step in zip(case.events, played.steps, strict=False):
        out += len(step.matches)
        if isinstance(event, Seen) and (memory or event.what == "out"):
            number = out if event.what == "out" else sum(step.kept)
            assert number == event.number, f"{event} expected, {number} seen\n{case}"
