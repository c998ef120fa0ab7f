"""The type of a column of text: the narrowest that fits at least three in four of its first 1,000 values.

NULLs are no values.  Values are looked for in the first 100,000 records, so that an
empty column does not cost a pass over its file: a column with none among them holds
strings, or timestamps when it is the time of its stream.  If these were all records, it
is known to hold nothing, and has Arrow's type null until a query says more.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anabranch.files.typed_text import INSTANT_IN_ZONE, KINDS, TIMESTAMP, ZONED, has_zone

VALUES = 1_000
RECORDS = 100_000


def enough(fitting: int, values: int) -> bool:
    """Three in four."""
    return 4 * fitting >= 3 * values


def column_type(sample: pa.Array, is_time: bool = False, nothing: bool = False) -> pa.DataType:
    """The type of the column that begins with these strings (no NULL, none empty), or is known to hold *nothing*."""
    if not len(sample):
        return no_values(is_time, nothing)
    for kind in KINDS:
        _, misfits = kind.convert(sample)
        if enough(len(sample) - (0 if misfits is None else int(np.count_nonzero(misfits))), len(sample)):
            return _zoned(sample, misfits) if kind is TIMESTAMP else kind.type
    return pa.string()


def no_values(is_time: bool, nothing: bool) -> pa.DataType:
    """The type of a column without a single value to tell it by; *nothing* says that none can follow."""
    if nothing:
        return pa.null()
    return ZONED if is_time else pa.string()


def _zoned(sample: pa.Array, misfits: object) -> pa.DataType:
    fitting = sample if misfits is None else sample.filter(pa.array(~np.asarray(misfits, bool)))
    return INSTANT_IN_ZONE.type if has_zone(fitting) else TIMESTAMP.type
