"""Facts: lasting statements drawn from what was said, with validity and evidence (seed 003)."""

from episodic_agent.core.facts.calibrating import Changes, learn, marks, settled
from episodic_agent.core.facts.keeping import confirm, delete, edit, history, pin, timeline
from episodic_agent.core.facts.reading import VERSION, read_facts
from episodic_agent.core.facts.records import (
    Candidate,
    Category,
    Evidence,
    Fact,
    Statement,
    Tombstone,
    Version,
)
from episodic_agent.core.facts.slots import SLOTS, Slot, slot_of

__all__ = [
    "SLOTS",
    "VERSION",
    "Candidate",
    "Category",
    "Changes",
    "Evidence",
    "Fact",
    "Slot",
    "Statement",
    "Tombstone",
    "Version",
    "confirm",
    "delete",
    "edit",
    "history",
    "learn",
    "marks",
    "pin",
    "read_facts",
    "settled",
    "slot_of",
    "timeline",
]
