"""The progress line of a run: on standard error, and only when that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from anabranch.cli.words import counted
from anabranch.core.metrics import Metrics
from anabranch.files import Source


class Progress:
    """Rows read of those expected, matches so far, and who holds the others back."""

    def __init__(self, sources: Sequence[Source], streams: Sequence[str], enabled: bool) -> None:
        console = Console(stderr=True)
        hints = [source.rows_hint for source in sources if source.name in streams]
        total = None if None in hints else sum(hint for hint in hints if hint is not None)
        self._bar = Bar(
            TextColumn("rows"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(), console=console, transient=True, disable=not (enabled and console.is_terminal),
            redirect_stdout=sys.stdout.isatty(),  # a terminal has rows above the line, a file has them
        )  # fmt: skip
        self._task = self._bar.add_task("rows", total=total, said="")

    def update(self, metrics: Metrics) -> None:
        """Show where the run stands."""
        said = f"{counted(metrics.matches, 'match', 'matches')}, {counted(metrics.buffered_tuples, 'tuple')} held"
        if metrics.held_back_by:
            said += f", waiting for {metrics.held_back_by}"
        self._bar.update(self._task, completed=metrics.rows, said=said)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
