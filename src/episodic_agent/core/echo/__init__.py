"""Recalled text that comes back: which part of an observation only repeats what memory itself had told."""

from episodic_agent.core.echo.forms import marked, recalled_spans
from episodic_agent.core.echo.overlap import RUN, Source, repeated, unfenced, wanted_terms
from episodic_agent.core.echo.records import (
    ECHO,
    By,
    Echo,
    all_heard,
    echo_of,
    heard,
    heard_text,
    is_echo,
    marked_as,
    silenced,
)

__all__ = [
    "ECHO",
    "RUN",
    "By",
    "Echo",
    "Source",
    "all_heard",
    "echo_of",
    "heard",
    "heard_text",
    "is_echo",
    "marked",
    "marked_as",
    "recalled_spans",
    "repeated",
    "silenced",
    "unfenced",
    "wanted_terms",
]
