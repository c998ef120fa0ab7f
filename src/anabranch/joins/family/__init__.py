"""The members of the join family: one a file, found by its place.

A member is the class in its file whose ``name`` is the file's.  It is made of a program,
its options and, where somebody counts, a tally; ``refuses`` says why it cannot answer a
query and which member can.  Whoever adds a file here has added a member.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Protocol, cast

from anabranch.core.errors import Refused
from anabranch.core.operator import Operator
from anabranch.core.program import Program
from anabranch.core.tally import Tally
from anabranch.joins.options import Options
from anabranch.joins.order import Order

DEFAULT = "nway"


class Member(Operator, Protocol):
    """What a file of this folder holds."""

    name: str
    Options: ClassVar[type[Options]]

    def __init__(self, program: Program, options: Any = None, tally: Tally | None = None) -> None: ...

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None: ...

    def record_bytes(self, s: int) -> int: ...

    def looked_up(self, sizes: Sequence[float] | None) -> Sequence[Order]: ...


def names() -> list[str]:
    """All members, the default one first; nothing is loaded for that."""
    return sorted((each.name for each in pkgutil.iter_modules(__path__)), key=lambda name: (name != DEFAULT, name))


@cache
def member(name: str) -> type[Member]:
    """The member of this name."""
    found = {each.lower(): each for each in names()}.get(name.lower())
    if found is None:
        raise Refused(f"there is no algorithm '{name}'", f"choose one of auto, {', '.join(names())}")
    module = importlib.import_module(f"{__name__}.{found}")
    classes = [each for _, each in inspect.getmembers(module, inspect.isclass) if getattr(each, "name", "") == found]
    assert len(classes) == 1, f"{module.__file__} holds {len(classes)} members called {found}"
    return cast(type[Member], classes[0])


def about(name: str) -> str:
    """What a member is, in the words that its file begins with."""
    text = inspect.getdoc(importlib.import_module(f"{__name__}.{name}")) or ""
    first = " ".join(text.partition("\n\n")[0].split())
    return first.partition(": ")[2].rstrip(".")
