"""The streams that the queries here are about, and the notation of the tables of cases."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from anabranch.plan.query import Stream

UTC = pa.timestamp("us", "UTC")
TICKS = [("id", pa.int64()), ("ts", pa.int64()), ("k", pa.int64()), ("s", pa.string()), ("x", pa.float64())]
CAMERAS = [
    ("obj", pa.string()),
    ("ts", UTC),
    ("speed", pa.float64()),
    ("moving", pa.bool_()),
    ("day", pa.date32()),
    ("pos", pa.struct([("x", pa.float64()), ("Y", pa.float64())])),
]
ORDERS = [("order_id", pa.int64()), ("placed", pa.timestamp("ns")), ("ts", pa.string())]
SHIPMENTS = [("order_id", pa.int64()), ("sent", pa.timestamp("ms")), ("k", pa.int64()), ("K", pa.int64())]


@pytest.fixture(scope="session")
def streams() -> Mapping[str, Stream]:
    named = {f"tick{i}": Stream(f"tick{i}", pa.schema(TICKS)) for i in (1, 2, 3)}
    named |= {f"camera{i}": Stream(f"camera{i}", pa.schema(CAMERAS)) for i in (1, 2, 3)}
    named["orders"] = Stream("orders", pa.schema(ORDERS), "placed")
    named["shipments"] = Stream("shipments", pa.schema(SHIPMENTS), "sent")
    return named


def cases(file: str) -> Iterator[object]:
    """The cases of a table: fields between bars, a case a line, ``\\n`` for a new line in a field."""
    for line in (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            fields = [field.strip().replace("\\n", "\n") for field in line.split(" | ")]
            yield pytest.param(*fields, id=fields[0])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "table(file, fields): one test for each case of a table")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test asks for a table by ``@pytest.mark.table("file", "field, field")``."""
    for mark in metafunc.definition.iter_markers("table"):
        metafunc.parametrize(mark.args[1], list(cases(mark.args[0])))
