"""What sessions decided, as their callers declared it: told beside what is told of them, or for itself.

A decision is declared, not said: no message holds it, so that nothing of what was said leads to it.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.metadata import OUTCOMES, UNKNOWN
from episodic_agent.core.context.frames import ContextPhrases
from episodic_agent.core.context.quoting import as_sentence
from episodic_agent.core.context.telling import Block, QuotedText
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.language import tokens
from episodic_agent.engine.context.gathering import Situation
from episodic_agent.engine.threads.session_records import SESSION, SessionFacts, read_record
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Episode, Observation
from episodic_agent.schemas.contexts import LineKind
from episodic_agent.schemas.observations import by_clock

LOOKED_AT: Final = 200  # sessions, the last that were started
_LIKELY: Final = 60  # lines, the likeliest to be told, whose sessions are looked for
_SHARE: Final = 0.5  # of a message's terms that topic and decisions hold, from which they answer it
_FEWEST: Final = 2  # of them: a single word is shared with anything
_END: Final = 8  # observations, among which the last one is looked for: some may be erased
_NOTHING_HELD, _ALL_HELD = -5.0, 1.0  # log-odds that they do, by that share


def came_to(frame: ContextPhrases, outcome: str, decisions: Sequence[str]) -> str:
    """Return how a session ended and what was decided in it as sentences, "" where neither is known."""
    words = dict(zip(OUTCOMES, frame.outcomes, strict=False))  # for one that is unknown there is none
    ending = [frame.outcome.replace("{}", words[outcome]) + "."] if outcome in words else []
    if decisions:
        ending.append(frame.decided.replace("{}", "; ".join(decisions)) + ".")
    return " ".join(ending)


def decided(
    tx: Transaction,
    now: Situation,
    earlier: Sequence[QuotedText],
    before: Sequence[QuotedText],
    apart: AbstractSet[UUID],
    *,
    visibility: Visibility,
    frame: ContextPhrases,
) -> list[tuple[QuotedText, Observation]]:
    """Return a line for each session with decisions that may be told, worth as much as the best of its words.

    Beside it stands the last observation of the session. Nothing is told of the threads that stand `apart`,
    nor again of the session `before` this one.
    """
    records = map(read_record, tx.knowledge.decisions(type=SESSION, last=LOOKED_AT))
    facts = {one.episode_id: one for one in records if one.supplied.key_decisions}
    elsewhere = now.others.among(tx, {one.thread_id for one in facts.values()}) | apart
    facts = {name: one for name, one in facts.items() if one.thread_id not in elsewhere}
    if not facts:
        return []
    likely = sorted(earlier, key=lambda quote: -quote.worth)[:_LIKELY]
    threads = {quote.thread_id for quote in likely}
    asked = frozenset(content_terms(now.text)) if now.when is None or not now.when.alone else frozenset()
    shares = {name: _share(one, asked) for name, one in facts.items()}
    sought = [name for name, one in facts.items() if one.thread_id in threads or shares[name]]
    result = []
    for episode in tx.episodes.get(sought).values():
        session = facts[episode.id]
        if any(_holds(session, episode, quote) for quote in before):
            continue
        worths = [quote.worth for quote in likely if _holds(session, episode, quote)]
        if share := shares[episode.id]:
            worths.append(_NOTHING_HELD + share * (_ALL_HELD - _NOTHING_HELD))
        spoken = _last_words(tx, session, episode)
        text = _text(session, visibility, frame, episode) if worths else ""
        if text and spoken is not None and spoken.at <= now.at:
            result.append((_quote(text, episode, spoken, max(worths)), spoken))
    return result


def _share(session: SessionFacts, asked: AbstractSet[str]) -> float:
    """Return which share of a message's terms topic and decisions hold, 0 where that is little."""
    held = asked & {*tokens(session.topic), *tokens("\n".join(session.supplied.key_decisions))}
    share = len(held) / max(1, len(asked))
    return share if len(held) >= _FEWEST and share >= _SHARE else 0.0


def _last_seq(session: SessionFacts, episode: Episode) -> int:
    return episode.last_seq if session.last_seq is None else session.last_seq


def _holds(session: SessionFacts, episode: Episode, quote: QuotedText) -> bool:
    """Tell whether a line is of a session; `episode` is the session's own."""
    last = _last_seq(session, episode)
    return quote.thread_id == session.thread_id and episode.first_seq <= quote.first_seq <= last


def _last_words(tx: Transaction, session: SessionFacts, episode: Episode) -> Observation | None:
    last = _last_seq(session, episode)
    spoken = tx.observations.read(session.thread_id, max(episode.first_seq, last - _END), last)
    return spoken[-1] if spoken else None


def _text(session: SessionFacts, visibility: Visibility, frame: ContextPhrases, episode: Episode) -> str:
    """Return what a session came to, "" where it is not shown."""
    expired = episode.metadata and not visibility.worded(episode).metadata
    decisions = [one for one in session.supplied.key_decisions if not visibility.holds(one)]
    if expired or not decisions or visibility.why_episode(episode):
        return ""
    topic = "" if visibility.holds(session.topic) else as_sentence(session.topic)
    ending = came_to(frame, session.outcome or UNKNOWN, decisions)
    return " ".join(part for part in (topic, ending) if part)


def _quote(text: str, episode: Episode, spoken: Observation, worth: float) -> QuotedText:
    """Return a session's line, dated as its last words."""
    thread, seq, at = spoken.thread_id, spoken.seq, by_clock(spoken.at, spoken.utc_offset)
    return QuotedText(Block.BEFORE, LineKind.SESSION, text, thread, episode.id, seq, seq, at, worth)
