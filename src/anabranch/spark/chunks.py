"""What a bucket remembers, as Spark keeps it: a head, and a few large chunks of rows.

A *chunk* holds rows of one feed as they came, at most the rows of one batch that may
still match; it is written once and never changed.  The *head* lists the chunks and
holds the frontiers, so a batch writes what is new, removes what is old, and touches
nothing else.  Small neighbours are written anew as one, so that their number stays
logarithmic in the batches.

The state store is the truth.  A chunk that was read or written once also lies as a
file on the executor's disk, under the digest of its bytes, and is mapped from there
by whichever worker needs it next: what lies under that name is right by construction,
whoever wrote it and whatever became of that attempt.  A copy that nobody reads any
more, since its query has stopped or its bucket has moved, goes after an hour, when
another batch on the same executor clears up.

Cost: a write of what is new; a read only of what this executor has never seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from anabranch.core.errors import Refused
from anabranch.core.ticks import NEVER

VERSION = 1  # of what is stored; a reader refuses any other
UNUSED = 3_600  # seconds after which a copy goes
SMALL = 262_144  # bytes of a chunk below which it may be written anew with its neighbour


class State(Protocol):
    """What the runtime stores for one bucket: all or nothing of it, with the batch."""

    def head(self) -> bytes | None: ...

    def keep_head(self, body: bytes) -> None: ...

    def chunk(self, number: int) -> bytes: ...

    def keep_chunk(self, number: int, body: bytes) -> None: ...

    def drop_chunk(self, number: int) -> None: ...


@dataclass(frozen=True)
class Chunk:
    """An entry of the head: rows of a feed, the greatest time among them, and the digest of the stored bytes."""

    number: int
    feed: int
    rows: int
    size: int
    greatest: int
    digest: str


@dataclass
class Head:
    """Everything that a bucket knows beside its rows."""

    query: str  # the fingerprint of what it is the state of
    buckets: int
    version: int = VERSION
    token: str = ""  # the digest of all that led here
    batch: int = -1
    next: int = 0
    newest: list[int] = field(default_factory=list)  # by stream
    promised: list[int] = field(default_factory=list)
    given_up: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)  # so far, as this bucket counts
    dead: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    matches: int = 0
    chunks: list[Chunk] = field(default_factory=list)

    @classmethod
    def fresh(cls, query: str, buckets: int, streams: int) -> Head:
        """The head of a bucket that has seen nothing."""
        zeros = [0] * streams
        return cls(
            query, buckets, newest=[NEVER] * streams, promised=[NEVER] * streams, given_up=list(zeros),
            late=list(zeros), dead=list(zeros), rows=list(zeros),
        )  # fmt: skip

    @classmethod
    def read(cls, body: bytes, query: str, buckets: int) -> Head:
        """The stored head; refused where another query, version or number of buckets has stored it."""
        stored = json.loads(body)
        if stored.get("version") != VERSION:
            raise Refused(
                f"the checkpoint holds state of format {stored.get('version')}, and this version reads {VERSION}",
                "continue with the version that wrote it, or start with a new checkpoint",
            )
        if stored["buckets"] != buckets:
            raise Refused(
                f"the checkpoint was begun with {stored['buckets']} buckets, and the query has {buckets} now",
                f"set buckets={stored['buckets']}, or start with a new checkpoint",
            )
        if stored["query"] != query:
            raise Refused(
                "the checkpoint belongs to another query: its streams, columns, windows or conditions have changed",
                "restore the query, or start with a new checkpoint",
            )
        chunks = [Chunk(*entry) for entry in stored.pop("chunks")]
        return cls(**stored, chunks=chunks)

    def written(self) -> bytes:
        """What is stored."""
        values = asdict(self)
        values["chunks"] = [list(asdict(chunk).values()) for chunk in self.chunks]
        return json.dumps(values, separators=(",", ":")).encode()


class Copies:
    """Chunks as files on this executor's disk, by digest; nothing here is ever the truth."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def find(self, digest: str) -> pa.Buffer | None:
        """The bytes under a digest, mapped, if this executor has them."""
        if self.folder is None:
            return None
        try:
            with pa.memory_map(str(self.folder / digest)) as file:
                os.utime(self.folder / digest)
                return file.read_buffer()
        except OSError:
            return None

    def add(self, digest: str, body: bytes) -> None:
        """Keep a copy; a full disk only makes the next reader slower."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, path = tempfile.mkstemp(dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(body)
                os.replace(path, self.folder / digest)
            except BaseException:
                os.unlink(path)
                raise
        except OSError:
            return

    def drop(self, digest: str) -> None:
        """Remove a copy that no head names any more."""
        if self.folder is not None:
            with suppress(OSError):
                (self.folder / digest).unlink()


def clear(root: Path) -> None:
    """Remove the copies below a folder that nobody has used for an hour; who needs one after all reads the state."""
    last = time.time() - UNUSED
    for folder, _, names in os.walk(root, topdown=False):
        for name in names:
            file = os.path.join(folder, name)
            with suppress(OSError):
                if os.stat(file).st_mtime < last:
                    os.unlink(file)
        with suppress(OSError):
            os.rmdir(folder)  # if nothing is left


@dataclass
class Chunks:
    """The chunks of one bucket, read and written through its state."""

    state: State
    copies: Copies
    schemas: Sequence[pa.Schema]
    written: int = 0  # bytes, in this batch

    def read(self, chunk: Chunk) -> pa.RecordBatch:
        """The rows of a chunk."""
        body = self.copies.find(chunk.digest)
        if body is None:
            stored = self.state.chunk(chunk.number)
            self.copies.add(chunk.digest, stored)
            body = pa.py_buffer(stored)
        return pa.ipc.read_record_batch(body, self.schemas[chunk.feed])

    def write(self, head: Head, feed: int, rows: pa.RecordBatch, greatest: int) -> None:
        """Add a chunk to the head, together with its neighbours as long as they are small."""
        mine = [chunk for chunk in head.chunks if chunk.feed == feed]
        parts, size = [rows], rows.get_total_buffer_size()
        while mine and mine[-1].size <= min(SMALL, 2 * size):
            last = mine.pop()
            parts.insert(0, self.read(last))
            size, greatest = size + last.size, max(greatest, last.greatest)
            self.drop(head, last)
        whole = pa.concat_batches(parts) if len(parts) > 1 else rows
        body = whole.serialize().to_pybytes()
        chunk = Chunk(head.next, feed, len(whole), len(body), greatest, digest(body))
        head.next += 1
        head.chunks.append(chunk)
        self.state.keep_chunk(chunk.number, body)
        self.copies.add(chunk.digest, body)
        self.written += len(body)

    def drop(self, head: Head, chunk: Chunk) -> None:
        """Take a chunk out of the head and the state."""
        head.chunks.remove(chunk)
        self.state.drop_chunk(chunk.number)
        if not any(other.digest == chunk.digest for other in head.chunks):
            self.copies.drop(chunk.digest)


def digest(*parts: bytes) -> str:
    """A name for bytes."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:40]
