"""What becomes of words that tell of what is erased: those a model found for an episode while it read it, the
title a thread was given, what a session was said to be about.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic_agent.core.erasing import told_only_by
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.erase.records import PAGE
from episodic_agent.engine.erase.sections import retell_sections
from episodic_agent.engine.jobs.kinds import ENCODE
from episodic_agent.engine.links import joining
from episodic_agent.engine.threads.session_records import (
    SESSION,
    SessionFacts,
    facts_of,
    record_of,
    sections_in,
)
from episodic_agent.engine.threads.sessions import name_session
from episodic_agent.protocols import EPISODES, PARTS, Transaction, ref_of
from episodic_agent.schemas import Thread


def retell_episodes(tx: Transaction, ids: Iterable[UUID], now: datetime) -> None:
    """Take the words of episodes away, of every version, with those made of them, and ask for new ones.

    To be called for episodes that stay; their observations do.
    """
    for episode in tx.episodes.get(sorted(ids)).values():
        number = tx.threads.number(episode.thread_id)
        frame = tx.threads.frame(episode.thread_id)  # nobody appends to the thread meanwhile
        tx.index.drop(EPISODES, [ref_of(number, episode.first_seq)])
        tx.episodes.drop(episode.id, words_only=True)
        tx.upkeep.ask(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=now)
        retell_sections(tx, episode.thread_id, [episode.first_seq, episode.last_seq], frame, now)
        for identifier in tx.threads.joined([episode.thread_id]).values():
            tx.episodes.drop(identifier, words_only=True)
            joining.reword(tx, identifier, now)


def forget_names(deps: Deps, tx: Transaction, thread_id: UUID, gone: Sequence[str], now: datetime) -> None:
    """Take the title of a thread and what was said of its sessions away where they hold words of these texts.

    Words that something kept of the thread has as well stay. A thread without a title is called by what was
    said in it. To be called once the texts are erased.
    """
    thread = tx.threads.get(thread_id)
    if thread is None:
        return

    def gone_with_them(text: str) -> bool:
        return told_only_by(gone, _staying(tx, thread_id, thread.origin), text, deps.language)

    _forget_names(deps, tx, thread, gone_with_them, now)


def forget_words(
    deps: Deps, tx: Transaction, holds: Callable[[str], object], now: datetime
) -> Mapping[str, int]:
    """Take every title of a thread and all that was said of sessions away that holds words; count them."""
    counts: Counter[str] = Counter()
    for thread in tx.threads.list():
        counts.update(_forget_names(deps, tx, thread, lambda text: bool(text and holds(text)), now))
    return counts


def _forget_names(
    deps: Deps, tx: Transaction, thread: Thread, goes: Callable[[str], bool], now: datetime
) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    if thread.title and goes(thread.title):
        tx.threads.save(replace(thread, title=None))
        counts["titles"] += 1
    for section in tx.threads.sections(thread.id):
        facts = facts_of(tx, section.episode_id) if section.opened_for == SESSION else None
        if facts is None:
            continue
        left = _untold(facts, goes)
        if left != facts:
            tx.knowledge.decide(record_of(left), amend=True)
            _retell_session(deps, tx, left, now)
            counts["sessions"] += 1
    return counts


def _staying(tx: Transaction, thread_id: UUID, *names: str) -> Iterator[str]:
    """Yield what stays of a thread: its own names, who speaks in it and what they said."""
    yield from names
    for start in range(0, tx.threads.frame(thread_id).next_seq, PAGE):
        for observation in tx.observations.read(thread_id, start, start + PAGE - 1):
            yield observation.actor
            yield observation.text


def _untold(facts: SessionFacts, goes: Callable[[str], bool]) -> SessionFacts:
    """Return what was said of a session without what tells of erased texts."""
    topic = "" if goes(facts.topic) else facts.topic
    people, tools, decisions = (
        tuple(name for name in names if not goes(name))
        for names in (facts.supplied.participants, facts.supplied.tools_used, facts.supplied.key_decisions)
    )
    supplied = replace(facts.supplied, participants=people, tools_used=tools, key_decisions=decisions)
    return replace(facts, topic=topic, supplied=supplied)


def _retell_session(deps: Deps, tx: Transaction, facts: SessionFacts, now: datetime) -> None:
    """Take the words of a session's parts and of what happened in it away, and ask for new ones."""
    sections = tx.threads.sections(facts.thread_id)
    own = sections_in(facts, sections)
    number = tx.threads.number(facts.thread_id)
    for section in own:
        tx.episodes.drop(section.episode_id, words_only=True)
        tx.index.drop(PARTS, [ref_of(number, section.first_seq)])
        if section.episode_id == facts.episode_id and (facts.topic or facts.words):
            name_session(tx, facts, section.first_seq, deps, None, now)
    following = sections[sections.index(own[-1]) + 1 :] if own else ()
    behind = following[0].first_seq if following else tx.threads.frame(facts.thread_id).next_seq
    episodes = tx.episodes.list(threads=[facts.thread_id])
    retell_episodes(
        tx, [one.id for one in episodes if own and own[0].first_seq <= one.first_seq < behind], now
    )
