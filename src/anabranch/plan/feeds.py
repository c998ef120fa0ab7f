"""Which rows of which stream go to which bucket, so that every match comes together in exactly one.

A *bucket* is a share of the join with its own state.  Where an equality, or several,
holds between all members, its hash decides: each row goes to one bucket.  Where none
does, the largest class of members that are equal to each other is spread by its hash,
or else the rows of one member by their content, and the rows of all other members go
to every bucket.  So a match has all its spread members in one bucket, finds the others
there, and is found nowhere else.

A stream with a count window goes to every bucket, because its positions count all of
its rows.  Where all members count, there is one bucket.

A *feed* is a stream on one of these roads; a stream that is joined with itself by
different columns is more than one.  The join is rewritten to have feeds as its streams.

A *hot* key, one that a large part of all rows has, would make one bucket do most of the
work.  Where the user names it, its rows of one member are spread by their content and
those of the others go to every bucket, as if there were no equality for this key alone.

Rows that can match nothing, because a key is NULL or a filter on their stream alone
rejects them, travel too: whether they are late is only known where the frontier is.
They are not remembered, unless their stream has a count window, in which they count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.core.program import FILTER, Lane
from anabranch.plan.lower import Lowered
from anabranch.plan.query import Join, Stream

KEY, CONTENT, EVERYWHERE, ONE = "key", "content", "everywhere", "one"


@dataclass(frozen=True)
class Feed:
    """A stream, how its rows find their bucket, and what a row must pass to match anything.

    ``required`` are columns that must not be NULL, ``filters`` conditions that must be TRUE.
    """

    name: str
    stream: str
    time: str
    integer_time: bool
    schema: pa.Schema  # of the columns that are sent, the time among them
    road: str
    keys: tuple[Lane, ...] = ()
    required: tuple[str, ...] = ()
    filters: tuple[exp.Expression, ...] = ()
    hot: tuple[int, ...] = ()  # hashes of keys whose rows are spread, or go everywhere
    spreads: bool = False  # which of the two

    @property
    def filtered(self) -> list[tuple[str, str]]:
        """The (alias, column) pairs that the filters read."""
        columns = [column for each in self.filters for column in each.find_all(exp.Column)]
        return list(dict.fromkeys((column.table, column.name) for column in columns))

    @property
    def everywhere(self) -> bool:
        """Whether each row goes to every bucket."""
        return self.road == EVERYWHERE


@dataclass(frozen=True)
class Feeds:
    """A join over its feeds, and why its rows go where they go."""

    join: Join
    feeds: tuple[Feed, ...]
    streams: tuple[str, ...]
    why: str

    @property
    def buckets_matter(self) -> bool:
        """Whether more than one bucket is of any use."""
        return all(feed.road != ONE for feed in self.feeds)


@dataclass(frozen=True)
class Wish:
    """What a user may say of the roads.

    *spread* is the alias of the member to spread where no equality decides; else it is
    the one with the highest of the *rates*, by stream, or the first.  *whole* sends all
    columns, not only those that are read.  *hot* says that hot keys will be named.
    """

    spread: str | None = None
    whole: bool = False
    hot: bool = False
    rates: Mapping[str, float] = field(default_factory=dict)


def feeds(lowered: Lowered, wish: Wish = Wish()) -> Feeds:
    """The feeds of a join."""
    join, hot, spread = lowered.join, wish.hot, wish.spread
    chosen, roads, why = _roads(lowered, wish)
    keyed = [s for s, road in enumerate(roads) if road == KEY]
    asked = [s for s in keyed if join.members[s].alias == spread]
    if hot and len(keyed) < 2:
        raise Refused("there is no key that could be hot", "leave hot out: rows are spread by their content already")
    spreads = (asked or keyed)[0] if hot else None
    found: list[Feed] = []
    members = []
    for s, member in enumerate(join.members):
        feed = _feed(lowered, s, roads[s], chosen if roads[s] == KEY else (), wish.whole)
        feed = replace(feed, spreads=s == spreads)
        twin = next((each for each in found if _same_road(each, feed)), None)
        if twin is None:
            number = sum(each.stream == feed.stream for each in found)
            twin = replace(feed, name=feed.stream + (f"#{number + 1}" if number else ""))
            found.append(twin)
        else:
            names = {*twin.schema.names, *feed.schema.names}
            both = pa.schema([field for field in member.stream.schema if field.name in names])
            required = tuple(name for name in twin.required if name in feed.required)
            found[found.index(twin)] = twin = replace(twin, schema=both, required=required, filters=())
        members.append(twin.name)
    by_name = {feed.name: feed for feed in found}
    rewritten = replace(
        join,
        members=tuple(
            replace(member, stream=Stream(name, by_name[name].schema, by_name[name].time))
            for member, name in zip(join.members, members, strict=True)
        ),
    )
    streams = tuple(dict.fromkeys(member.stream.name for member in join.members))
    return Feeds(rewritten, tuple(found), streams, why)


def _roads(lowered: Lowered, wish: Wish) -> tuple[tuple[int, ...], list[str], str]:
    """The keys that decide, the road of each member, and the reason in words."""
    program, members = lowered.program, lowered.join.members
    n = len(members)
    free = [s for s in range(n) if members[s].rows is None]
    whole = tuple(k for k, key in enumerate(program.keys) if all(key[s] >= 0 for s in range(n)))
    if not free:
        return (), [ONE] * n, "one bucket: every stream has a count window, whose positions count all of its rows"
    if whole and len(free) == n:
        named = " and ".join(_named(lowered, k, range(n)) for k in whole)
        return whole, [KEY] * n, f"each row goes to one bucket, by the hash of {named}"
    classes = {k: [s for s in free if key[s] >= 0] for k, key in enumerate(program.keys)}
    best = max(classes, key=lambda k: len(classes[k]), default=None)
    asked = next((s for s in free if members[s].alias == wish.spread), None)
    if asked is None and best is not None and len(classes[best]) > 1:
        roads = [KEY if s in classes[best] else EVERYWHERE for s in range(n)]
        spread = " and ".join(members[s].alias for s in classes[best])
        others = " and ".join(members[s].alias for s in range(n) if s not in classes[best])
        because = "no equality holds between all members" if len(free) == n else "a count window needs all rows"
        named = _named(lowered, best, classes[best])
        why = f"each row of {spread} goes to one bucket, by the hash of {named}, those of {others} to all: {because}"
        return (best,), roads, why
    fastest = max(free, key=lambda s: wish.rates.get(members[s].stream.name, 0.0))
    one = fastest if asked is None else asked
    roads = [CONTENT if s == one else EVERYWHERE for s in range(n)]
    because = "no equality" if len(free) == n else "no equality between streams without count windows"
    return (
        (),
        roads,
        f"each row of {members[one].alias} goes to one bucket, by its content, those of the others to all: {because}",
    )


def _named(lowered: Lowered, key: int, members: Any) -> str:
    program = lowered.program
    return " = ".join(
        f"{lowered.join.members[s].alias}.{program.lanes[s][program.keys[key][s]].column}" for s in members
    )


def _feed(lowered: Lowered, s: int, road: str, chosen: tuple[int, ...], whole: bool) -> Feed:
    program, member = lowered.program, lowered.join.members[s]
    stream = member.stream
    needed = lowered.reads(s)
    columns = [field for field in stream.schema if whole or field.name in needed]
    keyed = [program.lanes[s][i] for i in program.required(s) if program.lanes[s][i].kind != FILTER]
    required = () if member.rows else tuple(dict.fromkeys(lane.column for lane in keyed))
    keys = tuple(program.lanes[s][program.keys[k][s]] for k in chosen)
    alone = () if member.rows else tuple(filter(_on_one_stream(member.alias), lowered.join.where))
    return Feed(
        stream.name, stream.name, stream.time, stream.integer_time, pa.schema(columns), road, keys, required, alone
    )


def _on_one_stream(alias: str) -> Callable[[exp.Expression], bool]:
    """Whether a condition speaks of this member alone, and calls no function of the user's."""

    def alone(condition: exp.Expression) -> bool:
        aliases = {column.table for column in condition.find_all(exp.Column)}
        return aliases == {alias} and not condition.find(exp.Anonymous)

    return alone


def _same_road(one: Feed, other: Feed) -> bool:
    return (one.stream, one.road, one.keys, one.spreads) == (other.stream, other.road, other.keys, other.spreads)
