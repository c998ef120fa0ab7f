"""What Spark itself answers: evaluates ``spark_cases.txt`` over ``spark_tables.py`` and stores the answers.

Run by hand, in an environment with pyspark 4.3, whenever a case is added; it asks what has no answer yet.
After a change of a table, name the table, and all is asked of it again:

    python tests/plan/spark_answers.py [TABLE ...]

``spark_answers.json`` holds an object a line, in the order of the cases.  An expression has its Spark type
and a value a row, ``"error"`` where Spark fails on that row; a statement has names, types and rows.  What
Spark refuses to analyse has the type ``"refused"``.  Timestamps are microseconds, dates are days, decimals
are text, NaN and the infinities are named.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
os.environ.update(TZ="UTC", PYSPARK_PYTHON=sys.executable)
sys.path.insert(0, str(HERE))

from py4j.protocol import Py4JError  # noqa: E402
from pyspark.errors import AnalysisException, ParseException, PySparkException  # noqa: E402
from pyspark.sql import DataFrame, SparkSession, types  # noqa: E402
from spark_cases import cases  # noqa: E402
from spark_tables import TABLES  # noqa: E402

EPOCH = datetime(1970, 1, 1)
FAILED = (PySparkException, Py4JError)


def session() -> SparkSession:
    builder = SparkSession.builder.master("local[1]")
    for key, value in {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": "/nonexistent",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def plain(value: Any) -> Any:
    """A collected value as JSON can carry it exactly."""
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case datetime():
            return (value.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)
        case date():
            return (value - EPOCH.date()).days
        case timedelta():
            return value // timedelta(microseconds=1)
        case Decimal():
            return format(value, "f")
        case dict():
            return [plain(each) for each in value.values()]
        case tuple() | list():
            return [plain(each) for each in value]
    return value


def countable(frame: DataFrame) -> DataFrame:
    """Times and intervals as numbers: Python's datetime is too narrow for Spark's."""
    columns = []
    for position, field in enumerate(frame.schema.fields):
        name = f"c{position}"
        columns.append(
            f"unix_micros(CAST({name} AS TIMESTAMP)) AS {name}"
            if isinstance(field.dataType, types.TimestampType | types.TimestampNTZType)
            else f"unix_date({name}) AS {name}"
            if isinstance(field.dataType, types.DateType)
            else f"CAST({name} AS STRING) AS {name}"
            if isinstance(field.dataType, types.YearMonthIntervalType | types.CalendarIntervalType)
            else name
        )
    return frame.toDF(*(f"c{position}" for position in range(len(columns)))).selectExpr(*columns)


def expression(spark: SparkSession, table: str, text: str) -> dict[str, Any]:
    try:
        whole = spark.sql(f"SELECT {text} FROM {table} ORDER BY position")
    except (AnalysisException, ParseException) as error:
        return {"type": "refused", "why": str(error.getCondition())}
    answer: dict[str, Any] = {"type": whole.schema.fields[0].dataType.simpleString(), "values": []}
    try:
        answer["values"] = [plain(row[0]) for row in countable(whole).collect()]
    except FAILED:
        for position in range(len(TABLES[table][1])):
            one = spark.sql(f"SELECT {text} FROM {table}_{position}")
            try:
                answer["values"].append(plain(countable(one).collect()[0][0]))
            except FAILED as error:
                sys.stderr.write(f"{text} [{position}]: {str(error).splitlines()[0][:150]}\n")
                answer["values"].append("error")
    return answer


def statement(spark: SparkSession, text: str) -> dict[str, Any]:
    try:
        frame = spark.sql(text)
    except (AnalysisException, ParseException) as error:
        return {"type": "refused", "why": str(error.getCondition())}
    answer: dict[str, Any] = {
        "names": frame.columns,
        "types": [field.dataType.simpleString() for field in frame.schema.fields],
    }
    try:
        answer["rows"] = [[plain(each) for each in row] for row in countable(frame).collect()]
    except FAILED as error:
        sys.stderr.write(f"{text}: {str(error).splitlines()[0][:150]}\n")
        answer["rows"] = "error"
    return answer


def zoned(row: tuple[Any, ...], schema: types.StructType) -> tuple[Any, ...]:
    return tuple(
        value.replace(tzinfo=UTC) if value is not None and isinstance(field.dataType, types.TimestampType) else value
        for value, field in zip(row, schema.fields, strict=True)
    )


def main() -> None:
    spark = session()
    logging.disable(logging.CRITICAL)
    for name, (ddl, rows) in TABLES.items():
        schema = types.StructType.fromDDL(f"position INT, {ddl}")
        numbered = [zoned((position, *row), schema) for position, row in enumerate(rows)]
        spark.createDataFrame(numbered, schema).coalesce(1).createOrReplaceTempView(name)
        for position, row in enumerate(numbered):
            spark.createDataFrame([row], schema).createOrReplaceTempView(f"{name}_{position}")
    target = HERE / "spark_answers.json"
    known = json.loads(target.read_text(encoding="utf-8")) if target.exists() else []
    answers = {(answer["table"], answer["sql"]): answer for answer in known if answer["table"] not in sys.argv[1:]}
    lines = []
    for case in cases():
        answer = answers.get((case.table, case.text))
        if answer is None:
            found = (
                statement(spark, case.text) if case.table == "statements" else expression(spark, case.table, case.text)
            )
            answer = {"table": case.table, "sql": case.text, **found}
        lines.append(json.dumps(answer, ensure_ascii=False))
    target.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
