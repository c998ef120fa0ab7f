"""Which conditions say the same in every time zone."""

import pyarrow as pa
import pytest

from anabranch.core.errors import Refused
from anabranch.plan.query import Join, Stream
from anabranch.plan.sql import parse
from anabranch.plan.zones import check_zone

STREAM = Stream(
    "s",
    pa.schema(
        [
            ("id", pa.int64()), ("ts", pa.timestamp("us", "UTC")), ("clock", pa.timestamp("us")), ("day", pa.date32()),
            ("text", pa.string()),
        ]
    ),
)  # fmt: skip


def join(condition: str) -> Join:
    text = f"SELECT A.id AS id FROM s A, s B WHERE {condition} WINDOW = 5 SECONDS"
    return parse(text, {"s": STREAM}, functions=("near",), batch=True).joins[0]


@pytest.mark.parametrize("condition", [
    "A.id = B.id AND A.ts IS NOT NULL",
    "A.ts BETWEEN B.ts - INTERVAL '5' SECONDS AND B.ts",
    "A.ts - B.ts < INTERVAL '5' SECONDS",
    "abs(unix_millis(A.ts) - unix_millis(B.ts)) < 5",
    "unix_timestamp(A.ts) > 1",
    "CAST(A.ts AS BIGINT) > 5",
    "CAST(A.id AS TIMESTAMP) < A.ts",
    "CASE WHEN A.id > 1 THEN A.ts ELSE B.ts END < coalesce(A.ts, B.ts)",
    "A.ts >= TIMESTAMP '2026-01-01 00:00:00+01:00'",
    "A.ts >= '2026-01-01T00:00:00Z'",
    "A.ts >= '2026-01-01 00:00:00 Europe/Berlin'",
    "A.clock > '2026-01-01'",
    "A.clock > TIMESTAMP_NTZ '2026-01-01 00:00:00'",
    "hour(A.clock) = 0 AND A.day > B.clock",
    "A.day = '2026-01-01' AND year(A.day) = 2026",
    "A.text = '2026' OR upper(A.text) = 'X'",
    "near(A.ts, B.clock)",
])  # fmt: skip
def test_these_do(condition: str) -> None:
    check_zone(join(condition), "Europe/Berlin")


@pytest.mark.parametrize("condition", [
    "A.ts >= TIMESTAMP '2026-01-01 00:00:00'",
    "A.ts >= DATE '2026-01-01'",
    "A.ts > '2026-01-01'",
    "A.ts IN ('2026-01-01 00:00:00')",
    "A.clock > TIMESTAMP '2026-01-01 00:00:00'",
    "A.ts = B.clock",
    "A.ts < B.day",
    "A.ts - B.clock < INTERVAL '5' SECONDS",
    "hour(A.ts) = 0",
    "extract(HOUR FROM A.ts) = 0",
    "near(hour(A.ts), B.id)",
    "date_trunc('HOUR', A.ts) = B.ts",
    "date_format(A.ts, 'HH') = '01'",
    "to_date(A.ts) = B.day",
    "CAST(A.ts AS STRING) = 'x'",
    "to_timestamp(A.text) > B.ts",
    "unix_timestamp(A.text) > 1",
    "from_unixtime(A.id) = 'x'",
    "make_timestamp(2026, 1, 1, 1, 1, 1) > A.ts",
])  # fmt: skip
def test_these_do_not(condition: str) -> None:
    check_zone(join(condition), "UTC")
    with pytest.raises(Refused, match=r"^line 1, column \d+: .* depends on the time zone, which is Europe/Berlin"):
        check_zone(join(condition), "Europe/Berlin")
