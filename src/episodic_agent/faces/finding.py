"""Find an episode by the beginning of its id, which is what listings print of it."""

from uuid import UUID

from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, NotFound


def episode_id(text: str, memory: UserMemory) -> UUID:
    """Read an episode id, whole or as its unambiguous beginning; NotFound otherwise."""
    if not text.strip():
        raise InvalidInput("the episode's id is empty; `episodic episodes` lists the ids")
    try:
        return UUID(text)
    except ValueError:
        pass
    listed = [c.episode_id for c in memory.episodes.list()]
    identifiers = [one for one in listed if str(one).startswith(text.lower())]
    if not identifiers:
        identifiers = [one for one in memory.sections.ids() if str(one).startswith(text.lower())]
    if not identifiers:
        identifiers = [one for one in memory.episodes.replaced() if str(one).startswith(text.lower())]
    if len(identifiers) == 1:
        return identifiers[0]
    if identifiers:
        raise NotFound(f"{len(identifiers)} episodes begin with {text!r}; give more of the id")
    raise NotFound(f"no episode begins with {text!r}; `episodic episodes` lists the ids")
