"""The predicate of a join as compiled code.

The planner writes two small Python functions; this room compiles them once a
process and hands the loops their addresses:

``admit(mask, arena, at)``  whether every conjunct in *mask* is TRUE for the
records that *at* points to; ``span(number, arena, at, out)`` stores the closed
range of a band.  Both see memory through ``words.word`` and ``words.real``.

Generated source goes to a module on disk named by its own hash, so that numba's
cache serves the next process too.  The hash covers every function that the code
can call: a helper that changes can never leave a stale answer behind.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import njit, types

from anabranch.core import cache, words

ADMIT = types.boolean(types.int64, types.int64, types.int64)
SPAN = types.int64(types.int64, types.int64, types.int64, types.int64)

PROLOGUE = """\
import math
import numpy as np
from anabranch.core.arithmetic import *
from anabranch.core.cache import kernel
from anabranch.core.words import bits, keep, ordered, ordered_high, ordered_low, real, word
from anabranch.core.predicate import ADMIT, SPAN
"""

EVERYTHING = """
def admit(mask, arena, at):
    return True
"""

NO_SPAN = """
def span(number, arena, at, out):
    return 0
"""


@dataclass(frozen=True)
class Predicate:
    """Source of ``admit`` and ``span``; *functions* are the user's own, by name, already compiled by numba."""

    admit: str = EVERYTHING
    span: str = NO_SPAN
    functions: tuple[tuple[str, Callable[..., Any]], ...] = field(default=())

    def compiled(self) -> Compiled:
        """The two functions, ready for a kernel."""
        return _with_functions(self) if self.functions else _from_disk(self.admit, self.span)


@dataclass(frozen=True)
class Compiled:
    """Addresses of the two functions, and the functions themselves to keep them in memory."""

    admit: int
    span: int
    functions: tuple[Any, Any]


def _compiled(admit: Any, span: Any) -> Compiled:
    return Compiled(words.entry(admit), words.entry(span), (admit, span))


@lru_cache(maxsize=256)
def _with_functions(predicate: Predicate) -> Compiled:
    """Code that calls the user's functions is compiled for this process only: they cannot be hashed."""
    scope: dict[str, Any] = {}
    exec(PROLOGUE, scope)
    scope.update(predicate.functions)
    exec(predicate.admit + predicate.span, scope)
    return _compiled(njit(ADMIT, error_model="numpy")(scope["admit"]), njit(SPAN, error_model="numpy")(scope["span"]))


@lru_cache(maxsize=1024)
def _from_disk(admit: str, span: str) -> Compiled:
    body = admit.replace("\ndef admit", "\n@kernel(ADMIT, error_model='numpy')\ndef admit")
    body += span.replace("\ndef span", "\n@kernel(SPAN, error_model='numpy')\ndef span")
    source = PROLOGUE + body
    name = hashlib.sha256("\0".join((source, cache.digest())).encode()).hexdigest()[:24]
    module = _load(cache.folder() / "predicates" / f"predicate_{name}.py", source)
    return _compiled(module.admit, module.span)


def _load(path: Path, source: str) -> ModuleType:
    """Import *path*, writing it first if need be; several processes may do so at once."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        os.replace(name, path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
