"""``merge_hash``: the merge join over hash tables (hash FEW-join).

As ``merge``, but a new tuple is joined with one bucket of each stream instead of all that
is admitted.  A tuple hangs in two doubly linked lists, both in the order of time: that of
its stream, which Mode 1 sweeps and drops from, and that of its bucket, which Mode 2 walks.

Exact for the same reason as ``merge``.  It needs one window for all pairs, and an equality
from each stream to the ones before it.
Cost: ``merge`` with its candidates divided by the number of buckets.

SSDBM 2003, hash implementation of "forward evaluation".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anabranch.core.program import Program
from anabranch.joins.family.hash import BUCKETS, keyed_order, no_keys
from anabranch.joins.family.merge import Merge
from anabranch.joins.options import Buckets, Options, buckets_by_stream


class MergeHash(Merge):
    name = "merge_hash"

    @dataclass(frozen=True, kw_only=True)
    class Options(Options):
        buckets: Buckets = field(default_factory=dict)  # of each stream's hash table

    @classmethod
    def refuses(cls, program: Program) -> tuple[str, str] | None:
        """It cannot without one window, nor without an equality that leads from stream to stream."""
        missing = no_keys(program)
        return super().refuses(program) or (missing and (missing[0], "merge needs none"))

    def order(self, arriving: int) -> list[int]:
        """In turn, but first those that an equality leads to."""
        return keyed_order(self.program, arriving)

    def buckets(self) -> list[int]:
        return buckets_by_stream(self.name, self.program.windows.streams, self.options.buckets, BUCKETS)
