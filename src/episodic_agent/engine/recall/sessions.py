"""Which sessions a question asks for: those that are open, or what came since the last that ended."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import numpy as np

from episodic_agent.core.ingest.words import FAILURE, ONGOING, PARTIAL
from episodic_agent.core.recall.commitments import asks_for_open_sessions, asks_since_session
from episodic_agent.engine.recall.settling import CommitmentQuestion
from episodic_agent.engine.threads.session_records import SESSION, SessionFacts, read_record, sections_in
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import Refs, Transaction, ref_of

_LOOKED_AT: Final = 500  # sessions, the last that were started
_UNSETTLED: Final = (ONGOING, PARTIAL, FAILURE)  # outcomes with which what it was about is not settled
_MOST: Final = 400  # messages since the last session that are told


def sessions_asked(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> list[Refs]:
    """Return the messages of each session that a question asks for, the newest first; empty where for none.

    Those that had not ended by `now`, or ended with an outcome that settles nothing. What is new since the
    last session that ended stands together.
    """
    are_open = asks_for_open_sessions(asked.text, asked.judged)
    if not are_open and not asks_since_session(asked.text, asked.judged):
        return []
    every = [read_record(row) for row in tx.knowledge.decisions(type=SESSION, last=_LOOKED_AT)]
    if are_open:
        open_at = [facts for facts in every if facts.started_at <= now and _is_open(facts, now)]
        of_each = _messages(tx, sorted(open_at, key=lambda facts: facts.started_at, reverse=True))
    else:
        of_each = _since(tx, every, now)
    among = None if asked.among is None else asked.among()
    shown = [visibility.shown(refs if among is None else np.intersect1d(refs, among)) for refs in of_each]
    return [refs for refs in shown if len(refs)]


def _is_open(facts: SessionFacts, now: datetime) -> bool:
    return facts.ended_at is None or facts.ended_at > now or facts.outcome in _UNSETTLED


def _messages(tx: Transaction, sessions: Sequence[SessionFacts]) -> Iterator[Refs]:
    for facts in sessions:
        sections = tx.threads.sections(facts.thread_id)
        own = sections_in(facts, sections)
        if not own:  # nothing was said in it
            continue
        number = tx.threads.number(facts.thread_id)
        later = (one.first_seq for one in sections if one.first_seq > own[-1].first_seq)
        end = min(later, default=tx.threads.frame(facts.thread_id).next_seq)
        end = end if facts.last_seq is None else facts.last_seq + 1
        yield np.arange(ref_of(number, own[0].first_seq), ref_of(number, end), dtype=np.int64)


def _since(tx: Transaction, every: Sequence[SessionFacts], now: datetime) -> Iterator[Refs]:
    ended = [facts.ended_at for facts in every if facts.ended_at is not None and facts.ended_at <= now]
    if ended:
        yield np.sort(tx.index.between(max(ended), now, limit=_MOST, newest=True))
