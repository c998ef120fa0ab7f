"""Packing: the rows of a feed on their way to their buckets, a few large blobs instead of many rows.

What a task reads of a feed becomes one *piece* for each bucket: the rows that go
there as one Arrow batch, and a punctuation, which is how far the stream has come in
this task.  Every bucket gets the punctuation of every task, with rows or without, so
all of them know the same frontiers after a batch.

A row whose time cannot be read goes with its reason to one bucket, which keeps it.
Where a row goes follows from the row and its stream, never from its place in a task: a
batch that is begun anew may be cut into other tasks.

Cost: a pass over the times and keys, and a gather of the columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anabranch.core import lanes
from anabranch.core.errors import Refused
from anabranch.core.plain import plain_batch
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.core.times import span, ticks
from anabranch.files.json_text import rows_json
from anabranch.plan.feeds import CONTENT, EVERYWHERE, KEY, Feed

ROWS = 65_536  # of a feed in one task that are packed together
MARK, REASON, ROW = "anabranch:mark", "anabranch:reason", "anabranch:row"  # columns of sources that know more
BAD = pa.schema([("reason", pa.string()), ("row", pa.string())])


class Piece(NamedTuple):
    """What one task sends to one bucket; ``body`` are rows of the feed's schema, ``bad`` those that are none."""

    bucket: int
    feed: int
    part: int
    number: int
    newest: int
    promised: int
    rows: int  # read by the task, all of them, said to one bucket only
    dead: int
    body: bytes | None
    bad: bytes | None


PIECES = pa.schema(
    [
        pa.field("bucket", pa.int32(), nullable=False),
        *(pa.field(name, pa.int32(), nullable=False) for name in ("feed", "part", "number")),
        *(pa.field(name, pa.int64(), nullable=False) for name in ("newest", "promised", "rows", "dead")),
        pa.field("body", pa.binary()),
        pa.field("bad", pa.binary()),
    ]
)


@dataclass
class Packer:
    """Packs one feed; *buckets* are the names of the buckets, which are evenly spread over partitions."""

    feed: Feed
    number: int
    buckets: Sequence[int]
    first: bool  # whether this feed speaks for its stream: counts its rows, and hands on its bad ones

    def pack(self, batches: Iterable[pa.RecordBatch], part: int) -> Iterator[Piece]:
        """The pieces of what one task reads."""
        waiting: list[pa.RecordBatch] = []
        number = 0
        for batch in batches:
            waiting.append(batch)
            if sum(map(len, waiting)) >= ROWS:
                yield from self._packed(pa.concat_batches(waiting), part, number)
                waiting, number = [], number + 1
        if waiting and any(map(len, waiting)):
            yield from self._packed(pa.concat_batches(waiting), part, number)

    def _packed(self, read: pa.RecordBatch, part: int, number: int) -> Iterator[Piece]:
        read, promised = _without_marks(read)
        rows = len(read)
        read, bad = _without_broken(read)
        times, reasons = ticks(read.column(self.feed.time), self.feed.integer_time)
        batch = plain_batch(read, self.feed.schema)
        if reasons is not None:
            good = np.array([reason is None for reason in reasons], np.bool_)
            ill = read.filter(pa.array(~good))
            bad.append(
                pa.record_batch([pa.array([str(r) for r in reasons[~good]]), pa.array(rows_json(ill))], schema=BAD)
            )
            batch, times = batch.filter(pa.array(good)), times[good]
        newest = span(times)[1] if len(times) else NEVER
        dead = sum(map(len, bad)) if self.first else 0
        keeper = self.number % len(self.buckets)
        for at, body in enumerate(self._shares(batch)):
            mine = self.first and at == keeper
            yield Piece(
                self.buckets[at], self.number, part, number, newest, promised,
                rows if self.first and at == 0 else 0,
                dead if mine else 0,
                None if body is None or not len(body) else body.serialize().to_pybytes(),
                pa.concat_batches(bad).serialize().to_pybytes() if mine and dead else None,
            )  # fmt: skip

    def _shares(self, batch: pa.RecordBatch) -> list[pa.RecordBatch | None]:
        n = len(self.buckets)
        if not len(batch):
            return [None] * n
        if self.feed.road == EVERYWHERE:
            return [batch] * n
        if self.feed.road not in (KEY, CONTENT) or n == 1:
            return [batch, *([None] * (n - 1))]
        hashed = hashes(batch, self.feed)
        everywhere = None
        if self.feed.hot:
            hot = np.isin(hashed, np.array(self.feed.hot, np.uint64))
            if self.feed.spreads:
                hashed = np.where(hot, hashes(batch, replace(self.feed, road=CONTENT)), hashed)
            elif hot.any():
                everywhere, batch, hashed = batch.filter(pa.array(hot)), batch.filter(pa.array(~hot)), hashed[~hot]
        target = hashed % np.uint64(n)
        order = np.argsort(target.astype(np.uint16) if n < 65_536 else target, kind="stable")
        sorted_rows = batch.take(pa.array(order))
        ends = np.cumsum(np.bincount(target.astype(np.int64), minlength=n))
        shares = [
            sorted_rows.slice(int(end - size), int(size))
            for end, size in zip(ends, np.diff(ends, prepend=0), strict=True)
        ]
        return shares if everywhere is None else [pa.concat_batches([share, everywhere]) for share in shares]


