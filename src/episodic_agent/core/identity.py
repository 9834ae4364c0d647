"""Names that stay: ids made from what a thing is, so that saying it twice adds nothing.

A caller's observation id is unique within (space, user_id, source). Observations without one are named by
their content and by how many equal ones came before them in the same file or call, so a real repetition is
kept and a second import of the same file finds every id taken. Only what is created once and can never be
said twice (a live remark with neither id nor time) gets a fresh, time-ordered id.
"""

import json
from array import array
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid5

from episodic_agent.core.ingest import Item
from episodic_agent.schemas import Scope, TimeSource

NAMESPACE: Final = UUID("6f2bb5c6-4c52-5b0a-9d7e-0b1c7a4f5e31")
UNNAMED_SOURCE: Final = "import"
_RANDOM_BITS: Final = 74
_SLOTS: Final = 64  # of an empty table; a power of two
_KEY: Final = (1 << 62) - 1  # a UUID's last bits, all of which are its hash's


def _named(kind: str, *parts: str | int | None) -> UUID:
    """Hash parts unambiguously: JSON keeps ("ab", "c") and ("a", "bc") apart and survives odd characters."""
    return uuid5(NAMESPACE, json.dumps([kind, *parts], separators=(",", ":")))


def observation_id(scope: Scope, source: str, external_id: str) -> UUID:
    """Return the id of an observation its caller has named.

    >>> ana = Scope("ana")
    >>> observation_id(ana, "sms", "17") == observation_id(ana, "sms", "17")
    True
    >>> observation_id(ana, "sms", "17") == observation_id(Scope("bo"), "sms", "17")
    False
    """
    return _named("observation", scope.space, scope.user_id, source, external_id)


def content_id(scope: Scope, source: str, item: Item, occurrence: int) -> UUID:
    """Return the id of an observation without a caller's id; `occurrence` counts equal ones before it.

    A time nobody gave is not part of the name: it would be another when the item comes again. Nor is
    the zone that a time without one is read in: the next import may name another.

    >>> first = content_id(Scope("ana"), "sms", Item("user", "yes"), 0)
    >>> first == content_id(Scope("ana"), "sms", Item("user", "yes"), 1)
    False
    """
    known = item.at is not None and item.at_source is not TimeSource.ASSUMED
    at = item.written.astimezone(UTC).isoformat() if known and item.written else None
    return _named("content", scope.space, scope.user_id, source, item.actor, at, item.text, occurrence)


def episode_id(thread_id: UUID, first_seq: int, generation: int) -> UUID:
    """Return the id of an event episode, so that a repeated segmentation finds its own work.

    >>> thread = UUID(int=7)
    >>> episode_id(thread, 0, 0) == episode_id(thread, 0, 1)
    False
    """
    return _named("episode", thread_id.hex, first_seq, generation)


def section_id(thread_id: UUID, first_seq: int) -> UUID:
    """Return the id of the primary episode of the part of a thread that begins at an observation.

    >>> section_id(UUID(int=7), 0) == section_id(UUID(int=7), 50)
    False
    """
    return _named("episode", thread_id.hex, first_seq, "primary")


def session_id(scope: Scope, key: str) -> UUID:
    """Return the id of the episode of the session that a caller starts with this key, however often.

    >>> session_id(Scope("ana"), "leak-1") == session_id(Scope("bo"), "leak-1")
    False
    """
    return _named("session", scope.space, scope.user_id, key)


def cross_thread_id(first: UUID, second: UUID, number: int = 0) -> UUID:
    """Return the id of a cross-thread episode that begins with these two threads; `number` tells more apart.

    >>> cross_thread_id(UUID(int=1), UUID(int=2)) == cross_thread_id(UUID(int=1), UUID(int=2), 1)
    False
    """
    return _named("cross_thread", first.hex, second.hex, number)


def thread_id(scope: Scope, origin: str) -> UUID:
    """Return the id of the thread that the caller calls `origin`.

    >>> thread_id(Scope("ana"), "work") == thread_id(Scope("ana"), "home")
    False
    """
    return _named("thread", scope.space, scope.user_id, origin)


def uuid7(now: datetime, random_bits: int) -> UUID:
    """Return a UUIDv7 (RFC 9562): 48 bits of milliseconds since 1970, then 74 of the caller's randomness.

    >>> uuid7(datetime(2024, 3, 1, tzinfo=UTC), 5)
    UUID('018df74f-8400-7000-8000-000000000005')
    """
    milliseconds = int(now.timestamp() * 1000) & (1 << 48) - 1
    bits = random_bits & (1 << _RANDOM_BITS) - 1
    head, tail = bits >> 62, bits & (1 << 62) - 1
    return UUID(int=milliseconds << 80 | 7 << 76 | head << 64 | 0b10 << 62 | tail)


