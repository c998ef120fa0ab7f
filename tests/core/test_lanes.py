from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.core.lanes import column, fits_word, kind_of, lane
from anabranch.core.ticks import FOREVER, NEVER
from anabranch.testing.predicates import equal

DAY = dt.date(1969, 12, 31)
THROUGH = [
    pa.array([-128, None, 127], pa.int8()),
    pa.array([-(2**15), None, 2**15 - 1], pa.int16()),
    pa.array([-(2**31), None, 2**31 - 1], pa.int32()),
    pa.array([NEVER, None, FOREVER], pa.int64()),
    pa.array([0, None, 255], pa.uint8()),
    pa.array([0, None, 2**16 - 1], pa.uint16()),
    pa.array([0, None, 2**32 - 1], pa.uint32()),
    pa.array([True, None, False]),
    pa.array([-0.0, None, math.inf, -math.inf, 5e-324, 1.7e308]),
    pa.array([-0.0, None, math.inf, 1.5], pa.float32()),
    pa.array([DAY, None], pa.date32()),
    pa.array([DAY, None], pa.date64()),
    pa.array([-1, None, NEVER, FOREVER], pa.timestamp("us")),
    pa.array([-1, None, 7], pa.timestamp("ns", "Asia/Tokyo")),
    pa.array([-1, None, 7], pa.timestamp("s", "UTC")),
    pa.array([1, None, 86_399], pa.time32("s")),
    pa.array([1, None, 7], pa.time64("ns")),
    pa.array([-1, None, 7], pa.duration("ms")),
]


@pytest.mark.parametrize("values", THROUGH, ids=lambda values: str(values.type))
@pytest.mark.parametrize("form", ["whole", "sliced", "without NULL", "empty", "only NULL"])
def test_what_went_in_comes_back(values: pa.Array, form: str) -> None:
    if form == "sliced":
        values = pa.concat_arrays([values, values, values]).slice(len(values) + 1, len(values))
    elif form == "without NULL":
        values = values.drop_null()
    elif form == "empty":
        values = values.slice(0, 0)
    elif form == "only NULL":
        values = pa.nulls(3, values.type)
    assert fits_word(values.type)
    words, nulls = lane(values, kind_of(values.type))
    assert words.dtype == np.int64
    assert len(words) == len(values)
    assert (nulls is None) == (values.null_count == 0)
    back = column(words, nulls, values.type)
    back.validate(full=True)
    assert back.type == values.type
    assert back.equals(values)


def test_bits_of_a_double_come_back() -> None:
    strange = np.array([0x7FF8000000000001, -1, NEVER], np.int64).view(np.float64)
    words, nulls = lane(pa.array(strange), "real")
    assert nulls is None
    assert words.tolist() == strange.view(np.int64).tolist()
    assert column(words, None, pa.float64()).to_numpy().view(np.int64).tolist() == words.tolist()


@pytest.mark.parametrize("kind", [pa.uint64(), pa.string(), pa.binary(), pa.decimal128(5), pa.list_(pa.int64())])
def test_what_is_no_word(kind: pa.DataType) -> None:
    assert not fits_word(kind)


@given(st.lists(st.floats(allow_subnormal=True) | st.sampled_from([0.0, -0.0, math.nan, -math.nan]), min_size=1))
def test_keys_are_equal_when_numbers_are(values: list[float]) -> None:
    words, nulls = lane(pa.array(values, pa.float64()), "key")
    assert nulls is None
    for x, one in zip(values, words, strict=True):
        for y, two in zip(values, words, strict=True):
            assert (one == two) == equal(x, y)


def test_an_integer_and_a_double_are_one_key() -> None:
    whole, _ = lane(pa.array([-1, 0, 3]), "key")
    real, _ = lane(pa.array([-1.0, -0.0, 3.0]), "key")
    narrow, _ = lane(pa.array([-1.0, 0.0, 3.0], pa.float32()), "key")
    assert whole.tolist() == real.tolist() == narrow.tolist()


TEXTS = ["", "a", "b", "ab", "ba", "eight by", "nine byte", "été", "\0", "\0\0", "sixteen bytes ab", "x" * 100, None]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_a_hash_depends_on_the_text_alone(kind: pa.DataType) -> None:
    right, _ = lane(pa.array(TEXTS, pa.string()), "hash")
    whole, nulls = lane(pa.array(TEXTS, pa.string()).cast(kind), "hash")
    part, _ = lane(pa.array(["before", *TEXTS], pa.string()).cast(kind).slice(1), "hash")
    assert nulls is not None
    assert nulls.tolist() == [text is None for text in TEXTS]
    assert right[:-1].tolist() == whole[:-1].tolist() == part[:-1].tolist()
    assert len(set(right[:-1].tolist())) == len(TEXTS) - 1


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_bytes_hash_as_their_text(kind: pa.DataType) -> None:
    text, _ = lane(pa.array(TEXTS[:-1]), "hash")
    data, _ = lane(pa.array([text.encode() for text in TEXTS[:-1] if text is not None], kind), "hash")
    assert text.tolist() == data.tolist()