def table(pieces: Iterable[Piece]) -> pa.RecordBatch:
    """Pieces as the rows that travel through a shuffle."""
    columns = list(zip(*pieces, strict=True)) or [()] * len(PIECES)
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, PIECES, strict=True)], schema=PIECES)


def hashes(batch: pa.RecordBatch, feed: Feed) -> npt.NDArray[np.uint64]:
    """A hash of the keys, the same for equal keys of any feed; of the whole row where there are none."""
    if feed.road == KEY:
        words = [lanes.lane(batch.column(key.column), key.kind)[0] for key in feed.keys]
    else:
        words = [lanes.lane(column, kind)[0] for column in batch.columns if (kind := _kind(column.type))]
    result = np.zeros(len(batch), np.uint64)
    for word in words:
        result = _mixed(result * np.uint64(3) ^ word.view(np.uint64))
    for name in feed.required:  # what can match nothing goes anywhere, not all to one bucket
        column = batch.column(name)
        if column.null_count:
            null = column.is_null().to_numpy(zero_copy_only=False)
            moments, _ = ticks(batch.column(feed.time), feed.integer_time)
            result[null] = _mixed(moments.view(np.uint64)[null])
    return result


def hot_hashes(feed: Feed, values: Sequence[Any]) -> tuple[int, ...]:
    """The hashes of keys, given as their values; of several columns as tuples in the order of the columns."""
    names = [key.column for key in feed.keys]
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    if any(len(row) != len(names) for row in rows):
        raise Refused(
            f"a hot key has {len(names)} values, of {', '.join(names)}", f"write hot=[({', '.join(names)}), ...]"
        )
    try:
        columns = [pa.array([row[i] for row in rows], feed.schema.field(name).type) for i, name in enumerate(names)]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise Refused(
            f"a hot key does not fit {', '.join(names)}: {error}", "give the values as the rows have them"
        ) from None
    batch = pa.RecordBatch.from_arrays(columns, names=names)
    return tuple(hashes(batch, replace(feed, required=())).tolist())


def _kind(kind: pa.DataType) -> str | None:
    if lanes.fits_word(kind):
        return "real" if pa.types.is_floating(kind) else "int"
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return "hash" if text or pa.types.is_binary(kind) or pa.types.is_large_binary(kind) else None


def _mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _without_marks(read: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
    """The rows that are rows, and the greatest promise among those that are heartbeats."""
    if MARK not in read.schema.names:
        return read, NEVER
    marks = read.column(MARK)
    if marks.null_count == len(marks):
        return read, NEVER
    return read.filter(pc.is_null(marks)), min(FOREVER, int(pc.max(marks).as_py()))


def _without_broken(read: pa.RecordBatch) -> tuple[pa.RecordBatch, list[pa.RecordBatch]]:
    """The rows that a source could read, and those that it could not."""
    if REASON not in read.schema.names:
        return read, []
    reasons = read.column(REASON)
    if reasons.null_count == len(reasons):
        return read, []
    broken = read.filter(pc.is_valid(reasons))
    columns = [broken.column(REASON).cast(pa.string()), broken.column(ROW).cast(pa.string())]
    return read.filter(pc.is_null(reasons)), [pa.record_batch(columns, schema=BAD)]
