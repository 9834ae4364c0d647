"""Errors in the words of who called: a program is told a call, where a person at a terminal has a command."""

import re
from collections.abc import Mapping
from typing import Final

_COMMAND: Final = re.compile(r"`episodic ([a-z][a-z -]*?)(?: [A-Z][A-Z ]*)?(?: --json)?`")
# What does the same as a command, of a user's memory where nothing else is said.
PYTHON: Final[Mapping[str, str]] = {
    "episodes": "`episodes.list()`",
    "show": "`episodes.messages(id)`",
    "summaries": "`sessions.list()`",
    "session list": "`sessions.list()`",
    "facts list": "`facts.list()`",
    "places": "`places.list()`",
    "link list": "`links.list()`",
    "link explain": "`links.explain(thread)`",
    "jobs list": "`jobs.list()`",
    "forget receipts": "`erasures.list()`",
    "tune history": "`tuning.list()`",
    "keys list": "`memory.keys.list()`",
    "keys create": "`memory.keys.create()`",
}
_OF_FACE: Final = {"python": PYTHON}


def in_words_of(face: str, problem: str) -> str:
    """Return an error as a face's callers can follow it: a command gives way to the call that does the same.

    One that has no such call stays, as do all for other faces: these have words of their own.

    >>> in_words_of("python", "no fact 'x'; `episodic facts list` shows the ids")
    "no fact 'x'; `facts.list()` shows the ids"
    """
    calls = _OF_FACE.get(face, {})
    return _COMMAND.sub(lambda command: calls.get(command[1], command[0]), problem)
