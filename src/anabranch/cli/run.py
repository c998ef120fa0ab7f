"""Run a query over files, replayed as finite streams, and write the rows of its answer.

  anabranch run query.sql --stream a=a.parquet --stream b=b.csv@time --output matches.parquet
  anabranch run query.sql --stream a=a.parquet --stream b=b.csv@time --runtime local

Late and bad rows are kept beside the output (OUT.late.jsonl, OUT.dead.jsonl) or where --late and --dead-letter say.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console

from anabranch.cli.algorithm import add_algorithm_option
from anabranch.cli.functions import add_functions_option, functions_of
from anabranch.cli.on_spark import on_spark
from anabranch.cli.progress import Progress
from anabranch.cli.queries import parse
from anabranch.cli.streams import (
    add_lateness_option,
    add_stream_options,
    known,
    open_streams,
    read_query,
    ticks_by_stream,
)
from anabranch.cli.table import TablePrinter
from anabranch.cli.usage import Misused, judged, named
from anabranch.cli.words import counted
from anabranch.core.errors import Refused
from anabranch.core.metrics import Metrics
from anabranch.files import Sink, open_sink, output_argument
from anabranch.local.replay import replay
from anabranch.local.session import DEAD_SCHEMA, Options, Session
from anabranch.plan.outline import size
from anabranch.plan.query import Query, Stream

HELP = "run a query over files and write its answer"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of ``anabranch run``."""
    add_stream_options(parser)
    parser.add_argument(
        "--runtime",
        choices=["spark", "local"],
        default="spark",
        help="Spark Structured Streaming, on this machine unless --master says otherwise, or this process with no Java"
        " (default: spark)",
    )
    parser.add_argument("--master", metavar="URL", type=named, help="the Spark cluster (spark runtime only)")
    parser.add_argument(
        "--checkpoint", metavar="DIR", type=named, help="where progress is kept for a restart (spark runtime only)"
    )
    add_algorithm_option(parser)
    out = judged(output_argument)
    parser.add_argument(
        "--output", metavar="OUT", type=out, help="a .parquet, .csv or .jsonl file; standard output without it"
    )
    add_lateness_option(parser)
    parser.add_argument("--late", metavar="OUT", type=out, help="a file for rows that come too late")
    parser.add_argument("--dead-letter", metavar="OUT", type=out, help="a file for rows that cannot be read")
    add_functions_option(parser)
    parser.add_argument("--summary", metavar="FILE", type=named, help="write the summary of the run as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Run the query."""
    _check(arguments)
    return _on_spark(arguments) if arguments.runtime == "spark" else _in_process(arguments)


def _in_process(arguments: argparse.Namespace) -> int:
    text = read_query(arguments)
    sources = open_streams(arguments, text)
    streams = known(sources)
    functions = functions_of(arguments.functions)
    query = parse(text, streams, functions=tuple(functions)).joined_by(arguments.algorithm)
    lateness = _lateness(arguments, query, streams)
    with Outputs(arguments) as outputs:
        options = Options(lateness, late=outputs.late.write, dead=outputs.dead.write)
        session = Session(query, functions, options)
        outputs.open(session.schema, session.late_schema)
        progress = outputs.enter_context(Progress(sources, list(session.streams), enabled=not arguments.quiet))
        used = [source for source in sources if source.name in session.streams]
        for table in replay(session, used, lambda: progress.update(session.metrics)):
            outputs.write(table)
        outputs.finish()
    return outputs.summarise(session.metrics)


def _on_spark(arguments: argparse.Namespace) -> int:
    replays, sessions = on_spark("replay"), on_spark("session")
    text = read_query(arguments)
    sources = open_streams(arguments, text)
    functions = functions_of(arguments.functions)
    folder = Path(arguments.checkpoint or tempfile.mkdtemp(prefix="anabranch-"))
    try:
        streams = replays.known(sources, folder)
        query = parse(text, streams, functions=tuple(functions)).joined_by(arguments.algorithm)
        lateness = _lateness(arguments, query, streams)
        with Outputs(arguments) as outputs, sessions.session(arguments.master) as spark:
            run = replays.Replay(spark, query, sources, functions, lateness, folder)
            outputs.open(run.schema, run.late_schema)
            progress = outputs.enter_context(Progress(sources, list(run.metrics.streams), enabled=not arguments.quiet))
            for table in run.rows(lambda: progress.update(run.metrics)):
                outputs.write(table)
            run.apart(outputs.late.write, outputs.dead.write)
            outputs.finish()
        return outputs.summarise(run.metrics)
    finally:
        if not arguments.checkpoint:
            shutil.rmtree(folder, ignore_errors=True)


def _lateness(arguments: argparse.Namespace, query: Query, streams: Mapping[str, Stream]) -> dict[str, int]:
    """How late the streams of the query may be; others may be spoken of too."""
    lateness = ticks_by_stream("--lateness", arguments.lateness, streams)
    used = {member.stream.name for join in query.joins for member in join.members}
    return {name: ticks for name, ticks in lateness.items() if name in used}


class Outputs(ExitStack):
    """Everything that a run writes, whichever runtime computes it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        super().__init__()
        self.arguments, self.rows = arguments, 0
        self.late = Apart(self, arguments.late, _beside(arguments.output, "late"))
        self.dead = Apart(self, arguments.dead_letter, _beside(arguments.output, "dead"))
        self._started = time.perf_counter()

    def open(self, schema: pa.Schema, late_schema: pa.Schema) -> None:
        """Refuse what cannot be written, before a row is computed."""
        self.late.prepare(late_schema)
        self.dead.prepare(DEAD_SCHEMA)
        self._write, self._finish = _destination(self.arguments.output, schema, self)

    def write(self, table: pa.Table) -> None:
        """Rows of the answer."""
        self.rows += len(table)
        self._write(table)

    def finish(self) -> None:
        """Put everything in its place."""
        self._finish()
        for apart in (self.late, self.dead):
            apart.finish()

    def summarise(self, metrics: Metrics) -> int:
        """Say what happened; the exit status."""
        summary = {
            "query": self.arguments.query,
            "runtime": self.arguments.runtime,
            "rows_out": self.rows,
            "elapsed_seconds": time.perf_counter() - self._started,
            "output": self.arguments.output,
            "late": self.late.path if self.late.rows else None,
            "dead_letter": self.dead.path if self.dead.rows else None,
            **metrics.as_dict(),
        }
        if not self.arguments.quiet:
            _tell(summary)
        if self.arguments.summary:
            _write_summary(self.arguments.summary, summary)
        return 0


class Apart:
    """Rows that are set apart: to the file that the user names, else beside the output once there are any."""

    def __init__(self, opened: ExitStack, asked: str | None, otherwise: str | None) -> None:
        self.path, self.rows = asked or otherwise, 0
        self._opened, self._asked = opened, asked is not None
        self._sink: Sink | None = None

    def prepare(self, schema: pa.Schema) -> None:
        """A file that was asked for is there even if nothing is late or bad."""
        if self._asked and self.path:
            self._open(schema)

    def write(self, table: pa.Table) -> None:
        """Count rows and keep them."""
        self.rows += len(table)
        if self._sink is None and self.path:
            self._open(table.schema)
        if self._sink is not None:
            self._sink.write(table)

    def finish(self) -> None:
        """Close the file; one that an earlier run left beside the same output goes."""
        if self._sink is not None:
            self._sink.close()
        elif self.path:
            Path(self.path).unlink(missing_ok=True)

    def _open(self, schema: pa.Schema) -> None:
        assert self.path is not None
        self._sink = open_sink(self.path, schema)
        self._opened.callback(self._sink.discard)


def _check(arguments: argparse.Namespace) -> None:
    for option in ("master", "checkpoint"):
        if getattr(arguments, option) and arguments.runtime == "local":
            raise Misused(f"--{option} is for the spark runtime", "leave it out with --runtime local")
    _check_places(arguments)


def _check_places(arguments: argparse.Namespace) -> None:
    """No file is written twice, and none that the run reads is written at all."""
    late = arguments.late or _beside(arguments.output, "late")
    dead = arguments.dead_letter or _beside(arguments.output, "dead")
    places = [place for place in (arguments.output, late, dead, arguments.summary) if place]
    written = [Path(place).resolve() for place in places]
    if len(set(written)) < len(written):
        raise Refused(
            "two outputs have the same name", "give --output, --late, --dead-letter and --summary a file each"
        )
    given = [arguments.query, arguments.functions, *(path for _, path, _ in arguments.streams)]
    read = {Path(path).resolve() for path in given if path}
    for place, path in zip(places, written, strict=True):
        if path in read or (path.parent in read and path.parent.is_dir()):
            raise Refused(f"the run reads '{place}', which is one of its outputs", "write to another place")
    if arguments.summary:
        if not written[-1].parent.is_dir():
            raise Refused(
                f"there is no folder '{Path(places[-1]).parent}' for the summary '{places[-1]}'", "make it first"
            )
        if written[-1].is_dir():
            raise Refused(f"the summary '{places[-1]}' is a folder", "name a file")


def _beside(output: str | None, what: str) -> str | None:
    return f"{output}.{what}.jsonl" if output else None


def _destination(
    output: str | None, schema: pa.Schema, opened: ExitStack
) -> tuple[Callable[[pa.Table], None], Callable[[], None]]:
    """Where rows go, and what ends it."""
    if output is None:
        printer = TablePrinter(schema)
        return printer.write, printer.finish
    sink = open_sink(output, schema)
    opened.callback(sink.discard)
    return sink.write, sink.close


def _tell(summary: dict[str, Any]) -> None:
    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for name, stream in summary["streams"].items():
        apart = "".join(
            f", {stream[kind]:,} {word}" for kind, word in (("late", "late"), ("dead", "bad")) if stream[kind]
        )
        console.print(f"{name}: {counted(stream['rows'], 'row')} in{apart}")
    where = f" to {summary['output']}" if summary["output"] else ""
    matches, out = counted(summary["matches"], "match", "matches"), counted(summary["rows_out"], "row")
    console.print(f"{matches}, {out} out{where}")
    rate = f"{summary['rows'] / max(summary['elapsed_seconds'], 1e-9):,.0f} rows/s"
    console.print(
        f"peak state {counted(summary['peak_tuples'], 'tuple')}, {size(summary['peak_bytes'])};"
        f" {summary['elapsed_seconds']:.2f} s, {rate}"
    )
    for key, word in (("late", "late rows"), ("dead_letter", "bad rows")):
        if summary[key]:
            console.print(f"{word} are in {summary[key]}")


def _write_summary(path: str, summary: dict[str, Any]) -> None:
    try:
        Path(path).write_text(json.dumps(summary, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise Refused(f"the summary '{path}' cannot be written: {error.strerror}") from None
