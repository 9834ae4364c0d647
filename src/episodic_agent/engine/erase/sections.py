"""What becomes of the parts of a thread when some of their observations are erased: they are told again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic_agent.core.sections.triggers import Trigger
from episodic_agent.engine.jobs.kinds import COMPACT
from episodic_agent.engine.sections.bounds import request
from episodic_agent.engine.sections.faults import with_ends
from episodic_agent.engine.threads.session_records import SESSION, blanked, facts_of, record_of
from episodic_agent.protocols import PARTS, Transaction, ref_of
from episodic_agent.schemas import EpisodeState, Frame, Section


def retell_sections(
    tx: Transaction, thread_id: UUID, seqs: Sequence[int], frame: Frame, now: datetime
) -> int:
    """Take the words of parts that held these observations away, ask for new ones; return how many."""
    sections = tx.threads.sections(thread_id)  # none in a thread from before there were any
    pairs = with_ends(sections, frame.next_seq) if sections else []
    number, answer = tx.threads.number(thread_id), 0
    for place, (section, end) in enumerate(pairs, 1):
        if not any(section.first_seq <= seq <= end for seq in seqs):
            continue
        left = bool(tx.observations.read(thread_id, section.first_seq, end))
        if not left:
            _erase_session(tx, section, number)
        if section.compacted_through is None:
            continue
        answer += 1
        followed = place < len(pairs)
        for decision in tx.knowledge.decisions(subject=section.episode_id, type=COMPACT):
            tx.knowledge.revoke(decision.id)
        tx.episodes.drop(section.episode_id, words_only=True)
        tx.index.drop(PARTS, [ref_of(number, section.first_seq)])
        bare = replace(section, compacted_through=None, compacted_at=None, grown=False)
        tx.threads.save(bare)
        state = EpisodeState.CLOSED if section.ended or followed else EpisodeState.OPEN
        tx.episodes.change(section.episode_id, state=state, last_seq=end)
        if left:
            request(tx, bare, Trigger(section.trigger or Trigger.MANUAL), end, now, followed=followed)
    return answer


def _erase_session(tx: Transaction, section: Section, number: int) -> None:
    """Take away what a caller said a session was about when nothing of what was said in it is left."""
    facts = facts_of(tx, section.episode_id) if section.opened_for == SESSION else None
    if facts is not None:
        tx.knowledge.decide(record_of(blanked(facts)), amend=True)
        tx.episodes.drop(section.episode_id, words_only=True)
        tx.index.drop(PARTS, [ref_of(number, section.first_seq)])
