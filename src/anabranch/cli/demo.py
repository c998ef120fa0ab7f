"""Watch four cameras along a road joined live: late rows, a camera that falls silent, and an answer that is exact.

The streams are made up from a seed and pass through Spark Structured Streaming, or through this process with
--runtime local; then the answer is compared with the definition, and the streams and the query are left in a folder
to go on with.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
from rich.console import Console

from anabranch import local
from anabranch.cli.on_spark import on_spark
from anabranch.cli.road import BEGIN, CAMERAS, ENOUGH, LATENESS, QUERY, SCHEMA, SECOND, Arrivals, Times, cut, road
from anabranch.cli.usage import judged, named
from anabranch.cli.watch import Lines, View
from anabranch.core.errors import Refused
from anabranch.core.metrics import Metrics
from anabranch.core.ticks import NEVER, duration
from anabranch.core.windows import Windows
from anabranch.files import open_sink
from anabranch.joins.definition import Tuple, definition

HELP = "watch a small live join"
STEPS = {"local": SECOND // 2, "spark": 10 * SECOND}  # of the road between two batches

Answer = Counter[tuple[int, ...]]  # an object and when each camera saw it


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of ``anabranch demo``."""
    parser.add_argument(
        "--runtime", choices=["spark", "local"], default="spark", help="where the query runs (default: spark)"
    )
    parser.add_argument(
        "--seconds",
        metavar="N",
        type=seconds_argument,
        default=12.0,
        help="how long to watch, on a terminal (default: 12; on Spark as long as it takes)",
    )
    parser.add_argument(
        "--folder",
        metavar="DIR",
        type=named,
        default="anabranch-demo",
        help="where the streams and the query are left",
    )
    parser.add_argument(
        "--seed", metavar="N", type=seed_argument, default=1, help="another seed is another road (default: 1)"
    )


@judged
def seconds_argument(text: str) -> float:
    """A length of time to watch."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise Refused(f"'{text}' is no length of time", "write 12")
    return seconds


@judged
def seed_argument(text: str) -> int:
    """What a road is made up from."""
    if not text.isdecimal():
        raise Refused(f"'{text}' is no whole number from 0 on", "write 1")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Show, check, and leave everything to go on with."""
    folder = _folder(arguments.folder)
    streams = road(arguments.seed)
    lateness = {name: duration(text) for name, text in LATENESS.items()}
    step = STEPS[arguments.runtime]
    cuts = _cuts(streams, step)
    print(QUERY)
    with _started(arguments.runtime, streams) as player:
        found = _watched(player, streams, cuts, arguments.seconds)
        _tell(player.metrics)
        windows = player.windows
    by_batch = cuts if arguments.runtime == "spark" else None
    same = _check(found, windows, streams, lateness, by_batch)
    _leave(folder, streams)
    everything = {**lateness, **dict.fromkeys(LATENESS, duration(ENOUGH))}
    _what_next(folder, streams, arguments.runtime, sum(_defined(windows, streams, everything).values()), len(found))
    return 0 if same else 1


# -- live ----------------------------------------------------------------------------


class Player(Protocol):
    """A running query, on either runtime."""

    metrics: Metrics
    windows: Windows

    def push(self, batches: Mapping[str, pa.RecordBatch], ended: Collection[str] = ()) -> None: ...

    def found(self) -> pa.Table: ...


class InProcess:
    """The query in this process."""

    def __init__(self, streams: Mapping[str, Arrivals]) -> None:
        lateness = {name: duration(text) for name, text in LATENESS.items()}
        self._session = local.start(QUERY, dict.fromkeys(streams, SCHEMA), options=local.Options(lateness))
        self._found = [self._session.schema.empty_table()]
        self.windows, self.metrics = self._session.query.joins[0].windows, self._session.metrics

    def push(self, batches: Mapping[str, pa.RecordBatch], ended: Collection[str] = ()) -> None:
        self._found += self._session.push(batches)
        if ended:
            self._found += self._session.finish(*ended)
        self.metrics = self._session.metrics

    def found(self) -> pa.Table:
        return pa.concat_tables(self._found)


@contextmanager
def _started(runtime: str, streams: Mapping[str, Arrivals]) -> Iterator[Player]:
    if runtime == "local":
        yield InProcess(streams)
        return
    live, session = on_spark("live"), on_spark("session")
    print("starting Spark ...", file=sys.stderr)
    with (
        tempfile.TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as folder,
        session.session() as spark,
    ):
        player = live.Live(spark, QUERY, dict.fromkeys(streams, SCHEMA), LATENESS, Path(folder))
        yield player
        player.stop()


def _cuts(streams: Mapping[str, Arrivals], step: int) -> Times:
    """When a batch ends: every *step* of the road, until all rows have arrived."""
    end = max(int(arrivals.at[-1]) for arrivals in streams.values())
    return np.arange(BEGIN + step, end + step + 1, step)


