"""What the command line prints goes through this file, which is quick to import, or through `app.out`.

What is stored was written by others: a message may hold escape sequences that write to the clipboard or clear
the screen, and marks that turn the order of a line. They are shown, never obeyed (`visible`).
"""

import logging
import sys
from typing import Final

import click

from episodic_agent.showing import escaped, visible

REFUSED: Final = 130  # the exit code of who was asked and did not want it
WIDE: Final = 120  # columns where there is no terminal to ask
LEAST: Final = logging.WARNING  # of what modules log, from which on people are told


def say(line: str) -> None:
    """Print a remark on standard error, where it disturbs no pipe."""
    click.echo(visible(line), err=True)


def say_error(problem: object) -> None:
    """Print what went wrong as one line on standard error, whatever names stand in it."""
    say(f"error: {' '.join(str(problem).split())}")


def tell(text: str, *, end: str = "\n") -> None:
    """Print a text that was asked for on standard output."""
    click.echo(visible(text) + end, nl=False)


def tell_json(line: str) -> None:
    """Print one line of JSON on standard output; it reads as the same value."""
    click.echo(escaped(line))


def make_sure(question: str) -> None:
    """Ask for a yes on standard error; anything else ends the command, and nothing was done."""
    if not click.confirm(visible(question), err=True):
        say("nothing was done")
        sys.exit(REFUSED)


class Remarks(logging.Handler):
    """Prints what modules log as remarks."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        say(self.format(record))


def listen() -> None:
    """Print warnings that modules log as remarks are printed, where nobody else takes them."""
    logging.lastResort = Remarks(LEAST)
