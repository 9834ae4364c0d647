"""What a link does: the threads it connects form one cross-thread episode, which grows, splits and ends.

A cross-thread episode owns no observations (I3). Which threads it holds follows from the live links alone:
`core.links.grouping` parts linked threads into groups, each of two or more is one episode, and no thread
is in two.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import cross_thread_id
from episodic_agent.core.links.grouping import Tie, Ties, groups_of, taken_by, ties_of
from episodic_agent.core.strength import initial_strength
from episodic_agent.engine.threads.session_records import declared_title
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Encoding, Episode, EpisodeKind, Joined, Json, Link, Thread

BY: Final = "links-1"
HAND: Final = "hand"  # the basis of a link that a person made
MATTER: Final = "matter"  # of one whose newer thread goes on with all that the older one is an episode with
_TIES: Final = {HAND: Tie.BY_HAND, MATTER: Tie.JUDGED}
LINKED: Final = "linked"  # why a cross-thread episode is one
THREADS: Final = "linked_threads"
MEMBERS: Final = "member_episode_ids"  # the primary episodes of its threads, part after part
EVERY: Final = 1_000_000_000
FIRST, LAST = 3, 5  # threads that name the whole, and that its summary tells of beside them
NAMED: Final = 10  # threads a version of its words remembers, from which an heir is found
LONGEST_TITLE, LONGEST_SUMMARY = 72, 300


def other_end(link: Link, thread: UUID) -> UUID:
    """Return the thread that a link joins to this one."""
    return link.earlier if link.later == thread else link.later


def grow(tx: Transaction, thread: UUID, others: Sequence[UUID], now: datetime) -> None:
    """Let the cross-thread episodes take a thread that was linked to others just now, where they do.

    Mostly nothing linked the thread before, and nothing that it may join is linked to a later one: then this
    costs what it may join and no more, however many threads are linked further off. Whoever calls holds the
    scope.
    """
    held = tx.threads.joined([thread, *others])
    episodes = dict.fromkeys(held[other] for other in others if other in held)
    groups = [list(tx.threads.joined(one)) for one in episodes] + [[o] for o in others if o not in held]
    links = tx.threads.links([thread, *(one for group in groups for one in group)])
    own = {other_end(link, thread) for link in links if thread in (link.earlier, link.later)}
    reached = {thread} | {end for link in links for end in (link.earlier, link.later)}
    newest = max(_there(tx, reached), key=_created)
    if thread in held or newest.id != thread or own != set(others):
        settle(tx, [thread, *others], now)
        return
    taking = [groups[place] for place in taken_by(thread, groups, live_ties(links))]
    members = sorted([thread, *(one for group in taking for one in group)])
    _form(tx, members, [sorted(_there(tx, members), key=_created)], now)


def settle(tx: Transaction, threads: Sequence[UUID], now: datetime) -> None:
    """Make the cross-thread episodes around these threads what the live links say they are.

    Whoever calls holds the scope.
    """
    around = [t for one in tx.threads.joined(threads).values() for t in tx.threads.joined(one)]
    groups = _groups(tx, [*threads, *around])
    _form(tx, [*threads, *around, *(t.id for group in groups for t in group)], groups, now)


def unlink(tx: Transaction, link: Link, now: datetime) -> Link:
    """Take a link back; it stays as a tombstone, so that nobody but a person links the two again."""
    tx.hold("threads")
    gone = replace(link, unlinked_at=now)
    tx.threads.save(gone)
    settle(tx, [link.earlier, link.later], now)
    return gone


def section_of(tx: Transaction, thread: UUID, other: UUID, now: datetime) -> None:
    """Take the automatic link of two threads back, if there is one; what a person linked stays."""
    for link in tx.threads.links([thread]):
        if other_end(link, thread) == other and link.basis != HAND:
            unlink(tx, link, now)


def _form(
    tx: Transaction, threads: Sequence[UUID], groups: Sequence[Sequence[Thread]], now: datetime
) -> None:
    """Let each group of two or more be an episode, and none of the others of these threads in one.

    The episode made first stays where groups meet, and goes with the oldest thread where one splits.
    """
    held = tx.threads.joined(threads)
    made = tx.episodes.get(sorted(set(held.values())))
    chosen: dict[UUID, Sequence[Thread]] = {}
    for group in groups:
        if len(group) < 2:
            continue
        there = {held[t.id] for t in group if t.id in held} - chosen.keys()
        oldest = min((made[one] for one in there), key=_age, default=None)
        chosen[oldest.id if oldest is not None else _fresh(tx, group, chosen)] = group
    for gone in sorted(set(held.values()) - chosen.keys()):
        tx.threads.save(Joined(gone, ()))
    for identity, group in chosen.items():
        members = [t.id for t in group]
        if list(tx.threads.joined(identity)) != members or tx.episodes.get(identity) is None:
            _join(tx, identity, members, now)


def _there(tx: Transaction, threads: Iterable[UUID]) -> list[Thread]:
    """Return those threads that are there."""
    identifiers = list(threads)
    matching_threads = {t.id: t for t in tx.threads.list(ids=identifiers)}
    return [matching_threads[one] for one in identifiers if one in matching_threads]


def _age(episode: Episode) -> tuple[datetime, datetime, bytes]:
    return episode.created_at, episode.start_at, episode.id.bytes


def _groups(tx: Transaction, threads: Sequence[UUID]) -> list[list[Thread]]:
    """Return the groups of these threads and of all that links lead to from them, as they began."""
    reached, edge = set(threads), sorted(set(threads))
    links: dict[tuple[UUID, UUID], Link] = {}
    while edge:
        fresh = tx.threads.links(edge)
        links |= {(link.earlier, link.later): link for link in fresh}
        edge = sorted({end for link in fresh for end in (link.earlier, link.later)} - reached)
        reached.update(edge)
    there = {thread.id: thread for thread in sorted(_there(tx, reached), key=_created)}
    return [[there[one] for one in group] for group in groups_of(there, live_ties(links.values()))]


def live_ties(links: Iterable[Link]) -> Ties[UUID]:
    """Return which threads links tie together, and how firmly."""
    return ties_of((link.earlier, link.later, _TIES.get(link.basis, Tie.LINKED)) for link in links)


def _created(thread: Thread) -> tuple[datetime, bytes]:
    return thread.created_at, thread.id.bytes


def _fresh(tx: Transaction, group: Sequence[Thread], taken: Collection[UUID]) -> UUID:
    """Name a new episode by its first two threads; by a number more where others bear the name."""
    number = 0
    while (name := cross_thread_id(group[0].id, group[1].id, number)) in taken or tx.threads.joined(name):
        number += 1
    return name


def _join(tx: Transaction, identity: UUID, threads: Sequence[UUID], now: datetime) -> None:
    """Let these threads form the episode: its row, if it is new, and a version of its words."""
    tx.threads.save(Joined(identity, tuple(threads)))
    members = tx.threads.joined(identity)
    before = tx.episodes.get(identity)
    if before is None:
        tx.episodes.put(_made(identity, _there(tx, members), now))
    title, summary = whole_words(tx, members)
    named: dict[str, Json] = {THREADS: [str(t) for t in members[:NAMED]], "threads": len(members)}
    version = 1 if before is None else before.encoding_version + 1
    tx.episodes.put(Encoding(identity, version, title, summary, named, BY, now))


def reword(tx: Transaction, identity: UUID, now: datetime) -> None:
    """Give a cross-thread episode another version of its words, from its threads as they are now."""
    _join(tx, identity, tx.threads.joined(identity), now)


def _made(identity: UUID, group: Sequence[Thread], now: datetime) -> Episode:
    strength, end = initial_strength(0.0), max(t.last_activity_at for t in group)
    return Episode(
        id=identity,
        thread_id=group[0].id,
        first_seq=0,
        last_seq=-1,  # nothing: it has members
        start_at=min(t.created_at for t in group),
        end_at=end,
        created_at=now,
        reason=LINKED,
        surprise=0.0,
        stability=strength.stability,
        difficulty=strength.difficulty,
        last_reviewed_at=end,
        kind=EpisodeKind.CROSS_THREAD,
    )


def whole_words(tx: Transaction, members: Sequence[UUID]) -> tuple[str, str]:
    """Return title and summary of linked threads: titles of the first, summaries of first and last ones."""
    threads = _there(tx, dict.fromkeys([*members[:FIRST], *members[-LAST:]]))
    worded = [(thread, *words) for thread, words in zip(threads, words_of(tx, threads), strict=True)]
    titles = list(dict.fromkeys(title for _, title, _ in worded[:FIRST]))
    more = f" and {len(members) - FIRST} more" if len(members) > FIRST else ""
    lines = [
        f"{thread.created_at:%Y-%m-%d %H:%M} {title}" + (f": {summary}" if summary else "")
        for thread, title, summary in worded
    ]
    return " · ".join(titles) + more, "\n".join(lines)


def words_of(
    tx: Transaction, threads: Sequence[Thread], until: datetime | None = None
) -> list[tuple[str, str]]:
    """Return titles and summaries: a thread's own, its newest episode's (by then), else how it begins."""
    closed: dict[UUID, list[Episode]] = {thread.id: [] for thread in threads}
    for episode in tx.episodes.list(threads=list(closed)):
        closed[episode.thread_id].append(episode)
    result = {}
    for thread in threads:
        worded = [e for e in closed[thread.id] if e.encoding_version and (until is None or e.end_at <= until)]
        summary = _cut(worded[-1].summary, LONGEST_SUMMARY) if worded else ""
        title = thread.title or declared_title(tx, thread)
        result[thread.id] = (title or (worded[-1].title if worded else ""), summary)
    nameless = [thread for thread in threads if not result[thread.id][0]]
    begins = tx.observations.read([(thread.id, 0, FIRST) for thread in nameless]) if nameless else ()
    for thread, observations in zip(nameless, begins, strict=True):
        texts = (o.text.strip() for o in observations)
        title = next((text.splitlines()[0] for text in texts if text), thread.origin)
        result[thread.id] = (title, result[thread.id][1])
    return [(_cut(title, LONGEST_TITLE), summary) for title, summary in (result[t.id] for t in threads)]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


# --- reading ---------------------------------------------------------------------------------------------


def heir(tx: Transaction, episode: Episode) -> UUID:
    """Return the cross-thread episode that holds the threads of this one today; else its own id."""
    if tx.threads.joined(episode.id):
        return episode.id
    newest = tx.episodes.encodings(episode.id)
    named = newest[-1].metadata.get(THREADS) if newest else None
    threads = [UUID(str(name)) for name in named] if isinstance(named, Sequence) else []
    joined = tx.threads.joined(threads)
    return next((joined[t] for t in threads if t in joined), episode.id)


def shown(tx: Transaction, episode: Episode) -> Episode:
    """Return a cross-thread episode with threads, their primary episodes and span as they are today."""
    threads = _there(tx, tx.threads.joined(episode.id))
    members = [str(part.episode_id) for t in threads for part in tx.threads.sections(t.id)]
    listed: dict[str, Json] = {THREADS: [str(t.id) for t in threads], MEMBERS: members}
    return replace(
        episode,
        start_at=min((t.created_at for t in threads), default=episode.start_at),
        end_at=max((t.last_activity_at for t in threads), default=episode.end_at),
        metadata={**episode.metadata, **listed},
    )


def episodes(tx: Transaction) -> list[Episode]:
    """Return the scope's cross-thread episodes by start of event time."""
    ends = dict.fromkeys(t for link in tx.threads.links(limit=EVERY) for t in (link.earlier, link.later))
    episodes = tx.episodes.get(sorted(set(tx.threads.joined(list(ends)).values())))
    return sorted((shown(tx, e) for e in episodes.values()), key=lambda e: (e.start_at, e.id.bytes))


