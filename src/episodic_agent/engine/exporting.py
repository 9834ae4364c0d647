"""Write a scope as JSON lines without loss: thread by thread, observations before what was made of them.

What a segmentation replaced is not written: an imported thread cannot go back to it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic_agent.core.interfaces import Transaction
from episodic_agent.engine import joining
from episodic_agent.engine.care_files import care_nouns
from episodic_agent.engine.chains import CHAIN
from episodic_agent.engine.consolidating import FACTS
from episodic_agent.engine.fact_files import fact_nouns
from episodic_agent.engine.files import export_lines, header_line
from episodic_agent.engine.files.own import CheckRecord, Joined, Noun
from episodic_agent.engine.generations import last_resegmenting, without_history
from episodic_agent.engine.parting import COMPACT
from episodic_agent.engine.resolving import THREAD
from episodic_agent.engine.reviewing import REVIEW, standing
from episodic_agent.engine.session_facts import SESSION
from episodic_agent.engine.skill_files import skill_nouns
from episodic_agent.engine.tuning import LINK, TUNE
from episodic_agent.schemas import Episode, Thread, ThreadPart

PAGE = 1024


def export(tx: Transaction, now: datetime, among: Collection[UUID] | None = None) -> Iterator[str]:
    """Yield the header and then every noun of the scope (of some threads), one JSON object a line."""
    if among is not None:
        yield from _export_some(tx, now, among)
        return
    threads = _by_age(tx.threads.list())
    parts = sum(len(tx.parts.of_thread(thread.id)) for thread in threads)
    wholes = joining.episodes(tx)
    episodes = tx.episodes.count() + parts + len(wholes)  # each part has one of its own
    counts = {"thread": len(threads), "observation": tx.threads.count(), "episode": episodes, "part": parts}
    yield header_line(tx.scope, now, counts, tx.threads.timeouts())
    for thread in threads:
        yield from export_lines(_thread(tx, thread))
    yield from export_lines(_links(tx, wholes))
    yield from export_lines(tx.episodes.decisions(type=TUNE))
    yield from export_lines(skill_nouns(tx))
    yield from export_lines(fact_nouns(tx))
    yield from export_lines(care_nouns(tx))


def _export_some(tx: Transaction, now: datetime, among: Collection[UUID]) -> Iterator[str]:
    """Yield some threads with the facts they prove, the marks on them and the links between them.

    What rests on the whole scope stays away: skills, tunings, cross-thread episodes, which links form again.
    """
    threads = _by_age(tx.threads.many(list(among)).values())
    parts = sum(len(tx.parts.of_thread(thread.id)) for thread in threads)
    closed = sum(len(found) for found in tx.episodes.of_threads([t.id for t in threads]).values())
    said = sum(_said(tx, thread) for thread in threads)
    counts = {"thread": len(threads), "observation": said, "episode": closed + parts, "part": parts}
    yield header_line(tx.scope, now, counts, tx.threads.timeouts())
    for thread in threads:
        yield from export_lines(_thread(tx, thread))
    links = reversed(tx.links.list(limit=joining.EVERY, taken_back=True))
    yield from export_lines(one for one in links if one.earlier in among and one.later in among)
    yield from export_lines(fact_nouns(tx, among))
    yield from export_lines(care_nouns(tx, among))


def _said(tx: Transaction, thread: Thread) -> int:
    end = tx.threads.frame(thread.id).next_seq
    return end - len(tx.erasing.erased(thread.id, 0, end))


def _by_age(threads: Iterable[Thread]) -> list[Thread]:
    return sorted(threads, key=lambda t: (t.created_at, t.id.bytes))


def _links(tx: Transaction, wholes: Sequence[Episode]) -> Iterator[Noun]:
    """Yield the links, then the cross-thread episodes they form, each with its words and its threads."""
    yield from reversed(tx.links.list(limit=joining.EVERY, taken_back=True))
    stored = tx.episodes.by_ids([whole.id for whole in wholes])
    for whole in wholes:
        yield from _episode(tx, stored[whole.id])
        yield Joined(whole.id, tuple(tx.links.members(whole.id)))


def _thread(tx: Transaction, thread: Thread) -> Iterator[Noun]:
    frame = tx.threads.frame(thread.id)
    yield thread
    yield replace(frame, version=0)  # the version counts writes here: it is no part of the memory
    yield from tx.episodes.decisions(subject=thread.id, type=THREAD)
    yield from tx.episodes.decisions(subject=thread.id, type=LINK)
    yield from tx.episodes.decisions(subject=thread.id, type=SESSION)
    if (made := last_resegmenting(tx, thread)) is not None:
        yield without_history(made)
    for recall in tx.reviews.pending(thread.id):  # ids from before a resegment mean nothing elsewhere
        yield replace(recall, shown=standing(tx, recall.shown))
    for start in range(0, frame.next_seq, PAGE):
        last = min(start + PAGE, frame.next_seq) - 1
        yield from tx.threads.observations(thread.id, start, last)
        yield from tx.erasing.erased(thread.id, start, last)
        for seq, packed in sorted(tx.threads.records(thread.id, start, last).items()):
            yield CheckRecord(thread.id, seq, packed)
    for episode in tx.episodes.of_thread(thread.id):
        decision = tx.episodes.decision(episode.decision_id) if episode.decision_id else None
        if decision is not None:
            yield decision
        yield from _episode(tx, episode)
    for part in tx.parts.of_thread(thread.id):
        yield from _part(tx, part)


def _part(tx: Transaction, part: ThreadPart) -> Iterator[Noun]:
    yield part
    yield from tx.episodes.decisions(subject=part.episode_id, type=COMPACT)
    episode = tx.episodes.get(part.episode_id)
    if episode is not None:
        yield from _episode(tx, episode)


def _episode(tx: Transaction, episode: Episode) -> Iterator[Noun]:
    """Yield an episode with all versions of its words, what its strength came from, and what it told."""
    yield episode
    yield from tx.episodes.encodings(episode.id)
    yield from tx.episodes.decisions(subject=episode.id, type=REVIEW)
    yield from tx.episodes.decisions(subject=episode.id, type=FACTS)
    yield from tx.episodes.decisions(subject=episode.id, type=CHAIN)
