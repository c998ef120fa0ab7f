from datetime import date

import pyarrow as pa
import pytest

from anabranch import local
from anabranch.core.errors import Refused
from anabranch.core.plain import plain_batch, plain_schema, plain_type

DAYS = [date(2024, 1, 1), date(2024, 1, 4), None]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array(DAYS).dictionary_encode(), pa.date32()),
        (pa.array(["a", None], pa.string_view()), pa.large_string()),
        (pa.array([b"a", None], pa.binary_view()), pa.large_binary()),
        (pa.array([1, None], pa.int8()), pa.int8()),
        (pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["a", None])), pa.string()),
    ],
)
def test_values_stay(column: pa.Array, kind: pa.DataType) -> None:
    batch = pa.record_batch({"v": column})
    plain = plain_batch(batch, plain_schema(batch.schema))
    assert plain_type(column.type) == plain.column("v").type == kind
    assert plain.column("v").to_pylist() == column.to_pylist()


def test_columns_go_by_their_names() -> None:
    schema = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("v", pa.int64())])
    batch = pa.record_batch({"more": ["x"], "k": pa.array([2], pa.int32()), "ts": [1]})
    assert plain_batch(batch, schema).to_pydict() == {"ts": [1], "k": [2]}


def test_another_type_is_refused() -> None:
    with pytest.raises(Refused, match="a batch has string in column 'k', which is int64"):
        plain_batch(pa.record_batch({"k": ["x"]}), pa.schema([("k", pa.int64())]))


def test_codes_are_no_values() -> None:
    """A dictionary of dates as time and as key: what comes out are dates."""
    rows = pa.table({"ts": pa.array(DAYS[:2]).dictionary_encode(), "k": pa.array(DAYS[:2]).dictionary_encode()})
    other = pa.table({"ts": DAYS[:2], "k": DAYS[:2]})
    found = local.sql(
        "SELECT A.ts AS t, A.k AS k FROM a A, b B WHERE A.k = B.k WINDOW = 1 DAY", {"a": rows, "b": other}
    )
    assert sorted(found.to_pylist(), key=str) == [{"t": day, "k": day} for day in DAYS[:2]]


def test_runs_are_joined_as_values() -> None:
    rows = pa.table({"ts": [1, 2], "k": pa.RunEndEncodedArray.from_arrays([2], [5])})
    found = local.sql("SELECT A.k AS k FROM a A, b B WHERE A.k = B.k WINDOW = 0", {"a": rows, "b": rows.slice(1)})
    assert found.to_pylist() == [{"k": 5}]


def test_a_dictionary_of_integers_is_integer_time() -> None:
    rows = pa.table({"ts": pa.array([7, 3]).dictionary_encode()})
    found = local.sql("SELECT A.ts AS t FROM a A, a B WINDOW = 0", {"a": rows})
    assert sorted(found["t"].to_pylist()) == [3, 7]
