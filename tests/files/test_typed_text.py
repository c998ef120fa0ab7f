from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.files import infer
from anabranch.files.typed_text import BOOLEAN, DOUBLE, INSTANT_IN_ZONE, INTEGER, TIMESTAMP, Kind, instant

T = datetime(2026, 1, 31, 12, tzinfo=UTC)


def converted(kind: Kind, *texts: str | None) -> list[object]:
    """The values; what does not fit is shown as ``...``."""
    values, misfits = kind.convert(pa.array(texts, pa.string()))
    return [... if misfits is not None and misfits[i] else value for i, value in enumerate(values.to_pylist())]


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        (INTEGER, ["1", "-2", "+3", " 4\t", "007", "", None], [1, -2, 3, 4, 7, None, None]),
        (INTEGER, ["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
        (INTEGER, ["9223372036854775808", "-9223372036854775809", "9" * 5000, "5"], [..., ..., ..., 5]),
        (INTEGER, ["0x1F", "1_0", "1.0", "1e3", "٣", "--1", "1 2", "abc"], [...] * 8),
        (DOUBLE, ["1", "1.", ".5", "-1.5e3", "+2", "1e-999"], [1, 1, 0.5, -1500, 2, 0]),
        (DOUBLE, ["Infinity", "-inf", "+INF"], [float("inf"), float("-inf"), float("inf")]),
        (DOUBLE, ["1e999", "-1E999", None, "inf", "9" * 400], [..., ..., None, float("inf"), ...]),
        (DOUBLE, ["1e999", "inf", "+1."], [..., float("inf"), 1]),
        (DOUBLE, ["0x1p3", "1,5", "1.5f", "1d", ".", "e5", "infinit", "-nan", "abc"], [...] * 9),
        (BOOLEAN, ["true", "FALSE", " True ", None, "1", "yes", "t"], [True, False, True, None, ..., ..., ...]),
    ],
)
def test_values(kind: Kind, texts: list[str | None], values: list[object]) -> None:
    assert converted(kind, *texts) == values


def test_nan_is_a_number() -> None:
    assert all(value != value for value in converted(DOUBLE, "NaN", "nan", "NAN"))


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-01-31", T - timedelta(hours=12)),
        ("2026-01-31T12", T),
        ("2026-01-31 12:00", T),
        ("2026-01-31T12:00:00Z", T),
        ("2026-01-31 12:00:00.5", T + timedelta(microseconds=500_000)),
        ("2026-01-31T12:00:00.123456789Z", T + timedelta(microseconds=123_456)),
        ("2026-01-31T14:00:00+02:00", T),
        ("2026-01-31T14:00+0200", T),
        ("2026-01-31T07:00:00-05", T),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0001-01-01T00:00:00.000001", datetime(1, 1, 1, tzinfo=UTC) + timedelta(microseconds=1)),
        ("9999-12-31T23:59:59.9999999", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_iso_8601(written: str, moment: datetime) -> None:
    for kind in (TIMESTAMP, INSTANT_IN_ZONE):
        (value,) = converted(kind, written)
        assert value == (moment if kind is INSTANT_IN_ZONE else moment.replace(tzinfo=None))
        assert converted(kind, written, "2026-02-30", "2026-01-31T00:00+01")[0] == value, "the slow way says the same"


@pytest.mark.parametrize(
    "written",
    ["2026-02-30", "2026-13-01", "2026-1-1", "0000-01-01", "2026-01-31T24:00", "2026-01-31T23:59:60", "20260131",
     "2026-01-31T12:00:00.", "2026-01-31Z", "2026-01-31T1200", "31.01.2026", "01/31/2026", "12:00", "now", "x"],
)  # fmt: skip
def test_what_is_no_timestamp(written: str) -> None:
    assert converted(TIMESTAMP, written, "2026-01-31") == [..., datetime(2026, 1, 31)]
    assert instant(written) is None


@pytest.mark.parametrize(
    "written", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:00-01:00", "9999-12-31T23:59:59.9-1200"]
)
def test_a_zone_does_not_lead_out_of_the_calendar(written: str) -> None:
    for others in (["2026-01-31T12:00Z"], ["2026-01-31T12:00Z", None], ["2026-01-31T12:00Z", "2026-02-30T12:00Z"]):
        for kind in (TIMESTAMP, INSTANT_IN_ZONE):
            good = T if kind is INSTANT_IN_ZONE else T.replace(tzinfo=None)
            assert converted(kind, written, *others)[:2] == [..., good]
    assert instant(written) is None
    assert TIMESTAMP.refusal(written) == f"'{written}' is outside the years 1 to 9999 in UTC"


@given(
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-23 * 60, 23 * 60), st.sampled_from(["T", " "])
)
def test_the_slow_way_reads_what_python_writes(moment: datetime, offset: int, between: str) -> None:
    sign = "-" if offset < 0 else "+"
    written = f"{moment.isoformat(between)}{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    expected = (moment - datetime(1970, 1, 1) - timedelta(minutes=offset)) // timedelta(microseconds=1)
    values, misfits = INSTANT_IN_ZONE.convert(pa.array([written]))
    assert instant(written) == expected == values.cast(pa.int64())[0].as_py() and misfits is None


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        (["1", "2", "3", "x"], pa.int64()),  # three in four
        (["1", "2", "x", "y", "3"], pa.string()),
        (["1", "2", "2.5", "3.5", "x"], pa.float64()),
        (["true", "false", "TRUE", "no"], pa.bool_()),
        (["1.5", "NaN", "inf"], pa.float64()),
        (["2026-01-31", "2026-01-31 12:00"], pa.timestamp("us")),
        (["2026-01-31", "2026-01-31 12:00Z"], pa.timestamp("us", "UTC")),
        (["2026-01-31", "2026-01-31", "2026-01-31", "x12:00Z"], pa.timestamp("us")),
        (["9223372036854775808"], pa.float64()),
        (["a"], pa.string()),
        ([], pa.string()),
    ],
)
def test_the_narrowest_type_that_fits_three_in_four(sample: list[str], kind: pa.DataType) -> None:
    assert infer.column_type(pa.array(sample, pa.string())) == kind


def test_a_time_without_values_is_a_timestamp() -> None:
    assert infer.column_type(pa.array([], pa.string()), is_time=True) == pa.timestamp("us", "UTC")


def test_a_column_that_holds_nothing_has_no_type() -> None:
    nothing = pa.array([], pa.string())
    assert [infer.column_type(nothing, is_time, nothing=True) for is_time in (False, True)] == [pa.null()] * 2
