"""The definition of the answer.

Every algorithm, on every runtime, returns exactly this bag, whatever the order in
which tuples arrive.  It is meant to be read, and compared with; it looks at every
combination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from anabranch.core.ticks import FOREVER
from anabranch.core.windows import Windows


class Tuple(NamedTuple):
    """An accepted tuple: its event time and its row."""

    time: int
    row: Any


def definition(
    streams: Sequence[Sequence[Tuple]], windows: Windows, predicate: Callable[..., bool | None] = lambda *rows: True
) -> Iterator[tuple[int, ...]]:
    """The matches, each as the positions of its members in their streams (given in the order of arrival)."""
    for places in product(*(range(len(stream)) for stream in streams)):
        members = [stream[place] for stream, place in zip(streams, places, strict=True)]
        times = dict(zip(windows.streams, (member.time for member in members), strict=True))
        newest = max(times.values())
        if (
            all(
                bound.ticks == FOREVER or times[bound.later] - times[bound.earlier] <= bound.ticks
                for bound in windows.bounds
            )
            and all(
                count is None or _successors(stream, place, newest) < count
                for stream, place, count in zip(streams, places, windows.counts, strict=True)
            )
            and predicate(*(member.row for member in members)) is True
        ):
            yield places


def _successors(stream: Sequence[Tuple], place: int, newest: int) -> int:
    """How many tuples follow this one in (time, arrival) and are not newer than the match."""
    here = (stream[place].time, place)
    return sum(1 for i, other in enumerate(stream) if (other.time, i) > here and other.time <= newest)
