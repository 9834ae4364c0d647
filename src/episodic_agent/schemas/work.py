"""A span: what a piece of work did, and for how long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from episodic_agent.schemas import Json


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time: its start and length in seconds, what is known of it, and what lay in it.

    `start` counts in ticks while it is recorded, from its root's beginning once it was packed.
    """

    name: str
    start: float
    seconds: float
    attributes: Mapping[str, Json] = field(default_factory=dict)
    children: Sequence["Span"] = ()
