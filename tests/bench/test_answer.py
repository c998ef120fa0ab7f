import pyarrow as pa
import pytest
from bench.answer import Answer

MATCHES = pa.table({"a": [1, 1, 2], "b": [5, 6, 5]})


def answer(table: pa.Table) -> Answer:
    return Answer.of(table, ["a", "b"])


def test_the_order_of_matches_does_not_count():
    assert answer(MATCHES.take([2, 0, 1])) == answer(MATCHES)


def test_the_order_of_columns_does_not_count():
    assert answer(MATCHES.select(["b", "a"])) == answer(MATCHES)


def test_the_width_of_ids_does_not_count():
    narrow = MATCHES.cast(pa.schema([("a", pa.int32()), ("b", pa.uint16())]))
    assert answer(narrow) == answer(MATCHES)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"a": [1, 1], "b": [5, 6]}, id="one missing"),
        pytest.param({"a": [1, 1, 2, 2], "b": [5, 6, 5, 5]}, id="one twice"),
        pytest.param({"a": [1, 1, 2], "b": [5, 5, 6]}, id="partners exchanged"),
        pytest.param({"a": [5, 6, 5], "b": [1, 1, 2]}, id="members exchanged"),
        pytest.param({"a": [1, 2, 2], "b": [5, 6, 5]}, id="one id off"),
    ],
)
def test_a_different_bag_is_a_different_answer(other):
    assert answer(pa.table(other)) != answer(MATCHES)


def test_nothing_is_an_answer():
    assert answer(MATCHES.slice(0, 0)) == Answer(0, "0" * 16)
