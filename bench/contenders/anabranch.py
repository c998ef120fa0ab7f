"""Anabranch, embedded: one query over Arrow tables; or a session, fed by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from bench.case import Case
from bench.workload import Contender, Run


def prepare(case: Case, formulation: str) -> Run:
    from anabranch import local

    return lambda: local.sql(case.anabranch, case.streams, functions=case.functions)


class Session:
    """A running join."""

    def __init__(self, case: Case) -> None:
        from anabranch import local

        schemas = {name: table.schema for name, table in case.streams.items()}
        self._session = local.start(case.anabranch, schemas, functions=case.functions)

    def insert(self, stream: str, rows: pa.RecordBatch) -> Sequence[pa.Table]:
        """Give the join rows of one stream; the matches that they complete."""
        return self._session.push({stream: rows})

    def insert_all(self, tables: dict[str, pa.Table]) -> Sequence[pa.Table]:
        """Give the join rows of all streams at once."""
        return self._session.push({name: table.combine_chunks().to_batches()[0] for name, table in tables.items()})

    def advance(self, stream: str, frontier: int) -> Sequence[pa.Table]:
        """Promise that a stream has nothing older to come, so that others may be forgotten."""
        return self._session.heartbeat(stream, frontier)

    def state(self) -> tuple[int, int]:
        """Tuples and bytes that are remembered."""
        sizes = [join.buffered() for join in self._session.joins]
        return sum(tuples for tuples, _ in sizes), sum(size for _, size in sizes)


CONTENDER = Contender("Anabranch", "anabranch.local", prepare, session=Session)