def faults(tx: Transaction) -> Iterator[str]:
    """Yield what is wrong with the cross-thread episodes: each is what the live links say, and is there."""
    links = tx.threads.links(limit=EVERY, taken_back=True)
    ends = list(dict.fromkeys(t for link in links for t in (link.earlier, link.later)))
    joined = tx.threads.joined(ends)
    there = tx.episodes.get(sorted(set(joined.values())))
    for gone in sorted(set(joined.values()) - there.keys()):
        yield f"threads are joined in a cross-thread episode {gone} that is not there"
    for group in _groups(tx, ends):
        first, episode = group[0], joined.get(group[0].id)
        members = [] if episode is None else list(tx.threads.joined(episode))
        if len(group) < 2 and episode is not None:
            yield f"thread {first.origin} is in a cross-thread episode though it is linked to nothing there"
        elif len(group) > 1 and members != [t.id for t in group]:
            yield f"thread {first.origin} and the threads linked to it are not one cross-thread episode"


def mend(tx: Transaction, now: datetime) -> int:
    """Make all cross-thread episodes what the live links say; return how many faults there were."""
    tx.hold("threads")
    wrong = len(list(faults(tx)))
    if wrong:
        links = tx.threads.links(limit=EVERY, taken_back=True)
        settle(tx, list(dict.fromkeys(t for link in links for t in (link.earlier, link.later))), now)
    return wrong
