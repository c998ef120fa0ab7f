from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anabranch.files import csv_records
from anabranch.files.csv_records import OPEN, TRAILING, blocks, fields, first_record, sieve

odd_text = st.text(alphabet='a,"\n\r', max_size=40).map(str.encode)
rows = st.lists(st.lists(st.text(alphabet='a,"\n\ré ', max_size=4), min_size=2, max_size=2), max_size=8)


def cut_up(text: bytes, size: int) -> tuple[bytes, list[tuple[str, bytes]]]:
    found = list(blocks(io.BytesIO(text), size))
    return b"".join(b.records for b in found), [(t.reason, t.line) for b in found for t in b.torn]


@given(rows, st.integers(1, 50))
def test_what_is_well_written_is_cut_between_records(table: list[list[str]], size: int) -> None:
    written = io.StringIO(newline="")
    csv.writer(written).writerows(table)
    text = written.getvalue().encode()
    found = list(blocks(io.BytesIO(text), size))
    assert b"".join(block.records for block in found) == text and not any(block.torn for block in found)
    read = [row for b in found for row in csv.reader(io.StringIO(b.records.decode(), newline="")) if row]
    assert read == table


@given(odd_text, st.integers(1, 12))
@example(b'a,"\n', 1)
@example(b'"a\r\n"b\n', 3)
def test_nothing_vanishes_and_blocks_do_not_matter(text: bytes, size: int) -> None:
    good, torn = cut_up(text, size)
    assert sorted(good + b"".join(line for _, line in torn)) == sorted(text)
    bare = [line.rstrip(b"\r\n") for _, line in torn]  # a block may end between \r and \n
    assert bare == [line.rstrip(b"\r\n") for _, line in cut_up(text, 1000)[1]]


@given(odd_text)
def test_both_ways_agree(text: bytes) -> None:
    slow, used = sieve(text, final=True)
    assert used == len(text)
    assert cut_up(text, 1000) == (slow.records, [(t.reason, t.line) for t in slow.torn])


@pytest.mark.parametrize(
    ("text", "torn"),
    [
        (b'1,"a\n2,b\n', [(OPEN, b'1,"a\n')]),
        (b'1,"a\n2,"b"\n3,c\n', [(OPEN, b'1,"a\n')]),
        (b'1,"a"b\n2,c\n', [(TRAILING, b'1,"a"b\n')]),
        (b'1,5" pipe\n2,"x\ny"\n', []),
        (b'1,"a""b"\n', []),
        (b'1,"a', [(OPEN, b'1,"a')]),
    ],
)
def test_a_wrong_quote_costs_its_line(text: bytes, torn: list[tuple[str, bytes]]) -> None:
    for size in (1, 3, 1000):
        assert cut_up(text, size)[1] == torn


def test_a_quote_that_stays_open_does_not_swallow_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_records, "RECORD_LIMIT", 100)
    text = b'1,"a\n' + b"2,b\n" * 1000
    found = list(blocks(io.BytesIO(text), 10))
    assert [t.line for block in found for t in block.torn] == [b'1,"a\n']
    assert max(len(block.records) for block in found) < 200


@pytest.mark.parametrize(
    ("record", "values"),
    [
        (b"a,b", [b"a", b"b"]),
        (b"a,", [b"a", b""]),
        (b",", [b"", b""]),
        (b'"a,""b""\n",c', [b'a,"b"\n', b"c"]),
        (b'a"b', [b'a"b']),
        (b"a,b\r\n", [b"a", b"b"]),
    ],
)
def test_fields(record: bytes, values: list[bytes]) -> None:
    assert fields(record) == values


@pytest.mark.parametrize(
    ("text", "record", "used"),
    [
        (b"a,b\n1,2\n", b"a,b", 4),
        (b"\n\r\na,b\r\n1", b"a,b", 8),
        (b"a,b", b"a,b", 3),
        (b'"a\n",b\n1', b'"a\n",b', 7),
        (b"", b"", 0),
        (b"\n\n", b"", 2),
        (b'"a,b\n', None, 0),
    ],
)
def test_first_record(text: bytes, record: bytes | None, used: int) -> None:
    assert first_record(io.BytesIO(text)) == (record, used)
