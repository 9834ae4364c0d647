"""What a link does: the threads it connects form one cross-thread episode, which grows, splits and ends.

A cross-thread episode owns no observations (I3). Which threads it holds follows from the live links alone:
each connected group of two or more threads is one episode, and no thread is in two.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.forgetting import initial_strength
from episodic_agent.core.identity import cross_thread_id
from episodic_agent.core.interfaces import Transaction
from episodic_agent.schemas import Encoding, Episode, EpisodeKind, Json, Link, Thread

BY: Final = "links-1"
LINKED: Final = "linked"  # why a cross-thread episode is one
THREADS: Final = "linked_threads"
MEMBERS: Final = "member_episodes"
EVERY: Final = 1_000_000_000
FIRST, LAST = 3, 5  # threads that name the whole, and that its summary tells of beside them
NAMED: Final = 10  # threads a version of its words remembers, from which an heir is found
LONGEST_TITLE, LONGEST_SUMMARY = 72, 300


def other_end(link: Link, thread: UUID) -> UUID:
    """Return the thread that a link joins to this one."""
    return link.earlier if link.later == thread else link.later


def grow(tx: Transaction, threads: Sequence[UUID], now: datetime) -> None:
    """Make one cross-thread episode of threads that are linked now, and of those they are in.

    The episode made first stays. Costs nothing of the links there are, however many threads belong together.
    Whoever calls holds the scope.
    """
    held = tx.links.joined(threads)
    there = sorted(tx.episodes.by_ids(sorted(set(held.values()))).values(), key=_age)
    if len(there) == 1 and all(thread in held for thread in threads):
        return
    members = [t for one in there for t in tx.links.members(one.id)]
    group = list(dict.fromkeys([*members, *threads]))
    identity = there[0].id if there else _fresh(tx, sorted(_there(tx, group), key=_created), ())
    for one in there[1:]:
        tx.links.join(one.id, [])
    _join(tx, identity, group, now)


def settle(tx: Transaction, threads: Sequence[UUID], now: datetime) -> None:
    """Make the cross-thread episodes around these threads what the live links say they are.

    The episode made first stays where groups meet, and goes with the oldest thread where one splits. Whoever
    calls holds the scope.
    """
    around = [t for one in tx.links.joined(threads).values() for t in tx.links.members(one)]
    groups = [group for group in _groups(tx, [*threads, *around]) if len(group) > 1]
    held = tx.links.joined([*threads, *around, *(t.id for group in groups for t in group)])
    made = tx.episodes.by_ids(sorted(set(held.values())))
    chosen: dict[UUID, list[Thread]] = {}
    for group in groups:
        there = {held[t.id] for t in group if t.id in held} - chosen.keys()
        oldest = min((made[one] for one in there), key=_age, default=None)
        chosen[oldest.id if oldest is not None else _fresh(tx, group, chosen)] = group
    for gone in sorted(set(held.values()) - chosen.keys()):
        tx.links.join(gone, [])
    for identity, group in chosen.items():
        members = [t.id for t in group]
        if list(tx.links.members(identity)) != members or tx.episodes.get(identity) is None:
            _join(tx, identity, members, now)


def _there(tx: Transaction, threads: Iterable[UUID]) -> list[Thread]:
    """Return those threads that are there."""
    wanted = list(threads)
    found = tx.threads.many(wanted)
    return [found[one] for one in wanted if one in found]


def _age(episode: Episode) -> tuple[datetime, datetime, bytes]:
    return episode.created_at, episode.start_at, episode.id.bytes


def _groups(tx: Transaction, threads: Sequence[UUID]) -> list[list[Thread]]:
    """Return the connected groups these threads are in, each in order of creation, oldest group first."""
    seen: set[UUID] = set()
    groups = []
    for start in threads:
        if start in seen:
            continue
        group, edge = {start}, [start]
        while edge:
            reached = {end for link in tx.links.of(edge) for end in (link.earlier, link.later)}
            edge = sorted(reached - group)
            group |= reached
        seen |= group
        groups.append(sorted(_there(tx, group), key=_created))
    return sorted((group for group in groups if group), key=lambda group: _created(group[0]))


def _created(thread: Thread) -> tuple[datetime, bytes]:
    return thread.created_at, thread.id.bytes


def _fresh(tx: Transaction, group: Sequence[Thread], taken: Collection[UUID]) -> UUID:
    """Name a new episode by its first two threads; by a number more where others bear the name."""
    number = 0
    while (name := cross_thread_id(group[0].id, group[1].id, number)) in taken or tx.links.members(name):
        number += 1
    return name


def _join(tx: Transaction, identity: UUID, threads: Sequence[UUID], now: datetime) -> None:
    """Let these threads form the episode: its row, if it is new, and a version of its words."""
    tx.links.join(identity, threads)
    members = tx.links.members(identity)
    before = tx.episodes.get(identity)
    if before is None:
        tx.episodes.insert(_made(identity, _there(tx, members), now))
    title, summary = whole_words(tx, members)
    named: dict[str, Json] = {THREADS: [str(t) for t in members[:NAMED]], "threads": len(members)}
    version = 1 if before is None else before.encoding_version + 1
    tx.episodes.encode(Encoding(identity, version, title, summary, named, BY, now))


def reword(tx: Transaction, identity: UUID, now: datetime) -> None:
    """Give a cross-thread episode another version of its words, from its threads as they are now."""
    _join(tx, identity, tx.links.members(identity), now)


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
    told = _there(tx, dict.fromkeys([*members[:FIRST], *members[-LAST:]]))
    worded = [(thread, *words) for thread, words in zip(told, words_of(tx, told), strict=True)]
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
    closed = tx.episodes.of_threads([thread.id for thread in threads])
    found = {}
    for thread in threads:
        worded = [e for e in closed[thread.id] if e.encoding_version and (until is None or e.end_at <= until)]
        summary = _cut(worded[-1].summary, LONGEST_SUMMARY) if worded else ""
        found[thread.id] = (thread.title or (worded[-1].title if worded else ""), summary)
    nameless = [thread for thread in threads if not found[thread.id][0]]
    begins = tx.threads.ranges([(thread.id, 0, FIRST) for thread in nameless]) if nameless else ()
    for thread, said in zip(nameless, begins, strict=True):
        texts = (o.text.strip() for o in said)
        title = next((text.splitlines()[0] for text in texts if text), thread.origin)
        found[thread.id] = (title, found[thread.id][1])
    return [(_cut(title, LONGEST_TITLE), summary) for title, summary in (found[t.id] for t in threads)]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


# --- reading ---------------------------------------------------------------------------------------------


def heir(tx: Transaction, episode: Episode) -> UUID:
    """Return the cross-thread episode that holds the threads of this one today; else its own id."""
    if tx.links.members(episode.id):
        return episode.id
    newest = tx.episodes.encodings(episode.id)
    named = newest[-1].metadata.get(THREADS) if newest else None
    threads = [UUID(str(name)) for name in named] if isinstance(named, Sequence) else []
    joined = tx.links.joined(threads)
    return next((joined[t] for t in threads if t in joined), episode.id)


def shown(tx: Transaction, episode: Episode) -> Episode:
    """Return a cross-thread episode with its threads, its members and its span as they are today."""
    threads = _there(tx, tx.links.members(episode.id))
    members = [str(e.id) for t in threads for e in tx.episodes.of_thread(t.id)]
    listed: dict[str, Json] = {THREADS: [str(t.id) for t in threads], MEMBERS: members}
    return replace(
        episode,
        start_at=min((t.created_at for t in threads), default=episode.start_at),
        end_at=max((t.last_activity_at for t in threads), default=episode.end_at),
        metadata={**episode.metadata, **listed},
    )


def episodes(tx: Transaction) -> list[Episode]:
    """Return the scope's cross-thread episodes by start of event time."""
    ends = dict.fromkeys(t for link in tx.links.list(limit=EVERY) for t in (link.earlier, link.later))
    found = tx.episodes.by_ids(sorted(set(tx.links.joined(list(ends)).values())))
    return sorted((shown(tx, e) for e in found.values()), key=lambda e: (e.start_at, e.id.bytes))


