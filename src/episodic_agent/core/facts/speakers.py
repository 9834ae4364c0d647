"""Who a statement is of: whose memory it is has one name in facts, whatever a chat calls them."""

from typing import Final

from episodic_agent.core.episodes.languages import USERS
from episodic_agent.core.language import fold
from episodic_agent.core.threads.turns import Attributed

OWNER: Final = "The user"  # whose memory it is, as the subject of what they say
_GENERIC: Final = frozenset({*USERS, "me", "person", "i"})


def speaker_of(actor: str) -> str:
    """Return the subject of what an actor says: their name, if it is one.

    >>> speaker_of("Maya"), speaker_of("user"), speaker_of("用户")
    ('Maya', 'The user', 'The user')
    """
    return OWNER if fold(actor) in _GENERIC else actor


def person_of(actor: str, user: str) -> str:
    """Return who somebody is, whatever a chat calls them: `OWNER` under the name of the memory, too.

    >>> person_of("Nadia", "nadia"), person_of("user", "nadia"), person_of("Hannah", "nadia")
    ('The user', 'The user', 'hannah')
    """
    return OWNER if speaker_of(actor) == OWNER or fold(actor) == fold(user) else fold(actor)


def is_owner(spoken: Attributed, user: str) -> bool:
    """Tell whether the one whose memory it is said something, under whatever name.

    >>> from episodic_agent.core.ingest import Item
    >>> [is_owner(Item(*said), "ana") for said in (("user", "Hi"), ("Ana", "Hi"), ("Bo", "Hi"))]
    [True, True, False]
    """
    role, name = str(spoken.extras.get("role", "")), fold(spoken.actor)
    return fold(role) in USERS or speaker_of(name) == OWNER or name == fold(user)


def as_prompted(fact: str) -> str:
    """Return a fact as a prompt tells it: whose memory it is goes without saying.

    >>> as_prompted('The user: "I fly on Monday."'), as_prompted('Ana: "Me too."')
    ('"I fly on Monday."', 'Ana: "Me too."')
    """
    return fact.removeprefix(f"{OWNER}: ")
