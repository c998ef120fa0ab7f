from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.core.errors import Refused
from anabranch.files import infer, json_values, jsonlines
from anabranch.files.jsonlines import JsonLines

Read = Callable[..., Any]


def test_types_are_told_by_the_values(read: Read) -> None:
    got = read(
        "a.jsonl",
        '{"ts": 1, "x": 1.5, "b": true, "t": "2026-01-31T12:00:00Z", "s": "é", "v": [1, 2.5], "w": ["a", null]}\n'
        '{"ts": 2, "x": 2, "b": null, "s": "", "v": [], "n": null}\n',
    )
    assert dict(zip(got.table.column_names, got.types, strict=True)) == {
        "ts": "int64",
        "x": "double",
        "b": "bool",
        "t": "timestamp[us, tz=UTC]",
        "s": "string",
        "v": "list<item: double>",
        "w": "list<item: string>",
        "n": "null",
    }
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert got.rows == [
        (1, 1.5, True, noon, "é", [1.0, 2.5], ["a", None], None),
        (2, 2.0, None, None, "", [], None, None),
    ]
    assert got.bad == [] and got.source.rows_hint == 2


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        ([1, 2, 3, "x"], pa.int64()),
        ([1, 2.5, 3.5, 4.5], pa.float64()),
        ([2**63, 1], pa.float64()),
        (["1", "2"], pa.string()),
        (["2026-01-31", "2026-01-31T12:00"], pa.timestamp("us")),
        (["2026-01-31", "2026-01-31T12:00+01:00"], pa.timestamp("us", "UTC")),
        ([True, 1, True, False], pa.bool_()),
        ([[1], []], pa.list_(pa.int64())),
        ([[1.5], [1]], pa.list_(pa.float64())),
        ([[True]], pa.list_(pa.bool_())),
        ([["a"]], pa.list_(pa.string())),
        ([[1, "a"], [[1]]], pa.string()),
        ([{"a": 1}], pa.string()),
        ([1, "a", 2.5], pa.string()),
        ([], pa.string()),
    ],
)
def test_the_narrowest_type_that_fits_three_in_four(sample: list[object], kind: pa.DataType) -> None:
    assert json_values.column_type(sample) == kind


def test_nested_values_are_json_text(read: Read) -> None:
    got = read(
        "a.jsonl", '{"ts": 1, "o": {"a": [1, "é"]}}\n{"ts": 2, "o": 12345678901234567890}\n{"ts": 3, "o": "x"}\n'
    )
    assert [row[1] for row in got.rows] == ['{"a": [1, "é"]}', "12345678901234567890", "x"]


def test_integers_keep_their_64_bits(read: Read) -> None:
    numbers = [2**63 - 1, -(2**63), 2**53 + 1]
    lines = [json.dumps({"ts": n}) for n in numbers]
    for trouble in ([], ["x"]):
        assert read("a.jsonl", "\n".join(lines + trouble)).table["ts"].to_pylist() == numbers


def test_numbers_that_json_does_not_have(read: Read) -> None:
    got = read("a.jsonl", '{"ts":1,"x":NaN}\n{"ts":2,"x":-Infinity}\n{"ts":3,"x":"Infinity"}\n{"ts":4,"x":1.5}\n')
    assert str(got.table["x"].to_pylist()) == "[nan, -inf, inf, 1.5]"


def test_numbers_that_no_double_holds(read: Read) -> None:
    got = read("a.jsonl", '{"ts":1,"x":1e400,"o":1e400}\n{"ts":2,"x":-1E999,"o":{"a":NaN}}\n{"ts":3,"x":2,"o":"x"}\n')
    assert got.types == ["int64", "string", "string"]
    assert got.rows == [(1, "1e400", "1e400"), (2, "-1E999", '{"a": "NaN"}'), (3, "2", "x")]


@pytest.mark.parametrize("text", ["{}\n", "\n\n", "\r\n", "  \n"])
def test_what_is_between_rows(read: Read, text: str) -> None:
    rows = [(1, "a"), (None, None), (2, "b")] if text == "{}\n" else [(1, "a"), (2, "b")]
    got = read("a.jsonl", '\ufeff{"ts": 1, "s": "a"}\r\n' + text + ' {"ts": 2, "s": "b"} ')
    assert (got.rows, got.bad) == (rows, [])