def source_of(item: Item, *, source: str | None = None, thread: str | None = None) -> str:
    """Return where a caller's ids are unique: `source`, else the named thread or chat, else the channel.

    Never a path: files number their messages from 0 in every chat, and a renamed file is the same chat.

    >>> source_of(Item("user", "hi", conversation="c7", channel="sms"))
    'c7'
    >>> source_of(Item("user", "hi", channel="sms")), source_of(Item("user", "hi"))
    ('sms', 'import')
    """
    return source or thread or item.conversation or item.channel or UNNAMED_SOURCE


class Repeats:
    """Counts how often each id came before, in 12 to 24 bytes an id: files have millions of messages.

    A table of 62 bits of each id with open addressing; counts are kept of what did come again. Of ten million
    ids two share those bits with a chance of three in a million, and one would then count as a repetition of
    the other: in this file always, so that importing it again still adds nothing.
    """

    def __init__(self) -> None:
        self._table = array("Q", bytes(8 * _SLOTS))
        self._held = 0
        self._again: dict[int, int] = {}

    def count(self, identity: UUID) -> int:
        """Return how often this id was counted before, and count it."""
        key = (identity.int & _KEY) or 1  # 0 is an empty place
        place = self._place(self._table, key)
        if self._table[place] == key:
            self._again[key] = before = self._again.get(key, 0) + 1
            return before
        self._table[place] = key
        self._held += 1
        if 3 * self._held > 2 * len(self._table):
            self._grow()
        return 0

    def _grow(self) -> None:
        wider = array("Q", bytes(16 * len(self._table)))
        for key in self._table:
            if key:
                wider[self._place(wider, key)] = key
        self._table = wider

    @staticmethod
    def _place(table: "array[int]", key: int) -> int:
        mask = len(table) - 1
        place = (key ^ key >> 32) & mask
        while table[place] not in (0, key):
            place = place + 1 & mask
        return place


def assign_ids(
    items: Iterable[Item],
    scope: Scope,
    source: str | None = None,
    fresh: Callable[[], UUID] | None = None,
    *,
    thread: str | None = None,
    seen: "Repeats | None" = None,
) -> list[UUID]:
    """Name each item: by its caller's id, else by content, else (live, without a time) by `fresh()`.

    Without `fresh` this is an import and untimed items are named by content too. `source` and `thread`
    override each item's own (`source_of`). A file read in chunks passes one `seen` throughout.

    >>> yes = Item("user", "yes")
    >>> one, two = assign_ids([yes, yes], Scope("ana"))
    >>> one != two and [one, two] == assign_ids([yes, yes], Scope("ana"))
    True
    >>> assign_ids([yes], Scope("ana"), fresh=lambda: UUID(int=9))
    [UUID('00000000-0000-0000-0000-000000000009')]
    """
    seen = Repeats() if seen is None else seen
    ids = []
    for item in items:
        within = source_of(item, source=source, thread=thread)
        if item.external_id is not None:
            ids.append(observation_id(scope, within, item.external_id))
        elif fresh is not None and (item.at is None or item.at_source is TimeSource.ASSUMED):
            ids.append(fresh())
        else:
            first = content_id(scope, within, item, 0)
            occurrence = seen.count(first)
            ids.append(content_id(scope, within, item, occurrence) if occurrence else first)
    return ids


def decision_id(subject: UUID, type: str) -> UUID:
    """Return the id of the one automatic decision of a type about a subject.

    >>> decision_id(UUID(int=1), "boundary") == decision_id(UUID(int=1), "chain")
    False
    """
    return _named("decision", subject.hex, type)


def import_id(origin: Scope) -> UUID:
    """Return the id of the decision that an import of somebody's export leaves with whoever takes it in.

    >>> import_id(Scope("ana", "home")) == import_id(Scope("ana", "work"))
    False
    """
    return _named("import", origin.space, origin.user_id)


def skill_id(scope: Scope, pattern: str) -> UUID:
    """Return the id of the skill a pattern makes, so that mining it again finds its own work.

    >>> skill_id(Scope("ana"), "0a") == skill_id(Scope("bo"), "0a")
    False
    """
    return _named("skill", scope.space, scope.user_id, pattern)
