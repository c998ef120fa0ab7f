"""The right answer, by DuckDB, over the files of the whole feed at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from bench.answer import Answer
from bench.streaming.checksum import answer
from bench.streaming.feed import EPOCH, TICK, Feed


@dataclass(frozen=True)
class Truth:
    """All matches: the ids of their members, and ``newest``, the tick of the last of them."""

    streams: str
    matches: pa.Table

    def until(self, final: int | None) -> pa.Table:
        """Those that are complete at a tick."""
        return self.matches if final is None else self.matches.filter(pc.less_equal(self.matches["newest"], final))

    def answer(self, final: int | None = None) -> Answer:
        """What a contender has to find."""
        return answer(self.until(final), self.streams)

    def compared(self, found: Path, final: int | None) -> tuple[int, int]:
        """How many matches are missing in a contender's Parquet files, and how many should not be there."""
        ids = ", ".join(self.streams)
        with duckdb.connect() as connection:
            connection.register("expected", self.until(final))
            files = [str(path) for path in found.rglob("*.parquet")]
            none = "SELECT " + ", ".join(f"0::BIGINT AS {s}" for s in self.streams) + " WHERE false"
            found_rows = f"SELECT {ids} FROM read_parquet({files})" if files else none
            expected = f"SELECT {ids} FROM expected"
            missing, surplus = (
                connection.execute(f"SELECT count(*) FROM ({one} EXCEPT ALL {other})").fetchall()[0][0]
                for one, other in ((expected, found_rows), (found_rows, expected))
            )
        return missing, surplus


def truth(feed: Feed, folders: Mapping[str, Path]) -> Truth:
    """Join the whole feed."""
    with duckdb.connect() as connection:
        for stream, folder in folders.items():
            tick = f"(epoch_us(ts) - {EPOCH}) // {TICK}"
            connection.sql(f"CREATE VIEW {stream} AS SELECT id, k, {tick} AS t FROM read_parquet('{folder}/*.parquet')")
        first, *others = feed.streams
        where = [f"{first}.k = {stream}.k" for stream in others]
        where += [f"abs({one}.t - {other}.t) <= {feed.ticks}" for one, other in feed.pairs]
        found = connection.sql(
            f"SELECT {', '.join(f'{s}.id AS {s}' for s in feed.streams)}, "
            f"greatest({', '.join(f'{s}.t' for s in feed.streams)}) AS newest "
            f"FROM {', '.join(feed.streams)} WHERE {' AND '.join(where)}"
        ).to_arrow_table()
    return Truth(feed.streams, found)
