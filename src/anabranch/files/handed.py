"""Text handed to Arrow's parsers, in memory of Arrow's own.

They read ahead on threads of theirs, and such a thread may be the last to let go of the
text, after the parser has answered.  Memory of Python's takes the interpreter to let go
of: one that is ending by then ends the thread instead, and that aborts the process.

Cost: a copy.
"""

from __future__ import annotations

import pyarrow as pa


def handed(text: bytes) -> pa.BufferReader:
    """*text*, to be read by Arrow."""
    copy = pa.allocate_buffer(len(text))
    memoryview(copy).cast("B")[:] = text
    return pa.BufferReader(copy)
