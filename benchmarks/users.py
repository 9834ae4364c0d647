"""Whose memory a benchmark fills: one user, whose name no question means."""

from typing import Final

from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory

USER: Final = "default"


def mine(memory: Memory) -> UserMemory:
    """Return the memory of a benchmark's only user, who need not be known yet."""
    return memory.user(USER, new=True)
