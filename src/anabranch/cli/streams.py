"""What several commands read from their arguments: the query, the streams, durations by stream."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from anabranch.cli import standard
from anabranch.core.errors import Refused
from anabranch.core.ticks import duration
from anabranch.files import FileSource, Source, open_source, stream_argument
from anabranch.plan.query import Stream
from anabranch.plan.settle import settled


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """``QUERY.sql`` and ``--stream NAME=PATH[@TIMECOLUMN]``."""
    parser.add_argument("query", metavar="QUERY.sql", help="a file with one query, or - for standard input")
    parser.add_argument(
        "--stream",
        dest="streams",
        metavar="NAME=PATH[@TIMECOLUMN]",
        action="append",
        default=[],
        help="a stream of FROM: a Parquet, CSV or JSON-lines file or a folder of them; its time is the column ts,"
        " or the one named, or @arrival",
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
    sources: dict[str, FileSource] = {}
    for text in arguments.streams:
        name, path, time = stream_argument(text)
        if name.lower() in (other.lower() for other in sources):
            raise Refused(f"the stream '{name}' is given twice", "give each --stream a name of its own")
        sources[name] = open_source(name, path, time)
    nameless = [name for name, source in sources.items() if source.nameless]
    schemas = settled(query, known(list(sources.values())), nameless)
    return [source.typed(schemas[name]) for name, source in sources.items()]


def known(sources: Sequence[Source]) -> dict[str, Stream]:
    """The sources as the streams that a query may name."""
    return {source.name: Stream(source.name, source.schema, source.time) for source in sources}


def ticks_by_stream(option: str, given: Sequence[str], streams: Mapping[str, Stream]) -> dict[str, int]:
    """``NAME=5s`` (or ``NAME=5`` for integer time), several times, as ticks by stream."""
    names = {name.lower(): name for name in streams}
    result: dict[str, int] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not value.strip():
            raise Refused(f"{option} '{text}' does not say how much for which stream", f"write {option} NAME=5s")
        if name.strip().lower() not in names:
            raise Refused(f"{option} names the stream '{name}', which is not given", f"there are {', '.join(streams)}")
        stream = streams[names[name.strip().lower()]]
        if stream.name in result:
            raise Refused(f"{option} is given twice for the stream '{stream.name}'", "give it once for each stream")
        result[stream.name] = _ticks(option, value.strip(), stream)
    return result


def _ticks(option: str, value: str, stream: Stream) -> int:
    plain = value.lstrip("+").isdigit()
    if stream.integer_time:
        if not plain or int(value) >= 1 << 62:
            raise Refused(
                f"{option} {stream.name}={value} is no tick count, and '{stream.time}' is an integer",
                f"write a plain number, {option} {stream.name}=5",
            )
        return int(value)
    if plain and int(value) != 0:
        raise Refused(
            f"{option} {stream.name}={value} has no unit, and '{stream.time}' is a timestamp",
            f"write one of us, ms, s, m, h, d: {option} {stream.name}={value}s",
        )
    return 0 if plain else duration(value)