def _watched(player: Player, streams: Mapping[str, Arrivals], cuts: Times, seconds: float) -> pa.Table:
    """Feed the query batch by batch, in the order of arrival; the rows that come out."""
    batches = {name: cut(arrivals, cuts) for name, arrivals in streams.items()}
    console = Console()
    live = sys.stdout.isatty() and not console.is_dumb_terminal
    began, before = time.perf_counter(), NEVER
    with View(console) if live else Lines() as view:
        for i, now in enumerate(cuts.tolist()):
            ended = [name for name, arrivals in streams.items() if before <= arrivals.at[-1] < now]
            player.push({name: batch[i] for name, batch in batches.items()}, ended)
            before = now
            view.update(now, player.metrics)
            if live:
                time.sleep(max(0.0, began + seconds * (i + 1) / len(cuts) - time.perf_counter()))
    return player.found()


def _tell(metrics: Metrics) -> None:
    for name, stream in metrics.streams.items():
        late = f", {stream.late:,} of them too late: kept apart and counted" if stream.late else ""
        print(f"{name}: {stream.rows:,} rows in{late}")
    peak = f"{metrics.peak_tuples:,} tuples ({metrics.peak_bytes / 1e6:.1f} MB)"
    print(f"{metrics.matches:,} matches; at most {peak} were held")


# -- exactness -----------------------------------------------------------------------


def _check(
    found: pa.Table,
    windows: Windows,
    streams: Mapping[str, Arrivals],
    lateness: Mapping[str, int],
    cuts: Times | None,
) -> bool:
    """Whether the answer is the bag that the definition gives, over the rows that were not late."""
    columns = [found.column(0), *(column.cast(pa.int64()) for column in found.columns[1:])]
    answer: Answer = Counter(zip(*(column.to_pylist() for column in columns), strict=True))
    defined = _defined(windows, streams, lateness, cuts)
    if answer == defined:
        print(f"exact: all {defined.total():,} matches of the definition were compared, none is missing, none is extra")
        return True
    missing, extra = defined - answer, answer - defined
    example = next(iter(missing or extra))
    print(
        f"anabranch: the answer is wrong: {missing.total():,} matches are missing and {extra.total():,} extra,"
        f" such as {example}; please report this with the seed",
        file=sys.stderr,
    )
    return False


def _defined(
    windows: Windows, streams: Mapping[str, Arrivals], lateness: Mapping[str, int], cuts: Times | None = None
) -> Answer:
    """The definition, object by object: a match has one object, so this leaves nothing out.

    Lateness is judged row by row, or by what came before the batches that end at *cuts*.
    """
    groups: dict[int, list[list[Tuple]]] = {}
    for s, camera in enumerate(CAMERAS):
        arrivals = streams[camera.name]
        rows, times = arrivals.rows, arrivals.rows.column("ts").cast(pa.int64()).to_pylist()
        starts = range(len(times)) if cuts is None else [0, *np.searchsorted(arrivals.at, cuts).tolist()]
        on_time = _on_time(times, lateness.get(camera.name, 0), starts)
        for obj, t, accepted in zip(rows.column("obj").to_pylist(), times, on_time, strict=True):
            if accepted:
                groups.setdefault(obj, [[] for _ in CAMERAS])[s].append(Tuple(t, obj))
    answer: Answer = Counter()
    for obj, group in groups.items():
        for places in definition(group, windows):
            answer[(obj, *(stream[place].time for stream, place in zip(group, places, strict=True)))] += 1
    return answer


def _on_time(times: Sequence[int], lateness: int, starts: Iterable[int]) -> list[bool]:
    """Whether each row, in the order of arrival, is no further behind than allowed.

    Behind what was newest when its batch began; *starts* are the rows that begin one.
    """
    newest, floor, result, begins = NEVER, NEVER, [], set(starts)
    for place, t in enumerate(times):
        if place in begins:
            floor = newest
        result.append(t >= floor - lateness)
        newest = max(newest, t)
    return result


# -- to go on with -------------------------------------------------------------------


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"the folder '{name}' cannot be made: {os.strerror(error.errno or 0)}", "name another") from None
    return folder


def _leave(folder: Path, streams: Mapping[str, Arrivals]) -> None:
    try:
        (folder / "query.sql").write_text(QUERY, "utf-8")
    except OSError as error:
        raise Refused(f"the folder '{folder}' cannot be written: {error.strerror}", "name another") from None
    for name, arrivals in streams.items():
        sink = open_sink(str(folder / f"{name}.parquet"), SCHEMA)
        sink.write(pa.Table.from_batches([arrivals.rows]))
        sink.close()


def _what_next(folder: Path, streams: Mapping[str, Arrivals], runtime: str, all_rows: int, found: int) -> None:
    def place(name: str) -> str:
        return shlex.quote(str(folder / name))

    given = [f"--stream {shlex.quote(f'{name}={folder / name}.parquet')}" for name in streams]
    late = [f"--lateness {name}={ENOUGH}" for name in LATENESS]
    on = " --runtime local" if runtime == "local" else ""
    lines = [f"anabranch run {place('query.sql')}{on}", *given, *late, f"--output {place('matches.csv')}"]
    print(
        f"\nThe streams and the query are there to go on with. With more lateness no row is late, and there are"
        f" {all_rows - found:,} more matches,\nat the price of a longer memory:\n"
    )
    print("    " + " \\\n        ".join(lines))
    print("\nWith `explain` in the place of `run`, and without --output, it says how long.")
