"""Small tables of awkward values, for Spark and for the local runtime alike.

Each is a DDL of Spark's types and its rows; timestamps are in UTC.  The expressions asked
over them stand in ``spark_cases.txt``, Spark's answers in ``spark_answers.json``.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

INF, NAN = float("inf"), float("nan")
Rows = list[tuple[Any, ...]]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def money(*texts: str) -> tuple[Decimal, ...]:
    return tuple(Decimal(text) for text in texts)


NUMBERS: Rows = [
    (1, 2, 7, 2, 40, 3, 1.5, 2.5, 0.5, *money("12.34", "1.250"), True, False),
    (None,) * 13,
    (0, 0, 0, 0, 0, 0, 0.0, 0.0, -0.0, *money("0.00", "0.000"), False, None),
    (127, 32767, 2**31 - 1, 1, 2**63 - 1, 1, 3.4028234663852886e38, 1.7976931348623157e308, 2.0,
     *money("99999999.99", "99.999"), True, True),
    (-128, -32768, -(2**31), -1, -(2**63), -1, -1.5, -1.7976931348623157e308, 1e-300,
     *money("-99999999.99", "-99.999"), False, False),
    (5, -3, -7, 2, -7, 2, NAN, NAN, NAN, *money("-0.05", "0.005"), None, True),
    (-5, 3, 7, -2, 7, -2, INF, INF, -INF, *money("2.50", "2.500"), None, False),
    (-5, -3, -7, -2, 2**53 + 1, 2, -INF, -INF, 1.0, *money("0.01", "-0.001"), None, None),
    (8, 1, 1, 0, 5, 0, -0.0, -0.0, 0.0, *money("1.01", "1.005"), True, None),
    (15, 25, 15, 10, -25, 10, 0.1, 1.005, 2.675, *money("0.15", "2.345"), False, True),
    (-15, 4, -15, 100, 2**63 - 2, 2, 16777216.0, -2.5, 3.0, *money("-7.77", "3.000"), True, False),
    (3, None, 3, None, 3, None, 1e-3, 5e-324, 1e16, *money("5.00", "-2.500"), False, False),
    (64, 100, 46341, 46341, 3037000500, 3037000500, 0.7, 0.1, -0.7, *money("49.50", "-1.235"), True, True),
]  # fmt: skip

TEXTS: Rows = [
    ("hello world", "o", 3, 2),
    (None, "a", 1, 1),
    ("a", None, None, None),
    ("", "", 0, 0),
    ("  pad  ", " ", -2, 5),
    ("straße", "ß", 1, 1),
    ("日本語テキスト", "本語", 2, -1),
    ("a,b,,c", ",", 1, 1),
    ("Éclair", "é", -3, 2),
    ("100%_x\\y", "%", 4, -2),
    ("😀😁x", "😁", 2, 1),
    ("e\u0301te\u0301", "e", 2, 2),
    ("line\nbreak\r\n", "\n", 100, 3),
    ("AbC", "b", -100, 4),
    ("aXbXc", "X", 2147483647, 1),
    ("ΑΣ", "Σ", -2147483648, 0),
    ("abcabc", "ca", -4, 3),
    ("\ttab\u00a0\u3000", "\t", 5, -3),
    ("foo123bar", "123", 4, 3),
]

NOTATIONS: Rows = [
    (text,)
    for text in (
        "1", "-5", " 42 ", "1.5", "-2.5", "1e3", "abc", "", " ", None, "NaN", "Infinity", "-inf", "+7", "99999999999",
        "true", "T", " no ", "0", "2020-01-02", "2020-01-02 03:04:05.123456", "2020-1-2", "0x10", "1_000", "1.0d", ".5",
        "5.", "2020-01-02T03:04:05Z", "2020-01-02 03:04:05+02:00", "2020-02-30", "\t8\n", "999999999999999999999", "-",
        "2020-01-02 25:00:00", "2020", "2020-12", "2020-01-02 3:4:5", "2020-01-02T", "127", "128",
        "1969-12-31 23:59:59.9", "2020-01-02 03:04:05.1234567", "2020-01-02 03:04", "1e400",
        "2020-01-02 03:04:05 UTC", "0.00005",
        "9223372036854775808", "2147483648", "99999999.999", "1E-7", "00012", "yes", "+-1", "1 2", "\u00a07", "-0",
        "2020-01-02 03:04:05", "20200102", "01/02/2020", "2020-01-02 03:04:60",
        "2020-01-02 03:04:05 Europe/Paris", "0x1p3", "32768",
    )
]  # fmt: skip

TIMES: Rows = [
    (at("2020-01-01 00:00:00"), at("2020-01-01 00:00:05.5"), at("2020-01-01 00:00:00"),
     date(2020, 1, 1), date(2020, 1, 31), 1, 1_577_836_800, 0.5),
    (None,) * 8,
    (at("1969-12-31 23:59:59.999999"), at("1970-01-01 00:00:00"), at("1969-12-31 12:00:00.5"),
     date(1969, 12, 31), date(1970, 1, 1), -1, -1, -0.5),
    (at("2020-02-29 12:34:56.789012"), at("2021-02-28 12:34:56.789012"), at("2020-02-29 12:34:56.789012"),
     date(2020, 2, 29), date(2021, 2, 28), 12, 1_582_979_696, 1.999999),
    (at("0001-01-01 00:00:00"), at("9999-12-31 23:59:59.999999"), at("0001-01-01 00:00:00"),
     date(1, 1, 1), date(9999, 12, 31), 2_147_483_647, 9_223_372_036_854_775_807, 1e300),
    (at("2021-01-03 06:07:08.1"), at("2021-01-04 06:07:08.1"), at("2021-01-03 06:07:08.1"),
     date(2021, 1, 3), date(2021, 1, 4), -2_147_483_648, -9_223_372_036_854_775_808, NAN),
    (at("1900-03-01 01:59:59.123"), at("1899-12-31 23:00:00"), at("1900-03-01 01:59:59.123"),
     date(1900, 3, 1), date(1899, 12, 31), 0, 0, -1.000001),
    (at("2023-12-31 23:59:59.5"), at("2023-11-30 23:59:59.25"), at("2023-12-31 23:59:59.5"),
     date(2023, 12, 31), date(2023, 11, 30), -14, 253_402_300_800, INF),
]  # fmt: skip

GROUPS: Rows = [
    (1, "a", 1, 10, 1.5, Decimal("1.10"), at("2020-01-01 00:00:01"), "x", True),
    (2, "a", 2, 20, 2.5, Decimal("2.20"), at("2020-01-01 00:00:04"), "y", False),
    (3, "a", 2, None, None, None, at("2020-01-01 00:00:05"), None, None),
    (4, "a", None, 20, NAN, Decimal("-9.99"), at("2020-01-01 00:00:11.5"), "Z", True),
    (5, "b", 2147483647, 2**62, -0.0, Decimal("99999999.99"), at("1969-12-31 23:59:58"), "é", True),
    (6, "b", 2147483647, 2**61, 0.0, Decimal("99999999.99"), at("1969-12-31 23:59:59.9"), "", True),
    (7, "b", 1, 5, 0.25, Decimal("0.01"), at("1970-01-01 00:00:00"), "zz", None),
    (8, None, 5, 1, 4.0, Decimal("5.00"), None, "n", False),
    (9, None, None, None, -0.0, None, at("2020-01-01 00:00:01"), "n", None),
    (10, "c", None, None, None, None, None, None, None),
    (11, "d", 7, 7, 7.0, Decimal("7.00"), at("2024-02-29 23:59:59.999999"), "only", False),
    (12, "C", -7, -7, -0.5, Decimal("-7.00"), at("2024-03-01 00:00:00"), "ONLY", True),
]

TABLES: dict[str, tuple[str, Rows]] = {
    "numbers": (
        "t TINYINT, s SMALLINT, i INT, j INT, b BIGINT, c BIGINT, f FLOAT, x DOUBLE, y DOUBLE, "
        "d DECIMAL(10,2), e DECIMAL(5,3), p BOOLEAN, q BOOLEAN",
        NUMBERS,
    ),
    "texts": ("s STRING, t STRING, n INT, m INT", TEXTS),
    "notations": ("s STRING", NOTATIONS),
    "times": (
        "ts TIMESTAMP, us TIMESTAMP, nt TIMESTAMP_NTZ, d DATE, e DATE, n INT, b BIGINT, x DOUBLE",
        TIMES,
    ),
    "groups": (
        "id INT, k STRING, i INT, b BIGINT, x DOUBLE, d DECIMAL(10,2), ts TIMESTAMP, s STRING, p BOOLEAN",
        GROUPS,
    ),
}
