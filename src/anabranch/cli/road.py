"""The road of the demonstration: what its cameras see, and when each of their rows arrives.

Objects pass the cameras one after another.  The rows of each camera take their own
time to arrive, one camera sends them out of order, a few of its rows come far too
late, and one camera falls silent for a while and then sends everything at once.
Everything follows from the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

SECOND = 1_000_000
BEGIN = int(datetime(2026, 3, 1, 8, tzinfo=UTC).timestamp()) * SECOND
LENGTH = 300 * SECOND
OBJECTS = 12_000
SEEN = 0.94  # of the objects that pass, by each camera
TWICE = 0.03  # of the rows are sent again
SCHEMA = pa.schema([("obj", pa.int64()), ("ts", pa.timestamp("us", "UTC")), ("speed", pa.float64())])

QUERY = """\
-- Which objects passed all four cameras in this order, and not too slowly?
SELECT A.obj AS obj, A.ts AS seen1, B.ts AS seen2, C.ts AS seen3, D.ts AS seen4
FROM camera1 A, camera2 B, camera3 C, camera4 D
WHERE A.obj = B.obj AND B.obj = C.obj AND C.obj = D.obj
DWINDOW (A, B) = 20 SECONDS AND DWINDOW (B, C) = 25 SECONDS AND DWINDOW (C, D) = 15 SECONDS
"""

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Camera:
    """How a camera sees and sends; seconds throughout."""

    name: str
    travel: float  # usual time from the camera before
    delay: float
    shuffle: float = 0.0  # more delay, at random: rows overtake each other
    stray: float = 0.0  # of the rows, how many are held up beyond all bounds
    silent: tuple[float, float] | None = None


CAMERAS = (
    Camera("camera1", travel=0.0, delay=0.3),
    Camera("camera2", travel=13.0, delay=1.0, shuffle=1.8, stray=0.002),
    Camera("camera3", travel=17.0, delay=0.5, silent=(120.0, 175.0)),
    Camera("camera4", travel=10.0, delay=4.0),
)
LATENESS = {"camera2": "2s"}
STRAYED = (8.0, 30.0)
ENOUGH = "40s"  # lateness with which no stray row is late


@dataclass(frozen=True)
class Arrivals:
    """The rows of one camera in the order in which they arrive, and when each one does."""

    at: Times
    rows: pa.RecordBatch


def road(seed: int) -> dict[str, Arrivals]:
    """All rows of all cameras, by name."""
    random = np.random.default_rng(seed)
    objects = np.arange(1, OBJECTS + 1)
    passed = BEGIN + np.sort(random.integers(0, LENGTH, OBJECTS))
    pace = random.lognormal(0.0, 0.22, OBJECTS)  # a slow driver is slow on every stretch
    result = {}
    for camera in CAMERAS:
        stretch = camera.travel * pace * random.lognormal(0.0, 0.12, OBJECTS)
        passed = passed + (stretch * SECOND).astype(np.int64)
        seen = np.nonzero(random.random(OBJECTS) < SEEN)[0]
        seen = np.concatenate([seen, seen[random.random(len(seen)) < TWICE]])
        speed = np.round(50.0 / pace[seen] + random.normal(0.0, 2.0, len(seen)), 1)
        result[camera.name] = _sent(camera, objects[seen], passed[seen], speed, random)
    return result


def _sent(
    camera: Camera, objects: Times, times: Times, speed: npt.NDArray[np.float64], random: np.random.Generator
) -> Arrivals:
    """The rows on their way: delayed, shuffled, strayed, dammed up."""
    delay = camera.delay + camera.shuffle * random.random(len(times))
    strayed = random.random(len(times)) < camera.stray
    delay = np.where(strayed, random.uniform(*STRAYED, len(times)), delay)
    at = times + (delay * SECOND).astype(np.int64)
    if camera.silent is not None:
        start, end = (BEGIN + int(second * SECOND) for second in camera.silent)
        dammed = (at >= start) & (at < end)
        at = np.where(dammed, end + (at - start) // 20, at)
        at = np.where((at >= end) & ~dammed, np.maximum(at, end + (end - start) // 20), at)
    order = np.lexsort((times, at))
    columns = [objects, pa.array(times).cast(SCHEMA.field("ts").type), speed]
    batch = pa.record_batch([pa.array(column) for column in columns], schema=SCHEMA)
    return Arrivals(at[order], batch.take(pa.array(order)))


def cut(arrivals: Arrivals, ticks: Times) -> list[pa.RecordBatch]:
    """The rows that arrive before each of these times and not before the one before; the rest at the last."""
    places = [0, *np.searchsorted(arrivals.at, ticks[:-1]).tolist(), len(arrivals.at)]
    return [arrivals.rows.slice(a, b - a) for a, b in pairwise(places)]
