"""From window constraints as written to difference bounds in ticks.

Every form is a set of bounds ``t[later] - t[earlier] <= ticks`` (see ``core.windows``).
A strict bound is the closed one a tick smaller; ``UNBOUNDED`` is an infinite bound, which
opts in to state that never ends.  Units must suit the streams' time and come out as
whole ticks: nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, MICROSECONDS, NEVER
from anabranch.core.windows import Bound, Windows
from anabranch.plan.query import Member
from anabranch.plan.sql.clauses import Band, Constraint, Directed, Extent, Place, Range, Word
from anabranch.plan.sql.names import meant, same

UNITS = dict(
    zip(
        ("microsecond", "millisecond", "second", "minute", "hour", "day", "week"),
        (MICROSECONDS[unit] for unit in ("us", "ms", "s", "m", "h", "d", "w")),
        strict=True,
    )
)


def windows(
    members: Sequence[Member],
    constraints: Iterable[Constraint],
    ranges: Mapping[str, Range],
    compared: Iterable[Bound],
) -> Windows:
    """The windows of a join: its clause, the brackets of its streams, and its comparisons of times."""
    integer = members[0].stream.integer_time
    aliases = [member.alias for member in members]
    bounds: list[Bound] = []
    for alias, bracket in ranges.items():
        reach = _length(bracket.extent, integer, "RANGE")
        bounds += [Bound(alias, other, reach, bracket.text, bracket.at) for other in aliases if other != alias]
    for constraint in constraints:
        bounds += _bounds(constraint, members, integer)
    counts = {member.alias: member.rows for member in members if member.rows is not None}
    return Windows.of(aliases, [*bounds, *compared], counts)


def check_bounded(windows: Windows, members: Sequence[Member], at: Place | None) -> None:
    """Refuse state that never ends, unless UNBOUNDED was written for it."""
    reachable = {(bound.earlier, bound.later) for bound in windows.bounds}
    for middle in windows.streams:
        for a, b in permutations(windows.streams, 2):
            if (a, middle) in reachable and (middle, b) in reachable:
                reachable.add((a, b))
    width = "5" if members[0].stream.integer_time else "5 SECONDS"
    # what is not reachable is infinite; what is, is finite or infinite by an UNBOUNDED of the user's on the way
    missing = [pair for pair in windows.unbounded() if pair not in reachable]
    bound = {alias for pair in reachable for alias in pair}
    loose = [alias for alias in windows.streams if alias not in bound and any(alias in pair for pair in missing)]
    if len(loose) == len(windows.streams) and not any(windows.counts):
        raise Refused(
            f"no window binds {' and '.join(loose)}, so nothing could ever be forgotten",
            f"add WINDOW = {width}, or WINDOW = UNBOUNDED to keep everything",
            at,
        )
    if loose and not any(windows.counts):
        anchor = next(alias for alias in windows.streams if alias in bound)
        raise Refused(
            f"no window binds stream {loose[0]}, so nothing could ever be forgotten",
            f"add WINDOW ({anchor}, {loose[0]}) = {width}, or write UNBOUNDED for its length to keep everything",
            at,
        )
    for earlier, later in missing:
        raise Refused(
            f"stream {earlier} can never forget: no window says how much later {later} may be",
            f"add WINDOW ({earlier}, {later}) = {width}, or write UNBOUNDED for its length to keep all of {earlier}",
            at,
        )


def ticks(extent: Extent, integer: bool) -> int:
    """An extent in ticks, FOREVER or NEVER where it is unbounded."""
    if extent.unbounded:
        return FOREVER if extent.number > 0 else NEVER
    if integer and extent.unit:
        raise Refused(
            f"'{extent.text}' is a duration, but the streams' time is an integer",
            f"write a plain number: {extent.number}",
            extent.at,
        )
    if not integer and not extent.unit:
        raise Refused(
            f"'{extent.text}' has no unit, but the streams' time is a timestamp",
            f"write a duration: {extent.text} SECONDS",
            extent.at,
        )
    number = extent.number * (1 if integer else _unit(extent))
    if number != int(number):
        raise Refused(
            f"'{extent.text}' is no whole number of {'ticks' if integer else 'microseconds'}",
            f"the streams' time is counted in whole {'numbers' if integer else 'microseconds'}",
            extent.at,
        )
    if not NEVER < number < FOREVER:
        raise Refused(
            f"'{extent.text}' is longer than time itself",
            "write -UNBOUNDED" if number < 0 else "write UNBOUNDED",
            extent.at,
        )
    return int(number)


def _bounds(constraint: Constraint, members: Sequence[Member], integer: bool) -> list[Bound]:
    text, at = constraint.text, constraint.at
    if isinstance(constraint, Band):
        a, b = _pair(constraint.pair, members)
        low, high = ticks(constraint.low, integer), ticks(constraint.high, integer)
        if low > high or low == FOREVER or high == NEVER:
            raise Refused(
                f"the lower end {constraint.low.text} is above the upper end {constraint.high.text}",
                f"write BETWEEN the smaller AND the larger; the band is on {b}'s time minus {a}'s",
                constraint.low.at,
            )
        return [Bound(a, b, high, text, at), Bound(b, a, FOREVER if low == NEVER else -low, text, at)]
    width = _length(constraint.extent, integer, "DWINDOW" if isinstance(constraint, Directed) else "WINDOW")
    if constraint.strict and width != FOREVER:
        width -= 1
    if isinstance(constraint, Directed):
        a, b = _pair(constraint.pair, members)
        return [Bound(a, b, width, text, at), Bound(b, a, 0, text, at)]
    pairs = (
        [_pair(constraint.pair, members)]
        if constraint.pair
        else list(combinations([member.alias for member in members], 2))
    )
    return [Bound(*ends, width, text, at) for a, b in pairs for ends in ((a, b), (b, a))]


def _length(extent: Extent, integer: bool, form: str) -> int:
    length = ticks(extent, integer)
    if length < 0:
        raise Refused(
            f"a {form} is not negative, but {extent.text} is",
            "it counts back from the newest member"
            if form == "RANGE"
            else "a signed band is written WINDOW (A, B) BETWEEN lo AND hi",
            extent.at,
        )
    return length


def _unit(extent: Extent) -> int:
    unit = extent.unit.lower().removesuffix("s")
    if unit in UNITS:
        return UNITS[unit]
    if unit in ("month", "quarter", "year"):
        raise Refused(f"a {unit} has no fixed length", "write DAYS or WEEKS", extent.at)
    names = [name.upper() + "S" for name in UNITS]
    raise Refused(f"unknown unit '{extent.unit}'", meant(unit + "s", names, "the units are", names), extent.at)


def _pair(pair: tuple[Word, Word], members: Sequence[Member]) -> tuple[str, str]:
    a, b = (_alias(word, members) for word in pair)
    if a == b:
        raise Refused(f"a window binds two streams, but this one names {a} twice", "name another stream", pair[1].at)
    return a, b


def _alias(word: Word, members: Sequence[Member]) -> str:
    for member in members:
        if same(member.alias, word.name):
            return member.alias
    for member in members:
        if same(member.stream.name, word.name):
            hint = f"{member.stream.name} is called {member.alias} here"
            break
    else:
        aliases = [member.alias for member in members]
        hint = meant(word.name, aliases, "the aliases here are", aliases)
    raise Refused(f"unknown alias '{word.name}' in WINDOW", hint, word.at)
