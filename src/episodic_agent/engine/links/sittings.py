"""Threads as a choice compares them: each for itself, or those of one sitting that nobody named together.

On a channel where users choose threads every message without one opens another. Such threads, half an hour
or less apart, are one stretch of talk: what is said in the second often means nothing without the first.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from episodic_agent.core.links.choice import Talk, talk_of
from episodic_agent.core.links.features import Features
from episodic_agent.core.threads.records import INACTIVITY
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.links.asking import PAUSE
from episodic_agent.engine.links.features import ThreadReader, ends_of, last_said
from episodic_agent.engine.threads.resolving import is_unnamed
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Observation, Thread


def sittings_of(threads: Sequence[Thread]) -> list[list[Thread]]:
    """Part threads into sittings, both in the order they began; most threads are one by themselves.

    Only threads that nobody named, selected or closed by hand are taken together, and only where one of the
    two was opened because its channel opens one each time.
    """
    groups: list[list[Thread]] = []
    last: list[Thread] = []  # the newest sitting of threads that nobody named
    for thread in sorted(threads, key=lambda t: (t.created_at, t.id.bytes)):
        shared = _is_shared(thread)
        if shared and last and _goes_on(last, thread):
            last.append(thread)
            continue
        groups.append([thread])
        if shared:
            last = groups[-1]
    return groups


def _is_shared(thread: Thread) -> bool:
    by_hand = thread.selected_at is not None or thread.closed_for not in ("", INACTIVITY)
    return thread.modality == "message" and not by_hand and is_unnamed(thread)


def _goes_on(sitting: Sequence[Thread], thread: Thread) -> bool:
    """Tell whether a thread began within the sitting's pause.

    One that was active again after that is known to have been active when it began, and no later.
    """
    began = thread.created_at
    ends = (t.last_activity_at if t.last_activity_at <= began else t.created_at for t in sitting)
    return began - max(ends) <= PAUSE and (thread.explicit or any(t.explicit for t in sitting))


def with_latest(
    tx: Transaction, shown: Sequence[str], ends: Mapping[str, datetime], named: Mapping[UUID, UUID], most: int
) -> list[str]:
    """Return sittings, by their first threads, each with the latest of its cross-thread episode behind it.

    There are at most `most`: none gives way to what is put behind another. `ends` says when each sitting was
    left, `named` has for each thread the first one of its sitting. Words go on with what a matter came to
    last, which they may have less in common with than with its beginning.
    """
    matters = {str(named[thread]): episode for thread, episode in tx.threads.joined(list(named)).items()}
    latest = {matters[name]: name for name in sorted(ends, key=lambda name: ends[name]) if name in matters}
    last = {name: latest[matters[name]] for name in shown if name in matters}
    more = [name for name in dict.fromkeys(last.values()) if name not in shown][: most - len(shown)]
    both = (one for name in shown for one in (name, last.get(name, name)) if one in shown or one in more)
    return list(dict.fromkeys(both))


def around(tx: Transaction, thread: Thread, limit: int = 16) -> list[Thread]:
    """Return the sitting a thread is in, in order, with what came after it; alone where it was named."""
    if not _is_shared(thread):
        return [thread]
    near = {t.id: t for t in tx.threads.list(begun=thread.last_activity_at + PAUSE, limit=limit)}
    groups = sittings_of([*({**near, thread.id: thread}).values()])
    return next(group for group in groups if any(one.id == thread.id for one in group))


def talks(
    tx: Transaction, reader: ThreadReader, groups: Sequence[Sequence[Thread]], until: datetime
) -> list[Talk | None]:
    """Return sittings as they were at an event time; None for one that held nothing that was said.

    Each is named after its first thread.
    """
    over = [all(t.last_activity_at <= until for t in group) for group in groups]
    ends = ends_of(tx, [t.id for group in groups for t in group])
    full = [tuple((t.id, ends[t.id]) for t in group) for group in groups]
    known = [reader.talk(tx.scope, key) if done else None for key, done in zip(full, over, strict=True)]
    missing = [n for n, talk in enumerate(known) if talk is None]
    inside = last_said(tx, {t.id: ends[t.id] for n in missing for t in groups[n]}, until)
    every = [o for observations in inside.values() for o in observations]
    read = {o.id: features for o, features in zip(every, reader.messages(tx, every), strict=True)}
    for n in missing:
        observations = [o for t in groups[n] for o in inside[t.id]]
        if not observations:
            continue
        talk = talk_from(str(groups[n][0].id), groups[n], observations, read)
        known[n] = talk
        if over[n] and reader.complete(observations, read):
            reader.keep_talk(tx.scope, full[n], talk)
    return known


def _own_matter(ordered: Sequence[Observation], read: Mapping[UUID, Features]) -> Sequence[Observation]:
    """Return messages without replies where people ask for nothing but what is due.

    The agent answers out of what was said elsewhere: that tells nothing of what this talk is about.
    """
    spoken = [o for o in ordered if opens_turn(o)]
    bare = all(read[o.id].cues.nothing for o in spoken) and any(read[o.id].asks_days for o in spoken)
    return spoken if bare else ordered


def talk_from(
    name: str, group: Sequence[Thread], observations: Sequence[Observation], read: Mapping[UUID, Features]
) -> Talk:
    """Return messages as one talk, in the order of time."""
    ordered = _own_matter(sorted(observations, key=lambda o: o.at), read)
    opening = next((o for o in ordered if opens_turn(o)), ordered[0])
    return talk_of(
        name,
        [(o.at, read[o.id]) for o in ordered],
        opening=read[opening.id],
        channels=[c for t in group for c in t.channels],
    )
