"""Show how a query would run: where each condition is evaluated, the windows that follow, what is kept how long.

  anabranch explain query.sql --stream a=a.parquet --stream b=b.csv@time --rate a=1000 --rate b=200

Nothing is run, and of the streams no more is read than the types of their columns.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence

from anabranch.cli.algorithm import add_algorithm_option
from anabranch.cli.functions import add_functions_option, functions_of
from anabranch.cli.queries import parse
from anabranch.cli.streams import (
    add_lateness_option,
    add_stream_options,
    given_stream,
    known,
    open_streams,
    read_query,
    ticks_by_stream,
)
from anabranch.cli.usage import judged
from anabranch.core.errors import Refused
from anabranch.plan.explain import Expected, explain
from anabranch.plan.lower import lower
from anabranch.plan.outline import outline
from anabranch.plan.query import Stream

HELP = "show how a query would run"
MOST = 1e15  # rows a second; more is a slip of the pen


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of ``anabranch explain``."""
    add_stream_options(parser)
    parser.add_argument(
        "--rate",
        metavar="NAME=ROWS_PER_SECOND",
        type=judged(rate_argument),
        action="append",
        default=[],
        help="how many rows a stream brings in a second (in a unit of time, where time is an integer)",
    )
    add_lateness_option(parser)
    add_algorithm_option(parser)
    add_functions_option(parser)
    parser.add_argument("--json", action="store_true", help="the same as JSON; times are in ticks, null is unbounded")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan."""
    text = read_query(arguments)
    streams = known(open_streams(arguments, text))
    functions = functions_of(arguments.functions)
    query = parse(text, streams, functions=tuple(functions)).joined_by(arguments.algorithm)
    expected = Expected(
        rates_by_stream(arguments.rate, streams), ticks_by_stream("--lateness", arguments.lateness, streams)
    )
    explanation = explain(query, [lower(join, functions) for join in query.joins], expected)
    if arguments.json:
        json.dump(explanation.as_dict(), sys.stdout, indent=2, ensure_ascii=False)
        print()
    else:
        print("\n".join(outline(explanation)))
    return 0


def rate_argument(text: str) -> tuple[str, float]:
    """``NAME=ROWS_PER_SECOND``."""
    name, _, value = text.partition("=")
    try:
        rate = float(value.replace("_", "x"))
    except ValueError:
        rate = math.nan
    if not name.strip() or not 0 <= rate <= MOST:
        raise Refused(f"'{text}' is no number of rows", f"write {name.strip() or 'NAME'}=1000")
    return name.strip(), rate


def rates_by_stream(given: Sequence[tuple[str, float]], streams: Mapping[str, Stream]) -> dict[str, float]:
    """Rows a second by stream."""
    return {given_stream("--rate", name, streams).name: rate for name, rate in given}
