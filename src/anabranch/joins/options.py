"""What a member of the family can be told: ``eager(order=B A C, buckets=10)``.

A member's options are a frozen dataclass; its fields are the names, their types say how
the text is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NewType, get_args, get_origin, get_type_hints

from anabranch.core.errors import Refused
from anabranch.core.ticks import duration

Ticks = NewType("Ticks", int)  # a length of time
Order = tuple[str, ...]  # the aliases of all streams
Buckets = Mapping[str, int]  # by alias; "" for every other stream
Expiry = Literal["eager", "lazy"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every member can be told."""

    liveness: bool = False  # forget what has waited in vain for another stream, which the windows alone do not say


def read(kind: type[Options], member: str, given: Mapping[str, str], integer_time: bool = True) -> Options:
    """The options of a member, from text; a time is a number where time is an integer, else a duration."""
    hints = get_type_hints(kind)
    names = [each.name for each in fields(kind)]
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in names:
            raise Refused(f"{member} has no option '{name}'", f"it has {', '.join(names)}")
        values[name] = _value(hints[name], f"{member}({name}={text})", text.strip(), integer_time)
    return kind(**values)


def _value(kind: Any, where: str, text: str, integer_time: bool) -> Any:
    if kind is Ticks:
        if integer_time and not text.lstrip("-").isdigit():
            raise Refused(f"{where}: the streams' time is an integer", "write a plain number")
        ticks = int(text) if integer_time else duration(text)
        if ticks < 0:
            raise Refused(f"{where}: {text} is negative", "a time starts at 0")
        return ticks
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise Refused(f"{where}: '{text}' is neither true nor false", "write true or false")
        return text.lower() == "true"
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise Refused(f"{where}: there is no '{text}'", f"write one of {', '.join(get_args(kind))}")
        return text
    if kind == Order:
        return tuple(text.split())
    if kind == Buckets:
        return dict(_buckets(where, part) for part in text.split())
    if kind is int:
        return _whole(where, text)
    return text


def _buckets(where: str, part: str) -> tuple[str, int]:
    alias, colon, count = part.rpartition(":")
    found = _whole(where, count)
    if found < 1 or bool(alias) != bool(colon):
        raise Refused(f"{where}: '{part}' is no number of buckets", "write buckets=10, or buckets=A:5 B:33")
    return alias, found


def _whole(where: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refused(f"{where}: '{text}' is no whole number", "write digits alone") from None


def streams_in_order(member: str, streams: Sequence[str], order: Order) -> list[int]:
    """The numbers of the streams in this order, or in their own where none is given."""
    if not order:
        return list(range(len(streams)))
    known = {alias.lower(): s for s, alias in enumerate(streams)}
    found = [known.get(alias.lower(), -1) for alias in order]
    if sorted(found) != list(range(len(streams))):
        raise Refused(
            f"{member}(order={' '.join(order)}) is no order of the streams",
            f"name each of {' '.join(streams)} once",
        )
    return found


def buckets_by_stream(member: str, streams: Sequence[str], buckets: Buckets, otherwise: int) -> list[int]:
    """The number of buckets of each stream."""
    known = {alias.lower() for alias in streams}
    for alias in buckets:
        if alias and alias.lower() not in known:
            raise Refused(f"{member}(buckets=...) names '{alias}', which is no stream", f"name {', '.join(streams)}")
    given = {alias.lower(): count for alias, count in buckets.items()}
    return [given.get(alias.lower(), given.get("", otherwise)) for alias in streams]
