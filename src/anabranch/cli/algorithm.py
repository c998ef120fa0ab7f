"""``--algorithm``: a member of the join family, by name and with its options."""

from __future__ import annotations

import argparse

from anabranch.cli.usage import judged
from anabranch.joins.family import names
from anabranch.plan.algorithm import AUTO, Algorithm


@judged
def algorithm(text: str) -> str:
    """A member that there is, with options."""
    Algorithm.of(text)
    return text


def add_algorithm_option(parser: argparse.ArgumentParser) -> None:
    """The option as ``run`` and ``explain`` have it."""
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        type=algorithm,
        default=AUTO,
        help=f"how to join: {AUTO} (the default), or one of {', '.join(names())}; with options: 'eager(order=B A C)'",
    )
