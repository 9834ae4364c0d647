"""What the next prompt is told of the past: a text in seed 002's form, within a budget, traced."""

from episodic_agent.core.context.assembling import assemble
from episodic_agent.core.context.gaps import break_words
from episodic_agent.core.context.quoting import one_line, quoted, topic
from episodic_agent.core.context.records import (
    Asked,
    Background,
    Basis,
    Context,
    ContextItem,
    LineKind,
    Linked,
)
from episodic_agent.core.context.tokens import cut_to, estimate

__all__ = [
    "Asked",
    "Background",
    "Basis",
    "Context",
    "ContextItem",
    "LineKind",
    "Linked",
    "assemble",
    "break_words",
    "cut_to",
    "estimate",
    "one_line",
    "quoted",
    "topic",
]
