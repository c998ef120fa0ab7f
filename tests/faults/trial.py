"""What one run does, all of it from its seed: the query, its streams in files, how Spark is set, which faults.

Only the moments of the faults are not in the seed: they depend on how far the query has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, nan
from random import Random

from anabranch.testing.forms import Band, Count, Form, Range, Width
from anabranch.testing.predicates import PREDICATES
from anabranch.testing.query import alias_in_sql, sql
from anabranch.testing.timeline import Arrival, Case, Row, stream_of

KEYED = ("same", "same", "same", "both", "chain", "positive", "red", "text")
KEYLESS = ("any", "near", "rising", "some", "below")
MEMBERS = (("a", "b", "c"), ("a", "b", "c", "d"), ("a", "b", "c"), ("a", "b", "c", "d"), ("a", "a'", "b"))
ROWS = {"abc": 8, "abcd": 5, "aa'b": 6}  # of a file, at most: the definition looks at every combination
KINDS = ("executor", "python", "sealed", "driver")
EPOCH = 12  # ticks that the files of one round cover


@dataclass(frozen=True)
class File:
    """Rows of a stream that arrive together, and what the stream promises after them."""

    rows: tuple[Arrival, ...]
    promise: int | None = None
    last: bool = False


@dataclass(frozen=True)
class Trial:
    seed: int
    kind: str
    case: Case
    files: Mapping[str, tuple[File, ...]]
    integer: bool
    buckets: int
    partitions: int
    sink: str
    live: bool  # files come while the query runs
    changelog: bool
    speculation: bool
    unsteady: bool  # a function in the predicate fails on the first attempt of some tasks
    small: bool  # the checkpoint lies on a small disk, which fills up
    hot: tuple[int, ...]  # keys that are said to be frequent

    @property
    def query(self) -> str:
        text = sql(self.case, integer=self.integer)
        if not self.unsteady:
            return text
        one, other = map(alias_in_sql, self.case.aliases[:2])
        return text.replace(" WHERE ", f" WHERE steady({one}.id, {other}.id) AND ", 1)

    def __str__(self) -> str:
        extras = [
            f"{self.buckets}/{self.partitions}",
            self.sink,
            "live" if self.live else "ready",
            *(name for name in ("changelog", "speculation", "unsteady", "small", "hot") if getattr(self, name)),
        ]
        return f"{self.kind} {self.case.predicate} {'-'.join(self.case.aliases)} {' '.join(extras)}"


def trial(seed: int) -> Trial:
    """The trial of a seed."""
    dice = Random(seed)
    kind = dice.choice(["keyed"] * 5 + ["keyless"] * 3 + ["counted"] * 3)
    aliases = dice.choice(MEMBERS)
    keyless = kind == "keyless" or (kind == "counted" and dice.random() < 0.3)
    predicate = dice.choice(KEYLESS if keyless else KEYED)
    counts = dice.sample(aliases, dice.choice([1, 1, 2])) if kind == "counted" else []
    forms = (*_windows(dice, aliases), *(Count(alias, dice.randint(1, 4)) for alias in counts))
    streams = tuple(dict.fromkeys(map(stream_of, aliases)))
    lateness = {stream: dice.randint(1, 8) for stream in streams if dice.random() < 0.7}
    case = Case(forms, predicate=predicate, lateness=lateness)
    files = {stream: _files(dice, case, stream, ROWS["".join(aliases)]) for stream in case.streams}
    partitions = dice.choice([2, 2, 3])
    return Trial(
        seed,
        kind,
        case,
        files,
        integer=dice.random() < 0.5,
        buckets=dice.choice([partitions, partitions, 1, 3, 4]),
        partitions=partitions,
        sink=dice.choice(["parquet", "batches"]),
        live=dice.random() < 0.4,
        changelog=dice.random() < 0.5,
        speculation=dice.random() < 0.35,
        unsteady=dice.random() < 0.35 and PREDICATES[predicate].sql(["A", "B", "C"]) != "",
        small=dice.random() < 0.15,
        hot=(0,) if kind == "keyed" and predicate in ("same", "red") and dice.random() < 0.4 else (),
    )


def together(seeds: Sequence[int]) -> list[Trial]:
    """Trials that share one Spark, and so what can only be set for all of it."""
    runs = [trial(seed) for seed in seeds]
    return [replace(run, speculation=any(each.speculation for each in runs[:3])) for run in runs]


def faults(dice: Random, number: int, kinds: Sequence[str] = KINDS) -> list[str]:
    """So many faults, for runs that share one Spark: a start takes long, so the driver is killed twice at most."""
    others = [kind for kind in kinds if kind != "driver"]
    found = dice.choices(others, k=number)
    if len(others) < len(kinds):
        for at in dice.sample(range(number), min(2, number // 2)):
            found[at] = "driver"
    return found


def _windows(dice: Random, aliases: Sequence[str]) -> list[Form]:
    """A window for every member: for all, along a path, around a star, for some pairs more, counted back."""
    shape = dice.choice(["uniform", "path", "path", "star", "graph", "ranges"])
    most = 20 if len(aliases) == 3 else 14
    if shape == "uniform":
        return [Width(tuple(aliases), dice.randint(2, most))]
    if shape == "ranges":
        return [Range(alias, dice.randint(1, most)) for alias in aliases]
    pairs = [(aliases[0], b) for b in aliases[1:]] if shape == "star" else list(pairwise(aliases))
    found: list[Form] = [_pair(dice, a, b, most) for a, b in pairs]
    if shape == "graph":
        found.append(Width((aliases[0], aliases[-1]), dice.randint(2, most)))
    return found


def _pair(dice: Random, a: str, b: str, most: int) -> Form:
    width = dice.randint(1, most)
    low = dice.randint(-4, 3)
    return dice.choice([Width((a, b), width), Band(a, b, 0, width), Band(a, b, low, low + width)])


def _files(dice: Random, case: Case, stream: str, most: int) -> tuple[File, ...]:
    """The files of a stream.

    A restart may put two of them into one batch.  Rows of one time count by their values
    then: by their numbers, which come first, and so as if the files had come in order.
    """
    late = case.lateness.get(stream, 0)
    found = []
    for number in range(dice.randint(5, 7)):
        rows: list[Arrival] = []
        for _ in range(dice.choice([0, *range(1, most + 1)])):
            behind = late + dice.randint(1, 40) if dice.random() < 0.1 else dice.choice([0, dice.randint(0, late)])
            time = max(0, number * EPOCH + dice.randint(0, EPOCH) - behind)
            rows.append(Arrival(stream, time if dice.random() > 0.05 else None, _row(dice)))
        promise = number * EPOCH + dice.randint(0, EPOCH) if dice.random() < 0.15 else None
        found.append(File(tuple(rows), promise))
    return (*found[:-1], File(found[-1].rows, None, True))


def _row(dice: Random) -> Row:
    return Row(
        k=dice.choice([0, 0, 0, 0, 0, 1, 1, 2, None]),
        g=dice.choice([0, 0, 1, 1, 1, 1, 2, None]),
        v=dice.choice([0.0, -0.0, 0.5, 0.5, 1.0, 1.25, 2.0, nan, inf, None]),
        s=dice.choice(["red", "red", "red", "rot", "", "été", None]),
    )