GOOD = b"".join(b'{"ts": %d, "s": "a", "t": "2026-01-31", "v": [1], "x": 0.5, "w": [0.5]}\n' % i for i in range(40))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"x", "not JSON: Expecting value at character 1"),
        (b'{"ts": 1', "not JSON: Expecting ',' delimiter at character 9"),
        (b'{"ts": 1}{"ts": 2}', "not JSON: Extra data at character 10"),
        (b'{"ts": 1, "s": "\x01"}', "not JSON: Invalid control character at at character 17"),
        (b"[1]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"ts": 1, "s": "\xff"}', "not UTF-8"),
        (b'{"ts": 1, "s": "\\ud800"}', "not UTF-8: half of a surrogate pair"),
        (b'{"ts": 1, "\\ud800": 1}', "not UTF-8: half of a surrogate pair"),
        (b'{"ts": 1, "ts": 1}', "key ts occurs twice"),
        (b'{"ts": 1, "z": 1}', "key z is no column: the first records did not have it"),
        (b'{"ts": 9223372036854775808}', "column ts: 9223372036854775808 is outside int64"),
        (b'{"ts": 1.0}', "column ts: 1.0 is not an integer"),
        (b'{"ts": true}', "column ts: true is not an integer"),
        (b'{"ts": "1"}', "column ts: '1' is not an integer"),
        (b'{"ts": 1, "t": "noon"}', "column t: 'noon' is not an ISO 8601 timestamp"),
        (b'{"ts": 1, "t": 5}', "column t: 5 is not an ISO 8601 timestamp"),
        (b'{"ts": 1, "v": [1, 2.5]}', "column v: [1, 2.5] is not a list of integers"),
        (b'{"ts": 1, "v": 5}', "column v: 5 is not a list of integers"),
        (b'{"ts": 1, "x": 1e400}', "column x: 1e400 is outside double"),
        (b'{"ts": 1, "x": ' + b"9" * 400 + b"}", f"column x: {'9' * 57}... is outside double"),
        (b'{"ts": 1, "w": [' + b"9" * 400 + b"]}", f"column w: [{'9' * 56}... is not a list of numbers"),
        (b'{"ts": 1, "x": true}', "column x: true is not a number"),
        (b'{"ts": NaN, "s": "NaN"}', "column ts: 'NaN' is not an integer"),
        (b'{"ts": "x", "v": [-Infinity]}', "column ts: 'x' is not an integer"),
        (b'{"ts": ' + b"9" * 5000 + b"}", "not JSON that can be read: a number or a nesting is too long"),
        (b'{"ts": ' + b"[" * 100_000, "not JSON that can be read: a number or a nesting is too long"),
    ],
)
def test_a_bad_line_goes_apart_and_the_others_stay(
    read: Read, line: bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(infer, "RECORDS", 40)
    for text in (GOOD + line + b"\n" + b'{"ts": 40}\n', GOOD + b'{"ts": 40}\n' + line):
        got = read("a.jsonl", text)
        assert got.table["ts"].to_pylist() == list(range(41))
        assert got.reasons == [reason]
        json.loads(got.bad[0].row, parse_constant=pytest.fail)


def test_a_line_that_does_not_fit_is_kept_as_it_was_written(read: Read) -> None:
    line = '{"ts": 1.50, "s": null}'
    assert read("a.jsonl", GOOD + line.encode()).bad[0].row == line
    assert read("a.jsonl", GOOD + b"not \xff JSON").bad[0].row == json.dumps("not \\xff JSON")


def test_keys_of_the_first_records_are_columns(read: Read) -> None:
    lines = ['{"ts": 1}'] * (infer.VALUES - 1) + ['{"ts": 2, "z": 1}'] + ['{"ts": 3, "y": 1}'] * 2
    got = read("a.jsonl", "\n".join(lines))
    assert got.table.column_names == ["ts", "z", "y"], "read on, since z has only one value"
    got = read("a.jsonl", "\n".join(['{"ts": 1}'] * infer.VALUES + ['{"ts": 3, "y": 1}'] * 2))
    assert got.table.column_names == ["ts"] and len(got.bad) == 2


def test_batches_have_the_rows_that_were_asked_for(read: Read) -> None:
    source = read("a.jsonl", '{"ts": 1, "s": "a"}\n' * 25 + "x\n").source
    assert [(batch.num_rows, len(bad)) for batch, bad in source.batches(10)] == [(10, 1), (10, 0), (5, 0)]
    assert [batch.schema.names for batch, _ in source.batches(columns=["s"])] == [["s"]]


def test_small_blocks_change_nothing(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GOOD + b'x\n{"ts": "y"}\n' + GOOD
    whole = read("a.jsonl", text)
    monkeypatch.setattr(jsonlines, "BLOCK", 7)
    small = read("a.jsonl", text)
    assert (small.rows, small.bad) == (whole.rows, whole.bad)


def test_without_a_record_there_is_a_time_of_no_type(read: Read) -> None:
    for text in ("", "\n", "x\n"):
        got = read("a.jsonl", text)
        assert (got.rows, len(got.bad)) == ([], text.count("x"))
        assert got.source.schema == pa.schema([("ts", pa.null())])


def test_records_without_a_key_are_no_stream(read: Read) -> None:
    with pytest.raises(Refused, match=r"^'.*a.jsonl' has no records to tell the columns by; write one JSON object"):
        read("a.jsonl", "{}\n")


def test_an_empty_file_in_a_folder_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "b.jsonl").write_text('{"ts": 1}')
    lines = JsonLines.open([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")], "ts")
    assert [batch.to_pylist() for batch, _ in lines.batches(10)] == [[{"ts": 1}]]


values = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from([2**63 - 1, 2**63, 0.5, "a", "é\n", "2026-01-31", True, [1], {}])
)


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), values), min_size=1, max_size=12))
def test_both_ways_agree(records: list[dict[str, object]]) -> None:
    """The lines that Arrow's parser reads, read one by one, give the same rows."""
    schema = pa.schema([("a", pa.int64()), ("b", pa.float64()), ("c", pa.string()), ("d", pa.timestamp("us"))])
    lines = [json.dumps(record).encode() for record in records]
    fast = [line for line in lines if jsonlines._at_once(line, schema) is not None]
    if fast:
        table, bad = jsonlines._by_line(fast, schema)
        assert table == jsonlines._at_once(b"\n".join(fast), schema) and not bad
    table, bad = jsonlines._raw(b"\n".join(lines), schema)
    assert table.num_rows + len(bad) == len(lines)
