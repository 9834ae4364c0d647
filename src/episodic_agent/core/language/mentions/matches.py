"""What a rule hands to the next: one stretch of words read as something, with its value."""

from typing import NamedTuple

from episodic_agent.schemas.mentions import Kind


class WordMatch(NamedTuple):
    """Read the words `first..last` (both included) as a `kind` with a `value`."""

    kind: Kind
    value: str
    first: int
    last: int
