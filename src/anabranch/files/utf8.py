"""Text that is not UTF-8 makes its record bad, not the run.

Cost: the check is one pass in Arrow; only a column that fails it is decoded value by value.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anabranch.core.times import Mask

REASON = "is not UTF-8"


def decoded(column: pa.Array) -> tuple[pa.Array, Mask | None]:
    r"""A binary column as strings, and which values were not UTF-8 (these show their bytes as ``\xff``)."""
    try:
        return column.cast(pa.string()), None
    except pa.ArrowInvalid:
        pass
    raw: list[bytes | None] = column.to_pylist()
    text = [None if value is None else value.decode("utf-8", "backslashreplace") for value in raw]
    back = [None if shown is None else shown.encode("utf-8") for shown in text]
    return pa.array(text, pa.string()), np.array([a != b for a, b in zip(raw, back, strict=True)], bool)


def checked(column: pa.Array) -> tuple[pa.Array, Mask | None]:
    """A column that claims to be strings, as its file gave it, held to that."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        text, broken = decoded(column.cast(pa.large_binary()).cast(pa.binary()))
        return text.cast(column.type), broken
    return column, None
