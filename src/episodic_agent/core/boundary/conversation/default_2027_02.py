"""`default-2027-02` as it was, for frames and decisions made under it; new ones follow `default.py`.

The same cues, clock and networks but for those that learnt from more kinds of talk: dialogues alone.
"""

from dataclasses import dataclass

from episodic_agent.core.boundary.conversation.default import DefaultPolicy


@dataclass(frozen=True, slots=True)
class DefaultPolicy202702(DefaultPolicy):
    """The policy for conversations that `default` meant before `default-2027-03`."""

    name: str = "default-2027-02"
    broad: bool = False
