"""Wrong usage: a command line that is wrong whatever the files and the query hold.

It ends with the usage of its command and exit status 2.  What only a look at them can
tell is refused with status 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from anabranch.core.errors import Refused

T = TypeVar("T")


class Misused(Refused):
    """Arguments that do not go together."""


def judged(read: Callable[[str], T]) -> Callable[[str], T]:
    """The type of an argument for argparse: what *read* makes of it; what that refuses is wrong usage."""

    def argument(text: str) -> T:
        try:
            return read(text)
        except Refused as refusal:
            raise argparse.ArgumentTypeError(str(refusal)) from None

    return argument


@judged
def named(text: str) -> str:
    """A name of something, which is not empty."""
    if not text:
        raise Refused("the name is empty", "give one")
    return text
