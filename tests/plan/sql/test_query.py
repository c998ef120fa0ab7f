"""What a query means: its joins, its shell, and what the shell asks of a runtime."""

import pickle
from collections.abc import Mapping

import pyarrow as pa
import pytest

from anabranch.plan.query import Query, Stream
from anabranch.plan.sql import parse

PAIR = "FROM tick1 A, tick2 B WINDOW = 5"


@pytest.mark.table("shells.txt", "query, needed, shell")
def test_shell(query: str, needed: str, shell: str, streams: Mapping[str, Stream]) -> None:
    read = parse(query, streams)
    assert read.shell.sql("spark") == shell
    assert [".".join(pair) for pair in read.joins[0].columns] == ([] if needed == "none" else needed.split())


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("tick1 A, tick2 B WHERE a.K = B.k AND ((B.x > 1) AND (A.s = 'y' OR NOT B.s LIKE 'z%')) AND TRUE",
         ["`A`.`k` = `B`.`k`", "`B`.`x` > 1", "`A`.`s` = 'y' OR NOT `B`.`s` LIKE 'z%'"]),
        ("tick1 A JOIN tick2 B ON A.k = B.k WHERE A.x < B.x", ["`A`.`k` = `B`.`k`", "`A`.`x` < `B`.`x`"]),
        ("tick1 A INNER JOIN tick2 B USING (k, s)", ["`A`.`k` = `B`.`k`", "`A`.`s` = `B`.`s`"]),
        ("tick1 A JOIN tick2 B USING (k) JOIN tick3 C USING (K) WHERE k > 1",
         ["`A`.`k` = `B`.`k`", "`A`.`k` = `C`.`k`", "`A`.`k` > 1"]),
        ("tick1 A JOIN (tick2 B JOIN tick3 C ON B.k = C.k) ON A.k = C.k",
         ["`B`.`k` = `C`.`k`", "`A`.`k` = `C`.`k`"]),
        ("tick1 A JOIN tick2 B JOIN tick3 C ON B.k = C.k ON A.k = C.k",
         ["`B`.`k` = `C`.`k`", "`A`.`k` = `C`.`k`"]),
        ("tick1 A CROSS JOIN tick2 B", []),
        ("tick1 A, tick2 B WHERE Similar(A.x, B.x) AND abs(A.x - B.x) < 0.5",
         ["SIMILAR(`A`.`x`, `B`.`x`)", "ABS(`A`.`x` - `B`.`x`) < 0.5"]),
        ("tick1 A, tick2 B WHERE A.ts < B.ts", ["`A`.`ts` < `B`.`ts`"]),
    ],
)  # fmt: skip
def test_where(source: str, where: list[str], streams: Mapping[str, Stream]) -> None:
    join = parse(f"SELECT A.id FROM {source} WINDOW = 5", streams, functions=["similar"]).joins[0]
    assert [conjunct.sql("spark") for conjunct in join.where] == where


def test_a_function_of_the_user_hides_one_of_sql(streams: Mapping[str, Stream]) -> None:
    query = "SELECT A.id FROM tick1 A, tick2 B WHERE LEVENSHTEIN(A.s, B.s) < 3 WINDOW = 5"
    call = parse(query, streams, functions=["Levenshtein"]).joins[0].where[0].this
    assert (call.key, call.name) == ("anonymous", "Levenshtein")


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT count(*) AS n {PAIR}",
        f"SELECT A.k {PAIR} GROUP BY A.k",
        f"SELECT DISTINCT A.k {PAIR}",
        f"SELECT A.k {PAIR} ORDER BY k",
        f"SELECT A.k {PAIR} LIMIT 3",
        f"SELECT rank() OVER (ORDER BY A.k) AS r {PAIR}",
        f"SELECT A.k {PAIR} UNION SELECT B.k {PAIR}",
        f"SELECT A.k {PAIR} EXCEPT SELECT B.k {PAIR}",
        f"SELECT an_aggregate_perhaps(A.k) AS k {PAIR}",
        f"WITH m AS (SELECT A.k {PAIR}) SELECT m.k FROM m JOIN m n ON m.k = n.k",
        f"WITH m AS (SELECT A.k {PAIR}) SELECT k FROM m WHERE k IN (SELECT k FROM m)",
        *[
            f"SELECT {name}(A.x > 1) AS y {PAIR}"
            for name in ("any", "some", "every", "bool_or", "count_if", "first", "mode", "collect_list", "try_sum")
        ],
    ],
)  # fmt: skip
def test_finite(query: str, streams: Mapping[str, Stream]) -> None:
    read = parse(query, streams)
    assert read.finite
    assert read.plain is None


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        (f"SELECT B.id AS b, match_time(), A.id {PAIR}", [("B.id", "match_time", "A.id")]),
        (f"(SELECT A.k {PAIR}) UNION ALL SELECT B.id {PAIR}", [("A.k",), ("B.id",)]),
        (f"SELECT A.k {PAIR} UNION ALL SELECT B.x {PAIR}", None),
        (f"SELECT A.k + 1 AS k {PAIR}", None),
        (f"WITH m AS (SELECT A.k {PAIR}) SELECT k FROM m", None),
        (f"SELECT k FROM (SELECT A.k {PAIR})", None),
    ],
)
def test_plain(query: str, plain: list[tuple[str, ...]] | None, streams: Mapping[str, Stream]) -> None:
    read = parse(query, streams)
    assert not read.finite
    assert read.plain == (tuple(plain) if plain else None)


def test_a_union_has_a_join_for_each_side(streams: Mapping[str, Stream]) -> None:
    path = "SELECT A.obj, B.ts FROM {} A, {} B DWINDOW (A, B) = 5 SECONDS"
    ways = [path.format("camera1", "camera2"), path.format("camera2", "camera1")]
    read = parse(" UNION ALL ".join(ways), streams)
    assert [join.name for join in read.joins] == ["matches_0", "matches_1"]
    assert [join.members[0].stream.name for join in read.joins] == ["camera1", "camera2"]
    assert read.output == ("obj", "ts")


def test_members(streams: Mapping[str, Stream]) -> None:
    join = parse("SELECT a.id FROM Tick1 a, tick1 AS `B`, tick3 WINDOW = 5", streams).joins[0]
    assert [member.alias for member in join.members] == ["a", "B", "tick3"]
    assert [member.stream.name for member in join.members] == ["tick1", "tick1", "tick3"]
    assert join.windows.streams == ("a", "B", "tick3")


def test_names_of_a_catalog_are_streams_when_given(streams: Mapping[str, Stream]) -> None:
    named = {"main.db.ticks": streams["tick1"], "tick2": streams["tick2"]}
    join = parse("SELECT ticks.id FROM main.db.ticks, tick2 WINDOW = 5", named).joins[0]
    assert join.members[0].alias == "ticks"


def test_a_query_is_a_value(streams: Mapping[str, Stream]) -> None:
    text = f"SELECT A.id {PAIR} WHERE A.k = B.k AND A.ts <= B.ts -- with a note\n;"
    read: Query = parse(text, streams)
    assert pickle.loads(pickle.dumps(read)) == read == parse(text, streams)
    assert hash(read) == hash(parse(text, streams))


def test_integer_time() -> None:
    schema = pa.schema([("ts", pa.int32()), ("at", pa.timestamp("ns"))])
    assert Stream("s", schema).integer_time
    assert not Stream("s", schema, "at").integer_time
    assert not Stream("s", schema, "arrival").integer_time
