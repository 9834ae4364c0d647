"""Episodes as rows: what both stores say of them in the same words.

Also by conditions on their metadata, with the marks that ranking reads, and the replaced ones by what they
owned.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, cast, overload
from uuid import UUID

from episodic_agent.core.chains.metadata import metadata_terms
from episodic_agent.errors import Conflict, NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import Cover, EpisodeMark, Refs, ref_of, split_ref
from episodic_agent.schemas import Encoding, Episode, EpisodeState
from episodic_agent.schemas.chains import Condition, Refusal, Term
from episodic_agent.schemas.strength import Strength
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import EPISODE, episode_columns, own_words
from episodic_agent.stores.rows import (
    from_json,
    id_of,
    optional_bytes,
    optional_microseconds,
    to_json,
    to_microseconds,
    to_time,
)
from episodic_agent.stores.tables.dialect import Table, are_ids, placed, row_of
from episodic_agent.stores.tables.erasing import ErasedEpisodeTable

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")


_REPLACED: Final = (
    "SELECT id, first_seq, last_seq FROM episode WHERE :mine AND thread = :thread AND kind = 'event'"
    " AND generation_to IS NOT NULL AND first_seq <= :last AND last_seq >= :first"
)


def passing_all(
    fields: Sequence[Sequence[Condition]],
    passing: Callable[[Condition], Iterable[bytes]],
) -> frozenset[bytes]:
    """Return the keys that pass every field by any of its conditions.

    >>> by_value = {"leak": [b"1", b"2"], "bread": [b"3"], "tim": [b"2", b"3"]}
    >>> tags, who = [Condition("tag", ("leak",)), Condition("tag", ("bread",))], [Condition("who", ("tim",))]
    >>> sorted(passing_all([tags, who], lambda one: by_value[one.values[0]]))
    [b'2', b'3']
    """
    data: frozenset[bytes] | None = None
    for field in fields:
        passed = frozenset(found for condition in field for found in passing(condition))
        data = passed if data is None else data & passed
    return data or frozenset()


class ConditionTable(Table):
    """Episodes that pass conditions, as both stores find them."""

    def passing(self, fields: Sequence[Sequence[Condition]]) -> Sequence[UUID]:
        """Return the episodes, replaced ones too, that pass every field by any condition, by id."""
        return [id_of(key) for key in sorted(passing_all(fields, self._passing))]

    @abstractmethod
    def _passing(self, condition: Condition) -> Iterable[bytes]:
        """Look up the keys of the episodes that pass one condition."""


class MarkTable(Table):
    """What ranking reads of observations and episodes, as both stores read it."""

    def between(self, start: datetime, end: datetime, *, limit: int, newest: bool = False) -> Refs:
        """Return refs of observations whose event time lies in [start, end), oldest first, ties by ref."""
        order = "at DESC, ref DESC" if newest else "at, ref"
        sql = (
            "SELECT ref FROM observation WHERE :mine AND at >= :start AND at < :end AND erased_at IS NULL"
            f" ORDER BY {order} LIMIT :n"
        )
        times = {"start": to_microseconds(start), "end": to_microseconds(end)}
        refs = [ref for (ref,) in self._session.read(sql, n=limit, **times)]
        return np.array(refs[::-1] if newest else refs, dtype=np.int64)

    def episode_marks(
        self, refs: Sequence[int] | Refs, *, covering: bool = False
    ) -> Mapping[int, EpisodeMark]:
        """Return the marks of the current event episodes that begin at these refs, or that own them."""
        return self._covering(refs) if covering else self._marks(refs)

    def covers(self, spans: Sequence[tuple[int, int]], *, replaced: bool = False) -> Sequence[Cover]:
        return self._replaced(spans) if replaced else self._covers(spans)

    @abstractmethod
    def _covering(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        """Look up the episodes that own these refs."""

    @abstractmethod
    def _marks(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        """Look up the episodes that begin at these refs."""

    @abstractmethod
    def _covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        """Look up the current episodes that own some of these spans."""

    def _replaced(self, spans: Sequence[tuple[int, int]]) -> list[Cover]:
        covers: set[Cover] = set()
        for number, group in groupby(sorted(spans), key=lambda span: split_ref(span[0])[0]):
            own = [(split_ref(first)[1], split_ref(last)[1]) for first, last in group]
            bounds = {"first": own[0][0], "last": max(last for _, last in own)}
            for key, first, last in self._session.read(_REPLACED, thread=number, **bounds):
                if any(first <= end and begin <= last for begin, end in own):
                    covers.add(Cover(ref_of(number, first), ref_of(number, last), key.hex()))
        return sorted(covers)


CURRENT: Final = "kind = 'event' AND generation_to IS NULL"
_PENDING: Final = f"{CURRENT} AND consolidated_at IS NULL AND encoding_version > 0"
_INSERT: Final = (
    f"INSERT INTO episode (:keys, {EPISODE}) VALUES (:own, {placed(EPISODE)}) ON CONFLICT DO NOTHING"
)
_WORDS: Final = "episode, version, title, summary, metadata, encoded_by, created_at"
_ENCODE: Final = (
    f"INSERT INTO encoding (:keys, {_WORDS}) VALUES (:own, {placed(_WORDS)})"
    " ON CONFLICT (:keys, episode, version) DO NOTHING"
)
_NEWEST: Final = (
    "UPDATE episode SET encoding_version = :version WHERE :mine AND id = :id AND encoding_version < :version"
)
_MADE: Final = "thread = :thread AND kind = 'event' AND generation_from >= :generation"
_UNMADE: Final = (
    "DELETE FROM encoding WHERE :mine AND episode = :id",
    "DELETE FROM metadata_term WHERE :mine AND episode = :id",
    "DELETE FROM decision WHERE :mine AND subject = :id",
    "DELETE FROM episode WHERE :mine AND id = :id",
)
_REVIVE: Final = (
    "UPDATE episode SET generation_to = NULL"
    " WHERE :mine AND thread = :thread AND kind = 'event' AND generation_to = :generation"
)
_LEAD: Final = "UPDATE episode SET parent_episode_id = :parent WHERE :mine AND id = :child"
_STRENGTHEN: Final = (
    "UPDATE episode SET stability = :stability, difficulty = :difficulty, last_reviewed_at = :reviewed"
    " WHERE :mine AND id = :id AND stability = :old_stability AND difficulty = :old_difficulty"
    " AND last_reviewed_at = :old_reviewed"
)
_ENCODINGS: Final = (
    "SELECT version, title, summary, metadata, encoded_by, created_at FROM encoding"
    " WHERE :mine AND episode = :id ORDER BY version"
)
_LATEST: Final = (
    "SELECT id FROM episode WHERE :mine AND kind = 'primary' AND state <> 'open' AND end_at <= :before"
    " ORDER BY end_at DESC, thread DESC, first_seq DESC LIMIT :limit"
)


class EpisodeTable(ErasedEpisodeTable):
    """Episodes, as both stores keep them.

    `generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
    current while `generation_to` is NULL.
    """

    # What ends a read of rows that are changed, or deleted, before the end: locks in the order of ids, as
    # everywhere, so that two writers wait, and never for each other.
    _changing = _deleting = ""

    def put(self, written: Episode | Encoding | Refusal) -> None:
        if isinstance(written, Encoding):
            if not self._encode(written):
                self._describe_again(written)
        elif isinstance(written, Refusal):
            self._refuse(written)
        else:
            self._insert(written)

    def _describe_again(self, encoding: Encoding) -> None:
        """Write what an episode is found by again, if this version is its newest."""
        episode = self._by_ids([encoding.episode_id])[encoding.episode_id]
        if episode.encoding_version == encoding.version:
            self._describe(episode.id, metadata_terms(episode.metadata))

    @overload
    def get(self, key: UUID) -> Episode | None: ...

    @overload
    def get(self, key: Sequence[UUID]) -> Mapping[UUID, Episode]: ...

    @overload
    def get(self, key: Sequence[int]) -> Mapping[int, Episode]: ...

    def get(
        self, key: UUID | Sequence[UUID] | Sequence[int]
    ) -> Episode | Mapping[UUID, Episode] | Mapping[int, Episode] | None:
        """Read one episode with its newest words, or several, by their ids or by where they begin."""
        if isinstance(key, UUID):
            return self._by_ids([key]).get(key)
        if are_ids(key):
            return self._by_ids(key)
        return self._by_refs(cast("Sequence[int]", key))

    def list(
        self,
        *,
        threads: Sequence[UUID] | None = None,
        generation: int | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
        unconsolidated: bool = False,
        about: Sequence[Sequence[Condition]] | None = None,
        limit: int | None = None,
    ) -> Sequence[Episode]:
        """Return current episodes: of threads, waiting to be consolidated, about, or by their ends."""
        if about is not None:
            read = self._by_ids(self._about(about))
            return sorted((e for e in read.values() if e.generation_to is None), key=lambda e: e.id)
        if threads is not None and (len(threads) == 1 or generation is not None):
            several = [self._of_thread(one, generation) for one in threads]
            return [episode for episodes in several for episode in episodes]
        if threads is not None:
            return self._of_threads(threads)
        if unconsolidated:
            return self._unconsolidated(limit)
        return self._recent(since, before, limit)

    @abstractmethod
    def _describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write what an episode is found by in the place of what it was."""

    @abstractmethod
    def _by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]:
        """Look up episodes by id."""

    @abstractmethod
    def _by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        """Look up current event episodes by where they begin."""

    @abstractmethod
    def _of_thread(self, thread_id: UUID, generation: int | None) -> Sequence[Episode]:
        """Look up the event episodes of a thread's current, or this, generation by first_seq."""

    @abstractmethod
    def _of_threads(self, thread_ids: Sequence[UUID]) -> Sequence[Episode]:
        """Look up the current event episodes of several threads by first_seq."""

    @abstractmethod
    def _unconsolidated(self, limit: int | None) -> Sequence[Episode]:
        """Look up current event episodes with words that are not consolidated, oldest created first."""

    @abstractmethod
    def _recent(
        self, since: datetime | None, before: datetime | None, limit: int | None
    ) -> Sequence[Episode]:
        """Look up current event episodes by their ends, newest first."""

    @abstractmethod
    def _about(self, fields: Sequence[Sequence[Condition]]) -> Sequence[UUID]:
        """Look up the episodes, replaced ones too, that pass every field by any condition."""

    # --- writing ----------------------------------------------------------------------------------------

    def _held(self, where: str, lock: str, **values: Any) -> Sequence[bytes]:
        """Look up the ids of episodes that nobody else changes before the end."""
        self._session.own()
        sql = f"SELECT id FROM episode WHERE :mine AND {where}{lock}"
        return [key for (key,) in self._session.read(sql, **values)]

    def _exists(self, episode_id: UUID) -> bool:
        return bool(self._session.read("SELECT 1 FROM episode WHERE :mine AND id = :id", id=episode_id.bytes))

    def _insert(self, episode: Episode) -> None:
        columns = episode_columns(episode, self._session.thread_number(episode.thread_id))
        if not self._session.change(_INSERT, **row_of(EPISODE, columns)):
            if not self._exists(episode.id):
                place = f"{episode.first_seq} of thread {episode.thread_id}"
                raise Conflict(f"a current episode begins at {place} already")
        elif episode.encoding_version > 0:
            self._encode(own_words(episode))

    def _encode(self, encoding: Encoding) -> bool:
        """Append a version of words, say whether they are the newest; NotFound for an unknown episode."""
        identity, version = encoding.episode_id, encoding.version
        newest = self._session.change(_NEWEST, id=identity.bytes, version=version) > 0
        if not newest and not self._exists(identity):
            raise NotFound(f"no episode {identity} in this scope")
        words = (encoding.title, encoding.summary, to_json(encoding.metadata), encoding.by)
        columns = (identity.bytes, version, *words, to_microseconds(encoding.created_at))
        self._session.change(_ENCODE, **row_of(_WORDS, columns))
        if newest:
            self._describe(identity, metadata_terms(encoding.metadata))
        return newest

    def archive(self, thread_id: UUID, first_seq: int, last_seq: int) -> int:
        """Archive the current closed event episodes that end within a span of seqs; return how many."""
        number = self._session.thread_number(thread_id)
        where = f"thread = :thread AND last_seq BETWEEN :first AND :last AND state = 'closed' AND {CURRENT}"
        ids = self._held(where, self._changing, thread=number, first=first_seq, last=last_seq)
        sql = "UPDATE episode SET state = 'archived' WHERE :mine AND id IN :ids(ids)"
        return self._session.change(sql, ids=ids) if ids else 0

    def retire(self, ids: Sequence[UUID], generation: int) -> None:
        keys = [identity.bytes for identity in ids]
        if len(self._held(f"id IN :ids(ids) AND {CURRENT}", self._changing, ids=keys)) != len(ids):
            raise Conflict("an episode to be replaced is no longer current; repeat the call")
        sql = "UPDATE episode SET generation_to = :generation WHERE :mine AND id IN :ids(ids)"
        self._session.change(sql, generation=generation, ids=keys)
        reach("after-retire")

    def revive(self, thread_id: UUID, generation: int) -> None:
        values = {"thread": self._session.thread_number(thread_id), "generation": generation}
        ids = self._held(_MADE, self._deleting, **values)
        self._each(_UNMADE, [id_of(key) for key in ids])
        reach("mid-revive")
        self._session.change(_REVIVE, **values)

    def consolidate(self, ids: Sequence[UUID], at: datetime | None) -> None:
        keys = [identity.bytes for identity in set(ids)]
        pending = "" if at is None else f" AND {_PENDING}"
        held = self._held(f"id IN :ids(ids){pending}", self._changing, ids=keys)
        if at is not None and len(held) != len(keys):
            raise Conflict("an episode to be consolidated is no longer pending; repeat the call")
        sql = "UPDATE episode SET consolidated_at = :at WHERE :mine AND id IN :ids(ids)"
        self._session.change(sql, at=optional_microseconds(at), ids=held)

    def lead(self, child: UUID, parent: UUID | None) -> None:
        self._session.own()
        if parent is not None and not self._exists(parent):
            raise NotFound(f"no episode {parent} in this scope to go on from")
        if not self._session.change(_LEAD, parent=optional_bytes(parent), child=child.bytes):
            raise NotFound(f"no episode {child} in this scope")

    def change(
        self,
        episode_id: UUID,
        *,
        state: EpisodeState,
        last_seq: int,
        end_at: datetime | None = None,
        reason: str | None = None,
        decision_id: UUID | None = None,
    ) -> None:
        changed: dict[str, Any] = {"state": state.value, "last_seq": last_seq}
        if end_at is not None:
            changed["end_at"] = to_microseconds(end_at)
        if reason is not None:
            changed["reason"] = reason
        if decision_id is not None:
            changed["decision_id"] = decision_id.bytes
        columns = ", ".join(f"{name} = :{name}" for name in changed)
        sql = f"UPDATE episode SET {columns} WHERE :mine AND id = :id AND kind <> 'event'"
        if not self._session.change(sql, id=episode_id.bytes, **changed):
            raise NotFound(f"no episode {episode_id} in this scope that others make up")

    def strengthen(self, before: Episode, after: Strength, last_reviewed_at: datetime) -> None:
        changed = self._session.change(
            _STRENGTHEN,
            stability=float(after.stability),
            difficulty=float(after.difficulty),
            reviewed=to_microseconds(last_reviewed_at),
            id=before.id.bytes,
            old_stability=float(before.stability),
            old_difficulty=float(before.difficulty),
            old_reviewed=to_microseconds(before.last_reviewed_at),
        )
        if not changed:
            raise Conflict(f"episode {before.id} was reviewed by another just now; repeat the call")

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]:
        return [
            Encoding(episode_id, version, title, summary, from_json(metadata), by, to_time(created))
            for version, title, summary, metadata, by, created in self._session.read(
                _ENCODINGS, id=episode_id.bytes
            )
        ]

    def latest(self, *, limit: int, before: datetime) -> Sequence[UUID]:
        results = self._session.read(_LATEST, before=to_microseconds(before), limit=limit)
        return [id_of(identity) for (identity,) in results]
