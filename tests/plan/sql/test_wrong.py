"""Every query that cannot be right is refused with one line: where, what is wrong, what would be right."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from anabranch.core.errors import Refused
from anabranch.plan.query import Stream
from anabranch.plan.sql import parse, statement


@pytest.mark.table("wrong.txt", "query, said")
def test_wrong(query: str, said: str, streams: Mapping[str, Stream]) -> None:
    with pytest.raises(Refused) as refusal:
        parse(query, streams, functions=["similar"])
    assert str(refusal.value) == said


@pytest.mark.parametrize("text", ["", "  \n", ";;", "-- nothing"])
def test_nothing(text: str, streams: Mapping[str, Stream]) -> None:
    with pytest.raises(Refused, match="the query is empty"):
        parse(text, streams)


@pytest.mark.parametrize("depth", [600, 6000])
def test_too_deep(depth: int, streams: Mapping[str, Stream]) -> None:
    condition = "(" * depth + "A.k = B.k" + ")" * depth
    with pytest.raises(Refused, match="nested too deeply"):
        parse(f"SELECT A.id FROM tick1 A, tick2 B WHERE {condition} WINDOW = 5", streams)


def test_streams_that_differ_in_case(streams: Mapping[str, Stream]) -> None:
    both = {"Tick": streams["tick1"], "TICK": streams["tick2"]}
    with pytest.raises(Refused, match="stream 'tick' is ambiguous"):
        parse("SELECT A.id FROM tick A, tick B WINDOW = 5", both)
    members = parse("SELECT A.id FROM Tick A, TICK B WINDOW = 5", both).joins[0].members
    assert [member.stream.name for member in members] == ["tick1", "tick2"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("A.ab", "tick has no column 'ab'; did you mean A.`a b`?"),
        ("A.zzz", "tick has no column 'zzz'; A has ts, `a b`, `c``d`"),
        ("`a b`", "column 'a b' is ambiguous; write A.`a b` or B.`a b`"),
    ],
)
def test_names_that_need_quotes_have_them(column: str, said: str) -> None:
    stream = Stream("tick", pa.schema([("ts", pa.int64()), ("a b", pa.int64()), ("c`d", pa.int64())]))
    with pytest.raises(Refused) as refusal:
        parse(f"SELECT {column} AS x FROM tick A, tick B WINDOW = 5", {"tick": stream})
    assert str(refusal.value) == f"line 1, column 8: {said}"


def test_the_compiled_sqlglot(streams: Mapping[str, Stream], monkeypatch: pytest.MonkeyPatch) -> None:
    def parser(self: object) -> None:
        raise TypeError("interpreted classes cannot inherit from compiled")

    monkeypatch.setattr(statement.Anabranch, "parser", parser)
    with pytest.raises(Refused, match="uninstall sqlglotc"):
        parse("SELECT A.id FROM tick1 A, tick2 B WINDOW = 5", streams)
