"""From Arrow columns to lanes, the 64-bit words of a record, and back.

A lane holds a column of at most 64 bits as it is (``int``, or the bits of a double:
``real``), a number as the key of an equality (``key``: a double with one NaN and no
-0.0), or a hash of text or bytes (``hash``), which finds candidates but proves
nothing.  What comes back from an ``int`` or ``real`` lane is exactly what went in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import types

from anabranch.core.cache import kernel
from anabranch.core.integers import wrapped_mul
from anabranch.core.memory import I64
from anabranch.core.words import NAN_WORD, mix

Words = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

INT64 = pa.int64()
SEED = 0x51_7C_C1_B7_27_22_0A_95


def fits_word(kind: pa.DataType) -> bool:
    """Whether values of this type travel through an ``int`` or ``real`` lane unchanged."""
    if pa.types.is_integer(kind):
        return bool(kind != pa.uint64())
    return bool(pa.types.is_boolean(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)) and kind not in (
        pa.month_day_nano_interval(),
    )


def kind_of(kind: pa.DataType) -> str:
    """The lane for values of this type."""
    return "real" if pa.types.is_floating(kind) else "int"


def lane(column: pa.Array, kind: str) -> tuple[Words, Marks | None]:
    """The words of a column, and which of them are NULL (None if none is)."""
    if kind == "int" and column.type == INT64 and not column.null_count:
        return column.to_numpy(), None
    null = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if kind == "hash":
        return _hashed(column), null
    if kind in ("real", "key"):
        values = column if column.type == pa.float64() else column.cast(pa.float64(), safe=False)
        reals = _filled(values, 0.0).astype(np.float64, copy=False)
        if kind == "real":
            return reals.view(np.int64), null
        words = (reals + 0.0).view(np.int64)
        nan = np.isnan(reals)
        return (np.where(nan, NAN_WORD, words) if nan.any() else words), null
    return _integers(column), null


def column(words: Words, nulls: Marks | None, kind: pa.DataType) -> pa.Array:
    """The Arrow column of this type whose values went through an ``int`` or ``real`` lane."""
    if kind == INT64 and nulls is None:
        return pa.array(words)
    mask = nulls if nulls is not None and nulls.any() else None
    if pa.types.is_floating(kind):
        values = pa.array(words.view(np.float64), mask=mask)
        return values if kind == pa.float64() else values.cast(kind, safe=False)
    if pa.types.is_boolean(kind):
        return pa.array(words != 0, mask=mask)
    if pa.types.is_integer(kind):
        return pa.array(words if kind == pa.int64() else words.astype(np.dtype(str(kind))), type=kind, mask=mask)
    narrow = words.astype(np.int32) if kind.bit_width == 32 else words
    return pa.Array.from_buffers(kind, len(words), [_validity(mask), pa.py_buffer(np.ascontiguousarray(narrow))])


def _validity(mask: Marks | None) -> pa.Buffer | None:
    return None if mask is None else pa.py_buffer(np.packbits(~mask, bitorder="little"))


def _integers(column: pa.Array) -> Words:
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not pa.types.is_integer(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        column = column.view(width)
    values = _filled(column, 0)
    return values if values.dtype == np.int64 else values.astype(np.int64)


def _filled(column: pa.Array, value: float) -> npt.NDArray[Any]:
    if column.null_count:
        column = column.fill_null(value)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _hashed(column: pa.Array) -> Words:
    """A 64-bit hash of each text or bytes; the same in every process."""
    large = pa.large_binary() if not pa.types.is_large_string(column.type) else pa.large_string()
    if pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type):
        flat = column
    else:
        flat = column.cast(pa.large_string() if pa.types.is_string(column.type) else large)
    _, offsets, data = flat.buffers()
    begin = np.frombuffer(offsets, np.int64)[flat.offset : flat.offset + len(flat) + 1]
    text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    result = np.empty(len(flat), np.int64)
    _hash(begin, text, result)
    return result


@kernel(types.void(types.Array(I64, 1, "C", readonly=True), types.Array(types.uint8, 1, "C", readonly=True), I64[::1]))
def _hash(begin: Any, text: Any, result: Any) -> None:
    for i in range(len(result)):
        h, w, shift = SEED ^ (begin[i + 1] - begin[i]), 0, 0
        for j in range(begin[i], begin[i + 1]):
            w |= int(text[j]) << shift
            shift += 8
            if shift == 64:
                h, w, shift = wrapped_mul(mix(h ^ w), 3), 0, 0
        result[i] = mix(h ^ w)
