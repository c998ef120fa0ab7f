"""The translation against Spark's own answers: awkward values, several hundred questions."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from datetime import UTC
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.engine.duck import Refine
from anabranch.local.select import Select
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse
from anabranch.plan.sql.dialect import Anabranch
from anabranch.plan.translate import WHOLE
from anabranch.plan.translate.translator import called
from anabranch.plan.translate.types import name as type_name

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # the cases are shared with a script that runs where this project is not installed

from spark_cases import Case, cases  # noqa: E402
from spark_tables import TABLES  # noqa: E402

ARROW = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "DECIMAL(10,2)": pa.decimal128(10, 2),
    "DECIMAL(5,3)": pa.decimal128(5, 3),
}
UNIT = Stream("unit", pa.schema([("ts", ARROW["TIMESTAMP"])]))


def table(name: str) -> pa.Table:
    ddl, rows = TABLES[name]
    schema = pa.schema([(column, ARROW[kind]) for column, kind in (each.split() for each in ddl.split(", "))])
    columns = zip(*rows, strict=True)
    arrays = [pa.array(zoned(values, field.type), field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def zoned(values: Iterable[Any], kind: pa.DataType) -> list[Any]:
    aware = pa.types.is_timestamp(kind) and kind.tz
    return [value.replace(tzinfo=UTC) if aware and value is not None else value for value in values]


DATA = {name: table(name) for name in TABLES}
CASES = list(cases())
EXPRESSIONS = [case for case in CASES if case.table != "statements"]
STATEMENTS = [case for case in CASES if case.table == "statements"]
ANSWERS: dict[tuple[str, str], dict[str, Any]] = {
    (answer["table"], answer["sql"]): answer
    for answer in json.loads((HERE / "spark_answers.json").read_text(encoding="utf-8"))
}


def each(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: f"{case.table}: {case.text}")


def test_every_case_has_its_answer() -> None:
    assert set(ANSWERS) == {(case.table, case.text) for case in CASES}


def test_every_rule_is_asked() -> None:
    asked = set()
    for case in CASES:
        if case.note != "refused" and ANSWERS[case.table, case.text].get("type") != "refused":
            asked |= {called(node) for node in tree(case).walk()}
    assert set(WHOLE) - asked == set()


# -- expressions ----------------------------------------------------------------------


@each(EXPRESSIONS)
def test_an_expression_answers_as_in_spark(case: Case) -> None:
    answer, data = ANSWERS[case.table, case.text], DATA[case.table]
    if answer["type"] == "refused" or case.note == "refused":
        with pytest.raises(Refused):
            Select(tree(case), {case.table: data.schema}, ["v"])
        return
    select = Select(tree(case), {case.table: data.schema}, ["v"])
    assert type_name(select.schema.field("v").type) == plain_type(answer["type"])
    expected, found, refused = answer["values"], [], 0
    if "error" not in expected and case.note != "narrower":
        found = json_values(select.rows({case.table: data}).column("v"))
    else:
        for row, value in enumerate(expected):
            try:
                found += json_values(select.rows({case.table: data.slice(row, 1)}).column("v"))
            except Refused:
                found.append("error" if case.note != "narrower" else value)
                refused += value != "error"
    assert [*map(readable, found)] == [*map(readable, expected)] or all_near(case, found, expected)
    assert (refused > 0) == (case.note == "narrower")


@each(EXPRESSIONS)
def test_in_a_predicate_an_error_is_null(case: Case) -> None:
    answer, data = ANSWERS[case.table, case.text], DATA[case.table]
    if answer["type"] == "refused" or case.note in ("refused", "narrower"):
        return
    expression = tree(case).expressions[0].unalias()
    for column in list(expression.find_all(exp.Column)):
        column.set("table", exp.to_identifier("A"))
    candidates = data.rename_columns([f"A.{name}" for name in data.column_names])
    if answer["type"] == "boolean":
        mask = Refine([expression], candidates.schema).mask(candidates)
        assert mask.tolist() == [value is True for value in answer["values"]]
    if not isinstance(expression, exp.Connector):  # FALSE AND NULL is FALSE
        null = Refine([exp.Is(this=exp.paren(expression), expression=exp.Null())], candidates.schema)
        assert null.mask(candidates).tolist() == [value in (None, "error") for value in answer["values"]]


# -- statements -----------------------------------------------------------------------


@each(STATEMENTS)
def test_a_statement_answers_as_in_spark(case: Case) -> None:
    answer = ANSWERS[case.table, case.text]
    if answer.get("type") == "refused" or case.note == "refused":
        with pytest.raises(Refused):
            read(case)
        return
    select, matches, in_order = read(case)
    assert [type_name(field.type) for field in select.schema] == [*map(plain_type, answer["types"])]
    if answer["rows"] == "error":
        with pytest.raises(Refused):
            select.rows(matches)
        return
    found = [[*row] for row in zip(*map(json_values, select.rows(matches).columns), strict=True)]
    expected = answer["rows"]
    if not in_order:
        found, expected = sorted(found, key=repr), sorted(expected, key=repr)
    assert [*map(readable, found)] == [*map(readable, expected)] or all_near(case, found, expected)


def read(case: Case) -> tuple[Select, dict[str, pa.Table], bool]:
    """The statement over its tables as the matches of joins, each row with the one row of another stream.

    And whether the order of its rows is certain.
    """
    if case.note == "unread":
        names = ANSWERS[case.table, case.text]["names"]
        return Select(tree(case), {name: data.schema for name, data in DATA.items()}, names), DATA, False
    used = [name for name in DATA if f" {name}" in case.text]
    streams = {UNIT.name: UNIT, **{f"{name}_": Stream(f"{name}_", DATA[name].schema) for name in used}}
    joins = ", ".join(f"{name} AS (SELECT g.* FROM {name}_ g, unit u WINDOW = UNBOUNDED)" for name in used)
    rest = case.text.removeprefix("WITH ")
    query = parse(f"WITH {joins}{' ' if rest == case.text else ', '}{rest}", streams, batch=True)
    matches = {}
    for join in query.joins:
        data = DATA[join.members[0].stream.name.removesuffix("_")]
        columns = {f"{alias}.{column}": data.column(column) for alias, column in join.columns}
        matches[join.name] = pa.table(columns)
    select = Select(query.shell, {name: table.schema for name, table in matches.items()}, query.output)
    return select, matches, query.shell.args.get("order") is not None


# -- values ---------------------------------------------------------------------------


def tree(case: Case) -> exp.Expr:
    text = case.text if case.table == "statements" else f"SELECT {case.text} AS v FROM {case.table}"
    parsed = sqlglot.parse_one(text, dialect=Anabranch)
    assert isinstance(parsed, exp.Expr)
    return parsed


def plain_type(spark: str) -> str:
    """Intervals of all spans are one type here."""
    return "interval day to second" if spark.startswith("interval") else spark


def json_values(column: pa.ChunkedArray) -> list[Any]:
    """As ``spark_answers.py`` writes them."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return list(column.cast(pa.int64()).to_pylist())
    if pa.types.is_date(kind):
        return list(column.cast(pa.int32()).to_pylist())
    if pa.types.is_struct(kind):
        fields = column.combine_chunks().flatten()
        return [[*row] for row in zip(*(json_values(pa.chunked_array([field])) for field in fields), strict=True)]
    return [json_value(value) for value in column.to_pylist()]


def json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return format(value, "f") if isinstance(value, Decimal) else value


def readable(value: Any) -> str:
    """Tells -0.0 from 0.0 and 1 from True."""
    return repr(value)


def all_near(case: Case, found: list[Any], expected: list[Any]) -> bool:
    return case.note == "nearly" and len(found) == len(expected) and all(map(near, found, expected))


def near(found: Any, expected: Any) -> bool:
    if isinstance(found, list) and isinstance(expected, list):
        return all(map(near, found, expected))
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=5e-16)
    return readable(found) == readable(expected)