def faults(tx: Transaction) -> Iterator[str]:
    """Yield what is wrong with the cross-thread episodes: each is what the live links say, and is there."""
    links = tx.links.list(limit=EVERY, taken_back=True)
    ends = list(dict.fromkeys(t for link in links for t in (link.earlier, link.later)))
    joined = tx.links.joined(ends)
    there = tx.episodes.by_ids(sorted(set(joined.values())))
    for gone in sorted(set(joined.values()) - there.keys()):
        yield f"threads are joined in a cross-thread episode {gone} that is not there"
    for group in _groups(tx, ends):
        first, episode = group[0], joined.get(group[0].id)
        members = [] if episode is None else list(tx.links.members(episode))
        if len(group) < 2 and episode is not None:
            yield f"thread {first.origin} is in a cross-thread episode though nothing links it"
        elif len(group) > 1 and members != [t.id for t in group]:
            yield f"thread {first.origin} and the threads linked to it are not one cross-thread episode"


def mend(tx: Transaction, now: datetime) -> int:
    """Make all cross-thread episodes what the live links say; return how many faults there were."""
    tx.threads.hold()
    wrong = len(list(faults(tx)))
    if wrong:
        links = tx.links.list(limit=EVERY, taken_back=True)
        settle(tx, list(dict.fromkeys(t for link in links for t in (link.earlier, link.later))), now)
    return wrong
