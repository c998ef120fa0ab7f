"""Pathway: a chain of interval joins over static tables, each followed by a filter for the other pairs.

A two-way interval join knows one pair of times, so the windows of the other pairs
are filters on what came out.  It needs an equality: where a case has none, the cells
of a band's value stand in for it.  A plain join with all windows as filters takes
twice as long.  It is given a tenth of each case, which is scaled so that a row finds
as many partners as in the whole.
"""

from __future__ import annotations

import logging
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa

from bench.case import Case
from bench.workload import Contender, Run

FIRST = "_of"  # ``id`` is a name of Pathway's own


def prepare(case: Case, formulation: str) -> Run:
    import pathway as pw

    logging.disable(logging.WARNING)

    def run() -> pa.Table:
        tables = {
            name: pw.debug.table_from_pandas(
                table.rename_columns([f"{c}{FIRST}_{name}" for c in table.column_names]).to_pandas()
            )
            for name, table in case.streams.items()
        }
        found = _chain(case, tables)
        return pa.Table.from_pandas(pw.debug.table_to_pandas(found, include_id=False), preserve_index=False)

    return run


def _chain(case: Case, tables: dict[str, Any]) -> Any:
    import pathway as pw

    first, *others = tables
    found, seen = tables[first], first
    for stream in others:
        found = _joined(case, found, seen, tables[stream], stream)
        seen += stream
    return found.select(**{name: pw.this[_name("id", name)] for name in seen})


def _joined(case: Case, found: Any, seen: str, table: Any, stream: str) -> Any:
    """What was found so far, joined with one more stream."""
    import pathway as pw

    equal, near, anchor = case.equal_to(stream, seen), case.near_to(stream, seen), seen[0]
    if not equal:
        band = near[0]
        size = 2 * band.width
        lowest = pw.cast(int, (found[_name(band.column, band.one)] - band.width) // size)
        found = found.with_columns(cell=pw.make_tuple(lowest, lowest + 1)).flatten(pw.this.cell)
        table = table.with_columns(cell=pw.cast(int, table[_name(band.column, stream)] // size))
        on = [found.cell == table.cell]
    else:
        on = [found[_name(e.column, e.one)] == table[_name(e.column, stream)] for e in equal]
    interval = pw.temporal.interval(-case.reach(stream, anchor), case.reach(anchor, stream))
    joined = found.interval_join(table, found[_name("ts", anchor)], table[_name("ts", stream)], interval, *on).select(
        **{name: found[name] for name in found.column_names() if name != "cell"},
        **{name: table[name] for name in table.column_names() if name != "cell"},
    )
    kept = [
        (joined[_name("ts", stream)] - joined[_name("ts", s)] <= case.reach(s, stream))
        & (joined[_name("ts", s)] - joined[_name("ts", stream)] <= case.reach(stream, s))
        for s in seen
        if s != anchor
    ]
    for band in near:
        apart = joined[_name(band.column, band.one)] - joined[_name(band.column, stream)]
        kept.append((apart < band.width) & (-apart < band.width))
    return joined.filter(reduce(and_, kept)) if kept else joined


def _name(column: str, stream: str) -> str:
    return f"{column}{FIRST}_{stream}"


CONTENDER = Contender("Pathway", "pathway", prepare, formulations=lambda case: ("interval joins",), scale=0.1)
