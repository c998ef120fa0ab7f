"""A query read for a command: what nobody gave is refused with the option that would give it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from anabranch.core.errors import Refused
from anabranch.plan import sql
from anabranch.plan.query import Query, Stream


def parse(text: str, streams: Mapping[str, Stream], functions: Collection[str] = ()) -> Query:
    """The query over *streams*."""
    try:
        return sql.parse(text, streams, functions=functions)
    except sql.UnknownStream as refusal:
        raise _with(refusal, "--stream NAME=PATH") from None
    except sql.UnknownFunction as refusal:
        raise _with(refusal, "--functions FILE.py") from None


def _with(refusal: Refused, option: str) -> Refused:
    close = refusal.hint.removesuffix("?")
    hint = (
        f"{refusal.hint}, and {option} gives another" if close == refusal.hint else f"{close}, or is {option} missing?"
    )
    return Refused(refusal.what, hint, refusal.at)
