"""Consoles for people: tables and progress by rich, with what acts unseen made visible.

Apart from `app`, because a command that prints JSON, or serves, need not wait for rich.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import Segment

from episodic_agent.core.language import visible
from episodic_agent.faces.cli.app import WIDE


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


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int], None]]:
    """Show a count and a rate on standard error while something long runs; silent without a terminal."""
    console = Printed(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done: progress.update(task, completed=done)
