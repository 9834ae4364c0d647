"""Know a chat again whose people are called otherwise by now: a contact was renamed between two exports.

A chat without ids is named by its first line, and its messages by who said them. With another name all of
them would be new. So what is read is compared with what stands: the same words at the same time at the
beginning of a chat make it the same chat, and whoever says at all the same times what somebody else is
stored to have said is that person, where neither of the two names is in both. A chat whose beginning is cut
off is known by the run of messages that both have.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from episodic_agent.core.ingest import Item
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Observation, Thread, TimeSource

_READ: Final = 1000  # messages of a chat that are compared
_NEAR: Final = 5000  # messages of all chats around one of which the zone is not known
_ZONES: Final = timedelta(hours=27)  # between the clocks of any two zones
_UNNAMED: Final = "chat-"
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_RUN: Final = 3  # messages that two files of one chat share at least
_MOSTLY: Final = 0.8  # of somebody's messages; one may be edited or deleted since
_Spoken = Counter[tuple[object, str]]  # the messages of somebody, by time and text
_TELLING: Final = 20  # characters of a single line that nobody else says in the same minute


def thread_begun_so(tx: Transaction, items: Sequence[Item]) -> Thread | None:
    """Return the chat that stands and begins with the words of these at the same times; None without one."""
    for observation in _standing(tx, items):
        if observation.seq:
            continue
        (thread,) = tx.threads.list(ids=[observation.thread_id])
        if thread.origin.startswith(_UNNAMED):
            names = renamed_speakers(tx, thread, items)
            if names and items[0].actor in (*names, observation.actor):
                return thread
    return None


def renamed_speakers(
    tx: Transaction, thread: Thread, items: Sequence[Item], begin: int = 0
) -> Mapping[str, Sequence[str]]:
    """Return the names under which speakers of these are stored in a thread, by those they have now.

    `begin` is the message of the thread that the first of these is. Times are compared as they were written:
    they may have been read in another zone.
    """
    stored = [o for o in tx.observations.read(thread.id, begin, begin + _READ - 1) if o.external_id is None]
    timed = [item for item in items if item.at is not None and item.at_source is TimeSource.GIVEN]
    gone = {o.actor for o in stored} - {item.actor for item in timed}
    if not gone or not timed:
        return {}
    before, now = _by_speaker(stored, timed)
    names: dict[str, Sequence[str]] = {}
    for name, spoken in now.items():
        fresh = spoken - before[name]  # what is not stored under the name itself
        alike = {other: fresh & before[other] for other in sorted(gone) if fresh & before[other]}
        same = [other for other, shared in alike.items() if _is_most(shared, before[other])]
        together = sum((alike[other] for other in same), _Spoken())
        if same and _is_telling(together) and _is_most(together, fresh):
            names[name] = same
            gone -= set(same)
    return names


def _is_most(shared: _Spoken, spoken: _Spoken) -> bool:
    return shared.total() >= _MOSTLY * spoken.total()


def _is_telling(shared: _Spoken) -> bool:
    return shared.total() > 1 or any(len(text) >= _TELLING for _, text in shared)


def _by_speaker(
    stored: Iterable[Observation], read: Iterable[Item]
) -> tuple[Mapping[str, _Spoken], Mapping[str, _Spoken]]:
    """Count what each said when, of what is stored and of what is read, as far as both go."""
    had = [(o.actor, _written(o), o.text) for o in stored]
    come = [(item.actor, item.written, item.text) for item in read if item.written]
    last = min(max((at for _, at, _ in messages), default=_NEVER) for messages in (had, come))
    counts: tuple[dict[str, _Spoken], dict[str, _Spoken]] = defaultdict(Counter), defaultdict(Counter)
    for spoken, messages in zip(counts, (had, come), strict=True):
        for actor, at, text in messages:
            if at <= last:
                spoken[actor][at, text] += 1
    return counts


def thread_gone_on(tx: Transaction, items: Sequence[Item]) -> tuple[Thread, int] | None:
    """Return the chat that stands and holds the messages these begin with, and where; None without one.

    WhatsApp cuts the beginning of long chats off. What one sends to several people at once is no such run:
    it takes two speakers and most of what both go over.
    """
    for met in _standing(tx, items):
        (thread,) = tx.threads.list(ids=[met.thread_id])
        if met.seq and thread.origin.startswith(_UNNAMED):
            stored = tx.observations.read(thread.id, met.seq, met.seq + _READ - 1)
            before, now = _by_speaker(stored, items)
            come = sum(now.values(), _Spoken())
            shared = come & sum(before.values(), _Spoken())
            speakers = sum(1 for spoken in before.values() if spoken & shared)
            if speakers > 1 and shared.total() >= _RUN and _is_most(shared, come):
                return thread, met.seq
    return None


def _standing(tx: Transaction, items: Sequence[Item]) -> Iterator[Observation]:
    """Yield what stands in the words of the first of these and at the time it was written, in any zone."""
    first = items[0] if items else None
    if first is None or first.at is None or first.at_source is not TimeSource.GIVEN:
        return
    refs = tx.index.between(first.at - _ZONES, first.at + _ZONES, limit=_NEAR).tolist()
    for met in tx.observations.get(refs).values():
        if (met.text, met.channel, _written(met)) == (first.text, first.channel, first.written):
            yield met


def _written(observation: Observation) -> datetime:
    return observation.at + timedelta(seconds=observation.utc_offset or 0)
