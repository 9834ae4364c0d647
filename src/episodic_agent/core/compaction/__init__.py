"""Compaction: when a part of a thread is due, and its words at three resolutions."""

from episodic_agent.core.compaction.resolutions import (
    MACRO_TOKENS,
    MESO_TOKENS,
    MICRO_TOKENS,
    Resolutions,
    resolutions,
    source_tokens,
)
from episodic_agent.core.compaction.triggers import Due, Limits, Part, Trigger, due, most_urgent, opens_part

__all__ = [
    "MACRO_TOKENS",
    "MESO_TOKENS",
    "MICRO_TOKENS",
    "Due",
    "Limits",
    "Part",
    "Resolutions",
    "Trigger",
    "due",
    "most_urgent",
    "opens_part",
    "resolutions",
    "source_tokens",
]
