"""What several commands read from their arguments: the query, the streams, durations by stream."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from anabranch.cli import standard
from anabranch.cli.usage import Misused, judged, named
from anabranch.core.errors import Refused
from anabranch.core.ticks import FOREVER, MICROSECONDS, duration
from anabranch.files import Source, open_source, stream_argument
from anabranch.plan.query import Stream
from anabranch.plan.settle import settled


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """``QUERY.sql`` and ``--stream NAME=PATH[@TIMECOLUMN]``."""
    parser.add_argument("query", metavar="QUERY.sql", type=named, help="a file with one query, or - for standard input")
    parser.add_argument(
        "--stream",
        dest="streams",
        metavar="NAME=PATH[@TIMECOLUMN]",
        type=judged(stream_argument),
        action="append",
        default=[],
        help="a stream of FROM: a Parquet, CSV or JSON-lines file or a folder of them; its time is the column ts,"
        " or the one named, or @arrival",
    )


def add_lateness_option(parser: argparse.ArgumentParser) -> None:
    """``--lateness NAME=5s``."""
    parser.add_argument(
        "--lateness",
        metavar="NAME=5s",
        type=judged(length_argument),
        action="append",
        default=[],
        help=f"how far a stream may be out of order ({' '.join(MICROSECONDS)}; a plain number for integer time);"
        " 0 by default",
    )


def read_query(arguments: argparse.Namespace) -> str:
    """The text of the query."""
    if arguments.query == "-":
        return _decoded(standard.read(), "standard input")
    path = Path(arguments.query)
    try:
        return _decoded(path.read_bytes(), f"the query file '{path}'")
    except FileNotFoundError:
        raise Refused(f"the query file '{path}' does not exist", "name a file that holds one query") from None
    except IsADirectoryError:
        raise Refused(f"the query '{path}' is a folder", "name a file that holds one query") from None
    except OSError as error:
        raise Refused(f"the query file '{path}' cannot be read: {error.strerror}") from None


def _decoded(text: bytes, called: str) -> str:
    try:
        return io.StringIO(text.decode("utf-8-sig"), newline=None).getvalue()
    except UnicodeDecodeError as error:
        raise Refused(f"{called} is not UTF-8 at byte {error.start}", "save it as UTF-8") from None


def open_streams(arguments: argparse.Namespace, query: str) -> list[Source]:
    """The sources that ``--stream`` names, opened; columns without values have the types that suit *query*."""
    names = [name.lower() for name, _, _ in arguments.streams]
    for place, (name, _, _) in enumerate(arguments.streams):
        if name.lower() in names[:place]:
            raise Misused(f"the stream '{name}' is given twice", "give each --stream a name of its own")
    sources = {name: open_source(name, path, time) for name, path, time in arguments.streams}
    nameless = [name for name, source in sources.items() if source.nameless]
    schemas = settled(query, known(list(sources.values())), nameless)
    return [source.typed(schemas[name]) for name, source in sources.items()]


def known(sources: Sequence[Source]) -> dict[str, Stream]:
    """The sources as the streams that a query may name."""
    return {source.name: Stream(source.name, source.schema, source.time) for source in sources}


class Length(NamedTuple):
    """A length of time for a stream, as it is written; *plain* if it is a number without a unit."""

    stream: str
    written: str
    ticks: int
    plain: bool


def length_argument(text: str) -> Length:
    """``NAME=5s``, or ``NAME=5`` for integer time."""
    name, _, written = (part.strip() for part in text.partition("="))
    if not name or not written:
        raise Refused(f"'{text}' does not say how much for which stream", "write NAME=5s")
    if not written.lstrip("+").isdecimal():
        return Length(name, written, duration(written), plain=False)
    if len(written) > 20 or int(written) > FOREVER:
        raise Refused(f"'{text}' is longer than time itself", f"write at most {FOREVER}")
    return Length(name, written, int(written), plain=True)


def given_stream(option: str, name: str, streams: Mapping[str, Stream]) -> Stream:
    """The stream that an option speaks of."""
    for stream in streams.values():
        if stream.name.lower() == name.lower():
            return stream
    raise Misused(f"{option} names the stream '{name}', which is not given", f"there are {', '.join(streams)}")


def ticks_by_stream(option: str, given: Sequence[Length], streams: Mapping[str, Stream]) -> dict[str, int]:
    """Lengths of time as ticks by stream."""
    result: dict[str, int] = {}
    for length in given:
        stream = given_stream(option, length.stream, streams)
        if stream.name in result:
            raise Misused(f"{option} is given twice for the stream '{stream.name}'", "give it once for each stream")
        if stream.integer_time and not length.plain:
            raise Refused(
                f"{option} {stream.name}={length.written} is no tick count, and '{stream.time}' is an integer",
                f"write a plain number, {option} {stream.name}=5",
            )
        if length.plain and length.ticks and not stream.integer_time:
            raise Refused(
                f"{option} {stream.name}={length.written} has no unit, and '{stream.time}' is a timestamp",
                f"write one of {', '.join(MICROSECONDS)}: {option} {stream.name}={length.written}s",
            )
        result[stream.name] = length.ticks
    return result
