"""DuckDB: one statement over registered Arrow tables."""

from __future__ import annotations

from bench.case import Case
from bench.workload import Contender, Run


def prepare(case: Case, formulation: str) -> Run:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    for name, table in case.streams.items():
        connection.register(name, table)
    text = case.duckdb[formulation]
    return lambda: connection.sql(text).to_arrow_table()


CONTENDER = Contender("DuckDB", "duckdb", prepare, formulations=lambda case: tuple(case.duckdb))
