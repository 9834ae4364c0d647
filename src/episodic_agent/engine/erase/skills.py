"""What becomes of skills whose evidence is erased: they go, and the turns that are left are mined again."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.skills.job import ask_for_mining
from episodic_agent.protocols import SKILLS, Transaction, ref_of
from episodic_agent.schemas import Kind
from episodic_agent.schemas.skills import SkillState, TurnRef

_PAGE: Final = 256


def shown_by(tx: Transaction, thread_id: UUID, seqs: Iterable[int]) -> set[UUID]:
    """Return the skills that rest on turns which hold some of a thread's observations."""
    limits = sorted(seqs)
    turns: set[int] = set()
    for start in range(0, len(limits), _PAGE):
        turns |= _turns_of(tx, thread_id, limits[start : start + _PAGE])
    identifiers: set[UUID] = set()
    listed = [TurnRef(thread_id, seq) for seq in sorted(turns)]
    for start in range(0, len(listed), _PAGE):
        for ids in tx.knowledge.evidence(listed[start : start + _PAGE]).values():
            identifiers.update(ids)
    return identifiers


def _turns_of(tx: Transaction, thread_id: UUID, seqs: Sequence[int]) -> set[int]:
    """Return where the turns begin that hold these observations, or might."""
    first, read = seqs[0], list(tx.observations.read(thread_id, seqs[0], seqs[-1]))
    begins = set(seqs)
    while first > 0 and not (read and opens_turn(read[0])):
        page = tx.observations.read(thread_id, max(0, first - _PAGE), first - 1)
        first = max(0, first - _PAGE)
        opening = next((n for n in reversed(range(len(page))) if opens_turn(page[n])), 0)
        read = [*page[opening:], *read]
        if page and opens_turn(page[opening]):
            break
    # what an agent does unasked counts from where its episode began, which may be at any of its steps
    begins.update(one.seq for one in read if opens_turn(one) or one.kind is Kind.STEP)
    if read:
        begins.add(read[0].seq)
    return begins


def drop_skills(
    tx: Transaction, skills: Iterable[UUID], now: datetime, *, leaving: UUID | None = None
) -> int:
    """Delete skills and have the turns left of their evidence mined again; return how many went.

    What a user forgot stays forgotten: it holds no words. `leaving` is a thread that goes as a whole.
    """
    dropped = 0
    for identity in sorted(skills):
        skill = next(iter(tx.knowledge.skills(ids=[identity])), None)
        if skill is None or skill.state is SkillState.DROPPED:
            continue
        evidence = [turn for turn in tx.knowledge.evidence(identity) if turn.thread_id != leaving]
        for decision in tx.knowledge.decisions(subject=identity):
            tx.knowledge.revoke(decision.id)
        tx.index.drop(SKILLS, [skill.number])
        tx.knowledge.drop_skill(identity)
        refs = [ref_of(tx.threads.number(turn.thread_id), turn.seq) for turn in evidence]
        owners = tx.index.episode_marks(np.array(refs, dtype=np.int64), covering=True)
        tx.knowledge.note_mining(sorted({mark.ref for mark in owners.values()}))
        dropped += 1
    if dropped:
        ask_for_mining(tx, now)
    return dropped
