"""The SQL of a case, for Anabranch and for DuckDB, in the ways that a user could write it.

``plain`` is the join as one would say it.  ``cells`` is what an expert makes of it:
time (and the value of a band) is cut into cells as wide as a window, each partial
match is repeated for the two or three cells that it can reach, and the cell joins
the equality, so that a hash join finds the neighbours and little else.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.case import Band, Bound, Equality


def conditions(equalities: Sequence[Equality], bands: Sequence[Band]) -> list[str]:
    """The predicate without the windows."""
    return [
        *(f"{e.one}.{e.column} = {e.other}.{e.column}" for e in equalities),
        *(f"abs({b.one}.{b.column} - {b.other}.{b.column}) < {b.width}" for b in bands),
    ]


def select(streams: str) -> str:
    """The ids of the members, each in a column called as its stream."""
    return "SELECT " + ", ".join(f"{s}.id AS {s}" for s in streams) + " FROM " + ", ".join(streams)


def windowed(streams: str, where: Sequence[str], ticks: int) -> str:
    """For Anabranch: one window for all pairs."""
    return f"{select(streams)}\nWHERE {' AND '.join(where)}\nWINDOW = {ticks}"


def plain(streams: str, where: Sequence[str], ticks: int) -> str:
    """For DuckDB: the window of each pair as a comparison."""
    pairs = [(a, b) for i, a in enumerate(streams) for b in streams[i + 1 :]]
    near = [f"abs({a}.ts - {b}.ts) <= {ticks}" for a, b in pairs]
    return f"{select(streams)}\nWHERE {' AND '.join([*where, *near])}"


def cells(
    order: str, bounds: Sequence[Bound], equalities: Sequence[Equality], bands: Sequence[Band] = (), wide: int = 2
) -> str:
    """For DuckDB: stream after stream in *order*, found through cells *wide* times as wide as what is looked for."""
    reach = {(bound.earlier, bound.later): bound.ticks for bound in bounds}
    read = sorted({term.column for term in (*equalities, *bands)})
    steps, seen = [f"m1 AS (SELECT {_renamed(order[0], read)} FROM {order[0]})"], order[0]
    for number, stream in enumerate(order[1:], 2):
        low = _extreme("greatest", [f"{s}_ts - {reach[stream, s]}" for s in seen])
        high = _extreme("least", [f"{s}_ts + {reach[s, stream]}" for s in seen])
        wanted = wide * max(max(reach[stream, s], reach[s, stream]) for s in seen)
        here = [f"*, unnest(range({low} // {wanted}, {high} // {wanted} + 1)) AS cell"]
        there = [f"{_renamed(stream, read)}, ts // {wanted} AS cell"]
        using = ["cell"]
        near = [b for b in bands if {b.one, b.other} <= {stream, *seen} and stream in (b.one, b.other)]
        source = f"(SELECT {here[0]} FROM m{number - 1})"
        if near:
            band, size = near[0], wide * near[0].width
            value = f"{band.other if band.one == stream else band.one}_{band.column}"
            source = (
                f"(SELECT *, unnest(range({_cell(f'{value} - {band.width}', size)}, "
                f"{_cell(f'{value} + {band.width}', size)} + 1)) AS value_cell FROM {source})"
            )
            there.append(f"{_cell(band.column, size)} AS value_cell")
            using.append("value_cell")
        on = [
            *(f"l.{name} = r.{name}" for name in using),
            *(
                f"l.{e.other if e.one == stream else e.one}_{e.column} = r.{stream}_{e.column}"
                for e in equalities
                if stream in (e.one, e.other) and {e.one, e.other} <= {stream, *seen}
            ),
            f"r.{stream}_ts BETWEEN {low} AND {high}",
            *(f"abs({b.one}_{b.column} - {b.other}_{b.column}) < {b.width}" for b in near),
        ]
        kept = ", ".join(using)
        steps.append(
            f"m{number} AS (SELECT l.* EXCLUDE ({kept}), r.* EXCLUDE ({kept})\n  FROM {source} l"
            f"\n  JOIN (SELECT {', '.join(there)} FROM {stream}) r\n  ON {' AND '.join(on)})"
        )
        seen += stream
    ids = ", ".join(f"{s}_id AS {s}" for s in sorted(order))
    return "WITH " + ",\n".join(steps) + f"\nSELECT {ids} FROM m{len(order)}"


def _renamed(stream: str, columns: Sequence[str]) -> str:
    return ", ".join(f"{column} AS {stream}_{column}" for column in ("id", "ts", *columns))


def _extreme(function: str, terms: Sequence[str]) -> str:
    return f"{function}({', '.join(terms)})" if len(terms) > 1 else f"({terms[0]})"


def _cell(value: str, size: float) -> str:
    return f"CAST(floor(({value}) / {size}) AS BIGINT)"
