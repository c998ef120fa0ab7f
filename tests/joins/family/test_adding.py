"""Whoever adds a file has added a member: it is in the help, in explanations, and in the tests of the family."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from anabranch import local
from anabranch.cli.main import main
from anabranch.core.errors import Refused
from anabranch.joins import family
from anabranch.plan.algorithm import Algorithm

TOY = '''"""``toy``: the nested loops of the house under another name."""

from anabranch.joins.family.nested_loop import NestedLoop


class Toy(NestedLoop):
    name = "toy"
'''
QUERY = "SELECT A.ts AS a, B.ts AS b FROM a A, b B WINDOW = 2"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "toy.py").write_text(TOY, "utf-8")
    monkeypatch.setattr(family, "__path__", [*family.__path__, str(tmp_path)])
    family.member.cache_clear()
    yield
    family.member.cache_clear()
    sys.modules.pop("anabranch.joins.family.toy", None)


@pytest.mark.usefixtures("toy")
def test_it_is_among_the_names() -> None:
    assert "toy" in family.names()
    assert family.about("toy") == "the nested loops of the house under another name"


@pytest.mark.usefixtures("toy")
def test_it_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "toy" in capsys.readouterr().out


@pytest.mark.usefixtures("toy")
def test_it_is_in_an_explanation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("ts\n1\n", "utf-8")
    (tmp_path / "q.sql").write_text(QUERY, "utf-8")
    streams = [f"--stream={name}={tmp_path / name}.csv" for name in "ab"]
    assert main(["explain", str(tmp_path / "q.sql"), *streams, "--algorithm", "toy"]) == 0
    assert "algorithm toy: as the query says" in capsys.readouterr().out


@pytest.mark.usefixtures("toy")
def test_it_joins() -> None:
    streams = {"a": pa.table({"ts": [1, 5]}), "b": pa.table({"ts": [3, 9]})}
    found = local.sql(QUERY, streams, algorithm="toy")
    assert sorted(tuple(row.values()) for row in found.to_pylist()) == [(1, 3), (5, 3)]


@pytest.mark.usefixtures("toy")
def test_the_tests_of_the_family_see_it() -> None:
    from tests.joins.family.test_agrees import test_agrees_with_the_definition
    from tests.joins.family.test_cases import test_every_member_does_so

    test_every_member_does_so("toy")
    test_agrees_with_the_definition("toy")


@pytest.mark.parametrize("name", family.names())
def test_every_member_says_what_it_is(name: str) -> None:
    assert family.about(name)
    assert family.member(name).name == name


WRONG = {
    "lazi": "there is no algorithm 'lazi'; choose one of auto, nway, ",
    "lazy(tau=5s)": "lazy(tau=5s): the streams' time is an integer; write a plain number",
    "lazy(tau=-1)": "lazy(tau=-1): -1 is negative; a time starts at 0",
    "lazy(tua=5)": "lazy has no option 'tua'; it has liveness, tau, order, buckets",
    "lazy(tau)": "'tau' is no option of lazy; write lazy(option=value, ...)",
    "lazy(tau=5": "the algorithm 'lazy(tau=5' has no closing bracket; write lazy(option=value, ...)",
    "eager(order=A C)": "eager(order=A C) is no order of the streams; name each of A B once",
    "eager(buckets=C:5)": "eager(buckets=...) names 'C', which is no stream; name A, B",
    "eager(buckets=0)": "eager(buckets=0): '0' is no number of buckets; write buckets=10, or buckets=A:5 B:33",
    "eager(buckets=x)": "eager(buckets=x): 'x' is no whole number; write digits alone",
    "eager(expiry=never)": "eager(expiry=never): there is no 'never'; write one of eager, lazy",
    "eager(liveness=1)": "eager(liveness=1): '1' is neither true nor false; write true or false",
    "auto(tau=5)": "auto has no options; name an algorithm",
    "hash": "hash cannot answer this query: no equality leads to B; nested_loop needs none, hybrid hashes where it can",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said(text: str) -> None:
    streams = {"a": pa.table({"ts": [1, 5]}), "b": pa.table({"ts": [3, 9]})}
    with pytest.raises(Refused) as refusal:
        local.sql(QUERY, streams, algorithm=text)
    assert str(refusal.value).startswith(WRONG[text])


def test_an_algorithm_is_written_as_it_is_read() -> None:
    for text in ("nway", "lazy(tau=5, order=B A)", "eager(buckets=A:5 B:33)"):
        assert str(Algorithm.of(text)) == text
    assert str(Algorithm()) == "nway"


HINTED = {
    "/*+ ALGORITHM(naive) */": "naive",
    "/*+ ALGORITHM(eager(order=B A, buckets=10)) */": "eager(order=B A, buckets=10)",
    "/*+ ALGORITHM('lazy(tau=2)') */": "lazy(tau=2)",
    "/*+ BROADCAST(a) */": "hash",
    "": "hash",
}


@pytest.mark.parametrize("hint", HINTED)
def test_a_hint_goes_before_what_the_caller_says(hint: str) -> None:
    schemas = {name: pa.schema([("ts", pa.int64()), ("k", pa.int64())]) for name in "ab"}
    query = f"SELECT {hint} A.ts AS a, B.ts AS b FROM a A, b B WHERE A.k = B.k WINDOW = 2"
    session = local.start(query, schemas, options=local.Options(algorithm="hash"))
    assert str(session.query.joins[0].algorithm) == HINTED[hint]
