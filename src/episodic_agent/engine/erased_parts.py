"""What becomes of the parts of a thread when some of their observations are erased: they are told again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic_agent.core.compaction import Trigger
from episodic_agent.core.interfaces import PARTS, Transaction, ref_of
from episodic_agent.engine.parting import COMPACT, request
from episodic_agent.engine.session_facts import SESSION, blanked, facts_of, record_of
from episodic_agent.engine.sound_parts import with_ends
from episodic_agent.schemas import EpisodeState, Frame, ThreadPart


def retell_parts(tx: Transaction, thread_id: UUID, seqs: Sequence[int], frame: Frame, now: datetime) -> int:
    """Take the words of parts that held these observations away, ask for new ones; return how many."""
    parts = tx.parts.of_thread(thread_id)  # none in a thread from before there were any
    found = with_ends(parts, frame.next_seq) if parts else []
    number, told = tx.threads.number(thread_id), 0
    for place, (part, end) in enumerate(found, 1):
        if not any(part.first_seq <= seq <= end for seq in seqs):
            continue
        left = bool(tx.threads.observations(thread_id, part.first_seq, end))
        if not left:
            _forget_session(tx, part, number)
        if part.compacted_through is None:
            continue
        told += 1
        followed = place < len(found)
        for decision in tx.episodes.decisions(subject=part.episode_id, type=COMPACT):
            tx.episodes.revoke(decision.id)
        tx.erasing.unword([part.episode_id])
        tx.index.drop(PARTS, [ref_of(number, part.first_seq)])
        bare = replace(part, compacted_through=None, compacted_at=None, grown=False)
        tx.parts.save(bare)
        state = EpisodeState.CLOSED if part.ended or followed else EpisodeState.OPEN
        tx.episodes.change(part.episode_id, state=state, last_seq=end)
        if left:
            request(tx, bare, Trigger(part.trigger or Trigger.MANUAL), end, now, followed=followed)
    return told


def _forget_session(tx: Transaction, part: ThreadPart, number: int) -> None:
    """Take away what a caller said a session was about when nothing of what was said in it is left."""
    facts = facts_of(tx, part.episode_id) if part.opened_for == SESSION else None
    if facts is not None:
        tx.episodes.amend(record_of(blanked(facts)))
        tx.erasing.unword([part.episode_id])
        tx.index.drop(PARTS, [ref_of(number, part.first_seq)])
