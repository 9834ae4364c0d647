"""Read lasting statements from what people said, and weigh them against what is known (seed 003).

Two halves. *Quoting* (`quotations`) finds the statements in a message that last, as trained judges see it,
and puts each into its matter: what takes the place of something said before belongs to the same one.
*Learning* (`learn`) lays the statements of a slot out in event time and tells from them what holds, what is
over and what never held.

**Rules of the room.**
1. Without a model a fact is the speaker's own words: nothing is rewritten, so nothing is turned round.
2. A fact is a function of its evidence: the same statements in the same matters give the same facts, ids and
   history in any order. Which matter a quotation belongs to is decided once, when it is first read.
3. Evidence is a span of an observation, and the words in it prove the sentence.
4. Event time says since when something is so, record time since when it is known; an assumed time dates
   nothing.
5. What a hand did (edit, pin, confirm, delete) outranks what is read.
6. A model's answer becomes candidates by the same door, and must quote what a person said.

**To add** a kind of statement, write examples of it and of what only looks like it into `tools/facts`, run
`tools/train_facts.py` and score it with `benchmarks.fact_quality`: no pattern is written by hand. A slot
(of a model's facts) is declared in `slots.py`, with its category and whether it holds one value.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.facts.keeping import confirm, delete, edit, history, pin, timeline
    from episodic_agent.core.facts.quoting import VERSION, quotations
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
            "quoting": "VERSION quotations",
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
    "quotations",
    "retold",
    "settled",
    "slot_of",
    "timeline",
]
