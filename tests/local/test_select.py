"""Shells and conditions on DuckDB: types in and out, order, and errors in one line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from anabranch.core.errors import Refused
from anabranch.engine.duck import Refine
from anabranch.local.select import Select
from anabranch.plan.sql.dialect import Anabranch

PARIS = pa.timestamp("ms", "Europe/Paris")
INSTANT = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)


def statement(text: str) -> exp.Expr:
    tree = sqlglot.parse_one(text, dialect=Anabranch)
    assert isinstance(tree, exp.Expr)
    return tree


def run(text: str, *outputs: str, **columns: pa.Array) -> pa.Table:
    table = pa.table({name.replace("_", ".", 1): column for name, column in columns.items()})
    return Select(statement(text), {"matches_0": table.schema}, outputs).rows({"matches_0": table})


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 255], pa.uint8()),
        pa.array([2**64 - 1, None], pa.uint64()),
        pa.array([1.5, None], pa.float32()),
        pa.array([INSTANT, None], PARIS),
        pa.array([INSTANT.replace(tzinfo=None), None], pa.timestamp("s")),
        pa.array([1_709_209_800_000_000_000, None], pa.timestamp("ns", "UTC")),
        pa.array(["a", None], pa.large_string()),
        pa.array(["a", None, "a"]).dictionary_encode(),
        pa.array([b"a", None]),
        pa.array([[1.0, 2.0], None], pa.list_(pa.float64())),
        pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        pa.array([timedelta(seconds=5), None], pa.duration("ms")),
        pa.array([{"x": 1, "at": INSTANT}, None], pa.struct([("x", pa.int64()), ("at", PARIS)])),
        pa.array([True, None]),
        pa.nulls(2),
    ],
    ids=lambda column: str(column.type),
)
def test_a_bare_column_keeps_its_type_and_values(column: pa.Array) -> None:
    result = run("SELECT `A.v` AS v, 1 AS one FROM matches_0", "v", "one", A_v=column)
    assert result.schema.field("v").type == column.type
    assert result.column("v").to_pylist() == column.to_pylist()


@pytest.mark.parametrize(
    ("rest", "rows"), [("", [0, 1, 2]), ("WHERE `A.v` < 9", [0, 2]), ("ORDER BY `A.v` DESC LIMIT 2", [1, 2])]
)
def test_a_column_as_it_is_keeps_its_nanoseconds(rest: str, rows: list[int]) -> None:
    times = pa.array([-1, 1_999, None], pa.timestamp("ns", "UTC"))
    lengths = pa.array([1, -1, None], pa.duration("ns"))
    found = run(
        f"SELECT `A.t` AS t, `A.v` + 1 AS w, `A.d` AS d, year(`A.t`) AS y, `A.t` AS u FROM matches_0 {rest}",
        "t", "w", "d", "y", "u", A_t=times, A_v=pa.array([7, 9, 8]), A_d=lengths,
    )  # fmt: skip
    for name, whole in (("t", times), ("u", times), ("d", lengths)):
        assert found.column(name).combine_chunks() == whole.take(pa.array(rows))
    assert found.column("w").to_pylist() == [[8, 10, 9][row] for row in rows]


def test_nanoseconds_are_floored_where_rows_are_grouped() -> None:
    column = pa.array([-1, 1_999], pa.timestamp("ns"))
    text = (
        "SELECT `A.ts` AS t, max(unix_micros(CAST(`A.ts` AS TIMESTAMP))) AS n FROM matches_0 GROUP BY `A.ts` ORDER BY n"
    )
    result = run(text, "t", "n", A_ts=column)
    assert result.column("n").to_pylist() == [-1, 1]
    assert result.column("t").cast(pa.int64()).to_pylist() == [-1_000, 1_000]


def test_timestamps_are_in_utc() -> None:
    column = pa.array([INSTANT], PARIS)
    result = run("SELECT hour(`A.ts`) AS h, `A.ts` + INTERVAL 1 DAY AS later FROM matches_0", "h", "later", A_ts=column)
    assert result.column("h").to_pylist() == [12]
    assert result.schema.field("later").type == pa.timestamp("us", "UTC")
    assert result.column("later").to_pylist() == [INSTANT + timedelta(days=1)]


def test_intervals_and_windows_leave_as_arrow_has_them() -> None:
    text = "SELECT `B.ts` - `A.ts` AS gap, window(`A.ts`, '1 hour') AS w FROM matches_0"
    later = INSTANT + timedelta(seconds=5)
    row = run(text, "gap", "w", A_ts=pa.array([INSTANT]), B_ts=pa.array([later])).to_pylist()[0]
    assert row["gap"] == timedelta(seconds=5)
    assert row["w"] == {"start": INSTANT.replace(minute=0), "end": INSTANT.replace(hour=13, minute=0)}


def test_rows_keep_their_order_and_outputs_their_names() -> None:
    numbers = pa.array(range(200_000))
    result = run("SELECT `A.v` + 1 AS a FROM matches_0 WHERE `A.v` % 2 = 0", "next", A_v=numbers)
    assert result.column_names == ["next"]
    assert np.array_equal(result.column("next").to_numpy(), np.arange(0, 200_000, 2) + 1)


def test_no_rows_still_have_types() -> None:
    empty = pa.array([], pa.int32())
    assert run("SELECT avg(`A.v`) AS a FROM matches_0 GROUP BY `A.v`", "a", A_v=empty).schema == pa.schema(
        [("a", pa.float64())]
    )
    assert run("SELECT count(*) AS n FROM matches_0", "n", A_v=empty).to_pylist() == [{"n": 0}]


@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("10 / `A.v`", "division by zero in 10 / A.v; "),
        ("`A.v` + 2147483647", "overflow in addition of int (5 + 2147483647); "),
        ("sum(CAST(`A.v` AS BIGINT) + 9223372036854775802)", "18446744073709551609 is out of range for bigint; "),
        ("sum(CAST(9e37 AS DECIMAL(38,0)))", "overflow in decimal addition: 9000"),
        ("CAST(`A.v` + 3e9 AS INT)", "3000000005.0 is out of range for int; "),
        ("CAST(`A.v` + 1000 AS DECIMAL(5,2))", "could not cast value 1005 to DECIMAL(5,2); "),
        ("CAST(`A.s` AS INT)", "'abc' is no int; "),
        ("upper(`A.u`)", "the local runtime does not have upper() of every character; the page on functions"),
    ],
)
def test_an_error_is_one_line(expression: str, line: str) -> None:
    columns: dict[str, Any] = {
        "A_v": pa.array([5, 0], pa.int32()),
        "A_s": pa.array(["abc"] * 2),
        "A_u": pa.array(["ß"] * 2),
    }
    with pytest.raises(Refused) as caught:
        run(f"SELECT {expression} AS v FROM matches_0", "v", **columns)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("hash(`A.v`)", "the local runtime does not have hash(); the page on functions"),
        ("levenshtein(`A.s`, `A.s`)", "the local runtime does not have levenshtein(); the page on functions"),
        ("CAST(`A.x` AS STRING)", "Java does differently"),
        ("`A.s` + 1", "takes numbers, not string"),
        ("`A.s` = 1", "mixes string and int"),
        ("round(`A.x`, `A.v`)", "needs places that is a number written out"),
        ("current_timestamp()", "the local runtime does not have current_timestamp()"),
        ("first(`A.v`)", "the local runtime does not have first()"),
        ("'a' 'b'", "stands side by side"),
        ("`A.s` RLIKE '(?=a)'", "has a pattern that the local runtime does not read"),
        ("sum(`A.v`) + `A.v`", "A.v is neither grouped nor aggregated"),
    ],
)
def test_what_is_not_in_the_table_is_refused(expression: str, line: str) -> None:
    columns: dict[str, Any] = {"A_v": pa.array([5]), "A_s": pa.array(["a"]), "A_x": pa.array([0.5])}
    with pytest.raises(Refused) as caught:
        run(f"SELECT {expression} AS v FROM matches_0", "v", **columns)
    assert line in str(caught.value)


# -- conditions -----------------------------------------------------------------------

CANDIDATES = pa.table(
    {
        "A.v": pa.array([1, 2, None, 2**31 - 1], pa.int32()),
        "B.v": pa.array([1, 0, 3, 1], pa.int32()),
        "A.s": ["a", "ß", "c", None],
        "#.call0": pa.array([0.9, None, 0.1, 1.0]),
    }
)


def mask(*texts: str) -> list[bool]:
    """Conjuncts over the candidates; columns are written A.v, and call0 is a column of ``#``."""
    conjuncts = [statement(f"SELECT {text}").expressions[0] for text in texts]
    for column in (column for conjunct in conjuncts for column in conjunct.find_all(exp.Column)):
        if column.name == "call0":
            column.set("table", exp.to_identifier("#"))
    kept = Refine(conjuncts, CANDIDATES.schema).mask(CANDIDATES)
    assert kept.dtype == np.bool_
    return list(kept.tolist())


def test_only_true_is_kept() -> None:
    assert mask("A.v >= B.v") == [True, True, False, True]
    assert mask("NOT A.v >= B.v") == [False, False, False, False]
    assert mask("A.v >= B.v", "A.s = 'a'") == [True, False, False, False]
    assert mask("call0 > 0.5") == [True, False, False, True]


def test_an_error_in_a_condition_is_null() -> None:
    assert mask("A.v / B.v >= 1") == [True, False, False, True]
    assert mask("A.v + B.v > 0") == [True, True, False, False]
    assert mask("A.v / B.v IS NULL") == [False, True, True, False]
    assert mask("CAST(A.s AS INT) IS NULL") == [True, True, True, True]


def test_what_the_local_runtime_cannot_do_is_no_null() -> None:
    with pytest.raises(Refused, match="does not have upper"):
        mask("upper(A.s) = 'A'")


def test_no_candidates_and_no_conditions() -> None:
    assert Refine([], CANDIDATES.schema).mask(CANDIDATES).tolist() == [True] * 4
    conjunct = statement("SELECT A.v = 1").expressions[0]
    assert Refine([conjunct], CANDIDATES.schema).mask(CANDIDATES.slice(0, 0)).tolist() == []
