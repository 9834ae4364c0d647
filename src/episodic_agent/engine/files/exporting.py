"""Write a scope as JSON lines without loss: thread by thread, observations before what was made of them.

What a segmentation replaced is not written: an imported thread cannot go back to it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic_agent.engine.boundary.generations import last_resegmenting, without_history
from episodic_agent.engine.facts.exports import fact_nouns
from episodic_agent.engine.files.own import CheckRecord, Noun, export_lines, header_line
from episodic_agent.engine.jobs.kinds import CHAIN, COMPACT, FACTS, LINK, REVIEW, TUNE
from episodic_agent.engine.links import joining
from episodic_agent.engine.own_ids import origin_decisions
from episodic_agent.engine.people.keeping import said_of_names
from episodic_agent.engine.skills.exports import skill_nouns
from episodic_agent.engine.strength import standing
from episodic_agent.engine.threads.resolving import THREAD
from episodic_agent.engine.threads.session_records import SESSION
from episodic_agent.engine.visibility.exports import visibility_nouns
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Episode, Joined, Section, Thread

PAGE = 1024


def export(tx: Transaction, now: datetime, among: Collection[UUID] | None = None) -> Iterator[str]:
    """Yield the header and then every noun of the scope (of some threads), one JSON object a line."""
    if among is not None:
        yield from _export_some(tx, now, among)
        return
    threads = _by_age(tx.threads.list())
    parts = sum(len(tx.threads.sections(thread.id)) for thread in threads)
    full_episodes = joining.episodes(tx)
    episodes = tx.count("episodes") + parts + len(full_episodes)  # each part has one of its own
    observations = tx.count("observations")
    counts = {"thread": len(threads), "observation": observations, "episode": episodes, "part": parts}
    yield header_line(tx.scope, now, counts, tx.upkeep.settings().timeouts)
    for thread in threads:
        yield from export_lines(_thread(tx, thread))
    yield from export_lines(_links(tx, full_episodes))
    yield from export_lines(origin_decisions(tx))
    yield from export_lines(tx.knowledge.decisions(type=TUNE))
    yield from export_lines(said_of_names(tx))
    yield from export_lines(skill_nouns(tx))
    yield from export_lines(fact_nouns(tx))
    yield from export_lines(visibility_nouns(tx))


def _export_some(tx: Transaction, now: datetime, among: Collection[UUID]) -> Iterator[str]:
    """Yield some threads with the facts they prove, the marks on them and the links between them.

    What rests on the whole scope stays away: skills, tunings, cross-thread episodes, which links form again.
    """
    threads = _by_age(tx.threads.list(ids=list(among)))
    parts = sum(len(tx.threads.sections(thread.id)) for thread in threads)
    closed = len(tx.episodes.list(threads=[t.id for t in threads]))
    number = sum(_observation_count(tx, thread) for thread in threads)
    counts = {"thread": len(threads), "observation": number, "episode": closed + parts, "part": parts}
    yield header_line(tx.scope, now, counts, tx.upkeep.settings().timeouts)
    for thread in threads:
        yield from export_lines(_thread(tx, thread))
    links = reversed(tx.threads.links(limit=joining.EVERY, taken_back=True))
    yield from export_lines(one for one in links if one.earlier in among and one.later in among)
    yield from export_lines(origin_decisions(tx))
    yield from export_lines(fact_nouns(tx, among))
    yield from export_lines(visibility_nouns(tx, among))


def _observation_count(tx: Transaction, thread: Thread) -> int:
    end = tx.threads.frame(thread.id).next_seq
    return end - len(tx.observations.erased([(thread.id, 0, end)]))


def _by_age(threads: Iterable[Thread]) -> list[Thread]:
    return sorted(threads, key=lambda t: (t.created_at, t.id.bytes))


def _links(tx: Transaction, episodes: Sequence[Episode]) -> Iterator[Noun]:
    """Yield the links, then the cross-thread episodes they form, each with its words and its threads."""
    yield from reversed(tx.threads.links(limit=joining.EVERY, taken_back=True))
    stored = tx.episodes.get([whole.id for whole in episodes])
    for episode in episodes:
        yield from _episode(tx, stored[episode.id])
        yield Joined(episode.id, tuple(tx.threads.joined(episode.id)))


def _thread(tx: Transaction, thread: Thread) -> Iterator[Noun]:
    frame = tx.threads.frame(thread.id)
    yield thread
    yield replace(frame, version=0)  # the version counts writes here: it is no part of the memory
    yield from tx.knowledge.decisions(subject=thread.id, type=THREAD)
    yield from tx.knowledge.decisions(subject=thread.id, type=LINK)
    yield from tx.knowledge.decisions(subject=thread.id, type=SESSION)
    if (made := last_resegmenting(tx, thread)) is not None:
        yield without_history(made)
    for recall in tx.upkeep.reviews(thread.id):  # ids from before a resegment mean nothing elsewhere
        yield replace(recall, shown=standing(tx, recall.shown))
    for start in range(0, frame.next_seq, PAGE):
        last = min(start + PAGE, frame.next_seq) - 1
        yield from tx.observations.read(thread.id, start, last)
        yield from tx.observations.erased([(thread.id, start, last)])
        for seq, packed in sorted(tx.observations.records(thread.id, start, last).items()):
            yield CheckRecord(thread.id, seq, packed)
    for episode in tx.episodes.list(threads=[thread.id]):
        decision = stored_decision(tx, episode.decision_id)
        if decision is not None:
            yield decision
        yield from _episode(tx, episode)
    for section in tx.threads.sections(thread.id):
        yield from _section(tx, section)


def _section(tx: Transaction, section: Section) -> Iterator[Noun]:
    yield section
    yield from tx.knowledge.decisions(subject=section.episode_id, type=COMPACT)
    episode = tx.episodes.get(section.episode_id)
    if episode is not None:
        yield from _episode(tx, episode)


def _episode(tx: Transaction, episode: Episode) -> Iterator[Noun]:
    """Yield an episode with all versions of its words, what its strength came from, and what it told."""
    yield episode
    yield from tx.episodes.encodings(episode.id)
    yield from tx.knowledge.decisions(subject=episode.id, type=REVIEW)
    yield from tx.knowledge.decisions(subject=episode.id, type=FACTS)
    yield from tx.knowledge.decisions(subject=episode.id, type=CHAIN)
