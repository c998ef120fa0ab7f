"""Buckets against the definition, on random timelines: what Spark may do to a task is done to them."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from uuid import uuid4

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.plan.feeds import feeds
from anabranch.plan.lower import lower
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse
from anabranch.spark.bucket import Bucket, Shard, Worker
from anabranch.spark.chunks import Copies
from anabranch.spark.memory import Remembered
from anabranch.spark.pieces import REASON, ROW, Packer, Piece
from anabranch.testing.on_buckets import on_buckets
from anabranch.testing.play import check
from anabranch.testing.predicates import PREDICATES
from anabranch.testing.seams import seams
from anabranch.testing.strategies import timelines
from anabranch.testing.timeline import Case

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64())])


@settings(max_examples=150)
@given(timelines(PREDICATES, bad=True), st.integers(1, 3), st.integers(0, 9_999), st.booleans(), st.booleans())
def test_buckets_agree_with_the_definition(case: Case, buckets: int, seed: int, integer: bool, hot: bool) -> None:
    with TemporaryDirectory() as folder, seams(pane=1):
        played = on_buckets(case, buckets, Random(seed), Path(folder), integer, hot)
    check(case, played, spare=None if hot else buckets, by_row=False)  # what is hot lies in several


def planned(select: str, buckets: int, **functions: Callable[..., bool]) -> Shard:
    """A join of two streams as one bucket, or more, of a query that is planned now."""
    text = f"SELECT {select} FROM a A, b B WHERE A.k = B.k{' AND f(A.k, B.k)' if functions else ''} WINDOW = 5"
    (join,) = parse(text, {name: Stream(name, SCHEMA) for name in "ab"}, functions=tuple(functions)).joins
    found = feeds(lower(join, functions))
    return Shard(found, tuple(range(buckets)), "query", (0, 0), (None, None), functions=functions, plan=uuid4().hex)


def run(shard: Shard, state: Remembered, worker: Worker, batch: int, *columns: list[int]) -> list[dict[str, int]]:
    """The matches of a batch that brings the same rows to both streams."""
    rows = pa.record_batch([pa.array(column, pa.int64()) for column in columns], schema=SCHEMA)
    pieces = [
        piece for n, feed in enumerate(shard.feeds.feeds) for piece in Packer(feed, n, (0,), True).pack([rows], n)
    ]
    found = Bucket(shard, 0, state, Copies(None), worker).run(batch, pieces)
    return [row for each in found.tables for row in each.to_pylist()]


def test_what_a_worker_keeps_is_of_one_plan_only() -> None:
    """Two queries with one state, and in one process, differ in what they call and select."""
    worker, yes, no = Worker(), Remembered(), Remembered()
    open_, closed = planned("A.k", 1, f=lambda a, b: True), planned("A.k", 1, f=lambda a, b: False)
    run(open_, yes, worker, 0, [1], [7])
    run(closed, no, worker, 0, [1], [7])
    assert len(run(open_, yes, worker, 1, [2], [7])) == 3
    assert not run(closed, no, worker, 1, [2], [7])


def last_of(ordered: bool, *tasks: list[int]) -> list[int]:
    """Which key of b counts as its last, where tasks have read these, all of one time."""
    text = "SELECT B.k, B.v FROM a A, b [ROWS 1] B WINDOW = 5"
    schema = pa.schema([*SCHEMA, ("v", pa.list_(pa.int64()))])
    (join,) = parse(text, {name: Stream(name, schema) for name in "ab"}).joins
    found = feeds(lower(join))
    shard = Shard(found, (0,), "query", (0, 0), (None, None), frozenset("b" if ordered else ""))
    pieces = []
    for n, feed in enumerate(found.feeds):
        for part, keys in enumerate(tasks if feed.stream == "b" else [[0]]):
            columns = [pa.array([1] * len(keys)), pa.array([k // 10 for k in keys]), pa.array([[k] for k in keys])]
            read = pa.record_batch(columns, schema=schema)
            pieces += Packer(feed, n, (0,), True).pack([read], part)
        pieces.append(Piece(0, n, 9, 0, NEVER, FOREVER, 0, 0, None, None))
    outcome = Bucket(shard, 0, Remembered(), Copies(None), Worker()).run(0, pieces)
    return [row["B.v"][0] for table in outcome.tables for row in table.to_pylist()]


def test_of_rows_of_one_time_the_same_ones_count_however_tasks_are_cut() -> None:
    dice, keys = Random(1), [31, 12, 32, 11]
    for _ in range(20):
        mixed, cut = dice.sample(keys, len(keys)), dice.randint(0, len(keys))
        assert last_of(False, mixed[:cut], mixed[cut:]) == [32]
        assert last_of(True, mixed[:cut], mixed[cut:]) == mixed[-1:]  # this source keeps an order


def places(keys: list[int | None], cut: int, reasons: list[str | None]) -> dict[int, list[str]]:
    """Where rows go that are read by two tasks: by bucket, their keys and what is bad about them."""
    shard = planned("A.k", 3)
    rows = pa.record_batch([pa.array([5 + i for i in range(len(keys))]), pa.array(keys, pa.int64())], schema=SCHEMA)
    read = pa.RecordBatch.from_arrays(
        [*rows.columns, pa.array(reasons, pa.string()), pa.array(reasons, pa.string())], [*SCHEMA.names, REASON, ROW]
    )
    found: dict[int, list[str]] = {}
    for part, some in enumerate((read.slice(0, cut), read.slice(cut))):
        for piece in Packer(shard.feeds.feeds[0], 0, shard.buckets, True).pack([some], part):
            mine = found.setdefault(piece.bucket, [])
            mine += ["bad"] * piece.dead
            if piece.body is not None:
                rows = pa.ipc.read_record_batch(pa.py_buffer(piece.body), shard.feeds.feeds[0].schema)
                mine += map(str, rows.to_pylist())
    return {bucket: sorted(rows) for bucket, rows in found.items()}


def test_a_row_goes_where_it_went_however_tasks_are_cut() -> None:
    keys = [None, None, 3, None, 4, None, 5, None]
    reasons = [None, None, None, None, None, None, "ill", "ill"]
    first = places(keys, 8, reasons)
    assert sum(map(len, first.values())) == 8
    assert all(places(keys, cut, reasons) == first for cut in range(8))
