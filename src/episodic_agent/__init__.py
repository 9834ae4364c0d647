"""Episodic memory for AI agents: streams of experience become episodes you can recall, explain and forget.

>>> from episodic_agent import Memory
>>> memory = Memory.open("memory.db")                          # doctest: +SKIP
>>> memory.add("I'm moving to Lisbon in May", user_id="ana")   # doctest: +SKIP
>>> print(memory.search("where is Ana moving?", user_id="ana"))  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from episodic_agent.wiring import Memory, calibrate

__version__ = "0.1.0"
__all__ = ["Memory", "__version__", "calibrate"]


def __getattr__(name: str) -> Any:
    """Load the engine at its first use, so that importing the package costs almost nothing."""
    if name in {"Memory", "calibrate"}:
        return getattr(import_module("episodic_agent.wiring"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
