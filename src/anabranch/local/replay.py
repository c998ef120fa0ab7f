"""Finite streams replayed side by side, in the order of their times.

Each source is read in its own order; the one that is furthest behind is read next,
and all rows up to the least newest time go into the session together.  So the
buffers hold what the windows need, however long the files are, and the answer does
not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from anabranch.core.ticks import FOREVER, NEVER
from anabranch.files.source import Source
from anabranch.local.session import Session

ROWS = 65_536


def replay(
    session: Session, sources: Sequence[Source], progress: Callable[[], None] = lambda: None
) -> Iterator[pa.Table]:
    """The rows that the session gives while the sources are read to their ends."""
    readers = {source.name: source.batches(ROWS) for source in sources}
    behind = dict.fromkeys(readers, NEVER)
    while readers:
        name = min(behind, key=lambda name: behind[name])
        batches = {}
        for other in [name, *(o for o in readers if o != name and behind[o] <= behind[name])]:
            item = next(readers[other], None)
            if item is None:
                behind[other] = FOREVER
                continue
            batch, bad = item
            session.dead(other, [row.reason for row in bad], [row.row for row in bad])
            batches[other] = batch
        yield from session.push(batches)
        ended = [other for other in readers if behind[other] == FOREVER]
        for other in ended:
            del readers[other], behind[other]
        if ended:
            yield from session.finish(*ended)
        for other in batches:
            behind[other] = max(behind[other], session.newest(other))
        progress()
