"""Consoles for people: tables and progress by rich, with what acts unseen made visible.

Apart from `app`, because a command that prints JSON, or serves, need not wait for rich.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from episodic_agent.core.language import visible
from episodic_agent.faces.cli.saying import WIDE, say

EVERY: Final = 10.0  # seconds from one line of progress to the next, without a terminal


class Printed(Console):
    """A console that shows what acts unseen in a text, and reads no text as markup or emoji."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False, width: int | None = None) -> None:
        """Take what differs between the consoles of this command line; see rich."""
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, width=width, highlight=False, markup=False, emoji=False
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; rich's own control codes are segments apart from text."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else visible(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style)


def out() -> Console:
    """Return the console for people (plain and wide when standard output is no terminal)."""
    wide = None if sys.stdout.isatty() else WIDE
    return Printed(soft_wrap=wide is not None, width=wide)


def table(columns: Iterable[str], right: Iterable[str] = ()) -> Table:
    """Return a table without lines; long cells are folded, columns named in `right` stand at its right."""
    made = Table(box=None, header_style="bold")
    for name in columns:
        made.add_column(name, overflow="fold", justify="right" if name in right else "left")
    return made


class RateColumn(ProgressColumn):
    """How many are done in a second."""

    def render(self, task: Task) -> Text:
        """Return the rate of the last seconds; nothing before there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


def progress_line(label: str, done: int, total: int | None, seconds: float) -> str:
    """Return how far long work is as one line: done of all, the rate, the time left.

    >>> progress_line("importing chat.jsonl", 1200, 3000, 10.0)
    'importing chat.jsonl: 1,200 of 3,000, 120 a second, 15 s left'
    >>> progress_line("importing chat.txt", 1200, None, 10.0)
    'importing chat.txt: 1,200, 120 a second'
    """
    rate = done / seconds if seconds > 0 else 0.0
    of_all = f" of {total:,}" if total else ""
    left = "" if not (total and rate) else f", {max(total - done, 0) / rate:,.0f} s left"
    return f"{label}: {done:,}{of_all}, {rate:,.0f} a second{left}"


class ProgressLines:
    """Says every ten seconds how far long work is, where no terminal can draw it."""

    def __init__(self, label: str, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the number of all, where it is known, and a clock of seconds."""
        self._label, self._total, self._clock = label, total, clock
        self._began = self._last = clock()

    def __call__(self, done: int) -> None:
        """Take how many are done."""
        now = self._clock()
        if now - self._last >= EVERY:
            self._last = now
            say(progress_line(self._label, done, self._total, now - self._began))


@contextmanager
def progress_bar(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show on standard error how far something long is: in a terminal a bar, without one a line at times."""
    console = Printed(stderr=True)
    if not console.is_terminal:
        yield ProgressLines(label, total)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeElapsedColumn() if total is None else TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)
