"""Memory as function tools, for agents without MCP.

>>> from episodic_agent import Memory
>>> from episodic_agent.tools import memory_tools
>>> tools = memory_tools(Memory.open(), user_id="ana")      # doctest: +SKIP
>>> tools.call("replay_topic", {"topic": "memory leak"})    # doctest: +SKIP
"""

from episodic_agent.engine.memory import Memory
from episodic_agent.faces.tools.answers import Answer
from episodic_agent.faces.tools.calling import BUDGET, Tools

__all__ = ["Answer", "Tools", "memory_tools"]


def memory_tools(memory: Memory, *, user_id: str | None = None, budget: int = BUDGET) -> Tools:
    """Return the tools of a user's memory (the memory's own user unless given).

    `budget` is how many bytes an answer may take as JSON. Raises InvalidInput where that holds none.
    """
    return Tools(memory, user_id=user_id, budget=budget)
