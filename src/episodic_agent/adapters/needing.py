"""What every adapter needs first: the framework itself, and one user's memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from episodic_agent.engine.async_memory import AsyncMemory
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, install_extra


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import a framework inside; where it is missing, the ImportError names the extra that brings it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{error.name or extra} cannot be imported; {install_extra(extra)}",
            name=error.name,
        ) from error


def bound(memory: object) -> UserMemory:
    """Return a user's memory as it is; InvalidInput for what names nobody, such as the whole memory."""
    if isinstance(memory, UserMemory):
        return memory
    if isinstance(memory, Memory):
        raise InvalidInput("name whose memory it is: give memory.user('ana'), not the memory itself")
    if isinstance(memory, AsyncMemory) or hasattr(memory, "_mirrored"):
        raise InvalidInput("give memory.user('ana') of a Memory; the adapter itself keeps off the event loop")
    raise InvalidInput(f"give a user's memory, as memory.user('ana'), not {type(memory).__name__}")
