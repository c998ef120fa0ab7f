r"""CSV text cut into blocks of whole records, with the records that are none apart.

Where every quote opens or closes a field, a newline ends a record exactly when the
quotes before it are even in number, and a block is cut there without reading it.
Otherwise the block is read record by record: a quote that is never closed, or that
is closed in the middle of a field, costs the line it stands in and no more, since
reading goes on at the next line.

Cost: a search for quotes and newlines; a regular expression a record only in blocks
with trouble.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

BLOCK = 1 << 22
RECORD_LIMIT = 1 << 24  # a quote still open after this many bytes was never meant to be one

FIELD = re.compile(rb'"(?:[^"]++|"")*+"|[^",\r\n][^,\r\n]*+|')
FIELDS = re.compile(rb"(?:%s)(?:,(?:%s))*+" % (FIELD.pattern, FIELD.pattern))
LINE_END = re.compile(rb"\r\n|\n|\r")
QUOTE, BEFORE_OPENING, AFTER_CLOSING = ord('"'), b',"\r\n', b',"\r\n'

OPEN = "a quote is not closed"
TRAILING = "text follows a closing quote"


@dataclass(frozen=True)
class Torn:
    """A line that is no record, and why."""

    reason: str
    line: bytes


@dataclass(frozen=True)
class Block:
    """Whole records as CSV text, and the torn ones that stood among them."""

    records: bytes
    torn: tuple[Torn, ...] = ()


def blocks(file: BinaryIO, size: int = BLOCK) -> Iterator[Block]:
    """The rest of *file*, cut into blocks of about *size* bytes."""
    text = file.read(size)
    while text:
        more = file.read(size)
        block, used = _whole(text, final=not more)
        text = text[used:] + more
        if used:
            yield block


def first_record(file: BinaryIO) -> tuple[bytes | None, int]:
    """The record that *file* begins with (empty at its end, None when torn), and the bytes up to the next."""
    text = b""
    while True:
        read = file.read(BLOCK)
        text += read
        start = len(text) - len(text.lstrip(b"\r\n"))
        stop = _fields_end(text, start)
        end = LINE_END.match(text, stop)
        if end or (not read and stop == len(text)):
            return text[start:stop], end.end() if end else stop
        if not read or len(text) > RECORD_LIMIT:
            return None, start


def fields(record: bytes) -> list[bytes]:
    """The values of one record, without quotes and line end."""
    found = []
    place = -1
    while place < 0 or record[place : place + 1] == b",":
        match = FIELD.match(record, place + 1)
        assert match
        value = match.group()
        found.append(value[1:-1].replace(b'""', b'"') if value[:1] == b'"' else value)
        place = match.end()
    return found


def sieve(text: bytes, final: bool, width: int | None = None) -> tuple[Block, int]:
    """Read *text* record by record (records of other than *width* fields are torn too), and the bytes used up."""
    good: list[bytes] = []
    torn: list[Torn] = []
    place = 0
    while place < len(text):
        stop = _fields_end(text, place)
        end = LINE_END.match(text, stop)
        if end or (stop == len(text) and final):
            record = text[place : end.end() if end else stop]
            reason = _wrong_width(record, width)
        else:
            if stop == len(text):
                break
            line_end = LINE_END.search(text, place)
            open_still = text[stop] == QUOTE
            if not final and (line_end is None or (open_still and len(text) - place < RECORD_LIMIT)):
                break  # what follows may still complete it
            record = text[place : line_end.end() if line_end else len(text)]
            reason = OPEN if open_still or stop > place + len(record) else TRAILING
        if reason:
            torn.append(Torn(reason, record))
        else:
            good.append(record)
        place += len(record)
    return Block(b"".join(good), tuple(torn)), place


def wrong_width(count: int, width: int) -> str:
    """The reason of a record with too few or too many fields."""
    return f"{count} {'field' if count == 1 else 'fields'} where the header has {width}"


def _whole(text: bytes, final: bool) -> tuple[Block, int]:
    """As much of *text* as is whole records."""
    if b'"' not in text:
        used = len(text) if final else max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        return Block(text[:used]), used
    seen = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(seen == QUOTE)
    before = seen[quotes[0::2][quotes[0::2] > 0] - 1]
    after = seen[quotes[1::2][quotes[1::2] < len(text) - 1] + 1]
    if not (_all_in(before, BEFORE_OPENING) and _all_in(after, AFTER_CLOSING)):
        return sieve(text, final)
    if final:
        return (Block(text), len(text)) if len(quotes) % 2 == 0 else sieve(text, final)
    ends = np.flatnonzero((seen == ord("\n")) | (seen == ord("\r")))
    ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    if not len(ends):
        return sieve(text, final) if len(text) >= RECORD_LIMIT else (Block(b""), 0)
    used = int(ends[-1]) + 1
    return Block(text[:used]), used


def _all_in(values: npt.NDArray[np.uint8], allowed: bytes) -> bool:
    table = np.zeros(256, bool)
    table[list(allowed)] = True
    return bool(table[values].all())


def _fields_end(text: bytes, place: int) -> int:
    """Where well-formed fields from *place* on end: at a line end, or at what is wrong."""
    match = FIELDS.match(text, place)
    assert match  # an empty field always matches
    return match.end()


def _wrong_width(record: bytes, width: int | None) -> str:
    body = record.rstrip(b"\r\n")
    if width is None or not body:
        return ""
    count = len(fields(body)) if QUOTE in body else body.count(b",") + 1
    return "" if count == width else wrong_width(count, width)
