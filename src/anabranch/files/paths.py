"""The files that a PATH stands for: itself, or those of a folder in the order of the bytes of their names.

Nothing in a folder is passed over in silence: names that begin with ``_`` or ``.``
are somebody's notes, everything else is data of one kind or refused.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from anabranch.core.errors import Refused

ENDINGS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonlines",
    ".ndjson": "jsonlines",
    ".json": "jsonlines",
}
SPOKEN = {"parquet": "Parquet", "csv": "CSV", "jsonlines": "JSON lines"}


def kind_of(path: str) -> str | None:
    """``parquet``, ``csv`` or ``jsonlines``, by the ending alone."""
    return ENDINGS.get(os.path.splitext(path)[1].lower())


def data_files(stream: str, path: str) -> tuple[str, tuple[str, ...]]:
    """The kind and the files of *path*, in the order in which they are read."""
    with reading(path):
        try:
            mode = os.stat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise Refused(f"stream '{stream}': there is no file or folder '{path}'", _like(path)) from None
        if stat.S_ISDIR(mode):
            return _folder(stream, path)
    if not stat.S_ISREG(mode):
        raise Refused(f"stream '{stream}': '{path}' is not a file", "copy what it gives into a file or a folder")
    return _kind(stream, path), (path,)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Tell whatever goes wrong with a file in one line that names it."""
    try:
        yield
    except OSError as e:
        raise Refused(f"'{path}' cannot be read: {e.strerror or e}") from e
    except pa.ArrowException as e:
        kind = kind_of(path)
        raise Refused(f"'{path}' cannot be read{f' as {SPOKEN[kind]}' if kind else ''}: {e}") from e


def _folder(stream: str, folder: str) -> tuple[str, tuple[str, ...]]:
    names = sorted((n for n in os.listdir(folder) if not n.startswith(("_", "."))), key=os.fsencode)
    files = [os.path.join(folder, name) for name in names]
    for file in files:
        if not os.path.isfile(file):
            raise Refused(
                f"stream '{stream}': '{file}' is not a file",
                "a folder is read without its subfolders; give one folder, or begin the name with _ to skip it",
            )
    if not files:
        raise Refused(
            f"stream '{stream}': the folder '{folder}' has no files", "names that begin with _ or . are skipped"
        )
    kinds = {_kind(stream, file): file for file in reversed(files)}
    if len(kinds) > 1:
        first, other = sorted(kinds.values(), key=files.index)[:2]
        raise Refused(
            f"stream '{stream}': '{first}' and '{other}' are of two kinds", "keep files of one kind in a folder"
        )
    return next(iter(kinds)), tuple(files)


def _kind(stream: str, path: str) -> str:
    kind = kind_of(path)
    if kind is None:
        raise Refused(f"stream '{stream}': '{path}' has no known format", f"its name should end in {_listed(ENDINGS)}")
    return kind


def _like(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        near = difflib.get_close_matches(name, os.listdir(folder or "."), 3)
    except OSError:
        return f"there is no folder '{folder}' either"
    return "did you mean " + " or ".join(f"'{os.path.join(folder, n)}'" for n in near) + "?" if near else ""


def _listed(names: dict[str, str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"
