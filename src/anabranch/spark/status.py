"""How a running query stands: ``status`` in figures, ``why`` in words.

Both read what the buckets said in the last batch, from the progress that Spark keeps
of the query; nothing is asked of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.spark.apart import DEAD, LATE
from anabranch.spark.failure import told
from anabranch.spark.watch import WATCHED, Watched

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class StreamStatus:
    """One stream of a query; times are ticks, None before the first row."""

    name: str
    rows: int
    late: int
    dead: int
    newest: int | None
    frontier: int | None
    finished: bool
    buffered: int
    given_up: int


@dataclass(frozen=True)
class Status:
    """A query after its last batch."""

    batch: int
    streams: tuple[StreamStatus, ...]
    matches: int
    candidates: int
    memory: int
    peak_tuples: int
    peak_memory: int
    stored: int
    written: int
    hot_share: float
    hot_key: str | None
    integer_time: bool
    watched: Watched

    @property
    def held_back_by(self) -> str | None:
        """The stream that the others wait for."""
        waiting = [s for s in self.streams if not s.finished]
        if len(self.streams) < 2 or not waiting:
            return None
        least = min(waiting, key=_frontier)
        return least.name if any(_frontier(s) > _frontier(least) for s in self.streams) else None

    def __str__(self) -> str:
        rows = [("stream", "rows", "late", "bad", "held", "promised until", "")]
        for s in self.streams:
            note = "holds the others back" if s.name == self.held_back_by else ""
            until = "its end" if s.finished else self.time(s.frontier)
            rows.append((s.name, f"{s.rows:,}", f"{s.late:,}", f"{s.dead:,}", f"{s.buffered:,}", until, note))
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 5)), row[5].ljust(widths[5])]
            )
            + (f"  {row[6]}" if row[6] else "")
            for row in rows
        ]
        lines.append(
            f"batch {self.batch}: {self.matches:,} matches so far; state {self.stored:,} bytes,"
            f" memory {self.memory:,} bytes"
        )
        return "\n".join(line.rstrip() for line in lines)

    def time(self, ticks: int | None) -> str:
        """A point of the time axis as a user reads it."""
        if ticks is None:
            return "-"
        return str(ticks) if self.integer_time else f"{EPOCH + timedelta(microseconds=ticks):%Y-%m-%d %H:%M:%S.%f}"

    def length(self, ticks: int) -> str:
        """A length of time as a user reads it."""
        return f"{ticks:,}" if self.integer_time else str(timedelta(microseconds=ticks))


def status(query: StreamingQuery) -> Status:
    """How a query stands after its last batch; of its first join, where it has several."""
    found = list(statuses(query))
    if not found:
        raise Refused("no batch of the query has finished yet", "ask again later, or look at query.status")
    return found[0]


def statuses(query: StreamingQuery) -> Iterator[Status]:
    """How each join of a query stands."""
    seen: set[str] = set()
    for progress in reversed(query.recentProgress):
        for name, row in progress["observedMetrics"].items():
            known = WATCHED.get(name)
            if known is None or name in seen:
                continue
            said = _said(row)
            if said.get("rows_0") is not None:
                seen.add(name)
                yield _status(progress["batchId"], said, known)


def late(query: StreamingQuery) -> DataFrame:
    """The rows that came too late for a query so far: stream, time, lateness, row."""
    return _apart(query, LATE)


def dead(query: StreamingQuery) -> DataFrame:
    """The rows that a query could not read so far: stream, reason, row."""
    return _apart(query, DEAD)


def why(query: StreamingQuery) -> str:
    """Why there is no output, or not more of it, in plain words."""
    failed = query.exception()
    if failed is not None:
        return f"The query has failed: {told(failed)}"
    found = list(statuses(query))
    if not found:
        return "No batch with rows has finished yet." + ("" if query.isActive else " The query has been stopped.")
    return "\n\n".join("\n".join(_reasons(each)) for each in found)


def _said(row: Any) -> dict[str, Any]:
    """The observed values by name; Spark Connect packs them as a row of values and a schema."""
    said = dict(zip(getattr(row, "__fields__", ()), row, strict=True))
    if set(said) != {"values", "schema"}:
        return said
    return dict(zip([field["name"] for field in said["schema"]["fields"]], said["values"], strict=True))


def _status(batch: int, row: Mapping[str, Any], known: Watched) -> Status:
    def of(name: str, s: int) -> int:
        return int(row.get(f"{name}_{s}") or 0)

    streams = tuple(
        StreamStatus(
            name,
            of("total_rows", s), of("total_late", s), of("total_dead", s),
            None if of("newest", s) == NEVER else of("newest", s),
            None if of("frontier", s) in (NEVER, FOREVER) else of("frontier", s),
            of("frontier", s) == FOREVER,
            of("buffered", s),
            of("given_up", s),
        )
        for s, name in enumerate(known.shard.streams)
    )  # fmt: skip
    members = known.shard.feeds.join.members
    return Status(
        batch, streams, int(row["total_matches"]), int(row["candidates"]), int(row["memory"]), int(row["peak_tuples"]),
        int(row["peak_memory"]), int(row["stored"]),
        int(row["written"]), float(row["hot_share"]), row["hot_key"], members[0].stream.integer_time, known,
    )  # fmt: skip


def _reasons(at: Status) -> list[str]:
    """What keeps matches back, the most certain first."""
    lines = [f"After batch {at.batch} there {'is 1 match' if at.matches == 1 else f'are {at.matches:,} matches'}."]
    silent = [s.name for s in at.streams if not s.rows]
    if silent:
        held = sum(s.buffered for s in at.streams)
        lines.append(
            f"{_listed(silent)} {'has' if len(silent) == 1 else 'have'} sent no rows at all, and every match needs one"
            f" of each stream; {held:,} tuples of the others wait."
        )
    for s in at.streams:
        if s.rows and s.dead == s.rows:
            lines.append(f"None of the {s.rows:,} rows of {s.name} could be read: see ab.dead(query) for the reasons.")
        elif s.late > s.rows // 2:
            lines.append(
                f"{s.late:,} of the {s.rows:,} rows of {s.name} came too late: give it more lateness with"
                " withWatermark or ab.stream(lateness=...); ab.late(query) shows them."
            )
    holder = next((s for s in at.streams if s.name == at.held_back_by), None)
    if holder is not None and holder.rows:
        ahead = max((s for s in at.streams if s.newest is not None), key=lambda s: s.newest or 0)
        if holder.frontier is not None and ahead.newest is not None and ahead.newest > holder.frontier:
            held = sum(s.buffered for s in at.streams if s is not holder)
            lines.append(
                f"{holder.name} promises nothing beyond {at.time(holder.frontier)}, which is"
                f" {at.length(ahead.newest - holder.frontier)} behind {ahead.name}; {held:,} tuples of the other"
                " streams are held because its rows may still match them."
            )
    lines += _apart_in_time(at)
    counting = [m.alias for m in at.watched.shard.feeds.join.members if m.rows]
    if counting:
        lines.append(
            f"{_listed(counting)} {'has a count window' if len(counting) == 1 else 'have count windows'}: a match"
            " comes out when nothing older can still arrive there, so the frontier decides."
        )
    if not silent and not at.matches:
        if at.candidates:
            lines.append(
                f"In the last batch {at.candidates:,} combinations were inside their windows, and none passed the"
                f" conditions: {_conditions(at)}."
            )
        else:
            lines.append(
                f"In the last batch no rows of all streams had equal keys inside their windows: {_conditions(at)}."
            )
    if at.hot_key is not None:
        lines.append(
            f"The key {at.hot_key} has {at.hot_share:.0%} of the rows of its bucket, which one core joins: from a new"
            f" checkpoint on, Options(hot=[{at.hot_key}]) spreads it."
        )
    if len(lines) == 1:
        lines.append("Nothing holds it back: no stream waits for another.")
    return lines


def _apart_in_time(at: Status) -> list[str]:
    """Streams whose newest rows are further apart than their windows let matches be."""
    join, lines = at.watched.shard.feeds.join, []
    place = {s.name: s for s in at.streams}
    names = [next(f.stream for f in at.watched.shard.feeds.feeds if f.name == m.stream.name) for m in join.members]
    for i, early in enumerate(names):
        for j, later in enumerate(names):
            bound = int(join.windows.closed[i, j])
            a, b = place[early].newest, place[later].newest
            if early != later and a is not None and b is not None and bound != FOREVER and b - a > bound:
                lines.append(
                    f"The newest row of {later} is {at.length(b - a)} after that of {early}, and the windows let it be"
                    f" at most {at.length(bound)}: {early} has to come that far before they can meet."
                )
    return lines


def _conditions(at: Status) -> str:
    where = at.watched.shard.feeds.join.where
    return " AND ".join(condition.sql(dialect="spark") for condition in where) or "the windows alone"


def _apart(query: StreamingQuery, what: str) -> DataFrame:
    watched = [known for name in _names(query) if (known := WATCHED.get(name)) is not None]
    if not watched:
        raise Refused("the query has finished no batch yet, or was not planned here", "ask the program that started it")
    apart = watched[0].apart
    if apart.folder is None:
        raise Refused("the query only counts such rows", "plan it with Options(apart=FOLDER)")
    rows: DataFrame = apart.frame(watched[0].spark, str(query.id), what)
    return rows


def _names(query: StreamingQuery) -> list[str]:
    metrics = [name for progress in query.recentProgress for name in progress["observedMetrics"]]
    return list(dict.fromkeys(metrics))


def _frontier(stream: StreamStatus) -> int:
    if stream.finished:
        return FOREVER
    return NEVER if stream.frontier is None else stream.frontier


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
