"""Standard input, output and error as a shell may give them: closed, full, or with bytes that are no text.

What cannot be read or written there is refused in one line, as with a file.  Where
standard error cannot be written nobody can be told, and the run goes on.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO, cast

from anabranch.core.errors import Refused


@contextmanager
def streams() -> Iterator[None]:
    """Standard output and error that fail as this module says, for as long as a command runs."""
    _occupy()
    with ExitStack() as opened:
        out, error = (stream or opened.enter_context(_closed()) for stream in (sys.stdout, sys.stderr))
        for stream in (out, error):  # a terminal that lacks a letter shows a question mark for it
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        opened.callback(_let_go, out)
        opened.callback(_let_go, error)
        opened.enter_context(redirect_stdout(cast(TextIO, Written(out, _refusing))))
        opened.enter_context(redirect_stderr(cast(TextIO, Written(error, lambda: suppress(OSError)))))
        yield


def read() -> bytes:
    """What standard input says."""
    if sys.stdin is None:
        raise Refused("standard input is closed", "name a file")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise Refused(f"standard input cannot be read: {error.strerror}") from None


class Written:
    """A stream whose failures to write are left to *failing*."""

    def __init__(self, stream: TextIO, failing: Callable[[], AbstractContextManager[Any]]) -> None:
        self._stream, self._failing = stream, failing

    def write(self, text: str) -> int:
        with self._failing():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._failing():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Refused(f"standard output cannot be written: {error.strerror or 'it is closed'}") from None


def _occupy() -> None:
    """Take the numbers of closed streams, lest a file of ours gets one, where libraries and Java write."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _closed() -> TextIO:
    """A stream that takes nothing."""
    return open(os.devnull, encoding="utf-8")


def _let_go(stream: TextIO) -> None:
    """What nobody takes must not fail once more when Python ends."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
