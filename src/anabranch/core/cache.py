"""Where compiled code is kept between processes.

``ANABRANCH_CACHE`` if it is set, else the user's cache folder, else a folder of
the system's temporary directory when neither can be written.

numba looks only at the file that declares a kernel to see whether what it kept is
still good, but a kernel is made of functions from many files.  So kernels are kept
below a name that covers the source of all of them: a change anywhere can never
leave a stale answer behind, and an upgrade never meets an older version's code.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba import config, njit


@lru_cache(maxsize=1)
def folder() -> Path:
    """A folder that this process can write to, made if it is missing."""
    chosen = os.environ.get("ANABRANCH_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for path in ([Path(chosen)] if chosen else []) + [Path(home) / "anabranch"]:
        try:
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                return path
        except OSError:
            continue
    path = Path(tempfile.gettempdir()) / f"anabranch-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


@lru_cache(maxsize=1)
def digest() -> str:
    """A name for the source of everything that kernels are made of."""
    package = Path(__file__).parent.parent
    sources = sorted([*package.glob("core/*.py"), *package.glob("joins/**/*.py")])
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def kernels() -> Path:
    """Where the kernels of this version are kept, once they are compiled."""
    return folder() / "kernels" / digest()


def kernel(signature: Any = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with this signature, kept between processes; numba's own settings are left as they were.

    Without a signature it is compiled when it is first called, for the types that it is called with.
    """

    def declare(function: Callable[..., Any]) -> Any:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(kernels())
        try:
            return njit(signature, cache=True, **options)(function)
        finally:
            config.CACHE_DIR = before

    return declare
