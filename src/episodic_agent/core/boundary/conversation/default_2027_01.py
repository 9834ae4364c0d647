"""`default-2027-01` as it was, for frames and decisions made under it; new ones follow `default.py`.

The same cues, networks and clock, but a gap was judged by the one network of its delay.
"""

from dataclasses import dataclass

from episodic_agent.core.boundary.conversation.default_2027_02 import DefaultPolicy202702


@dataclass(frozen=True, slots=True)
class DefaultPolicy202701(DefaultPolicy202702):
    """The policy for conversations that `default` meant before `default-2027-02`."""

    name: str = "default-2027-01"
    together: bool = False
