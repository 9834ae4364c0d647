"""What somebody is to the agent: the role given beside a name, else what the name itself says."""

from collections.abc import Mapping
from typing import Final, Protocol

from episodic_agent.core.episodes.languages import ASSISTANTS, PROMPTS
from episodic_agent.schemas import Json

AGENTS: Final = ASSISTANTS | PROMPTS | {"tool", "function"}


class Attributed(Protocol):
    """Whatever has a speaker: an observation, or an item on its way to become one."""

    @property
    def actor(self) -> str:
        """Return who speaks."""
        ...

    @property
    def extras(self) -> Mapping[str, Json]:
        """Return what else came with it: intake leaves the role there where the speaker has a name too."""
        ...


def role_of(spoken: Attributed) -> str:
    """Return the role of whoever speaks for the agent under a name of its own; of all others the name.

    A role of people says nothing here: among named people all may be "user".

    >>> from episodic_agent.core.ingest.item import read_item
    >>> pedal = {"role": "assistant", "name": "Pedal", "content": "Noted."}
    >>> [role_of(read_item(one)) for one in (pedal, pedal | {"role": "user"}, "Hi")]
    ['assistant', 'Pedal', 'user']
    """
    role = spoken.extras.get("role")
    return role if isinstance(role, str) and role.casefold() in AGENTS else spoken.actor
