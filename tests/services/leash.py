"""Runs a command that must not outlive the tests, however they end.

``python leash.py log polite command ...`` says the command's process id and then waits for the end of its own input,
which comes when the parent closes it or is gone, even killed: the system closes it then.  Then the command is ended by
its process id: politely, and by force if it is still there *polite* seconds later.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Leashed:
    pid: int
    leash: "subprocess.Popen[str]"

    def ended(self) -> bool:
        return self.leash.poll() is not None


@contextmanager
def leashed(command: Sequence[str], log: Path, polite: float = 10) -> Iterator[Leashed]:
    """The command runs in the block and is gone after it; what it says is in *log*."""
    whole = [sys.executable, __file__, str(log), str(polite), *command]
    # A session of its own: an interrupt from the keyboard is for the tests, which then end this in their order.
    with subprocess.Popen(
        whole, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as leash:
        assert leash.stdin is not None and leash.stdout is not None
        try:
            yield Leashed(int(leash.stdout.readline()), leash)
        finally:
            leash.stdin.close()
            leash.wait()


def main(log: str, polite: str, *command: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with open(log, "ab") as said:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    try:
        print(child.pid, flush=True)  # noqa: T201
        threading.Thread(target=lambda: os._exit(child.wait()), daemon=True).start()
        sys.stdin.read()
    finally:
        child.terminate()
        try:
            child.wait(float(polite))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
