"""Memory as function tools, for agents without MCP.

>>> from episodic_agent import Memory
>>> from episodic_agent.tools import memory_tools
>>> tools = memory_tools(Memory.open().user("ana"))        # doctest: +SKIP
>>> tools.call("replay_topic", {"topic": "memory leak"})    # doctest: +SKIP
"""

from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.tools.answers import ToolAnswer
from episodic_agent.faces.tools.calling import BUDGET, Tools

__all__ = ["ToolAnswer", "Tools", "memory_tools"]


def memory_tools(memory: UserMemory, *, only: Where = None, budget: int = BUDGET) -> Tools:
    """Return the tools of a user's memory.

    `only` are names of threads and channels: no tool tells what was said elsewhere, whatever a model asks
    for. `budget` is how many bytes an answer may take as JSON. Raises InvalidInput where that holds none.
    """
    return Tools(memory, only=only, budget=budget)
