"""Polars: a lazy chain of joins and filters, on the streaming engine, which is the faster one.

Each partial match is repeated for the cells of time (and of a band's value) in which
the next stream can have a partner, and the cells join the equality.  Without them
four streams of a million rows take a quarter longer where keys are many, and do not
end in minutes where they are few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.case import Case
from bench.workload import Contender, Run

if TYPE_CHECKING:
    import polars as pl

WIDE = 2  # a cell is so many times as wide as what is looked for


def prepare(case: Case, formulation: str) -> Run:
    return lambda: _chain(case).collect(engine="streaming").to_arrow()


def _chain(case: Case) -> pl.LazyFrame:
    import polars as pl

    frames: dict[str, Any] = {name: pl.from_arrow(table) for name, table in case.streams.items()}
    frames = {n: frame.lazy().rename({c: f"{n}_{c}" for c in frame.columns}) for n, frame in frames.items()}
    first, *others = frames
    found, seen = frames[first], first
    for stream in others:
        found = _joined(case, found, seen, frames[stream], stream)
        seen += stream
    return found.select(pl.col(f"{name}_id").alias(name) for name in seen)


def _joined(case: Case, found: pl.LazyFrame, seen: str, frame: pl.LazyFrame, stream: str) -> pl.LazyFrame:
    """What was found so far, joined with one more stream."""
    import polars as pl

    low = pl.max_horizontal([pl.col(f"{s}_ts") - case.reach(stream, s) for s in seen])
    high = pl.min_horizontal([pl.col(f"{s}_ts") + case.reach(s, stream) for s in seen])
    ticks = WIDE * max(max(case.reach(stream, s), case.reach(s, stream)) for s in seen)
    equal, near = case.equal_to(stream, seen), case.near_to(stream, seen)
    left, right = [f"{e.one}_{e.column}" for e in equal], [f"{stream}_{e.column}" for e in equal]
    kept = [pl.col(f"{stream}_ts").is_between(low, high)]
    found = found.with_columns(time_met=pl.int_ranges(low // ticks, high // ticks + 1)).explode("time_met")
    frame = frame.with_columns(time_cell=pl.col(f"{stream}_ts") // ticks)
    met, cells = ["time_met"], ["time_cell"]
    for band in near:
        theirs, ours, size = pl.col(f"{band.one}_{band.column}"), pl.col(f"{stream}_{band.column}"), WIDE * band.width
        kept.append((theirs - ours).abs() < band.width)
        if len(cells) == 1:
            values = pl.int_ranges(_cell(theirs - band.width, size), _cell(theirs + band.width, size) + 1)
            found, frame = (
                found.with_columns(value_met=values).explode("value_met"),
                frame.with_columns(value_cell=_cell(ours, size)),
            )
            met, cells = [*met, "value_met"], [*cells, "value_cell"]
    joined = found.join(frame, left_on=[*left, *met], right_on=[*right, *cells], coalesce=False)
    return joined.filter(kept).drop(*met, *cells)


def _cell(value: pl.Expr, size: float) -> pl.Expr:
    import polars as pl

    return (value / size).floor().cast(pl.Int64)


CONTENDER = Contender("Polars", "polars", prepare, formulations=lambda case: ("cells",))
