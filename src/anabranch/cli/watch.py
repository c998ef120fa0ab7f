"""The live view of the demonstration: a table on a terminal, a line now and then elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from anabranch.cli.road import BEGIN, SECOND
from anabranch.core.metrics import Metrics

BLOCKS = " ▁▂▃▄▅▆▇█"
WIDTH = 56  # points of a history
BAR = 24
EVERY = 30 * SECOND


def clock(ticks: int) -> str:
    """Minutes and seconds since the beginning."""
    seconds = (ticks - BEGIN) / SECOND
    return f"{int(seconds // 60):02d}:{seconds % 60:04.1f}"


def blocks(values: list[int]) -> str:
    """A history as a row of blocks, at most ``WIDTH`` wide; each block is the highest of its part."""
    step = -(-len(values) // WIDTH) or 1
    parts = [max(values[i : i + step]) for i in range(0, len(values), step)]
    most = max(parts, default=0) or 1
    return "".join(BLOCKS[-(-part * (len(BLOCKS) - 1) // most)] for part in parts)


class Lines:
    """Where standard output is no terminal: a line for each half minute of the road."""

    def __init__(self) -> None:
        self._next = BEGIN + EVERY

    def update(self, now: int, metrics: Metrics) -> None:
        """Say where the query stands, if it is time."""
        if now >= self._next:
            while self._next <= now:
                self._next += EVERY
            waits = f", waiting for {metrics.held_back_by}" if metrics.held_back_by else ""
            print(
                f"{clock(now)}  {metrics.rows:,} rows in, {metrics.matches:,} matches,"
                f" {metrics.buffered_tuples:,} tuples held{waits}"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to put away."""


class View:
    """On a terminal: each stream's rate and frontier, who holds the others back, state and matches over time."""

    def __init__(self, console: Console) -> None:
        self._held: list[int] = []
        self._found: list[int] = []
        self._matches = 0
        self._recent: list[tuple[int, dict[str, int]]] = []  # rows by stream, over the last seconds of the road
        self._live = Live(console=console, refresh_per_second=12, transient=True)

    def update(self, now: int, metrics: Metrics) -> None:
        """Note where the query stands, and show it."""
        self._held.append(metrics.buffered_tuples)
        self._found.append(metrics.matches - self._matches)
        self._matches = metrics.matches
        self._recent.append((now, {name: stream.rows for name, stream in metrics.streams.items()}))
        while self._recent[0][0] < now - 5 * SECOND:
            del self._recent[0]
        self._live.update(self._drawn(now, metrics))

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _drawn(self, now: int, metrics: Metrics) -> RenderableType:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for title in ("stream", "rows", "rows/s", "promised until", "behind"):
            table.add_column(title, justify="left" if title == "stream" else "right")
        table.add_column("", min_width=BAR + 24)
        then, before = self._recent[0]
        for name, stream in metrics.streams.items():
            holds = name == metrics.held_back_by
            rate = (stream.rows - before[name]) * SECOND / max(1, now - then)
            shown, behind, bar = "", "", ""
            if stream.frontier is not None:
                lag = (now - stream.frontier) / SECOND
                shown, behind, bar = clock(stream.frontier), f"{lag:.1f} s", "━" * min(BAR, 1 + int(lag / 3))
            elif stream.finished:
                shown = "its end"
            style = "bold red" if holds and len(bar) > BAR // 4 else "yellow" if holds else ""
            said = f"{bar} holds the others back" if holds else bar
            table.add_row(name, f"{stream.rows:,}", f"{rate:,.0f}", shown, behind, said, style=style)
        late = sum(stream.late for stream in metrics.streams.values())
        return Group(
            Text(f"{clock(now)} on the road", "bold"),
            table,
            Text(f"held    {blocks(self._held):<{WIDTH}}  {metrics.buffered_tuples:,} tuples"),
            Text(f"matches {blocks(self._found):<{WIDTH}}  {metrics.matches:,}" + (f", {late} rows late" * bool(late))),
        )
