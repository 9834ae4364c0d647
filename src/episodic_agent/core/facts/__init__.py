"""Read lasting statements from what people said, and weigh them against what is known (seed 003).

Two halves. *Reading* (`read_facts`) turns a sentence into candidates: who speaks and in earnest, exact rules,
then a wide grammar whose proposals a fitted judge accepts or not. *Learning* (`learn`) lays the statements of
a slot out in event time and tells from them what holds, what is over and what never held.

**Rules of the room.**
1. Better none than a wrong one: what is denied, quoted, asked, wished or played teaches nothing. A denial may
   end a standing fact, never make one.
2. A fact is a function of its evidence: the same statements give the same facts, ids and history in any
   order.
3. Evidence is a span of an observation, and the words in it prove the sentence.
4. Event time says since when something is so, record time since when it is known; an assumed time dates
   nothing.
5. What a hand did (edit, pin, confirm, delete) outranks what is read.
6. A model's answer becomes candidates by the same door, and must quote what a person said.

**To add** a pattern, write it where its language and slot are, with sentences that it must not match; score
it with `benchmarks.fact_quality`. A slot is declared in `slots.py`, with its category and whether it holds
one value.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.facts.keeping import confirm, delete, edit, history, pin, timeline
    from episodic_agent.core.facts.reading import VERSION, read_facts
    from episodic_agent.core.facts.reconciling import Changes, learn, mark_of, marks, retold, settled
    from episodic_agent.core.facts.slots import SLOTS, Slot, slot_of
    from episodic_agent.schemas.facts import (
        Category,
        Fact,
        FactCandidate,
        FactEvidence,
        FactTombstone,
        Statement,
        StoredFact,
        Version,
    )
else:
    __getattr__ = names_from(
        __name__,
        {
            "episodic_agent.schemas.facts": (
                "FactCandidate Category FactEvidence Fact FactTombstone StoredFact Statement Version"
            ),
            "reconciling": "Changes learn mark_of marks retold settled",
            "keeping": "confirm delete edit history pin timeline",
            "reading": "VERSION read_facts",
            "slots": "SLOTS Slot slot_of",
        },
    )

__all__ = [
    "SLOTS",
    "VERSION",
    "Category",
    "Changes",
    "Fact",
    "FactCandidate",
    "FactEvidence",
    "FactTombstone",
    "Slot",
    "Statement",
    "StoredFact",
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
