"""Facts: lasting statements drawn from what was said, with validity and evidence (seed 003)."""

from episodic_agent.core.fact_records import (
    Candidate,
    Category,
    Evidence,
    Fact,
    FactTombstone,
    KeptFact,
    Statement,
    Version,
)
from episodic_agent.core.facts.calibrating import Changes, learn, mark_of, marks, retold, settled
from episodic_agent.core.facts.keeping import confirm, delete, edit, history, pin, timeline
from episodic_agent.core.facts.reading import VERSION, read_facts
from episodic_agent.core.facts.slots import SLOTS, Slot, slot_of

__all__ = [
    "SLOTS",
    "VERSION",
    "Candidate",
    "Category",
    "Changes",
    "Evidence",
    "Fact",
    "FactTombstone",
    "KeptFact",
    "Slot",
    "Statement",
    "Version",
    "confirm",
    "delete",
    "edit",
    "history",
    "learn",
    "mark_of",
    "marks",
    "pin",
    "read_facts",
    "retold",
    "settled",
    "slot_of",
    "timeline",
]
